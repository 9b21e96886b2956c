//! X2, B4: flows that misbehave are cut by name, in good time, and a sibling finishes its work beside each.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod support;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use flowhost_agents::fake::{Fake, FakeEnv, Said};
use flowhost_core::{
    branch::{Branch, Given},
    clock::Clock,
    error::{Kind, Result},
    manifest::Manifest,
    record::Json,
    run::{Ended, Flow, Header},
    usage::Limits as Budget,
};
use flowhost_engine::{Limits, LoadError};
use flowhost_tests::{
    guests::{HOSTILE, LAB},
    wat,
};
use serde_json::{Value, json};
use support::*;

/// Small enough that each is met in a moment.
fn tight() -> Limits {
    Limits {
        memory: 64 << 20,
        cpu_time: Duration::from_millis(300),
        wall_clock: Duration::from_secs(2),
        handles: 2_000,
        pending_calls: 2_000,
        log_bytes: 1 << 20,
        ..Limits::default()
    }
}

/// Calls a hostile flow and an honest one at the same time, and says how both ended.
struct Beside {
    manifest: Manifest,
    hostile: Arc<dyn Flow>,
    honest: Arc<dyn Flow>,
}

#[async_trait]
impl Flow for Beside {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }
    fn digest(&self) -> &Arc<str> {
        self.hostile.digest()
    }
    async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended> {
        let both = async {
            let given = |flow: &Arc<dyn Flow>, params: Value| -> Result<Given> {
                let declared = |role: &str| flow.manifest().agent(role).is_some();
                let agents = branch.agent("worker")?.into_iter().filter(|_| declared("worker"));
                let agents = agents.map(|worker| ("worker".into(), worker.grant.clone())).collect();
                let envs = branch.env("workspace")?.into_iter().filter(|_| flow.manifest().env("workspace").is_some());
                let envs = envs.map(|env| ("workspace".into(), env.grant().clone())).collect();
                let params = serde_json::value::to_raw_value(&params).unwrap().into();
                Ok(Given { agents, envs, params, limits: Budget::default(), scratch: None })
            };
            let hostile = branch.call(&self.hostile, task.clone(), given(&self.hostile, json!({}))?)?;
            let params = json!({ "n": 20, "width": 5 });
            let honest = branch.call(&self.honest, "sessions/fan".into(), given(&self.honest, params)?)?;
            let (hostile, honest) = tokio::join!(hostile.wait(), honest.wait());
            let hostile = hostile.map_or_else(|error| json!(error), |answer| json!({ "answer": answer }));
            let honest: Value = serde_json::from_str(honest?.get()).unwrap();
            Ok(json!([hostile, honest.as_array().map(Vec::len)]))
        };
        let said = both.await.map_err(Ended::Raised)?;
        Ok(serde_json::value::to_raw_value(&said).unwrap().into())
    }
}

