//! B1-B5, $1-$3 and X1: branches, their budget, and the stop.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flowhost_core::{
    agent::BatchOptions,
    branch::Branch,
    env::Command,
    error::{Error, FlowFault, HarnessFault, Kind, Limit, Result, SpentLimit},
    record::{Json, Record},
    run::{Ended, Header},
    session::WhenBusy,
    turn::TurnOptions,
    usage::{Grace, Limits, Usd},
};
use support::*;

async fn call(branch: &Arc<Branch>, reference: &str, limits: Limits) -> Result<Json> {
    let callee = branch.load(reference).await?;
    branch.call(&callee, "task".into(), handed(branch, limits)?)?.wait().await
}

fn loads(bench: &Bench, flows: impl IntoIterator<Item = (&'static str, Arc<dyn flowhost_core::run::Flow>)>) {
    bench.flows.0.lock().extend(flows.into_iter().map(|(name, flow)| (name.to_owned(), flow)));
}

#[tokio::test]
async fn b1_siblings_have_sessions_and_records_of_their_own() {
    let bench = Bench::new(|prompt| Act::After(2, last_word(prompt)));
    let leaf = flow("leaf", |branch, task| async move {
        agent(&branch)?.run(task, None, TurnOptions::default()).await?;
        said(branch.id.to_string())
    });
    loads(&bench, [("leaf", leaf)]);
    let root = flow("root", |branch, _| async move {
        let (one, two) =
            tokio::join!(call(&branch, "leaf", Limits::default()), call(&branch, "leaf", Limits::default()));
        said([one?.get().to_owned(), two?.get().to_owned()])
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#"["\"1.1\"","\"1.2\""]"#);
    let kept = bench.kept.0.lock();
    let parents = kept.iter().filter_map(|record| match record {
        Record::Branch { branch, parent: Some(parent), .. } => Some(format!("{parent} > {branch}")),
        _ => None,
    });
    assert_eq!(parents.collect::<Vec<_>>(), ["1 > 1.1", "1 > 1.2"]);
}

#[tokio::test]
async fn b2_the_call_that_would_make_level_65_fails_by_name_and_nothing_of_it_runs() {
    let bench = Bench::new(|_| Act::Hang);
    let deepest = Arc::new(AtomicUsize::new(0));
    let seen = deepest.clone();
    let body = move |other: &'static str| {
        let seen = seen.clone();
        move |branch: Arc<Branch>, _| {
            let seen = seen.clone();
            async move {
                seen.fetch_max(branch.depth(), Ordering::SeqCst);
                call(&branch, other, Limits::default()).await
            }
        }
    };
    let (ping, pong) = (flow("ping", body("pong")), flow("pong", body("ping")));
    loads(&bench, [("ping", ping.clone()), ("pong", pong)]);
    let error = bench.execute(ping).await.unwrap_err();
    assert_eq!(error.kind, Kind::Flow(FlowFault::TooDeep), "{error}");
    assert!(error.message.contains("(ping > pong) x 32 > ping: this call would be level 65"), "{error}");
    assert_eq!(deepest.load(Ordering::SeqCst), 64);
}

#[tokio::test]
async fn b2_sixty_four_levels_work() {
    let bench = Bench::new(|_| Act::Hang);
    let root = flow("root", |branch, _| async move {
        if branch.depth() == 64 { said(64) } else { call(&branch, "root", Limits::default()).await }
    });
    loads(&bench, [("root", root.clone())]);
    assert_eq!(bench.execute(root).await.unwrap().get(), "64");
}

#[tokio::test]
async fn b3_what_is_passed_must_cover_what_is_declared() {
    let bench = Bench::new(|_| Act::Hang);
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let mut needy = manifest("leaf");
    needy.agents[0].capabilities.push("goal".into());
    let leaf = flow_with(needy, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(json("null")) }
    });
    loads(&bench, [("leaf", leaf)]);
    let root = flow("root", |branch, _| async move { call(&branch, "leaf", Limits::default()).await });
    let error = bench.execute(root).await.unwrap_err();
    assert_eq!(error.kind, Kind::Requirement);
    assert!(error.message.contains("the role agent needs goal"), "{error}");
    assert_eq!(ran.load(Ordering::SeqCst), 0, "nothing of it has run");
}

