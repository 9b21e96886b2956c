//! `fanout`, compiled, on fakes: what the first document of the project shows of it.

#![allow(clippy::unwrap_used, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "a test reads what is written about a flow")]

mod support;

use std::time::Duration;

use flowhost_agents::fake::{Fake, FakeEnv, Pattern};
use flowhost_core::{
    clock::Clock,
    error::{Error, HarnessFault},
};
use flowhost_tests::{flows::FANOUT, guests::README};
use serde_json::json;
use support::*;

fn four_files() -> FakeEnv {
    FakeEnv::new().command(["git", "ls-files", "*.py"], 0, "a.py\nb.py\nc.py\nd.py\n", "")
}

#[test]
fn every_file_gets_a_session_two_at_a_time() {
    runtime().block_on(async {
        let fanout = load(engine(), FANOUT).await;
        for (gate, peak) in [(None, 2), (Some(4), 4)] {
            let fake = Fake::new().last_word().delay(&Clock::system(), Duration::from_millis(10));
            let params = gate.map_or(json!({}), |gate| json!({ "at-once": gate }));
            let mut stage = Stage::new().agent("agent", &fake).env("workspace", four_files()).params(params);
            let said = stage.play(&fanout, "annotate").await.unwrap();
            assert_eq!(said, json!({"a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py.", "d.py": "d.py."}));
            assert_eq!(fake.sessions().len(), 4);
            assert_eq!(fake.peak_turns(), peak, "a gate of {gate:?}");
            assert_eq!(fake.peak_sessions(), peak, "a session is opened inside the gate and closed by its end");
        }
    });
}

#[test]
fn a_failed_turn_is_reported_and_the_rest_carry_on() {
    runtime().block_on(async {
        let fanout = load(engine(), FANOUT).await;
        let died = Error::harness(HarnessFault::Other, "the CLI died mid-turn");
        let fake = Fake::new().reply("done").when(Pattern::ends_with("b.py."), died);
        let mut stage = Stage::new().agent("agent", &fake).env("workspace", four_files());
        let said = stage.play(&fanout, "annotate").await.unwrap();
        assert_eq!(said, json!({"a.py": "done", "c.py": "done", "d.py": "done"}));
        assert_eq!(stage.kept.log(), ["b.py: failed, the CLI died mid-turn"]);
    });
}

#[test]
fn a_command_that_the_fake_env_does_not_know_exits_127() {
    runtime().block_on(async {
        let fanout = load(engine(), FANOUT).await;
        let mut stage = Stage::new().agent("agent", &Fake::new()).env("workspace", FakeEnv::new());
        let failed = stage.play(&fanout, "annotate").await.unwrap_err();
        assert!(failed.message.contains("127"), "{failed}");
    });
}

#[test]
fn the_flow_of_the_readme_is_built_as_it_stands_there_and_does_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(folder.join("../README.md")).unwrap();
    let source = std::fs::read_to_string(folder.join("guests/readme/src/lib.rs")).unwrap();
    let (_, flow) = source.split_once("\n\n").unwrap();
    assert!(page.contains(&format!("```rust\n{flow}```")), "it is not what the README says");
    runtime().block_on(async {
        let flow = load(engine(), README).await;
        let mut stage = Stage::new().agent("agent", &Fake::new().last_word()).env("workspace", four_files());
        let said = stage.play(&flow, "annotate").await.unwrap();
        assert_eq!(said, json!({"a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py.", "d.py": "d.py."}));
    });
}
