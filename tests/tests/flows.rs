//! The flows of the program beside `fanout`, compiled, on fakes.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "a test reads what is written about a flow")]

mod support;

use std::{path::Path, time::Duration};

use flowhost_agents::fake::{Fake, FakeEnv, Pattern, Said, Then};
use flowhost_core::{
    clock::Clock,
    error::{Error, HarnessFault, Kind},
    record::Record,
    run::Flow,
    usage::Limits as Budget,
};
use flowhost_tests::flows;
use serde_json::{Value, json};
use support::*;

/// Runs a flow with the stage's params and gives what it came to.
fn play(stage: &mut Stage, flow: &[u8], task: &str) -> Result<Value, Error> {
    runtime().block_on(async {
        let flow = load(engine(), flow).await;
        stage.play(&flow, task).await
    })
}

fn files(names: &str) -> FakeEnv {
    FakeEnv::new().command(["git", "ls-files", "*.py"], 0, names, "")
}

fn slow(fake: Fake) -> Fake {
    fake.delay(&Clock::system(), Duration::from_millis(10))
}

fn died() -> Error {
    Error::harness(HarnessFault::Other, "the CLI died mid-turn")
}

#[test]
fn every_flow_has_the_name_of_its_folder_and_a_page_that_names_its_roles_and_params() {
    runtime().block_on(async {
        for (name, bytes) in flows::ALL {
            let flow = load(engine(), bytes).await;
            let manifest = flow.manifest();
            assert_eq!(manifest.name, *name);
            assert!(!manifest.description.is_empty() && !manifest.hidden, "{name}");
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../flows").join(name).join("README.md");
            let page = std::fs::read_to_string(page).unwrap();
            assert!(page.contains(&format!("flowhost exec -f {name} ")), "{name}: a command to begin with");
            let roles =
                manifest.agents.iter().map(|role| &role.name).chain(manifest.envs.iter().map(|role| &role.name));
            let params = manifest.params.as_ref().and_then(|schema| schema.value()["properties"].as_object());
            for word in roles.chain(params.into_iter().flat_map(|all| all.keys())) {
                assert!(page.contains(&format!("`{word}`")), "{name}: its page says nothing of {word}");
            }
        }
    });
}

#[test]
fn pair_takes_both_turns_at_once_and_says_who_said_what() {
    let (actor, reviewer) = (slow(Fake::new().reply("done it")), slow(Fake::new().reply("look at the end")));
    let mut stage = Stage::new().agent("actor", &actor).agent("reviewer", &reviewer).env("workspace", FakeEnv::new());
    let said = play(&mut stage, flows::PAIR, "Mend the parser.").unwrap();
    assert_eq!(said, json!({ "actor": "done it", "reviewer": "look at the end" }));
    assert_eq!(actor.prompts()[0].prompt, "Mend the parser.");
    assert!(reviewer.prompts()[0].prompt.ends_with("\n\nMend the parser."));
    let started = |record: &Record| matches!(record, Record::Turn { .. });
    let ended = |record: &Record| matches!(record, Record::TurnEnd { .. });
    let records = stage.kept.0.lock();
    let first_end = records.iter().position(ended).unwrap();
    assert_eq!(records[..first_end].iter().filter(|record| started(record)).count(), 2, "both were going at once");
}

#[test]
fn first_failure_tells_the_rest_to_stop_and_says_how_many_failed() {
    let fake = Fake::new()
        .reply(Said::never())
        .when(Pattern::ends_with("b.py."), Said::from(died()).after(Duration::from_millis(20)));
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", files("a.py\nb.py\nc.py\nd.py\n"));
    stage = stage.params(json!({ "at-once": 4 }));
    let failed = play(&mut stage, flows::FIRST_FAILURE, "annotate").unwrap_err();
    assert_eq!(failed, died(), "B4: the first error is the flow's, as it was raised");
    assert_eq!(fake.interrupted(), 3);
    assert_eq!(stage.kept.log(), ["1 failed, 0 answered, 3 cancelled"]);
}

#[test]
fn first_failure_without_a_failure_is_a_map() {
    let fake = Fake::new().last_word();
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", files("a.py\nb.py\nc.py\n"));
    let said = play(&mut stage, flows::FIRST_FAILURE, "annotate").unwrap();
    assert_eq!(said, json!({ "a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py." }));
}

#[test]
fn parts_are_branches_of_their_own_that_go_at_once() {
    runtime().block_on(async {
        let fanout = load(engine(), flows::FANOUT).await;
        let parts = load(engine(), flows::PARTS).await;
        let fake = slow(Fake::new().reply("seen"));
        let mut stage =
            Stage::new().agent("agent", &fake).env("workspace", files("a.py\nb.py\n")).shelved("fanout", &fanout);
        let said = stage.play(&parts, "the parser\n\nthe printer").await.unwrap();
        assert_eq!(said, json!([{ "a.py": "seen", "b.py": "seen" }, { "a.py": "seen", "b.py": "seen" }]));
        let prompts: Vec<_> = fake.prompts().into_iter().map(|asked| asked.prompt).collect();
        assert_eq!(prompts.iter().filter(|prompt| prompt.starts_with("the parser\n\n")).count(), 2);
        assert_eq!(prompts.iter().filter(|prompt| prompt.starts_with("the printer\n\n")).count(), 2);
        assert_eq!(fake.peak_turns(), 4, "two parts, two turns each");
    });
}