/// How the hostile flow ended, and how long it took; the honest one has finished its work.
async fn beside(limits: Limits, hostile: &[u8], task: &str) -> (Value, Duration) {
    let engine = engine_with(limits);
    let (hostile, honest) = (load(&engine, hostile).await, load(&engine, LAB).await);
    let manifest = json!({
        "contract": "0.1.0", "name": "beside",
        "agents": [{ "name": "worker", "capabilities": ["steer", "fork", "goal", "question", "pre-tool-use", "stop"] }],
        "envs": [{ "name": "workspace", "capabilities": ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"] }],
    });
    let capabilities = flowhost_core::harness::Capabilities {
        steer: true,
        fork: true,
        goal: true,
        pure: true,
        moments: &flowhost_core::harness::Moment::ALL,
        ..Default::default()
    };
    let clock = Clock::system();
    let fake = Fake::new()
        .last_word()
        .can(capabilities)
        .delay(&clock, Duration::from_millis(5))
        .when(flowhost_agents::fake::Pattern::contains("slow"), Said::never());
    let mut stage =
        Stage::new().agent("worker", &fake).env("workspace", FakeEnv::new().delay(&clock, Duration::from_secs(3600)));
    stage.shelf.0.insert("hostile".into(), hostile.clone());
    let (run, given) = stage.run();
    let manifest = Manifest::read(&manifest.to_string()).unwrap();
    let flow = Arc::new(Beside { manifest, hostile, honest });
    let began = Instant::now();
    let said = run.execute(flow, task.into(), given, Header::default()).await.unwrap();
    let said: Value = serde_json::from_str(said.get()).unwrap();
    assert_eq!(said[1], 20, "the sibling of {task:?} did not finish");
    (said[0].clone(), began.elapsed())
}

fn check(task: &str, hostile: &[u8], fault: &str, limit: &str, within: Duration) {
    let (ended, took) = runtime().block_on(beside(tight(), hostile, task));
    let message = ended["message"].as_str().unwrap_or_default();
    assert_eq!(ended["kind"], "flow", "{task}: {ended}");
    assert_eq!(ended["fault"], fault, "{task}: {ended}");
    assert!(message.contains(limit), "{task}: {message}");
    assert!(took < within, "{task} took {took:?}");
    if fault == "exceeded" {
        assert!(message.contains(&format!("raise it with --limit {limit}=")), "{message}");
    }
}

const SOON: Duration = Duration::from_secs(15);

#[test]
fn x2_what_spins_is_cut_by_cpu_time() {
    check("spin", HOSTILE, "exceeded", "cpu-time", SOON);
    check("spin-later", HOSTILE, "exceeded", "cpu-time", SOON);
}

#[test]
fn x2_what_takes_memory_is_cut_by_memory_summed_over_memories_and_tables() {
    check("allocate", HOSTILE, "exceeded", "memory", SOON);
    check("run", wat::TWO_MEMORIES, "exceeded", "memory", SOON);
    check("run", wat::TABLE, "exceeded", "memory", SOON);
}

#[test]
fn x2_what_declares_an_enormous_memory_or_table_is_refused_before_it_runs() {
    for bytes in [wat::ENORMOUS_MEMORY, wat::ENORMOUS_TABLE] {
        let error = refused(bytes);
        assert!(
            matches!(&error, LoadError::Exceeded(what) if what.contains("raise it with --limit memory=")),
            "{error}"
        );
    }
}

#[test]
fn x2_what_opens_handles_without_end_is_cut_by_handles() {
    check("sessions", HOSTILE, "exceeded", "handles", SOON);
    check("turns", HOSTILE, "exceeded", "handles", SOON);
    check("processes", HOSTILE, "exceeded", "handles", SOON);
}

#[test]
fn x2_calls_that_wait_without_end_are_cut_by_pending_calls() {
    check("calls", HOSTILE, "exceeded", "pending-calls", SOON);
}

#[test]
fn x2_what_floods_its_output_is_cut_by_log_bytes() {
    check("log", HOSTILE, "exceeded", "log-bytes", SOON);
    check("log-line 2", HOSTILE, "exceeded", "log-bytes", SOON);
    check("stderr", HOSTILE, "exceeded", "log-bytes", SOON);
}

#[test]
fn x2_what_never_returns_is_cut_by_wall_clock() {
    check("never", HOSTILE, "exceeded", "wall-clock", SOON);
}

#[test]
fn x2_a_gibibyte_in_one_call_is_cut_by_hostcall_bytes() {
    check("run", wat::GIGABYTE, "exceeded", "hostcall-bytes", SOON);
}

#[test]
fn b4_a_trap_is_an_error_that_names_the_branch() {
    for task in ["panic", "recurse", "drops-borrowed"] {
        check(task, HOSTILE, "trapped", "1.1 (beside > hostile)", SOON);
    }
}

#[test]
fn b4_an_answer_that_is_no_json_is_the_flows_fault() {
    for task in ["garbage", "no-answer"] {
        check(task, HOSTILE, "other", "not JSON", SOON);
    }
}

#[test]
fn b4_what_claims_to_be_stopped_or_out_of_budget_has_failed() {
    for task in ["claims-stopped", "claims-budget"] {
        let (ended, _) = runtime().block_on(beside(tight(), HOSTILE, task));
        assert_eq!(ended["kind"], "failed", "{task}: {ended}");
    }
}

#[test]
fn x1_a_flow_that_goes_on_after_a_stop_is_dropped() {
    for task in ["go-on", "wait-on", "never", "spin"] {
        runtime().block_on(async {
            let engine = engine_with(Limits::default());
            let hostile = load(&engine, HOSTILE).await;
            let mut stage = Stage::new().agent("worker", &Fake::new());
            let (run, given) = stage.run();
            let going = run.execute(hostile, task.into(), given, Header::default());
            let began = Instant::now();
            let stop = async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                run.stop("ctrl-c");
            };
            let (ended, ()) = tokio::join!(going, stop);
            assert_eq!(ended.unwrap_err().kind, Kind::Stopped, "{task}");
            assert!(began.elapsed() < Duration::from_secs(5), "{task} took {:?}", began.elapsed());
        });
    }
}

fn refused(bytes: &[u8]) -> LoadError {
    runtime().block_on(async { engine_with(tight()).load(bytes.to_vec()).await.unwrap_err() })
}

#[test]
fn x2_what_is_no_flow_is_refused_before_it_runs() {
    assert!(matches!(refused(b"#!/bin/sh\necho no"), LoadError::NotAComponent(_)));
    assert!(matches!(refused(wat::NOT_A_COMPONENT), LoadError::NotAComponent(_)));
    let unknown = refused(wat::UNKNOWN_IMPORT);
    assert!(matches!(&unknown, LoadError::UnknownImports(names) if names.len() == 1), "{unknown}");
    assert!(matches!(refused(wat::NO_EXPORTS), LoadError::NotAFlow(_)));
    assert!(matches!(
        refused(wat::FUTURE_CONTRACT),
        LoadError::Manifest(_) | LoadError::UnknownImports(_) | LoadError::NotAFlow(_)
    ));
}

#[test]
fn describe_is_pure_and_under_limits() {
    let began = Instant::now();
    let spins = refused(wat::DESCRIBE_SPINS);
    assert!(matches!(&spins, LoadError::Exceeded(what) if what.contains("cpu-time")), "{spins}");
    assert!(began.elapsed() < SOON);
    let logs = refused(wat::DESCRIBE_LOGS);
    assert!(
        matches!(&logs, LoadError::Describe(what) if what.contains("describe is pure, and this flow calls context.log in it")),
        "{logs}"
    );
    assert!(matches!(refused(wat::DESCRIBE_TRAPS), LoadError::Describe(_)));
    assert!(matches!(refused(wat::DESCRIBE_GARBAGE), LoadError::Manifest(_)));
}

#[test]
fn x2_a_component_that_is_too_large_is_refused_by_size() {
    let small = Limits { component_size: 1_000, ..Limits::default() };
    let error = runtime().block_on(async { engine_with(small).load(HOSTILE.to_vec()).await.unwrap_err() });
    assert!(matches!(&error, LoadError::Exceeded(what) if what.contains("component-size")), "{error}");
}

#[test]
fn x2_branches_without_end_are_refused() {
    let (ended, took) = runtime().block_on(beside(
        Limits { wall_clock: Duration::from_secs(60), ..Limits::default() },
        HOSTILE,
        "tree 0",
    ));
    assert_eq!(ended["fault"], "exceeded", "{ended}");
    assert!(ended["message"].as_str().unwrap().contains("branches"), "{ended}");
    assert!(took < Duration::from_secs(60), "{took:?}");
}
