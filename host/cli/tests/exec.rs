//! `flowhost exec`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::io::Write as _;

use program::{DOCSTRING, Done, Place, fanout};
use serde_json::json;

const FILES: [(&str, &str); 4] = [
    ("a.py", "def a():\n    return 1\n"),
    ("b.py", "import os\n\n\ndef b():\n    return os.name\n"),
    ("deep/c.py", "C = 1\n"),
    ("d.py", "class D:\n    pass\n"),
];

#[test]
fn fanout_edits_every_file_and_answers_a_map() {
    let place = Place::repository("repo", &FILES);
    let done = place.flowhost(&fanout(&[]));
    let answer = done.answer();
    let answered: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(answered, ["a.py", "b.py", "d.py", "deep/c.py"]);
    for (path, before) in FILES {
        let after = place.read(path);
        assert!(after.starts_with("\"\"\"") && after.ends_with(before), "{path}: {after}");
    }
    // A run leaves a clean repository clean but for what its agents did.
    let changed: Vec<String> = place.git(&["status", "--porcelain"]).lines().map(Into::into).collect();
    assert_eq!(changed, [" M a.py", " M b.py", " M d.py", " M deep/c.py"]);

    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines[..2], ["● agent is working"; 2], "{}", done.stderr);
    assert_eq!(lines.iter().filter(|line| **line == "● agent is working").count(), 4);
    for start in ["● Read(", "● Edit(", "✻ input ", "✻ Worked for "] {
        assert_eq!(lines.iter().filter(|line| line.starts_with(start)).count(), 4, "{start}: {}", done.stderr);
    }
    assert!(!done.stderr.contains('\x1b'), "a pipe is no terminal");
}

