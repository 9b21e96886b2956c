//! Scenarios of compiled guests: those that misbehave, those that watch, and many turns in virtual time.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod support;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use flowhost_agents::fake::{Fake, FakeEnv, capabilities};
use flowhost_core::error::{FlowFault, Kind};
use flowhost_core::run::{Flow, Header};
use flowhost_engine::Limits;
use flowhost_testing::{Case, Difference, Scenario, ScenarioFile, compare, recorded};
use flowhost_tests::guests::{BENCH, HOSTILE, LAB};
use serde_json::json;
use support::{Stage, engine, load, runtime};

/// The scenarios of a text, of this guest.
fn cases(guest: &[u8], text: &str) -> Vec<(Case, Vec<Difference>)> {
    let file = ScenarioFile::read(Path::new("x.test.toml"), format!("flow = \"x\"\n{text}"));
    let file = file.unwrap_or_else(|problem| panic!("{problem}"));
    let played = file.cases.into_iter().map(|mut case| {
        case.scenario = case.scenario.flow(guest);
        let outcome = case.scenario.play().unwrap();
        let differences = compare(&case.expected, &outcome);
        (case, differences)
    });
    played.collect()
}

fn hold(guest: &[u8], text: &str) {
    for (case, differences) in cases(guest, text) {
        assert!(differences.is_empty(), "{}: {}", case.name, differences[0]);
    }
}

#[test]
fn a_flow_that_breaks_down_or_never_returns_is_an_error_that_can_be_expected() {
    let began = Instant::now();
    hold(
        HOSTILE,
        r#"
        [limits]
        cpu-time = "200ms"
        memory = "64MiB"
        wall-clock = "3h"

        [[scenario]]
        name = "it traps"
        task = "panic"
        expect.error = { kind = "flow", fault = "trapped", message = { starts-with = "1 (hostile): the flow broke down: " } }

        [[scenario]]
        name = "it spins"
        task = "spin"
        expect.error = { kind = "flow", fault = "exceeded", message = { contains = "cpu-time of 200ms" } }

        [[scenario]]
        name = "it takes memory without end"
        task = "allocate"
        expect.error = { kind = "flow", fault = "exceeded", message = { contains = "memory of 64 MiB" } }

        [[scenario]]
        name = "it sleeps for ever, a millisecond at a time"
        task = "wait-on"
        limits.wall-clock = "10s"
        limits.cpu-time = "30s"
        expect.error = { kind = "flow", fault = "exceeded", message = { contains = "wall-clock of 10s" } }

        [[scenario]]
        name = "it sleeps longer than it may"
        task = "never"
        expect.error = { kind = "flow", fault = "exceeded", message = { contains = "wall-clock of 10800s" } }
        expect.duration = { at-least = "3h" }

        [[scenario]]
        name = "its answer is no answer"
        task = "garbage"
        expect.error = { kind = "flow", message = { contains = "not JSON" } }
        "#,
    );
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let (_, differences) = cases(HOSTILE, "task = \"panic\"").remove(0);
    assert_eq!(differences.len(), 1);
    let said = differences[0].to_string();
    assert!(said.starts_with("result: the flow failed (flow, trapped): 1 (hostile): the flow broke down: "), "{said}");
}

#[test]
fn what_a_flow_watches_for_is_come_upon_and_answered() {
    hold(
        LAB,
        r#"
        [agents.worker]
        reply = "done"
        occasions = [{ moment = "pre-tool-use", details = { tool = "rm" } }]

        [[scenario]]
        name = "a tool is blocked"
        task = "occasions/answer"
        params.data = "block"
        expect.result-like.turn = { "$any" = true }
        expect.agents.worker.verdicts = ["block: not here"]

        [[scenario]]
        name = "an answer is given"
        task = "occasions/answer"
        params.data = "reply"
        expect.agents.worker.verdicts = ["reply: yes"]

        [[scenario]]
        name = "a guard that says nothing blocks when its patience is over"
        task = "occasions/unanswered"
        params = { data = "guard", ms = 60000 }
        expect.agents.worker.verdicts-contain = ["block: "]
        expect.duration = "1m"

        [[scenario]]
        name = "a turn is taken to decide"
        task = "occasions/judge"
        patience = "10m"
        agents.judge = { reply = "no", delay = "5m" }
        expect.result-like.judged = { said = "no", asked = { tool = "rm" } }
        expect.agents.worker.verdicts = ["reply: no"]
        expect.agents.judge.prompts = [{ contains = "rm" }]
        expect.duration = "5m"
        "#,
    );
}

