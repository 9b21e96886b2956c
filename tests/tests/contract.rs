//! The rules through the public contract: a compiled guest on fakes, under the real engine.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::{sync::Arc, time::Duration};

use flowhost_agents::fake::{Fake, FakeEnv, Pattern, Said};
use flowhost_core::{
    clock::Clock,
    error::{Error, HarnessFault, Kind},
    harness::{Capabilities, Moment},
    record::Record,
    usage::{Grace, Limits as Budget, Usd},
};
use flowhost_engine::{Component, Limits};
use flowhost_tests::guests::{BENCH, LAB, LAB_TWO};
use serde_json::{Value, json};
use support::*;

/// A fake that can all that `lab` declares.
fn fake() -> Fake {
    Fake::new().can(Capabilities {
        steer: true,
        fork: true,
        goal: true,
        pure: true,
        moments: &Moment::ALL,
        ..Default::default()
    })
}

fn slow(ms: u64) -> Fake {
    fake().last_word().delay(&Clock::system(), Duration::from_millis(ms))
}

async fn lab() -> Arc<Component> {
    load(engine(), LAB).await
}

/// What `lab` answers to a task.
fn ask(fake: &Fake, task: &str, params: Value) -> Value {
    ask_in(Stage::new().agent("worker", fake), task, params).unwrap()
}

fn ask_in(stage: Stage, task: &str, params: Value) -> Result<Value, Error> {
    runtime().block_on(async {
        let (lab, two) = (lab().await, load(engine(), LAB_TWO).await);
        let mut stage = stage.params(params).shelved("lab", &lab).shelved("lab-two", &two);
        stage.play(&lab, task).await
    })
}

fn cost(dollars: f64) -> Budget {
    Budget { cost: Some(Usd::from_dollars(dollars)), ..Budget::default() }
}

#[test]
fn s1_a_second_turn_is_refused_at_once_and_the_first_untouched() {
    let fake = slow(30);
    let said = ask(&fake, "sessions/busy", json!({}));
    assert_eq!(said[0]["text"], "t0");
    assert_eq!((&said[1]["kind"], &said[1]["fault"]), (&json!("session"), &json!("busy")));
    assert_eq!(fake.turns(), 1);
}

#[test]
fn s1_a_flow_that_catches_failed_turns_does_not_swallow_its_own_bug() {
    let error = ask_in(Stage::new().agent("worker", &slow(30)), "sessions/swallow", json!({})).unwrap_err();
    assert!(matches!(error.kind, Kind::Session(_)), "{error:?}");
}

#[test]
fn s1_a_session_that_queues_takes_turns_in_order() {
    let fake = slow(2);
    let said = ask(&fake, "sessions/queue", json!({ "n": 6 }));
    assert_eq!(said, json!((0..6).map(|n| json!({ "text": format!("t{n}") })).collect::<Vec<_>>()));
    assert_eq!(fake.peak_turns(), 1);
}

#[test]
fn s2_a_cap_of_the_person_holds_for_every_way_to_take_turns() {
    for task in ["sessions/fan", "sessions/runs", "sessions/batch", "turns/start"] {
        let fake = slow(3);
        let stage = Stage::new().agent("worker", &fake).at_once(3);
        let said = ask_in(stage, task, json!({ "n": 20, "width": 20 })).unwrap();
        assert_eq!(said.as_array().unwrap().len(), 20, "{task}");
        assert_eq!(fake.peak_turns(), 3, "{task}");
    }
}

#[test]
fn s6_s7_turns_are_kept_cut_and_let_go_of_as_their_handles_are() {
    let said = ask(&slow(20), "turns/keep-turn", json!({}));
    assert_eq!(said["text"], "t0", "a turn goes on while its handle is held");
    let said = ask(&slow(20), "turns/forget", json!({ "ms": 80 }));
    assert_eq!(said["turns"], 1, "a turn goes on while its session is held");
    let fake = slow(5_000);
    let began = std::time::Instant::now();
    ask(&fake, "turns/let-go", json!({ "ms": 50 }));
    // It may not even have been handed over by then.
    assert_eq!((fake.interrupted(), fake.going_turns()), (fake.turns(), 0), "both gone");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let said =
        ask(&fake.clone().when(Pattern::ends_with("t1"), Said::from("next")), "turns/cancel", json!({ "ms": 20 }));
    assert_eq!(said["turn"]["fault"], "interrupted");
    assert_eq!(said["again"], said["turn"]);
    assert_eq!(said["next"]["text"], "next", "the session can be used again");
    let said = ask(&slow(40), "turns/drop-run", json!({ "ms": 5 }));
    assert_eq!((&said["late"], &said["next"]["text"]), (&json!(true), &json!("t1")));
    let said = ask(&slow(30), "turns/drop-wait", json!({}));
    assert_eq!((&said["late"], &said["turn"]["text"]), (&json!(true), &json!("t0")));
}

