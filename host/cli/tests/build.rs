//! `flowhost new` and `flowhost build`, end to end: from nothing to a flow that runs. Python's are in `python.rs`, with its runner.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::{
    fs,
    path::{Path, PathBuf},
};

use insta::assert_snapshot;
use program::{
    Place,
    building::{build, c_is_there},
};
use serde_json::{Value, json};

/// `exec` of a flow by an agent that works at once, on three lines.
fn exec(place: &Place, flow: &str) -> Vec<Value> {
    let words =
        ["exec", "-f", flow, "-a", "agent=demo", "--demo-speed", "0", "--budget", "cost=1", "--grant", "unconfined"];
    let task = "Add a one-line module docstring to a.py.\n\nWhat is in b.py?\nWhat is in a.py?";
    let done = place.flowhost(&[&words[..], &[task]].concat());
    done.answer().as_array().unwrap().clone()
}

/// What a flow declares.
fn manifest(place: &Place, flow: &str) -> Value {
    let done = place.flowhost(&["check", flow, "--json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    serde_json::from_str::<Value>(&done.stdout).unwrap()["manifest"].clone()
}

fn repository() -> Place {
    Place::repository("repo", &[("a.py", "A = 1\n"), ("b.py", "B = 2\n")])
}

/// All that is to hold of a new flow once its component, or its file, is there.
fn holds(place: &Place, flow: &str) {
    let tested = place.flowhost(&["test", "survey"]);
    assert_eq!(tested.exit, 0, "{}{}", tested.stdout, tested.stderr);
    assert!(tested.stdout.contains("2 passed"), "{}", tested.stdout);
    assert_eq!(exec(place, flow).len(), 3);
    assert!(place.read("a.py").starts_with("\"\"\""), "the agent worked where the person stands");
}

#[test]
fn a_new_flow_in_javascript_runs_as_it_is_and_as_a_component() {
    let place = repository();
    let done = place.flowhost(&["new", "survey", "--lang", "js"]);
    assert_eq!((done.exit, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    assert_snapshot!(done.stderr, @r"
    survey has a flow, a test of it, and a README that says what to do:

      cd survey
      flowhost test
    ");
    holds(&place, "./survey");

    let done = place.flowhost(&["build", "survey"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with("survey  survey/survey.wasm\nAsks one agent about each line"), "{}", done.stdout);
    assert_eq!(manifest(&place, "survey/survey.wasm"), manifest(&place, "survey/flow.js"));
    assert_eq!(exec(&place, "survey/survey.wasm").len(), 3);
    let tested = place.flowhost(&["test", "-f", "survey/survey.wasm", "survey"]);
    assert_eq!(tested.exit, 0, "{}{}", tested.stdout, tested.stderr);
    let imports = place.flowhost(&["check", "survey/survey.wasm"]).stdout;
    assert!(imports.contains("flowhost:flow/agents@") && !imports.contains("flowhost:flow/source@"), "{imports}");
}

#[test]
fn what_lies_beside_a_flow_is_in_its_component() {
    let place = Place::plain("here");
    place.write("words.js", "export const shout = (text) => text.toUpperCase();\n");
    place.write("data.json", r#"{ "mark": "!" }"#);
    let flow = "import { shout } from './words.js';\nimport data from './data.json';\nexport default (task) => shout(task) + data.mark;\n";
    place.write("loud.js", flow);
    let done = place.flowhost(&["build", "loud.js", "--out", "out.wasm", "--json"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    let built: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&built["path"], &built["name"]), (&json!("out.wasm"), &json!("loud")));
    assert_eq!(built["size"], json!(fs::metadata(place.path().join("out.wasm")).unwrap().len()));
    for name in ["words.js", "data.json", "loud.js"] {
        fs::remove_file(place.path().join(name)).unwrap();
    }
    let run = |task: &str| place.flowhost(&["exec", "-f", "./out.wasm", "--grant", "unconfined", task]);
    assert_eq!(run("grüß dich").stdout, "GRÜSS DICH!\n");

    // A mistake at run time still has its file and line.
    place.write("loud.js", "export default (task) => null.length;\n");
    assert_eq!(place.flowhost(&["build", "loud.js", "--out", "out.wasm"]).exit, 0);
    let done = run("x");
    assert_eq!(done.exit, 1);
    assert!(done.stderr.contains("TypeError: ") && done.stderr.contains("(loud.js:1:"), "{}", done.stderr);
    // One that asks for a file which was not there does not.
    place.write("loud.js", "export default async () => (await import('./late.js')).default;\n");
    assert_eq!(place.flowhost(&["build", "loud.js", "--out", "out.wasm"]).exit, 0);
    place.write("late.js", "export default 1;\n");
    let done = run("x");
    assert!(done.stderr.contains("no such file beside the flow"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_built_leaves_what_was_there() {
    let place = Place::plain("here");
    place.write("flow.js", "export default () => [1, 2;\n");
    place.write("flow.wasm", "the last that was good");
    let done = place.flowhost(&["build", "flow.js"]);
    assert_eq!((done.exit, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("SyntaxError: ") && done.stderr.contains("at flow.js:1:"), "{}", done.stderr);
    assert_eq!(place.read("flow.wasm"), "the last that was good");
    place.write("flow.js", "export default () => 1;\n");
    std::os::unix::net::UnixListener::bind(place.path().join("socket.wasm")).unwrap();
    for (out, why) in [
        ("/dev/null", "a component's file ends in .wasm"),
        ("flow.js", "a component's file ends in .wasm"),
        ("socket.wasm", "there is something that is no file"),
    ] {
        let done = place.flowhost(&["build", "--out", out]);
        assert_eq!((done.exit, done.stdout.as_str()), (2, ""), "{out}");
        assert!(done.stderr.contains(why), "{out}: {}", done.stderr);
    }
    fs::remove_file(place.path().join("socket.wasm")).unwrap();
    let done = place.flowhost(&["build", "--out", "nowhere/flow.wasm"]);
    assert_eq!(done.exit, 1);
    assert!(done.said(&place).ends_with("--out FILE says where else it is to be written\n"), "{}", done.stderr);
    let done = place.flowhost(&["build"]);
    assert!(done.stderr.contains("./here.wasm"), "`flow` would hide what it is built from: {}", done.stderr);
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn what_is_no_flow_and_what_is_no_name_are_refused_with_what_to_do() {
    let place = Place::plain("here");
    let refused = |words: &[&str]| {
        let done = place.flowhost(words);
        assert_eq!((done.exit, done.stdout.as_str()), (2, ""), "{words:?}: {}", done.stderr);
        done.said(&place)
    };
    assert_snapshot!(refused(&["build"]), @r"
    error: .: there is no flow in this folder
    Hint: A flow to build is a folder with a Cargo.toml, a flow.c, a flow.py, a flow.js or a flow.ts in it, or such a file itself; `flowhost new` makes one
    ");
    assert_snapshot!(refused(&["new", "My Flow", "--lang", "c"]), @r#"
    error: "My Flow": a flow's name is lower-case letters, digits and `-`, begins with a letter, and has 64 at most
    Hint: Did you mean my-flow?
    "#);
    assert_snapshot!(refused(&["new", "survey", "--lang", "pyhton"]), @r#"
    error: flowhost new: --lang LANGUAGE: "pyhton" is not one of its values
    Hint: Did you mean python?
    "#);
    assert_snapshot!(refused(&["new", "survey"]), @r"
    error: flowhost new: --lang LANGUAGE is missing
    Hint: `flowhost new --help` says what there is
    ");
    place.write("survey/notes.md", "mine");
    assert_snapshot!(refused(&["new", "survey", "--lang", "js"]), @r"
    error: survey: this folder is not empty: it has notes.md
    Hint: A new flow has a new folder, or an empty one
    ");
    assert_eq!(place.read("survey/notes.md"), "mine");
}

#[test]
fn a_flow_that_is_not_built_yet_is_said_to_be_so() {
    let place = Place::plain("here");
    assert_eq!(place.flowhost(&["new", "survey", "--lang", "c"]).exit, 0);
    let done = place.flowhost(&["test", "survey"]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stdout.contains("`flowhost build survey` makes it"), "{}{}", done.stdout, done.stderr);
    let done = place.flowhost(&["exec", "-f", "./survey/survey.wasm", "x"]);
    assert!(done.stderr.contains("`flowhost build ./survey` makes it"), "{}", done.stderr);
}

#[test]
fn a_new_flow_in_rust_is_built_by_cargo() {
    let place = repository();
    assert_eq!(place.flowhost(&["new", "survey", "--lang", "rust"]).exit, 0);
    let done = build(&place, &["survey"]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with("survey  survey/survey.wasm\n"), "{}", done.stdout);
    holds(&place, "./survey/survey.wasm");
    // What the SDK was tested with is what is built: cargo had nothing to change.
    let locked = place.read("survey/Cargo.lock");
    let ours = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
    let packages = locked.split("[[package]]\n").filter(|package| package.contains("\nchecksum = "));
    assert!(packages.clone().count() > 20, "{locked}");
    for package in packages {
        // What only other parts of the workspace ask of it is not asked here.
        let version = package.split("\ndependencies = ").next().unwrap_or_default().trim_end();
        assert!(ours.contains(version), "{package}");
    }

    // Its compiler's errors are passed on, and the component that was there stays.
    let text = place.read("survey/src/lib.rs").replace("at_once(2)", "at_once(two)");
    place.write("survey/src/lib.rs", &text);
    let done = build(&place, &["survey"]);
    assert_eq!((done.exit, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("cannot find value `two`") && done.stderr.contains("src/lib.rs:"), "{}", done.stderr);
    holds(&place, "./survey/survey.wasm");

    let manifest = place.read("survey/Cargo.toml").replace("crate-type = [\"cdylib\"]\n", "");
    place.write("survey/Cargo.toml", &manifest);
    place.write("survey/src/lib.rs", "");
    let done = build(&place, &["survey"]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("it makes no component") && done.stderr.contains("cdylib"), "{}", done.stderr);
}

#[test]
fn a_new_flow_in_c_is_built_by_a_compiler_that_is_installed_once() {
    let place = repository();
    assert_eq!(place.flowhost(&["new", "survey", "--lang", "c"]).exit, 0);
    if !c_is_there(&build(&place, &["survey"])) {
        return;
    }
    holds(&place, "./survey/survey.wasm");
    let size = fs::metadata(place.path().join("survey/survey.wasm")).unwrap().len();
    assert!(size < 60_000, "{size} bytes");

    place.write("survey/more.c", "int more(void) { return missing; }\n");
    let done = build(&place, &["survey"]);
    assert_eq!((done.exit, done.stdout.as_str()), (1, ""));
    assert!(done.stderr.contains("more.c:1:") && done.stderr.contains("missing"), "{}", done.stderr);
    place.write("survey/more.c", "#include <stdio.h>\nvoid more(void);\n__attribute__((export_name(\"more\"))) void more(void) { puts(\"x\"); }\n");
    let done = build(&place, &["survey"]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("fd_write") && done.stderr.contains("fh_log"), "{}", done.stderr);
    holds(&place, "./survey/survey.wasm");
}

#[test]
fn the_first_flow_of_the_page_of_c_answers_what_the_page_says() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-sdk/c/README.md")).unwrap();
    let (_, rest) = page.split_once("```c\n").unwrap();
    let place = Place::plain("here");
    place.write("survey.c", rest.split_once("```").unwrap().0);
    if !c_is_there(&build(&place, &["survey.c"])) {
        return;
    }
    let words =
        ["exec", "-f", "./survey.wasm", "-a", "agent=script:tr a-z A-Z", "--grant", "unconfined", "What is in src?"];
    assert_eq!(place.flowhost(&words).answer(), json!(["WHAT IS IN SRC?"]));
    assert!(page.contains(r#"The last command answers `["WHAT IS IN SRC?"]`"#));
}

/// A flow of `tests/guests-c`, built in a place of its own. None where there is no C compiler.
fn guest(name: &str) -> Option<Place> {
    let place = Place::plain("here");
    let text = fs::read_to_string(guests().join(name).with_extension("c")).unwrap();
    place.write(&format!("{name}.c"), &text);
    c_is_there(&build(&place, &[&format!("{name}.c")])).then_some(place)
}

fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/guests-c")
}

#[test]
fn flows_in_c_pass_the_scenarios_of_those_in_rust() {
    let flows = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../flows").canonicalize().unwrap();
    for name in ["fanout", "first-failure", "pair", "parts"] {
        let Some(place) = guest(name) else { return };
        let scenarios = flows.join(name);
        let done = place.flowhost(&["test", "-f", &format!("./{name}.wasm"), scenarios.to_str().unwrap()]);
        assert_eq!(done.exit, 0, "{name}: {}{}", done.stdout, done.stderr);
    }
}

#[test]
fn the_sdk_of_c_does_what_its_header_says() {
    let Some(place) = guest("lab") else { return };
    let scenarios = fs::read_to_string(guests().join("lab.scenarios.toml")).unwrap();
    place.write("lab.test.toml", &scenarios);
    let done = place.flowhost(&["test"]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(
        manifest(&place, "./lab.wasm")["description"],
        json!("Does what its task says: \"quotes\", a\nline, and true, null.")
    );
}
