//! `flowhost test`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use insta::assert_snapshot;
use program::{Done, Place};
use serde_json::Value;

/// The folder of the flows of the program.
fn flows() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../flows").canonicalize().unwrap()
}

/// What was written, without the times that it took on this machine.
fn shown(done: &Done) -> String {
    let untimed = |line: &str| match (line.find(", in "), line.rfind(" in ")) {
        (Some(at), _) => line[..at].to_owned(),
        (None, Some(at)) if line.starts_with(|first: char| first.is_ascii_digit()) => line[..at].to_owned(),
        _ => line.to_owned(),
    };
    done.stdout.lines().map(untimed).collect::<Vec<_>>().join("\n")
}

const FANOUT: &str = r#"
flow = "fanout"
task = "annotate"

[agents.agent]
reply = { echo = "last-word" }

[[envs.workspace.commands]]
argv = ["git", "ls-files", "*.py"]
stdout = "a.py\nb.py\n"
"#;

#[test]
fn every_flow_of_the_program_has_scenarios_and_they_hold() {
    let place = Place::plain("here");
    let done = place.flowhost(&["test", "--json", flows().to_str().unwrap()]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
    let lines: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, scenarios) = lines.split_last().unwrap();
    assert_eq!(end["passed"], scenarios.len());
    for (name, _) in flowhost::built_in::flows() {
        let file = format!("{name}.test.toml");
        let own = scenarios.iter().filter(|each| each["file"].as_str().unwrap().ends_with(&file));
        assert!(own.count() > 0, "{name} has no scenarios");
    }
    // Hours of them.
    let hours = scenarios.iter().map(|each| each["virtual-ms"].as_f64().unwrap()).sum::<f64>() / 3.6e6;
    assert!(hours > 5.0, "{hours}");
}

#[test]
fn the_scenarios_of_the_pages_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Place::plain("here");
    let mut examples = 0;
    for page in ["../../README.md", "../testing/SCENARIO.md"] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        for block in text.split("```toml\n").skip(1) {
            place.write(&format!("{examples}.test.toml"), block.split("```").next().unwrap());
            examples += 1;
        }
    }
    assert_eq!(examples, 4);
    let done = place.flowhost(&["test"]);
    assert_eq!(done.exit, 0, "{}{}", done.stdout, done.stderr);
}