#[test]
fn a_path_with_spaces_and_umlauts_is_a_path() {
    let place = Place::repository("mein schönes projekt", &[("größe der dinge.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let done = place.flowhost(&fanout(&[]));
    let answer = done.answer();
    assert_eq!(answer.as_object().unwrap().len(), 2, "{}", done.stdout);
    assert!(place.read("größe der dinge.py").starts_with("\"\"\""), "{}", done.stderr);
}

#[test]
fn a_failed_turn_is_said_and_the_others_are_kept() {
    let place = Place::repository("repo", &FILES);
    place.script(
        "../agent.sh",
        "prompt=$(cat)\ncase \"$prompt\" in *'is b.py.') echo 'the tool died' >&2; exit 3;; esac\necho done\n",
    );
    let words = ["exec", "-f", "fanout", "-a", "agent=script:../agent.sh", "annotate"];
    let done = place.flowhost(&words);
    assert_eq!(done.answer(), json!({ "a.py": "done", "d.py": "done", "deep/c.py": "done" }));
    assert!(done.stderr.lines().any(|line| line.starts_with("│ b.py: failed, ")), "{}", done.stderr);
}

#[test]
fn the_task_is_read_from_stdin_where_it_is_a_dash() {
    let place = Place::plain("here");
    place.script("agent.sh", "tr a-z A-Z\n");
    let words = ["exec", "-f", "lines", "-a", "agent=script:./agent.sh", "-"];
    let mut child = place.program(&words).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let done = Done::of(child.wait_with_output().unwrap());
    assert_eq!(done.answer(), json!(["ONE", "TWO"]), "{}", done.stderr);
}

#[test]
fn params_are_the_flows_and_a_budget_may_stand_among_them() {
    let place = Place::plain("here");
    place.script("agent.sh", "echo ok\n");
    let words = [
        "exec",
        "-f",
        "lines",
        "-a",
        "agent=script:./agent.sh",
        "-p",
        "budget.turns=1",
        "-p",
        "at-once=1",
        "one\ntwo\nthree",
    ];
    let done = place.flowhost(&words);
    assert_eq!(done.exit, 3, "$3: the budget is spent: {}", done.stderr);
    assert!(done.stderr.lines().any(|line| line.starts_with("error: ") && line.contains("turns")), "{}", done.stderr);
    assert!(done.stderr.lines().any(|line| line.starts_with("Hint: ")));
    assert_eq!(done.stdout, "");
}

/// A `script+json` agent that says this line in each turn, and then that it is done.
fn done_after(line: &str) -> String {
    format!("while read -r _; do\n  echo '{line}'\n  echo '{{\"type\":\"answer\",\"text\":\"done\"}}'\ndone\n")
}

#[test]
fn budget_4_an_agent_without_a_price_is_held_by_a_limit_on_cost_until_the_person_lets_it_run() {
    let place = Place::plain("here");
    place.script("nobody.sh", &done_after(r#"{"type":"usage","output-tokens":1000000}"#));
    let opus = r#"{"type":"usage","output-tokens":1000000,"model":"claude-opus-4-1"}"#;
    place.script("opus.sh", &done_after(opus));
    let run = |agent: &str, more: &[&str]| {
        let words = ["exec", "-f", "lines", "-a", agent, "-p", "at-once=1", "one\ntwo\nthree", "--budget", "cost=100"];
        place.flowhost(&[&words, more].concat())
    };
    let held = run("agent=script+json:./nobody.sh", &[]);
    assert_eq!(held.exit, 1, "{}", held.stderr);
    assert!(held.stderr.contains("nobody knows what they cost"), "{}", held.stderr);
    assert!(held.stderr.contains("--unpriced allow"), "{}", held.stderr);
    let let_run = run("agent=script+json:./nobody.sh", &["--unpriced", "allow"]);
    assert_eq!(let_run.answer(), json!(["done", "done", "done"]));
    // A list price: $75 for a million tokens written.
    let priced = run("agent=script+json:./opus.sh", &[]);
    assert_eq!(priced.exit, 3, "{}", priced.stderr);
    assert!(priced.stderr.contains("$150"), "{}", priced.stderr);
}

#[test]
fn an_env_is_a_directory_that_the_person_names() {
    let place = Place::repository("repo", &FILES);
    let words =
        ["exec", "-f", "fanout", "-e", "workspace=local:deep", "-a", "agent=demo", "--demo-speed", "0", DOCSTRING];
    let done = place.flowhost(&words);
    assert_eq!(done.answer().as_object().unwrap().keys().collect::<Vec<_>>(), ["c.py"]);
    assert_eq!(place.runs().len(), 1, "the record is the project's, whatever the workspace");
}

#[test]
fn a_flow_that_loads_another_runs_on_a_machine_that_knows_neither() {
    let place = Place::repository("repo", &FILES);
    let cache = place.path().with_file_name("cache");
    let words = ["exec", "-f", "parts", "-a", "agent=demo", "--demo-speed", "0", DOCSTRING];
    let done = Done::of(place.program(&words).env("XDG_CACHE_HOME", cache).output().unwrap());
    assert_eq!(done.exit, 0, "{}", done.stderr);
}

#[test]
fn an_answer_that_could_not_be_written_is_a_failure() {
    let place = Place::plain("here");
    for more in [&[][..], &["--json"]] {
        let words = [&["exec", "-f", "lines", "-a", "agent=script:cat", "one"], more].concat();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = Done::of(place.program(&words).stdout(full).output().unwrap());
        assert_eq!(done.exit, 1, "{}", done.stderr);
        assert!(done.stderr.contains("the answer could not be written to stdout"), "{}", done.stderr);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_with_a_hint() {
    let place = Place::plain("here");
    let program = env!("CARGO_BIN_EXE_flowhost");
    let script = format!("ulimit -f 16; yes word | head -2000 | {program} exec -f lines -a agent=script:cat -");
    // With nothing in the cache, so that the flow is compiled and described under it too.
    let mut shell = place.program(&[]);
    shell.env("XDG_CACHE_HOME", place.path().with_file_name("cache"));
    let environment: Vec<_> =
        shell.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(place.path()).env_clear().envs(environment);
    let done = Done::of(shell.output().unwrap());
    assert_eq!(done.exit, 1, "{}", done.stderr);
    assert!(done.stderr.contains("raise the limit on the size of files (ulimit -f)"), "{}", done.stderr);
}

#[test]
fn budget_2_one_program_shows_nothing_of_what_another_costs() {
    let place = Place::plain("here");
    place.script("free.sh", &done_after(r#"{"type":"text","text":"free"}"#));
    place.script("dear.sh", &done_after(r#"{"type":"usage","output-tokens":10,"cost":0.6}"#));
    let hundred = vec!["word"; 100].join("\n");
    let run = |agent: &str| place.flowhost(&["exec", "-f", "lines", "-a", agent, "--budget", "cost=1", &hundred]);
    let free = run("agent=script+json:./free.sh");
    assert_eq!(free.exit, 0, "{}", free.stderr);
    let dear = run("agent=script+json:./dear.sh");
    assert_eq!(dear.exit, 3, "{}", dear.stderr);
    let answers = dear.stderr.lines().filter(|line| line.starts_with("● done")).count();
    assert!(answers <= 2, "$2: {answers} turns of $0.60 under $1");
}
