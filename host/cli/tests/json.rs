//! `--json`: events on stdout, one object a line, the result last.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::collections::HashSet;

use program::{Done, Place, fanout};
use serde_json::{Value, json};

const EVENTS: &str = include_str!("../schema/events.schema.json");
const RECORDS: &str = include_str!("../../journal/schema/records.schema.json");

fn schema() -> jsonschema::Validator {
    let records: Value = serde_json::from_str(RECORDS).unwrap();
    let registry = jsonschema::Registry::new()
        .add("https://flowhost.invalid/host/journal/schema/records.schema.json", records)
        .unwrap()
        .prepare()
        .unwrap();
    jsonschema::options().with_registry(&registry).build(&serde_json::from_str(EVENTS).unwrap()).unwrap()
}

/// The objects, each of which meets the schema; the last is the result.
fn events(done: &Done) -> Vec<Value> {
    let schema = schema();
    let events: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        schema.validate(event).unwrap_or_else(|error| panic!("{event}: {error}"));
    }
    let results: Vec<_> = events.iter().filter(|event| event["type"] == "result").collect();
    assert_eq!(results.len(), 1);
    assert_eq!(events.last().unwrap()["type"], "result");
    assert_eq!(events.last().unwrap()["exit"], done.exit);
    events
}

fn of<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

fn ids<'a>(events: &'a [Value], kind: &'a str, key: &'a str) -> HashSet<&'a str> {
    of(events, kind).filter_map(|event| event[key].as_str()).collect()
}

#[test]
fn every_line_meets_the_schema_and_ids_join_them() {
    let place = Place::repository("repo", &[("a.py", "x = 1\n"), ("b.py", "y = 1\n"), ("c.py", "z = 1\n")]);
    let done = place.flowhost(&fanout(&["--json"]));
    assert_eq!(done.exit, 0);
    assert_eq!(done.stderr, "", "with --json stderr is silent where all is well");
    let events = events(&done);
    assert_eq!(events[0]["type"], "run");
    for (kind, count) in [("branch", 1), ("session", 3), ("turn", 3), ("turn-end", 3), ("budget", 3), ("call", 1)] {
        assert_eq!(of(&events, kind).count(), count, "{kind}");
    }
    let (branches, sessions, turns) =
        (ids(&events, "branch", "branch"), ids(&events, "session", "session"), ids(&events, "turn", "turn"));
    assert!(of(&events, "session").all(|event| branches.contains(event["branch"].as_str().unwrap())));
    assert!(of(&events, "turn").all(|event| sessions.contains(event["session"].as_str().unwrap())));
    for kind in ["event", "turn-end"] {
        assert!(of(&events, kind).all(|event| turns.contains(event["turn"].as_str().unwrap())), "{kind}");
    }
    for tool in ["tool-start", "tool-end", "usage", "text"] {
        assert!(of(&events, "event").any(|event| event["event"] == tool), "{tool}");
    }
    let result = events.last().unwrap();
    assert_eq!(result["run"], events[0]["run"]);
    assert_eq!(result["outcome"]["ok"].as_object().unwrap().len(), 3);
    assert_eq!(result["usage"]["turns"], 3);
    assert!(of(&events, "budget").all(|event| event["left"]["cost"].as_f64().unwrap() < 1.0));
}

#[test]
fn a_failure_is_a_result_too() {
    let place = Place::plain("here");
    place.script("agent.sh", "exit 3\n");
    let words = ["exec", "--json", "-f", "lines", "-a", "agent=script:./agent.sh", "x"];
    let done = place.flowhost(&words);
    assert_eq!(done.exit, 1);
    let events = events(&done);
    assert_eq!(events.last().unwrap()["outcome"]["error"]["kind"], "harness");
}

#[test]
fn a_refusal_is_a_result_too_also_of_words_that_cannot_be_read() {
    let place = Place::plain("here");
    for (words, message) in [
        (vec!["exec", "--json", "-f", "fanuot", "x"], "fanuot: there is no flow of this name"),
        (vec!["exec", "--json", "-f", "fanout", "--bugdet", "1", "x"], "flowhost exec: no flag is called --bugdet"),
    ] {
        let done = place.flowhost(&words);
        assert_eq!(done.exit, 2);
        let events = events(&done);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0]["run"], json!(null));
        assert_eq!(events[0]["outcome"]["error"]["message"], message);
        assert!(events[0]["outcome"]["error"]["hint"].as_str().unwrap().starts_with("Did you mean"));
    }
}
