//! `flowhost demo`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use program::{Done, Place};

fn demo(place: &Place) -> std::process::Command {
    let mut command = place.program(&["demo", "--demo-speed", "10"]);
    command.env("TMPDIR", place.above());
    command
}

#[test]
fn it_shows_the_lines_the_diff_the_tree_and_what_to_type_next() {
    let place = Place::plain("here");
    let done = Done::of(demo(&place).output().unwrap());
    let answer = done.answer();
    let files: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(files, ["tally/cli.py", "tally/ledger.py", "tally/money.py", "tally/report.py", "tests/test_ledger.py"]);

    let folder = done.stderr.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert!(folder.starts_with(place.above().to_str().unwrap()), "{folder}");
    for file in &files {
        let text = std::fs::read_to_string(std::path::Path::new(folder).join(file)).unwrap();
        assert!(text.starts_with("\"\"\""), "{file}: {text}");
        assert!(done.stderr.contains(&format!("diff --git a/{file} b/{file}")), "{file}");
    }
    for part in [
        "● agent is working\n● agent is working\n",
        "\nWhat it changed\n",
        "\n+\"\"\"",
        "\nHow it ran\nfanout · answered after ",
        "├─ agent · conversation 1 of 5 · demo\n",
        "\nWhat to try next\n",
        "flowhost exec -f fanout -a agent=demo --budget cost=1 ",
    ] {
        assert!(done.stderr.contains(part), "{part:?} is missing in\n{}", done.stderr);
    }
}

#[test]
fn without_git_it_says_so_and_leaves_nothing() {
    let place = Place::plain("here");
    let done = Done::of(demo(&place).env("PATH", place.path()).output().unwrap());
    assert_eq!(done.exit, 2, "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 2, "{}", done.stderr);
    assert!(done.stderr.starts_with("error: git: "), "{}", done.stderr);
    let left: Vec<_> = std::fs::read_dir(place.above()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("flowhost-demo-")), "{left:?}");
}
