//! Flows that are Python files, end to end, on a runner that the program itself makes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::path::Path;

use program::{Done, Place, python::installed};
use serde_json::json;

const FANOUT: &str = include_str!("../../../tests/guests-py/fanout.py");

/// Runs `flow.py` with an agent that shouts.
fn exec(place: &Place, data: &str, task: &str) -> Done {
    let shouts = "agent=script:tr a-z A-Z";
    let words = ["exec", "-f", "./flow.py", "-a", shouts, "--grant", "unconfined", task];
    Done::of(place.program(&words).env("XDG_DATA_HOME", data).output().unwrap())
}

#[test]
fn without_a_runner_the_command_that_makes_it_is_named() {
    let place = Place::plain("flow");
    place.write("flow.py", FANOUT);
    let done = exec(&place, place.above().to_str().unwrap(), "x");
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("`flowhost runner install python` makes it"), "{}", done.stderr);
}

#[test]
fn a_fan_out_in_asyncio_takes_a_session_a_file_and_two_at_a_time() {
    let Some(data) = installed() else { return };
    let place = Place::repository("flow", &[("a.py", ""), ("b.py", ""), ("c.py", "")]);
    place.write("flow.py", FANOUT);
    let done = exec(&place, data, "shout");
    let answers = done.answer();
    assert_eq!(answers["a.py"], json!("SHOUT\n\nTHE FILE IS A.PY."));
    assert_eq!(answers.as_object().unwrap().len(), 3, "{answers}");
    let checked = Done::of(place.program(&["check", "./flow.py"]).env("XDG_DATA_HOME", data).output().unwrap());
    assert!(checked.stdout.contains("The task once per Python file"), "{}{}", checked.stdout, checked.stderr);
}

/// The flows of this program that are written in Python too.
const TWINS: [&str; 7] = ["fanout", "first-failure", "lines", "pair", "parts", "pursue", "ralph"];

#[test]
fn the_scenarios_of_the_flows_hold_in_python() {
    let Some(data) = installed() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let place = Place::plain("flow");
    for name in TWINS {
        let (twin, flow) = (root.join(format!("tests/guests-py/{name}.py")), root.join("flows").join(name));
        let words = ["test", "-f", twin.to_str().unwrap(), flow.to_str().unwrap()];
        let done = Done::of(place.program(&words).env("XDG_DATA_HOME", data).output().unwrap());
        assert_eq!(done.exit, 0, "{name}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(" passed in "), "{name}: {}", done.stdout);
    }
}

#[test]
fn a_flow_imports_the_modules_beside_it_and_reaches_nothing_else() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    place.write("words.py", "def shout(text):\n    return text.upper()\n");
    let flow =
        "from flowhost import flow\nimport words\n\n\n@flow\nasync def main(task, cx):\n    return words.shout(task)\n";
    place.write("flow.py", flow);
    let run = || {
        Done::of(
            place
                .program(&["exec", "-f", "./flow.py", "--grant", "unconfined", "hello"])
                .env("XDG_DATA_HOME", data)
                .output()
                .unwrap(),
        )
    };
    let done = run();
    assert_eq!((done.exit, done.stdout.as_str()), (0, "HELLO\n"), "{}", done.stderr);
    for reaches in [
        "open('/etc/passwd').read()",
        "__import__('os').listdir('/')",
        "__import__('socket').create_connection(('127.0.0.1', 1))",
    ] {
        place.write("words.py", &format!("def shout(text):\n    return str({reaches})\n"));
        let done = run();
        assert_eq!(done.exit, 1, "{reaches}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains("words.py"), "{reaches}: the author's own file is named: {}", done.stderr);
    }
}

#[test]
fn a_mistake_is_shown_with_its_file_and_line() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    let cases = [
        ("def main(:\n", 2, &["SyntaxError", "flow.py", "line 1"][..]),
        ("import nowhere\n", 2, &["No module named 'nowhere'", "line 1"]),
        (
            "from flowhost import flow\n\n\n@flow\nasync def main(task, cx):\n    return [][1]\n",
            1,
            &["IndexError", "line 6"],
        ),
    ];
    for (text, exit, says) in cases {
        place.write("flow.py", text);
        let words = ["exec", "-f", "./flow.py", "--grant", "unconfined", "x"];
        let done = Done::of(place.program(&words).env("XDG_DATA_HOME", data).output().unwrap());
        assert_eq!(done.exit, exit, "{text}: {}", done.stderr);
        assert!(says.iter().all(|each| done.stderr.contains(each)), "{text}: {}", done.stderr);
    }
}

#[test]
fn a_new_flow_in_python_runs_as_it_is_and_as_a_component() {
    let Some(data) = installed() else { return };
    let place = Place::repository("repo", &[("a.py", "A = 1\n")]);
    let run = |words: &[&str]| Done::of(place.program(words).env("XDG_DATA_HOME", data).output().unwrap());
    let new = run(&["new", "survey", "--lang", "python"]);
    assert_eq!(new.exit, 0, "{}", new.stderr);
    let exec = |flow: &str| {
        let words = ["exec", "-f", flow, "-a", "agent=demo", "--demo-speed", "0", "--grant", "unconfined"];
        run(&[&words[..], &["Add a one-line module docstring to a.py.\nWhat is in a.py?"]].concat()).answer()
    };
    let tested = run(&["test", "survey"]);
    assert_eq!(tested.exit, 0, "{}{}", tested.stdout, tested.stderr);
    assert_eq!(exec("./survey").as_array().unwrap().len(), 2);

    let built = run(&["build", "survey"]);
    assert_eq!(built.exit, 0, "{}", built.stderr);
    let manifest = |flow: &str| {
        let checked = run(&["check", flow, "--json"]).stdout;
        serde_json::from_str::<serde_json::Value>(&checked).unwrap()["manifest"].clone()
    };
    assert_eq!(manifest("survey/survey.wasm"), manifest("survey/flow.py"));
    assert_eq!(exec("./survey/survey.wasm").as_array().unwrap().len(), 2);
    let tested = run(&["test", "-f", "survey/survey.wasm", "survey"]);
    assert_eq!(tested.exit, 0, "{}{}", tested.stdout, tested.stderr);
}

#[test]
fn what_is_no_runner_is_not_installed() {
    let place = Place::plain("flow");
    place.write("no.wasm", "no");
    let install = |file: &Path| {
        let words = ["runner", "install", "python", "--from", file.to_str().unwrap()];
        place.flowhost(&words)
    };
    let done = install(&place.path().join("no.wasm"));
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("not WebAssembly"), "{}", done.stderr);
    assert_eq!(install(&place.path().join("nowhere.wasm")).exit, 2);
    assert_eq!(place.flowhost(&["runner", "list"]).stdout, "");
}