#[test]
fn ralph_goes_on_with_a_fresh_mind_until_the_agent_says_that_it_is_done() {
    let fake = Fake::new().replies(["one thing", "another", "nothing is left.\nDONE"], Then::Fail);
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", FakeEnv::new());
    let ended = play(&mut stage, flows::RALPH, "Make the tests pass.").unwrap();
    assert_eq!(ended, json!({ "done": true, "rounds": 3, "said": "nothing is left.\nDONE" }));
    assert_eq!(fake.sessions().len(), 3, "a conversation a round");
    assert!(fake.prompts().iter().all(|asked| asked.prompt.starts_with("Make the tests pass.\n\n")));
}

#[test]
fn ralph_reads_past_a_failed_turn_and_stops_after_its_rounds() {
    let fake = Fake::new().replies([Said::from("one"), Said::from(died()), Said::from("three")], Then::Fail);
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", FakeEnv::new()).params(json!({ "rounds": 3 }));
    let ended = play(&mut stage, flows::RALPH, "Go on.").unwrap();
    assert_eq!(ended, json!({ "done": false, "rounds": 3, "said": "three" }));
    assert_eq!(stage.kept.log(), ["round 2: failed, the CLI died mid-turn"]);
}

#[test]
fn ralph_asks_a_script_whether_it_is_done_where_there_is_one() {
    for (script, done, rounds) in [("cargo test", true, 1), ("never", false, 2)] {
        let fake = Fake::new().reply("DONE");
        let env = FakeEnv::new().command(["bash", "-c", "cargo test"], 0, "", "");
        let params = json!({ "until": script, "rounds": 2 });
        let mut stage = Stage::new().agent("agent", &fake).env("workspace", env).params(params);
        let ended = play(&mut stage, flows::RALPH, "Go on.").unwrap();
        assert_eq!(ended, json!({ "done": done, "rounds": rounds, "said": "DONE" }), "{script}");
        assert_eq!(fake.prompts()[0].prompt, "Go on.");
    }
}

#[test]
fn ralph_ends_well_when_the_budget_is_spent() {
    let fake = Fake::new().reply("more to do");
    let budget = Budget { turns: Some(2), ..Budget::default() };
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", FakeEnv::new()).budget(budget);
    let ended = play(&mut stage, flows::RALPH, "Go on.").unwrap();
    assert_eq!(ended, json!({ "done": false, "rounds": 2, "said": "more to do" }));
}

#[test]
fn lines_are_answered_in_order_by_one_call_of_the_host() {
    let fake = slow(Fake::new().last_word());
    let mut stage = Stage::new().agent("agent", &fake).env("workspace", FakeEnv::new()).params(json!({ "at-once": 2 }));
    let said = play(&mut stage, flows::LINES, "say one\n\nsay two\nsay three\n").unwrap();
    assert_eq!(said, json!(["one", "two", "three"]));
    assert_eq!((fake.sessions().len(), fake.peak_turns()), (3, 2));
}

#[test]
fn lines_fail_by_the_first_failure_or_keep_it_in_its_place() {
    let fake = || Fake::new().last_word().when(Pattern::ends_with("two"), died());
    let mut stage = Stage::new().agent("agent", &fake()).env("workspace", FakeEnv::new());
    assert_eq!(play(&mut stage, flows::LINES, "one\ntwo\nthree").unwrap_err(), died());
    let mut stage = Stage::new().agent("agent", &fake()).env("workspace", FakeEnv::new());
    stage = stage.params(json!({ "suppress": true }));
    let said = play(&mut stage, flows::LINES, "one\ntwo\nthree").unwrap();
    assert_eq!(said, json!(["one", { "failed": "the CLI died mid-turn" }, "three"]));
}

#[test]
fn pursue_hands_what_the_judge_misses_to_the_worker_until_nothing_is_missing() {
    let worker = Fake::new().replies(["first try", "second try"], Then::Fail);
    let verdicts = [json!({ "missing": "a test of add", "met": false }), json!({ "missing": "", "met": true })];
    let judge = Fake::new().replies(verdicts, Then::Fail);
    let mut stage = Stage::new().agent("worker", &worker).agent("judge", &judge).env("workspace", FakeEnv::new());
    let ended = play(&mut stage, flows::PURSUE, "Every function has a test.").unwrap();
    assert_eq!(ended, json!({ "met": true, "rounds": 2, "missing": "", "said": "second try" }));
    assert_eq!(worker.sessions().len(), 1, "the worker keeps its conversation");
    assert_eq!(judge.sessions().len(), 2, "the judge looks anew");
    let prompts = worker.prompts();
    assert_eq!(prompts[0].prompt, "Every function has a test.");
    assert!(prompts[1].prompt.contains("a test of add"));
    assert!(judge.prompts()[1].prompt.contains("second try"));
}

#[test]
fn pursue_does_not_take_an_answer_without_the_shape_for_a_verdict() {
    let judge = Fake::new().reply("looks fine to me");
    let mut stage = Stage::new().agent("worker", &Fake::new()).agent("judge", &judge).env("workspace", FakeEnv::new());
    let failed = play(&mut stage, flows::PURSUE, "Every function has a test.").unwrap_err();
    assert!(matches!(failed.kind, Kind::Harness(failure) if failure.fault == HarnessFault::BadOutput), "{failed:?}");
}