#[test]
fn a_report_has_a_line_a_scenario_and_what_differs() {
    let place = Place::plain("here");
    let more = r#"
[[scenario]]
name = "as it is"
expect.result = { "a.py" = "a.py.", "b.py" = "b.py." }

[[scenario]]
name = "as it is not"

[scenario.expect]
result = { "a.py" = "a.py.", "b.py" = "c" }
sessions = 3
log-contains = ["no"]
"#;
    place.write("deep/fanout.test.toml", &format!("{FANOUT}{more}"));
    place.write("target/left-out.test.toml", "not read");
    let done = place.flowhost(&["test"]);
    assert_eq!((done.exit, &*done.stderr), (1, ""));
    assert_snapshot!(shown(&done), @r#"
    ok       deep/fanout.test.toml:12  as it is  0s
    FAILED   deep/fanout.test.toml:16  as it is not  0s
             result (line 20)
                 {
                   "a.py": "a.py.",
               -   "b.py": "c"
               +   "b.py": "b.py."
                 }
             log-contains (line 22): of 0 there is none like these
               - contains "no"
             sessions (line 21): it is 2, and 3 is wanted
             (- expected, + came)

    1 failed, 1 passed
    "#);
    let one = place.flowhost(&["test", "deep", "--filter", "it is"]);
    assert_eq!(one.exit, 1, "both are called so");
    let one = place.flowhost(&["test", "deep/fanout.test.toml", "--filter", "is not"]);
    assert!(one.stdout.ends_with("s\n") && one.stdout.contains("1 failed in"), "{}", one.stdout);
    let none = place.flowhost(&["test", "--filter", "weather"]);
    assert_eq!((none.exit, &*none.stdout), (2, ""));
    assert_snapshot!(none.stderr, @"
    error: --filter weather: none of 2 scenarios is called so
    Hint: It is any part of a scenario's name, or of its file's
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_refused_before_anything_is_played() {
    let place = Place::plain("here");
    place.write("a.test.toml", &format!("{FANOUT}[expect]\nsesions = 2\n"));
    place.write("b.test.toml", FANOUT);
    let done = place.flowhost(&["test"]);
    assert_eq!((done.exit, &*done.stdout), (2, ""));
    assert_snapshot!(done.stderr, @"
    error: a.test.toml:12: expect.sesions: there is no such key
    Hint: Did you mean sessions?
    ");
    let empty = Place::plain("empty").flowhost(&["test"]);
    assert_eq!(empty.exit, 2);
    assert_snapshot!(empty.stderr, @"
    error: .: there is no *.test.toml here, nor below
    Hint: host/testing/SCENARIO.md says how to write one; --from-run makes one of a recorded run
    ");
    assert_eq!(place.flowhost(&["test", "nowhere"]).exit, 2);
}

#[test]
fn a_flow_that_is_not_there_is_refused_and_the_others_are_played() {
    let place = Place::plain("here");
    place.write("a.test.toml", "flow = \"fanuot\"\n");
    place.write("b.test.toml", "flow = \"./no.wasm\"\n");
    place.write("c.test.toml", FANOUT);
    let done = place.flowhost(&["test"]);
    assert_eq!(done.exit, 2);
    assert_snapshot!(shown(&done).replace(place.path().to_str().unwrap(), "…"), @"
    REFUSED  a.test.toml:1  a
             fanuot: there is no flow of this name
             Hint: Did you mean fanout?
    REFUSED  b.test.toml:1  b
             …/./no.wasm: no such file
             Hint: `flowhost flows list` shows what can be run by name
    ok       c.test.toml:1  c  0s

    2 refused, 1 passed
    ");
}

#[test]
fn another_flow_is_tested_with_the_same_file() {
    let place = Place::plain("here");
    place.write("lines.test.toml", "flow = \"lines\"\ntask = \"say one\"\nagents.agent.reply = { echo = \"last-word\" }\nexpect.result = [\"one\"]\n");
    assert_eq!(place.flowhost(&["test"]).exit, 0);
    let done = place.flowhost(&["test", "-f", "built-in:ralph"]);
    assert_eq!(done.exit, 1, "{}", done.stdout);
    assert!(done.stdout.contains("\"rounds\": 25"), "{}", done.stdout);
}

#[test]
fn update_writes_what_came_and_leaves_the_rest() {
    let place = Place::plain("here");
    let own = "[expect]\n# what it says\nresult = {} # by path\nsessions = 1\nprompts = [{ contains = \"a.py\" }]\n";
    let path = place.write("fanout.test.toml", &format!("{FANOUT}\n{own}"));
    let done = place.flowhost(&["test", "--update"]);
    assert_eq!(done.exit, 1, "a pattern is not updated: {}", done.stdout);
    let text = fs::read_to_string(&path).unwrap();
    assert_snapshot!(text.split_once("[expect]").unwrap().1, @r#"
    # what it says
    result = { "a.py" = "a.py.", "b.py" = "b.py." } # by path
    sessions = 2
    prompts = [{ contains = "a.py" }]
    "#);
    fs::write(&path, text.replace("prompts = [{ contains = \"a.py\" }]\n", "peak = 7\n")).unwrap();
    let done = place.flowhost(&["test", "--update"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    assert!(done.stdout.contains("1 updated in"), "{}", done.stdout);
    assert!(place.flowhost(&["test"]).stdout.contains("1 passed in"));
}

#[test]
fn junit_is_written_for_those_who_read_it() {
    let place = Place::plain("here");
    place.write("fanout.test.toml", &format!("{FANOUT}[expect]\nsessions = 3\n"));
    let done = place.flowhost(&["test", "--junit", "report.xml"]);
    assert_eq!(done.exit, 1);
    let report = place.read("report.xml");
    assert!(report.contains("tests=\"1\" failures=\"1\" errors=\"0\""), "{report}");
    assert!(report.contains("sessions (line 12): it is 2, and 3 is wanted"), "{report}");
}

#[test]
fn an_hour_and_a_thousand_turns_take_no_time() {
    let place = Place::plain("here");
    let words: String = (0..1000).map(|nth| format!("word {nth}\n")).collect();
    let text = format!(
        "flow = \"lines\"\ntask = '''{words}'''\nparams.at-once = 10\nagents.agent = {{ reply = {{ echo = \"last-word\" }}, delay = \"36s\" }}\n\
         [expect]\nsessions = 1000\nturns = 1000\npeak = 10\nduration = \"1h\"\n"
    );
    place.write("lines.test.toml", &text);
    let done = place.flowhost(&["test", "--json"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    let scenario: Value = serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap();
    assert!(scenario["ms"].as_f64().unwrap() < 3000.0, "{scenario}");
}

#[test]
fn hundreds_of_scenarios_at_once_are_reported_in_order() {
    let place = Place::plain("here");
    let mut text = FANOUT.to_owned();
    for nth in 0..300 {
        text.push_str(&format!("[[scenario]]\nname = \"{nth}\"\nexpect.sessions = 2\n"));
    }
    place.write("fanout.test.toml", &text);
    let done = place.flowhost(&["test", "--json", "-j", "3"]);
    assert_eq!(done.exit, 0, "{}", done.stdout);
    let names = done.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone());
    let names: Vec<String> = names.filter_map(|name| name.as_str().map(Into::into)).collect();
    assert_eq!(names, (0..300).map(|nth| nth.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_recorded_run_becomes_a_scenario_that_holds() {
    let place = Place::repository("repo", &[("a.py", "A = 1\n"), ("b.py", "B = 2\n")]);
    place.script("../agent.sh", "prompt=$(cat)\ncase \"$prompt\" in *'is b.py.') echo 'the tool died' >&2; exit 3;; esac\necho \"did $(echo \"$prompt\" | tail -1)\"\n");
    let run = |words: &[&str]| {
        let words = [&["exec", "-f"], words].concat();
        place.flowhost(&words)
    };
    assert_eq!(run(&["fanout", "-a", "agent=script:../agent.sh", "-p", "at-once=1", "annotate"]).exit, 0);
    assert_eq!(run(&["parts", "-a", "agent=script:../agent.sh", "one\ntwo"]).exit, 0);
    assert_eq!(run(&["ralph", "-a", "agent=script:cat", "-p", "rounds=2", "-p", "until=exit 3", "go on"]).exit, 0);
    assert_eq!(run(&["lines", "-a", "agent=script:cat", "--budget", "turns=1", "-p", "at-once=1", "a\nb"]).exit, 3);
    let runs = place.runs();
    assert_eq!(runs.len(), 4);
    for (nth, folder) in runs.iter().enumerate() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let made = place.flowhost(&["test", "--from-run", name]);
        assert_eq!(made.exit, 0, "{}", made.stderr);
        place.write(&format!("{nth}.test.toml"), &made.stdout);
        let done = place.flowhost(&["test", &format!("{nth}.test.toml")]);
        assert_eq!(done.exit, 0, "{}\n{}", done.stdout, made.stdout);
    }
    // It is held to what happened.
    let mut texts = (0..runs.len()).map(|nth| place.read(&format!("{nth}.test.toml")));
    let fanout = texts.find(|text| text.contains("flow = \"fanout\"")).unwrap();
    place.write("0.test.toml", &fanout.replacen("text = \"did The file", "text = \"did no file", 1));
    assert_eq!(place.flowhost(&["test", "0.test.toml"]).exit, 1);
    let unknown = place.flowhost(&["test", "--from-run", "20200101-000000-0000"]);
    assert_eq!(unknown.exit, 2);
    assert!(unknown.stderr.contains("this project has no such run"), "{}", unknown.stderr);
}

/// `flowhost test --watch`, and what waits until it has said something.
fn watch(place: &Place) -> (Child, impl Fn(&str)) {
    let mut child = place.program(&["test", "--watch"]).stderr(Stdio::null()).spawn().unwrap();
    let (said, heard) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    let until = Instant::now() + Duration::from_secs(120);
    let wait_for = move |text: &str| loop {
        let line = heard.recv_timeout(until.saturating_duration_since(Instant::now())).expect(text);
        if line.contains(text) {
            break;
        }
    };
    (child, wait_for)
}

#[test]
fn watch_plays_again_when_a_file_changes() {
    let place = Place::plain("here");
    place.write("fanout.test.toml", &format!("{FANOUT}[expect]\nsessions = 3\n"));
    let (mut child, wait_for) = watch(&place);
    wait_for("1 failed in");
    place.write("fanout.test.toml", &format!("{FANOUT}[expect]\nsessions = 2\n# right\n"));
    wait_for("1 passed in");
    place.write("more.test.toml", FANOUT);
    wait_for("2 passed in");
    place.write("more.test.toml", "flow = 1\n");
    std::thread::sleep(Duration::from_millis(600));
    assert!(child.try_wait().unwrap().is_none(), "a file that cannot be read is no end");
    place.write("more.test.toml", FANOUT);
    wait_for("2 passed in");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn watch_follows_what_a_flow_of_source_text_imports_and_a_flow_that_is_broken() {
    let place = Place::plain("here");
    place.write("flow.ts", "import { said } from './words.ts';\nexport default (): string => said;\n");
    place.write("words.ts", "export const said: string = 'one';\n");
    place.write("flow.test.toml", "flow = \"./flow.ts\"\n[expect]\nresult = \"two\"\n");
    let (mut child, wait_for) = watch(&place);
    wait_for("1 failed in");
    place.write("words.ts", "export const said: string = 'two';\n");
    wait_for("1 passed in");
    place.write("flow.ts", "import { said } from './more.ts';\nexport default (): string => said;\n");
    wait_for("1 refused");
    place.write("more.ts", "export const said: string = 'two ';\n");
    wait_for("1 failed in");
    place.write("more.ts", "export const said: string = 'two';\n");
    wait_for("1 passed in");
    child.kill().unwrap();
    child.wait().unwrap();
}