#[test]
fn a_role_that_asks_for_more_than_a_fake_can_is_refused_as_in_a_run() {
    hold(
        LAB,
        r#"
        task = "noop"
        agents.worker = { capabilities = ["steer"] }
        [expect.error]
        kind = "requirement"
        message = "the role worker needs fork, which fake does not offer"
        "#,
    );
}

#[test]
fn a_thousand_turns_of_an_hour_each_take_no_time() {
    let scenario = Scenario::new(LAB)
        .task("turns/start")
        .params(json!({ "n": 1000 }))
        .agent("worker", |clock| Fake::new().reply("x").delay(clock, Duration::from_secs(3600)));
    let began = Instant::now();
    let outcome = scenario.play().unwrap();
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert_eq!((outcome.sessions, outcome.turns, outcome.peak), (1000, 1000, 1000));
    assert_eq!(outcome.took, Duration::from_secs(3600));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_limit_is_the_scenarios_own() {
    let limits = Limits { cpu_time: Duration::from_millis(100), ..Limits::default() };
    let failed = Scenario::new(HOSTILE).task("spin").limits(limits).play().unwrap().result.unwrap_err();
    assert_eq!(failed.kind, Kind::Flow(FlowFault::Exceeded));
    assert!(Scenario::new(BENCH).play().is_ok());
}

#[test]
fn s4_a_session_is_opened_at_a_directory_of_the_workspace() {
    hold(
        LAB,
        r#"
        task = "sessions/at"
        params.path = "src"
        agents.worker.reply = { text = "here", writes = { "out.txt" = "x" } }
        envs.workspace.files = { "src/a.rs" = "" }
        expect.result-like = { directory = "/workspace/src", text = "here" }
        expect.files = { "src/out.txt" = "x" }
        "#,
    );
}

#[test]
fn more_branches_than_the_pool_has_slots_for_wait_in_virtual_time_all_the_same() {
    // Each branch sleeps for a minute.
    let params = json!({ "n": 1100, "width": 1100, "call": "clock/facts", "ms": 60_000, "reference": "lab" });
    let lab = Scenario::new(LAB).task("branches/calls").params(params);
    let outcome = lab.agent("worker", |_| Fake::new()).loads("lab", LAB).play().unwrap();
    assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    assert_eq!((outcome.branches, outcome.took), (1101, Duration::from_secs(60)));
}

#[test]
fn the_files_that_a_recorded_run_read_are_known_again_by_their_keys() {
    let record = |task: &str, params: serde_json::Value| {
        let (stage, answer) = runtime().block_on(async {
            let lab = load(engine(), LAB).await;
            let env = FakeEnv::new().file("src/a.txt", "what is in it\n").file("b.txt", "b");
            let able = capabilities(&["steer", "fork", "goal", "question", "pre-tool-use", "stop"], true).unwrap();
            let mut stage = Stage::new().agent("worker", &Fake::new().can(able)).env("workspace", env).params(params);
            let (run, given) = stage.run();
            let header = Header {
                reference: "lab".into(),
                agents: vec![("worker".into(), "fake".into())],
                envs: vec![("workspace".into(), "local:/workspace".into())],
                ..Header::default()
            };
            let answer = run.execute(lab as Arc<dyn Flow>, task.into(), given, header).await;
            (stage, answer)
        });
        assert!(answer.is_ok(), "{answer:?}");
        let records = stage.kept.0.lock().clone();
        recorded::scenario(records.into_iter().map(|record| (Duration::ZERO, record))).unwrap()
    };
    let read = record("envs/read", json!({ "path": "src/a.txt" }));
    assert!(read.contains("\"src/a.txt\" = "), "{read}");
    assert!(!read.contains("does not name"), "{read}");
    let found = record("envs/find", json!({ "glob": "**/*.txt" }));
    assert!(found.contains("\"src/a.txt\" = ") && found.contains("\"b.txt\" = "), "{found}");
    let own = |text: &str| text.replacen("flow = \"lab\"\n", "", 1);
    hold(LAB, &own(&read));
}