#[test]
fn b5_what_a_flow_leaves_is_over_when_it_has_ended() {
    let fake = slow(60_000);
    ask(&fake, "turns/leave", json!({ "n": 30, "ms": 30 }));
    assert_eq!((fake.going_turns(), fake.open_sessions()), (0, 0));
}

#[test]
fn wait_any_gives_what_ended_in_the_order_of_ending() {
    let fake = fake().reply_with(|question| {
        let number: u64 = question.prompt.trim_start_matches('t').parse().unwrap_or_default();
        Said::from("done").after(Duration::from_millis(60 - 15 * number))
    });
    assert_eq!(ask(&fake, "turns/wait-any", json!({ "n": 4 })), json!([3, 2, 1, 0]));
    let said = ask(&slow(10_000), "turns/wait-any-limit", json!({ "ms": 20 }));
    assert_eq!((&said["nothing"], &said["late"]), (&json!([]), &json!([])));
    assert_eq!(said["turn"]["fault"], "interrupted");
}

#[test]
fn s8_a_batch_keeps_failures_in_their_places_or_says_the_first() {
    let fake = fake().last_word().when(Pattern::ends_with("t2"), Error::harness(HarnessFault::Throttled, "slow down"));
    let said = ask(&fake, "sessions/batch", json!({ "n": 5, "suppress": true }));
    assert_eq!((&said[2]["fault"], &said[4]["text"]), (&json!("throttled"), &json!("t4")));
    let error = ask_in(Stage::new().agent("worker", &fake), "sessions/batch", json!({ "n": 5 })).unwrap_err();
    assert_eq!(error.message, "slow down");
}

#[test]
fn s9_steer_and_fork() {
    let said = ask(&slow(80), "sessions/steer", json!({ "ms": 20, "data": "left" }));
    assert_eq!(said["idle"]["fault"], "idle");
    assert_eq!(said["steered"], json!({ "ok": null }));
    let said = ask(&slow(20), "sessions/fork", json!({}));
    assert_eq!((&said["early"]["fault"], &said["during"]["fault"]), (&json!("never-ran"), &json!("busy")));
    assert_eq!((&said["apart"], &said["fork"]["text"]), (&json!(true), &json!("t1")));
}

#[test]
fn s10_a_turn_decides_an_occasion_under_a_cap_of_one() {
    let asking = fake().last_word().asks(Moment::Question, json!({ "question": "really?" }));
    let judge = Fake::new().reply("go on");
    let stage = Stage::new().agent("worker", &asking).agent("judge", &judge).at_once(1).budget(cost(5.0));
    let said = ask_in(stage, "occasions/judge", json!({})).unwrap();
    assert_eq!(said["judged"]["said"], "go on", "{said}");
}

#[test]
fn b2_sixty_four_levels_work_and_the_sixty_fifth_is_refused_by_name() {
    for (task, chain) in [("branches/chain", "lab x 65"), ("branches/ping-pong", "(lab > lab-two) x 32 > lab")] {
        let said = ask(&fake(), task, json!({ "n": 64 }));
        assert_eq!(said.as_array().unwrap().len(), 64, "{task}");
        let error = ask_in(Stage::new().agent("worker", &fake()), task, json!({ "n": 65 })).unwrap_err();
        assert!(matches!(error.kind, Kind::Flow(flowhost_core::error::FlowFault::TooDeep)), "{error:?}");
        assert!(error.message.contains(chain), "{error}");
    }
}

/// Memory, tables and stacks come from a pool with room for a thousand branches; those beyond it take theirs from the system.
#[test]
fn b1_more_branches_at_once_than_the_pool_has_slots() {
    runtime().block_on(async {
        let bench = load(engine(), BENCH).await;
        let mut stage = Stage::new().params(json!({ "n": 1_300, "ms": 1_000 })).shelved("bench", &bench);
        stage.branches = 2_000;
        assert_eq!(stage.play(&bench, "calls-held").await.unwrap(), json!({ "done": 1_300 }));
        let kept = stage.kept.0.lock();
        let (mut at_once, mut most) = (0, 0);
        for record in kept.iter() {
            match record {
                Record::Branch { .. } => at_once += 1,
                Record::BranchEnd { .. } => at_once -= 1,
                _ => {}
            }
            most = most.max(at_once);
        }
        assert!(most > 1_000, "{most} at once");
    });
}

#[test]
fn b3_what_is_passed_must_cover_what_is_declared() {
    let said = ask(&fake(), "branches/bare", json!({}));
    assert_eq!(said["kind"], "requirement", "{said}");
    let said = ask(&fake(), "branches/missing", json!({}));
    assert_eq!((&said["nowhere"]["fault"], &said["undeclared"]["kind"]), (&json!("not-found"), &json!("not-granted")));
    let said = ask(&fake(), "sessions/undeclared", json!({}));
    assert_eq!((&said["agent"]["kind"], &said["env"]["kind"]), (&json!("not-granted"), &json!("not-granted")));
}

