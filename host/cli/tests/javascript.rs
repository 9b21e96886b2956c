//! Flows that are JavaScript files, end to end: what the first page of the SDK says, and what a person sees of a mistake.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use program::{Done, Place};
use serde_json::json;

/// Runs `flow.js` with an agent that shouts.
fn exec(place: &Place, task: &str) -> Done {
    let shouts = "agent=script:tr a-z A-Z";
    place.flowhost(&["exec", "-f", "./flow.js", "-a", shouts, "--grant", "unconfined", task])
}

#[test]
fn the_first_flow_of_the_page_answers_what_the_page_says() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-sdk/js/README.md")).unwrap();
    let (_, rest) = page.split_once("```js\n").unwrap();
    let place = Place::plain("flow");
    place.write("flow.js", rest.split_once("```").unwrap().0);
    let done = exec(&place, "What is in src?");
    assert_eq!(done.answer(), json!(["WHAT IS IN SRC?"]));
    assert!(page.contains(r#"The last command answers `["WHAT IS IN SRC?"]`"#));
    let checked = place.flowhost(&["check", "./flow.js"]);
    assert_eq!(checked.exit, 0, "{}", checked.stderr);
    assert!(checked.stdout.contains("Asks one agent about each line of the task"), "{}", checked.stdout);
}

#[test]
fn a_mistake_is_shown_with_its_file_and_line() {
    let place = Place::plain("flow");
    place.write("flow.js", "export default function () {\n  return [1, 2;\n}\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 2, "refused before it starts: {}", done.stderr);
    assert!(done.stderr.contains("SyntaxError: ") && done.stderr.contains("at flow.js:2:15"), "{}", done.stderr);

    place.write("flow.js", "export const manifest = { agents: { agent: [] } };\nexport default async () => {\n  const no = null;\n  no.length;\n};\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 1, "{}", done.stderr);
    assert!(done.stderr.contains("TypeError: ") && done.stderr.contains("(flow.js:4:"), "{}", done.stderr);
}

#[test]
fn a_flow_reaches_no_file_beside_those_of_its_own_kind() {
    let place = Place::plain("flow");
    place.write("secret.txt", "a secret");
    place.write("flow.js", "import './secret.txt';\nexport default () => 1;\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains(r#"flow.js imports "./secret.txt""#), "{}", done.stderr);
    let outside = "import '../flow/flow.js';\nexport default () => 1;\n";
    place.write("flow.js", outside);
    let done = exec(&place, "x");
    assert!(done.stderr.contains("it is not in the flow's folder"), "{}", done.stderr);
}

#[test]
fn the_scenarios_of_the_built_in_flows_hold_for_them_in_javascript() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let place = Place::plain("here");
    for name in ["fanout", "first-failure", "pair", "parts"] {
        let (flow, scenarios) = (format!("{root}/tests/guests-js/{name}.js"), format!("{root}/flows/{name}"));
        let done = place.flowhost(&["test", "-f", &flow, &scenarios]);
        assert_eq!(done.exit, 0, "{name}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(" passed in"), "{name}: {}", done.stdout);
    }
}