#[tokio::test]
async fn b3_a_flow_that_is_not_declared_cannot_be_loaded() {
    let bench = Bench::new(|_| Act::Hang);
    let mut alone = manifest("root");
    alone.loads.clear();
    let root =
        flow_with(
            alone,
            |branch, _| async move { branch.load("leaf").await.map(|_| json("null")).map_err(Ended::Raised) },
        );
    assert_eq!(bench.execute(root).await.unwrap_err().kind, Kind::NotGranted);
}

#[tokio::test]
async fn b4_a_flows_own_error_reaches_its_caller_as_it_was_raised_and_a_trap_names_the_branch() {
    let bench = Bench::new(|_| Act::Hang);
    let raising = flow("a", |_, _| async { Err(Error::harness(HarnessFault::Throttled, "slow down")) });
    let trapping =
        flow_with(manifest("b"), |_, _| async { Err(Ended::Host(Error::flow(FlowFault::Trapped, "unreachable"))) });
    loads(&bench, [("a", raising), ("b", trapping)]);
    let root = flow("root", |branch, _| async move {
        let raised = call(&branch, "a", Limits::default()).await.unwrap_err();
        assert_eq!(raised, Error::harness(HarnessFault::Throttled, "slow down"));
        let trapped = call(&branch, "b", Limits::default()).await.unwrap_err();
        said(trapped.message)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""1.2 (root > b): unreachable""#);
}

#[tokio::test]
async fn b4_a_guest_that_claims_to_be_stopped_or_out_of_budget_has_failed() {
    let spent = Kind::Budget(SpentLimit { limit: Limit::Cost, whose: "1".into() });
    for claim in [Kind::Stopped, spent] {
        let bench = Bench::new(|_| Act::Hang);
        let lie = claim.clone();
        let root = flow("root", move |_, _| {
            let lie = lie.clone();
            async move { Err(Error::new(lie, "trust me")) }
        });
        let error = bench.execute(root).await.unwrap_err();
        assert_eq!(error.kind, Kind::Failed, "{claim:?}");
        assert!(error.message.starts_with("trust me"));
    }
}

#[tokio::test]
async fn b5_what_a_flow_leaves_running_is_stopped_before_its_caller_goes_on() {
    let bench = Bench::new(|_| Act::Hang);
    let leaf = flow("leaf", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?;
        session.start("hang".into(), TurnOptions::default())?;
        std::mem::forget(session.handle());
        branch.env("workspace")?.unwrap().start(Command { argv: vec!["hang".into()], ..Command::default() })?;
        let forever = branch.load("a").await?;
        branch.call(&forever, "task".into(), handed(&branch, Limits::default())?)?;
        settle().await;
        said("left")
    });
    let forever = flow("a", |branch, _| async move {
        branch.sleep(Duration::from_secs(1_000_000)).await;
        said("never")
    });
    loads(&bench, [("leaf", leaf), ("a", forever)]);
    let seen = bench.stub.seen.clone();
    let root = flow("root", move |branch, _| {
        let seen = seen.clone();
        async move {
            let left = call(&branch, "leaf", Limits::default()).await?;
            assert_eq!(seen.going.load(Ordering::SeqCst), 0, "its turn is over");
            Ok(left)
        }
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""left""#);
    assert_eq!(bench.seen().interrupted.load(Ordering::SeqCst), 1);
    let kept = bench.kept.0.lock();
    let ended = kept.iter().filter(|record| matches!(record, Record::BranchEnd { .. })).count();
    assert_eq!(ended, 3, "the callee of the callee too");
}

#[tokio::test]
async fn b5_a_caller_goes_on_when_what_was_dropped_in_the_envs_of_its_callee_is_gone() {
    let mut bench = Bench::new(|_| Act::Deaf);
    bench.sweep = Duration::from_secs(60);
    let leaf = flow("leaf", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?;
        session.start("does not listen".into(), TurnOptions::default())?;
        settle().await;
        said("left")
    });
    loads(&bench, [("leaf", leaf)]);
    let root = flow("root", |branch, _| async move {
        let began = branch.now_ms();
        call(&branch, "leaf", Limits::default()).await?;
        said(branch.now_ms() - began)
    });
    let took: u64 = bench.execute(root).await.unwrap().get().parse().unwrap();
    assert!(took >= 60_000, "{took} ms");
}

#[tokio::test]
async fn b5_a_branch_that_is_cancelled_ends_with_everything_below_it() {
    let bench = Bench::new(|_| Act::Hang);
    let leaf = flow("leaf", |branch, _| async move {
        said(&*agent(&branch)?.run("hang".into(), None, TurnOptions::default()).await?.text)
    });
    loads(&bench, [("leaf", leaf)]);
    let root = flow("root", |branch, _| async move {
        let callee = branch.load("leaf").await?;
        let started = branch.call(&callee, "task".into(), handed(&branch, Limits::default())?)?;
        settle().await;
        assert!(!started.done());
        started.cancel();
        started.cancel();
        let error = started.wait().await.unwrap_err();
        said(error.kind == Kind::Flow(FlowFault::Interrupted))
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), "true");
    assert_eq!(bench.seen().going.load(Ordering::SeqCst), 0);
}

/// As many turns of one price at once as `count` says, under what limits the bench has.
async fn fan(bench: &Bench, count: usize, expected: Option<f64>) -> Result<Json> {
    let root = flow("root", move |branch, _| async move {
        let turn = TurnOptions { expected: expected.map(Usd::from_dollars), ..TurnOptions::default() };
        let prompts = (0..count).map(|n| format!("say {n}").into()).collect();
        said(agent(&branch)?.batch(prompts, None, BatchOptions { turn, ..BatchOptions::default() }).await?.len())
    });
    bench.execute(root).await
}

#[tokio::test]
async fn budget_2_a_hundred_turns_of_60_cents_under_a_dollar_spend_at_most_1_60() {
    for (streams, expected) in [(false, None), (true, None), (false, Some(0.0))] {
        let mut bench = Bench::new(|_| Act::After(5, "done".into())).with(|bench| bench.limits = cost(1.0));
        bench.stub = bench.stub.costing(0.6);
        if streams {
            bench.stub = bench.stub.streaming();
        }
        let error = fan(&bench, 100, expected).await.unwrap_err();
        assert!(
            matches!(&error.kind, Kind::Budget(spent) if spent.limit == Limit::Cost),
            "the flow is told: {error:?}"
        );
        let spent = bench.seen().prompts().len() as f64 * 0.6;
        assert!(spent <= 1.6, "spent {spent} (streams: {streams})");
        assert!(spent >= 0.6);
    }
}

#[tokio::test]
async fn budget_2_two_hundred_cheap_turns_all_go_and_widen_as_they_settle() {
    let mut bench = Bench::new(|_| Act::After(5, "done".into())).with(|bench| bench.limits = cost(10.0));
    bench.stub = bench.stub.costing(0.02);
    assert_eq!(fan(&bench, 200, None).await.unwrap().get(), "200");
    assert!(bench.seen().peak() > 20, "peak {}", bench.seen().peak());
}

#[tokio::test]
async fn budget_4_what_has_no_price_does_not_run_under_a_limit_on_cost() {
    let unpriced = |limits: Limits| {
        let mut bench = Bench::new(|_| Act::After(5, "done".into())).with(|bench| bench.limits = limits);
        bench.stub = bench.stub.unpriced();
        bench
    };
    for streams in [false, true] {
        let mut bench = unpriced(cost(1.0));
        if streams {
            bench.stub = bench.stub.streaming();
        }
        let error = fan(&bench, 100, None).await.unwrap_err();
        assert_eq!(error.kind, Kind::NotGranted);
        assert_eq!(
            error.message,
            "stub: it used tokens and nobody knows what they cost, so it cannot run under the limit on cost of branch 1; \
             let it run and count as nothing with --unpriced allow"
        );
        let prompts = bench.seen().prompts().len();
        assert!((1..=2).contains(&prompts), "those that started before anything was known of it: {prompts}");
    }
    let bench = unpriced(cost(1.0)).with(|bench| bench.allows_unpriced = true);
    assert_eq!(fan(&bench, 100, None).await.unwrap().get(), "100");
    let bench = unpriced(Limits { turns: Some(100), output_tokens: Some(10_000), ..Limits::default() });
    assert_eq!(fan(&bench, 100, None).await.unwrap().get(), "100");
}

#[tokio::test]
async fn budget_1_a_nested_childs_spending_is_in_its_parents_figure_once() {
    let mut bench = Bench::new(|_| Act::Say("done".into())).with(|bench| bench.limits = cost(10.0));
    bench.stub = bench.stub.costing(0.25);
    let leaf = flow("leaf", |branch, _| async move {
        agent(&branch)?.run("say it".into(), None, TurnOptions::default()).await?;
        said(branch.spent().cost.dollars())
    });
    loads(&bench, [("leaf", leaf)]);
    let root = flow("root", |branch, _| async move {
        let inside = call(&branch, "leaf", cost(1.0)).await?;
        agent(&branch)?.run("say it".into(), None, TurnOptions::default()).await?;
        said((inside.get().to_owned(), branch.spent().cost.dollars(), branch.remaining().cost.map(Usd::dollars)))
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#"["0.25",0.5,9.5]"#);
}

#[tokio::test]
async fn budget_3_cut_interrupts_and_finish_does_not() {
    for (grace, interrupted) in [(Grace::Cut, 1), (Grace::Finish, 0)] {
        let limits = Limits { grace, ..cost(0.5) };
        let mut bench =
            Bench::new(
                |prompt| if prompt == "long" { Act::After(50, "done".into()) } else { Act::Say("short".into()) },
            );
        bench.limits = limits;
        bench.stub = bench.stub.costing(0.6).streaming();
        let root = flow("root", |branch, _| async move {
            let turn = agent(&branch)?.run("long".into(), None, TurnOptions::default()).await;
            let next = agent(&branch)?.run("next".into(), None, TurnOptions::default()).await.unwrap_err();
            assert!(matches!(next.kind, Kind::Budget(_)), "spent is sticky: {next:?}");
            said(turn.map(|answer| answer.text.to_string()).unwrap_or_else(|error| error.message))
        });
        let answer = bench.execute(root).await.unwrap();
        assert_eq!(bench.seen().interrupted.load(Ordering::SeqCst), interrupted, "{answer}");
    }
}

#[tokio::test]
async fn budget_1_time_is_a_deadline() {
    let bench = Bench::new(|_| Act::After(1_000, "late".into()));
    let bench = bench.with(|bench| {
        bench.limits = Limits { duration: Some(Duration::from_millis(20)), grace: Grace::Cut, ..Limits::default() }
    });
    let error = fan(&bench, 1, None).await.unwrap_err();
    assert!(matches!(&error.kind, Kind::Budget(spent) if spent.limit == Limit::Duration), "{error:?}");
    assert!(bench.clock.elapsed() < Duration::from_millis(500));
}

#[tokio::test]
async fn x1_a_stop_interrupts_every_turn_and_no_flow_can_catch_it() {
    let bench = Bench::new(|_| Act::Hang);
    let run = bench.run();
    let root = flow("root", |branch, _| async move {
        let prompts = (0..50).map(|n| format!("hang {n}").into()).collect();
        let options = BatchOptions { suppress: true, ..BatchOptions::default() };
        let stopped = agent(&branch)?.batch(prompts, None, options).await.unwrap_err();
        assert_eq!(stopped.kind, Kind::Stopped);
        let after = agent(&branch).unwrap_err();
        assert_eq!(after.kind, Kind::Stopped, "every later call says the same");
        said("went on")
    });
    let going = run.execute(root, "task".into(), bench.given(), Header::default());
    let stop = async {
        while bench.seen().going.load(Ordering::SeqCst) < 50 {
            tokio::task::yield_now().await;
        }
        run.stop("ctrl-c");
        run.stop("ctrl-c");
    };
    let (ended, ()) = bench.drive(async { tokio::join!(going, stop) }).await;
    assert_eq!(ended.unwrap_err().kind, Kind::Stopped);
    assert_eq!(bench.seen().interrupted.load(Ordering::SeqCst), 50);
    assert_eq!(bench.seen().going.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn x1_a_flow_that_does_not_return_after_a_stop_is_dropped() {
    let bench = Bench::new(|_| Act::Hang);
    let run = bench.run();
    let root = flow("root", |_, _| std::future::pending());
    let going = run.execute(root, "task".into(), bench.given(), Header::default());
    let stop = async {
        settle().await;
        run.stop("SIGTERM");
    };
    let (ended, ()) = bench.drive(async { tokio::join!(going, stop) }).await;
    assert_eq!(ended.unwrap_err().kind, Kind::Stopped);
    assert!(bench.clock.elapsed() >= Duration::from_secs(2));
}