#[test]
fn b4_a_callees_own_error_is_handed_on_and_its_panic_takes_nothing_down() {
    let stage = || Stage::new().agent("worker", &fake());
    let error = ask_in(stage(), "branches/hand-on", json!({ "call": "fail", "data": "mine" })).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Kind::Failed, "mine"));
    let said = ask_in(stage(), "branches/calls", json!({ "n": 3, "call": "panic", "data": "a bug" })).unwrap();
    assert_eq!(said["outcomes"][0]["fault"], "trapped", "{said}");
    let said = ask_in(stage(), "branches/cancel", json!({ "call": "clock/sleep", "ms": 10 })).unwrap();
    assert!(said["fault"] == "interrupted" || said.get("ok").is_some(), "{said}");
}

#[test]
fn budget_2_a_hundred_turns_of_60_cents_under_a_dollar() {
    for params in [json!({ "n": 100 }), json!({ "n": 100, "expect": 0.0 })] {
        let fake = fake().last_word().cost(0.6).delay(&Clock::system(), Duration::from_millis(3));
        let said =
            ask_in(Stage::new().agent("worker", &fake).budget(cost(1.0)), "turns/spend", params.clone()).unwrap();
        let spent = said["cost"].as_f64().unwrap();
        assert!((0.6..=1.6).contains(&spent), "{params}: {said}");
        assert_eq!((&said["error"]["kind"], &said["error"]["fault"]), (&json!("budget"), &json!("cost")));
    }
}

#[test]
fn budget_2_two_hundred_cheap_turns_widen_as_they_settle() {
    let fake = fake().last_word().cost(0.02).delay(&Clock::system(), Duration::from_millis(3));
    let said =
        ask_in(Stage::new().agent("worker", &fake).budget(cost(10.0)), "turns/spend", json!({ "n": 200 })).unwrap();
    assert_eq!(said["answered"], 200, "{said}");
    assert!(fake.peak_turns() > 20, "{}", fake.peak_turns());
}

#[test]
fn budget_1_a_nested_childs_spending_counts_once() {
    let fake = fake().last_word().cost(0.25);
    let params = json!({ "n": 2, "call": "sessions/runs", "cost": 3.0 });
    let said = ask_in(Stage::new().agent("worker", &fake).budget(cost(10.0)), "branches/calls", params).unwrap();
    assert_eq!(said["turns"], fake.turns(), "{said}");
    assert_eq!(said["cost"].as_f64().unwrap(), fake.turns() as f64 * 0.25);
}

#[test]
fn budget_3_cut_interrupts() {
    let fake = fake().last_word().cost(0.6).steps(10).delay(&Clock::system(), Duration::from_millis(200));
    let stage = Stage::new().agent("worker", &fake).budget(Budget { grace: Grace::Cut, ..cost(0.3) });
    let said = ask_in(stage, "turns/spend", json!({ "n": 1 })).unwrap();
    assert_eq!(said["error"]["kind"], "budget", "{said}");
    assert!(said["cost"].as_f64().unwrap() < 0.6, "{said}");
}

#[test]
fn j1_clocks_are_in_the_record_and_chance_follows_from_it() {
    let play = || {
        let mut stage = Stage::new().agent("worker", &fake()).params(json!({ "ms": 5 }));
        let said = runtime().block_on(async { stage.play(&lab().await, "clock/facts").await.unwrap() });
        (said, stage.kept)
    };
    let (said, kept) = play();
    assert!(said["passed"].as_u64().unwrap() >= 5, "{said}");
    let kept = kept.0.lock();
    let recorded = |function: &str| {
        kept.iter().any(|record| matches!(record, Record::Value { function: it, .. } if &**it == function))
    };
    for function in ["context.now-ms", "wall-clock", "monotonic-clock"] {
        assert!(recorded(function), "{function}");
    }
    // The same run of the same branch: the same chance.
    assert_eq!(play().0["random"], said["random"]);
}

#[test]
fn envs_are_checked_recorded_and_typed() {
    let env = || FakeEnv::new().file("a.txt", "hello").command(["true"], 0, "", "");
    let with = |task: &str, params: Value| {
        ask_in(Stage::new().agent("worker", &fake()).env("workspace", env()), task, params).unwrap()
    };
    assert_eq!(with("envs/read", json!({ "path": "a.txt" })), json!({ "ok": "hello" }));
    assert_eq!(with("envs/read", json!({ "path": "b.txt" }))["fault"], "not-found");
    assert_eq!(with("envs/write", json!({ "path": "b.txt", "data": "x" })), json!({ "ok": null }));
    assert_eq!(with("envs/exec", json!({ "argv": ["nobody"] }))["status"], 127);
}

#[test]
fn x2_limits_are_those_of_the_branch() {
    let small = Limits { handles: 10, ..Limits::default() };
    let error = runtime().block_on(async {
        let engine = engine_with(small);
        let lab = load(&engine, LAB).await;
        Stage::new().agent("worker", &fake()).params(json!({ "n": 11 })).play(&lab, "sessions/idle").await.unwrap_err()
    });
    assert!(error.message.contains("--limit handles="), "{error}");
}
