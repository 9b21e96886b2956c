//! Flows that are Python files, end to end, on a runner that the program itself makes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::path::Path;

use program::{Done, Place, python::installed};
use serde_json::json;

const FANOUT: &str = include_str!("../../../tests/guests-py/fanout.py");

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The program in a place, on the runner that is installed there.
fn flowhost(place: &Place, data: &str, words: &[&str]) -> Done {
    Done::of(place.program(words).env("XDG_DATA_HOME", data).output().unwrap())
}

/// Runs `flow.py` with an agent that shouts.
fn exec(place: &Place, data: &str, task: &str) -> Done {
    let shouts = "agent=script:tr a-z A-Z";
    flowhost(place, data, &["exec", "-f", "./flow.py", "-a", shouts, "--grant", "unconfined", task])
}

/// Plays a file of scenarios of `tests/guests-py`.
fn holds(file: &str) {
    let Some(data) = installed() else { return };
    let path = Path::new(ROOT).join("tests/guests-py").join(file).canonicalize().unwrap();
    let done = flowhost(&Place::plain("flow"), data, &["test", path.to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains(" passed in "), "{}", done.stdout);
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
    let checked = flowhost(&place, data, &["check", "./flow.py"]);
    assert!(checked.stdout.contains("The task once per Python file"), "{}{}", checked.stdout, checked.stderr);
}

/// The flows of this program that are written in Python too.
const TWINS: [&str; 7] = ["fanout", "first-failure", "lines", "pair", "parts", "pursue", "ralph"];

#[test]
fn the_scenarios_of_the_flows_hold_in_python() {
    let Some(data) = installed() else { return };
    let root = Path::new(ROOT).canonicalize().unwrap();
    let place = Place::plain("flow");
    for name in TWINS {
        let (twin, flow) = (root.join(format!("tests/guests-py/{name}.py")), root.join("flows").join(name));
        let done = flowhost(&place, data, &["test", "-f", twin.to_str().unwrap(), flow.to_str().unwrap()]);
        assert_eq!(done.exit, 0, "{name}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(" passed in "), "{name}: {}", done.stdout);
    }
}

#[test]
fn asyncio_is_whole() {
    holds("asyncio.test.toml");
}

#[test]
fn the_contract_holds_and_wrong_arguments_are_said() {
    holds("contract.test.toml");
}

#[test]
fn what_goes_wrong_is_an_error_that_says_where() {
    holds("mistakes.test.toml");
}

#[test]
fn x2_a_hostile_flow_reaches_nothing_and_is_cut() {
    holds("hostile.test.toml");
}

#[test]
fn a_plain_function_waits() {
    holds("plain.test.toml");
}

#[test]
fn the_first_flow_of_the_page_answers_what_the_page_says() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("guest-sdk/python/README.md")).unwrap();
    let Some(data) = installed() else { return };
    let (_, rest) = page.split_once("```python\n").unwrap();
    let place = Place::plain("flow");
    place.write("flow.py", rest.split_once("```").unwrap().0);
    assert_eq!(exec(&place, data, "What is in src?").answer(), json!(["WHAT IS IN SRC?"]));
    assert!(page.contains(r#"The last command answers `["WHAT IS IN SRC?"]`"#));
    let checked = flowhost(&place, data, &["check", "./flow.py"]);
    assert!(
        checked.stdout.contains("Asks one agent about each line of the task"),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
}

/// Names in backquotes of the item of the page that begins so.
fn named(page: &str, item: &str) -> Vec<String> {
    let (_, rest) = page.split_once(item).unwrap();
    let names = rest.split("\n- ").next().unwrap().split("\n\n").next().unwrap();
    let modules = |name: &&str| name.chars().all(|each| each.is_ascii_alphanumeric() || "._".contains(each));
    names.split('`').skip(1).step_by(2).filter(modules).map(str::to_owned).collect()
}

#[test]
fn the_standard_library_is_there_as_the_page_says() {
    let page = std::fs::read_to_string(Path::new(ROOT).join("guest-sdk/python/README.md")).unwrap();
    let Some(data) = installed() else { return };
    let (there, nothing, not) =
        (named(&page, "\n- There:"), named(&page, "\n- Imports, and"), named(&page, "\n- Not there:"));
    assert!(there.len() > 25 && nothing.len() > 5 && not.len() > 10, "{there:?} {nothing:?} {not:?}");
    let place = Place::plain("flow");
    let flow = "import importlib\nfrom flowhost import flow\n\n\n@flow\nasync def main(task, cx):\n    found = {}\n    for name in task.split():\n        \
                try:\n            found[name] = importlib.import_module(name) is not None\n        except ImportError:\n            found[name] = False\n    \
                return found\n";
    place.write("flow.py", flow);
    let tried = [there.clone(), nothing.clone(), not.clone()].concat().join(" ");
    let found = flowhost(&place, data, &["exec", "-f", "./flow.py", "--grant", "unconfined", &tried]).answer();
    for (names, is) in [(there, true), (nothing, true), (not, false)] {
        for name in names {
            assert_eq!(found[&name], json!(is), "{name}");
        }
    }
}

#[test]
fn an_answer_of_five_megabytes_comes_whole() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    place.write(
        "flow.py",
        "from flowhost import flow\n\n\n@flow\nasync def main(task, cx):\n    return 'ü' * 2_500_000\n",
    );
    let done = flowhost(&place, data, &["exec", "-f", "./flow.py", "--grant", "unconfined", "x"]);
    assert_eq!((done.exit, done.stdout.len()), (0, 5_000_001), "{}", done.stderr);
}

#[test]
fn two_that_install_at_once_do_not_disturb_each_other() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    let listed = flowhost(&place, data, &["runner", "list", "--json"]);
    let runner: serde_json::Value = serde_json::from_str(listed.stdout.lines().last().unwrap()).unwrap();
    let words = ["runner", "install", "python", "--from", runner["path"].as_str().unwrap()];
    let fresh = place.above().join("data");
    let both: Vec<_> = (0..2).map(|_| place.program(&words).env("XDG_DATA_HOME", &fresh).spawn().unwrap()).collect();
    for each in both {
        let done = Done::of(each.wait_with_output().unwrap());
        assert_eq!(done.exit, 0, "{}", done.stderr);
    }
    place.write("flow.py", "from flowhost import flow\n\n\n@flow\nasync def main(task, cx):\n    return task\n");
    let fresh = fresh.to_str().unwrap();
    assert_eq!(flowhost(&place, fresh, &["runner", "list", "--json"]).stdout.lines().count(), 1);
    let done = flowhost(&place, fresh, &["exec", "-f", "./flow.py", "--grant", "unconfined", "it runs"]);
    assert_eq!((done.exit, &*done.stdout), (0, "it runs\n"), "{}", done.stderr);
}

#[test]
fn a_flow_imports_the_modules_beside_it_and_reaches_nothing_else() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    place.write("words.py", "def shout(text):\n    return text.upper()\n");
    let flow =
        "from flowhost import flow\nimport words\n\n\n@flow\nasync def main(task, cx):\n    return words.shout(task)\n";
    place.write("flow.py", flow);
    let run = || flowhost(&place, data, &["exec", "-f", "./flow.py", "--grant", "unconfined", "hello"]);
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

/// Flows that cannot be read, and what is said of each.
const REFUSED: [(&str, &[&str]); 16] = [
    ("def main(:\n", &["SyntaxError: ", "File \"flow.py\", line 1"]),
    ("def main():\nreturn 1\n", &["IndentationError: ", "line 2"]),
    ("x = '\\ud800'.encode()\n", &["UnicodeEncodeError: ", "File \"flow.py\", line 1, in <module>"]),
    ("import nowhere\n", &["No module named 'nowhere': a flow imports files beside it", "line 1"]),
    ("import below.module\n", &["No module named 'below'"]),
    ("from . import words\n", &["ImportError: attempted relative import"]),
    ("import ctypes\n", &["No module named 'ctypes'"]),
    (
        "import broken\n",
        &["NameError: name 'nothing' is not defined", "File \"broken.py\", line 2", "File \"flow.py\", line 1"],
    ),
    ("x = 1\n", &["no function in it is declared a flow", "put @flow over it"]),
    (
        "from flowhost import flow\n@flow\nasync def a(task): pass\n@flow\nasync def b(task): pass\n",
        &["it declares 2 flows, a (line 2), b (line 4); a file has one"],
    ),
    ("from flowhost import flow\n@flow\nasync def a(task, cx, more): pass\n", &["the parameter more is one too many"]),
    (
        "from flowhost import flow\n@flow\nasync def a(task):\n    yield 1\n",
        &["a flow returns its answer; this one yields"],
    ),
    (
        "from flowhost import flow\n@flow(agents={'a': {'colour': 1}})\nasync def a(task): pass\n",
        &["agents['a'] has no colour"],
    ),
    ("from flowhost import flow\n@flow(params=object)\nasync def a(task): pass\n", &["has no JSON Schema here"]),
    ("import flowhost\nflowhost.log('x')\n", &["describe is pure, and this flow calls context.log in it"]),
    ("import sys\nsys.exit(1)\n", &["the flow called exit(1)"]),
];

#[test]
fn a_flow_that_cannot_be_read_is_refused_with_file_and_line() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    place.write("broken.py", "# A neighbour.\nnothing\n");
    for (text, says) in REFUSED {
        place.write("flow.py", text);
        let done = flowhost(&place, data, &["check", "./flow.py"]);
        assert_eq!(done.exit, 2, "{text}: {}", done.stderr);
        for each in says {
            assert!(done.stderr.contains(each), "{text}: {each} is not in {}", done.stderr);
        }
    }
    place.write("flow.py", "x = 'no text'\n");
    std::fs::write(place.path().join("flow.py"), b"x = '\xff'\n").unwrap();
    let done = flowhost(&place, data, &["check", "./flow.py"]);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("flow.py: it is not the text that it says"), "{}", done.stderr);
}

#[test]
fn x2_a_flow_that_never_ends_is_cut_while_it_is_read() {
    let Some(data) = installed() else { return };
    let place = Place::plain("flow");
    place.write("flow.py", "while True:\n    pass\n");
    let words = ["exec", "-f", "./flow.py", "--grant", "unconfined", "--limit", "cpu-time=1s", "x"];
    let done = flowhost(&place, data, &words);
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert!(done.stderr.contains("the flow exceeded its limit cpu-time of 1s"), "{}", done.stderr);
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
