//! Flows that are TypeScript files, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use program::{Done, Place};
use serde_json::json;

/// Runs `flow.ts` with an agent that shouts.
fn exec(place: &Place, task: &str) -> Done {
    let shouts = "agent=script:tr a-z A-Z";
    place.flowhost(&["exec", "-f", "./flow.ts", "-a", shouts, "--grant", "unconfined", task])
}

/// The TypeScript of the SDK's page.
fn page() -> (String, String) {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-sdk/js/README.md")).unwrap();
    let (_, rest) = page.split_once("```ts\n").unwrap();
    let flow = rest.split_once("```").unwrap().0.to_owned();
    (page, flow)
}

#[test]
fn the_flow_of_the_page_runs_and_is_shown() {
    let (_, flow) = page();
    let place = Place::plain("flow");
    place.write("flow.ts", &flow);
    let done = exec(&place, "What is in src?");
    assert_eq!(done.answer(), json!(["WHAT IS IN SRC?"]));
    // From the cache.
    assert_eq!(exec(&place, "What is in src?").answer(), json!(["WHAT IS IN SRC?"]));
    for words in [&["check", "./flow.ts"][..], &["flows", "show", "./flow.ts"]] {
        let shown = place.flowhost(words);
        assert_eq!(shown.exit, 0, "{}", shown.stderr);
        assert!(shown.stdout.contains("Asks one agent about each line of the task"), "{}", shown.stdout);
    }
}

#[test]
fn a_flow_is_found_by_name_and_imports_the_files_beside_it() {
    let place = Place::plain("here");
    place.write(".flowhost/flows/loud/flow.ts", "import { shout } from './shout.js';\nimport type { Context } from 'flowhost';\nexport default (task: string, _: Context): string => shout(task);\n");
    place
        .write(".flowhost/flows/loud/shout.ts", "export const shout = (text: string): string => text.toUpperCase();\n");
    place.write(".flowhost/flows/loud/flowhost.d.ts", "export type Context = enum;\n");
    let done = place.flowhost(&["exec", "-f", "loud", "--grant", "unconfined", "hello"]);
    assert_eq!((done.exit, done.stdout.as_str()), (0, "HELLO\n"), "{}", done.stderr);
    let listed = place.flowhost(&["flows", "list"]);
    assert!(listed.stdout.contains("loud"), "{}", listed.stdout);
}

#[test]
fn a_mistake_is_shown_with_its_file_and_line() {
    let place = Place::plain("flow");
    place.write("flow.ts", "export default function (): number[] {\n  return [1, 2;\n}\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 2, "refused before it starts: {}", done.stderr);
    assert!(done.stderr.contains("SyntaxError: ") && done.stderr.contains("at flow.ts:2:15"), "{}", done.stderr);

    place.write("flow.ts", "export default () => 1;\nenum Color { Red }\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("an enum is more than a type") && done.stderr.contains("at flow.ts:2:1"),
        "{}",
        done.stderr
    );

    place.write("flow.ts", "export const manifest = { agents: { agent: [] as [] } };\nexport default async (): Promise<void> => {\n  const no: any = null;\n  (no as string).length;\n};\n");
    let done = exec(&place, "x");
    assert_eq!(done.exit, 1, "{}", done.stderr);
    assert!(done.stderr.contains("TypeError: ") && done.stderr.contains("(flow.ts:4:"), "{}", done.stderr);
}

#[test]
fn what_is_nested_without_end_is_refused_and_the_program_lives() {
    let place = Place::plain("flow");
    place.write("flow.ts", &format!("export default {}1{};\n", "(".repeat(100_000), ")".repeat(100_000)));
    let done = exec(&place, "x");
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("flow.ts") && done.stderr.contains("nested"), "{}", done.stderr);
}

#[test]
fn a_flow_is_built_into_a_component_without_its_types() {
    let place = Place::plain("here");
    place.write("words.ts", "export const shout = (text: string): string => text.toUpperCase();\n");
    place.write("broken.ts", "enum Color { Red }\n");
    place.write(
        "loud.ts",
        "import { shout } from './words.js';\nexport default (task: string): string => shout(task);\n",
    );
    let built = place.flowhost(&["build", "loud.ts"]);
    assert_eq!(built.exit, 0, "{}", built.stderr);
    let done = place.flowhost(&["exec", "-f", "./loud.wasm", "--grant", "unconfined", "hello"]);
    assert_eq!((done.exit, done.stdout.as_str()), (0, "HELLO\n"), "{}", done.stderr);

    let broken = place.flowhost(&["build", "broken.ts"]);
    assert_eq!(broken.exit, 2, "{}", broken.stderr);
    assert!(broken.stderr.contains("at broken.ts:1:1"), "{}", broken.stderr);
}

#[test]
fn the_scenarios_of_the_built_in_flow_hold_for_it_in_typescript() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let place = Place::plain("here");
    let (flow, scenarios) = (format!("{root}/tests/guests-ts/fanout.ts"), format!("{root}/flows/fanout"));
    let done = place.flowhost(&["test", "-f", &flow, &scenarios]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains(" passed in"), "{}", done.stdout);
}
