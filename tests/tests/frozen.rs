//! Components of released contracts, which every later host loads and runs.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod support;

use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::record::Record;
use flowhost_engine::LoadError;
use flowhost_tests::frozen::v0_1_0;
use serde_json::json;
use support::*;

#[test]
fn contract_0_1_0_still_runs() {
    runtime().block_on(async {
        let echo = load(engine(), v0_1_0::ECHO).await;
        assert_eq!(Stage::new().play(&echo, "hello").await.unwrap(), json!("hello"));

        let caller = load(engine(), v0_1_0::CALLER).await;
        assert_eq!(Stage::new().shelved("echo", &echo).play(&caller, "hello").await.unwrap(), json!("hello"));

        let turn = load(engine(), v0_1_0::TURN).await;
        let mut stage = Stage::new().agent("agent", &Fake::new().last_word());
        assert_eq!(stage.play(&turn, "say yes").await.unwrap(), json!("yes"));
        assert_eq!(stage.kept.log(), ["yes"]);

        let wait_any = load(engine(), v0_1_0::WAIT_ANY).await;
        let mut stage = Stage::new().agent("agent", &Fake::new().last_word());
        assert_eq!(stage.play(&wait_any, "say yes").await.unwrap(), json!("yes"));
        // It returns with the first of two; the other may be over before its conversation is opened.
        let turns = stage.kept.0.lock().iter().filter(|record| matches!(record, Record::Turn { .. })).count();
        assert_eq!(turns, 2);

        let command = load(engine(), v0_1_0::COMMAND).await;
        let env = FakeEnv::new().command(["git", "--version"], 0, "git version 2.0.0\n", "");
        assert_eq!(Stage::new().env("workspace", env).play(&command, "").await.unwrap(), json!("git"));
    });
}

/// A call that is refused comes back through the frozen layout of an error.
#[test]
fn contract_0_1_0_still_hands_errors_on() {
    runtime().block_on(async {
        let turn = load(engine(), v0_1_0::TURN).await;
        let failing = Fake::new()
            .reply(flowhost_core::error::Error::harness(flowhost_core::error::HarnessFault::Throttled, "too much"));
        let failed = Stage::new().agent("agent", &failing).play(&turn, "say yes").await.unwrap_err();
        assert_eq!(
            failed,
            flowhost_core::error::Error::harness(flowhost_core::error::HarnessFault::Throttled, "too much")
        );
    });
}

/// It imports every function, with every type, of the contract as it was: a host that lacks one says so before it describes it.
#[test]
fn all_that_contract_0_1_0_offered_is_still_there() {
    runtime().block_on(async {
        let refused = engine().load(v0_1_0::EVERYTHING.to_vec()).await.unwrap_err();
        assert!(matches!(refused, LoadError::Describe(_)), "its describe does nothing but trap: {refused}");
    });
}
