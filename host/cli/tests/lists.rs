//! What the commands that only show something write to stdout.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use insta::assert_snapshot;
use program::Place;
use serde_json::Value;

fn shown(words: &[&str]) -> String {
    let done = Place::plain("here").flowhost(words);
    assert_eq!((done.exit, done.stderr.as_str()), (0, ""), "{words:?}");
    done.stdout
}

#[test]
fn flows_are_listed_with_where_they_come_from() {
    assert_snapshot!(shown(&["flows", "list"]), @"
    NAME           FROM      WHAT IT DOES
    fanout         built in  The task once per Python file that git knows, a session apiece, two at a time.
    first-failure  built in  The task once per Python file that git knows; at the first failure the rest is cancelled.
    lines          built in  One prompt a line of the task, answers in the order of the lines.
    pair           built in  An actor works on the task while a reviewer says what to look at in its work.
    parts          built in  Runs fanout on each line of the task, all of them at once.
    pursue         built in  One agent works towards an objective until a second one finds that it is met.
    ralph          built in  One agent on one task, round after round in a new conversation, until it is done or the budget is spent.
    ");
    let names: Vec<_> = shown(&["flows", "list", "--json"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["fanout", "first-failure", "lines", "pair", "parts", "pursue", "ralph"]);
}

#[test]
fn a_flow_that_cannot_be_run_is_listed_as_that() {
    let place = Place::plain("here");
    place.write(".flowhost/flows/broken.wasm", "nothing");
    let done = place.flowhost(&["flows", "list"]);
    let line = done.stdout.lines().find(|line| line.starts_with("broken")).unwrap();
    assert!(
        line.contains("project") && line.contains("cannot be run: broken: it is not a WebAssembly component"),
        "{line}"
    );
}

#[test]
fn a_flow_shows_what_it_declares() {
    assert_snapshot!(shown(&["flows", "show", "pair"]), @r#"
    pair  built in
    An actor works on the task while a reviewer says what to look at in its work.

    agents
      actor
      reviewer

    envs
      workspace

    flowhost exec -f pair -a actor=demo -a reviewer=demo --budget cost=1 "…"
    "#);
    let manifest: Value = serde_json::from_str(&shown(&["flows", "show", "pair", "--json"])).unwrap();
    assert_eq!(manifest["name"], "pair");
}

#[test]
fn a_check_says_what_a_flow_is_and_touches_without_running_it() {
    let text = shown(&["check", "lines"]);
    for part in ["\ncontract  0.1.0\n", "\ndigest    ", "\nimports\n  flowhost:flow/", "It is built in"] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    let checked: Value = serde_json::from_str(&shown(&["check", "lines", "--json"])).unwrap();
    assert_eq!(checked["digest"].as_str().unwrap().len(), 64);
    let place = Place::plain("here");
    place.write("x.wasm", "nothing");
    assert_eq!(place.flowhost(&["check", "x.wasm"]).exit, 2);
}

#[test]
fn agents_are_listed_with_what_they_can_do() {
    let text = shown(&["agents"]);
    for part in
        ["demo[/MODEL[:EFFORT]]\n", "script:PROGRAM\n", "script+json:PROGRAM\n", "costs nothing", "can cost money"]
    {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert!(!text.contains("fake"), "it is for tests");
    let names: Vec<_> = shown(&["agents", "--json"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["demo", "script", "script+json"]);
}

#[test]
fn completions_and_the_man_page_come_from_the_same_table() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(shown(&["completions", shell]).contains("at-once"), "{shell}");
    }
    assert!(shown(&["man"]).contains("FLOWHOST EXEC"));
}

#[test]
fn help_has_examples_and_every_limit() {
    for words in [
        &["--help"][..],
        &["exec", "--help"],
        &["demo", "--help"],
        &["flows", "list", "--help"],
        &["check", "--help"],
        &["agents", "--help"],
    ] {
        assert!(shown(words).contains("Examples:\n"), "{words:?}");
    }
    let help = shown(&["exec", "--help"]);
    for (name, ..) in flowhost_engine::Limits::TABLE {
        assert!(help.contains(&format!("\n            {name} ")), "{name}");
    }
}
