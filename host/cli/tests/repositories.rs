//! Repositories of the real world: one clear line each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use program::{Done, Place, fanout};

fn error(done: &Done) -> String {
    assert_eq!(done.exit, 1, "{}", done.stderr);
    let errors: Vec<_> = done.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{}", done.stderr);
    errors[0].to_owned()
}

#[test]
fn one_without_a_commit_has_files_once_they_are_added() {
    let place = Place::plain("repo");
    place.git(&["init", "--quiet"]);
    place.write("a.py", "x = 1\n");
    let done = place.flowhost(&fanout(&[]));
    assert_eq!(done.answer(), serde_json::json!({}));
    assert!(done.stderr.starts_with("│ git knows no Python files here\n"), "{}", done.stderr);
    place.git(&["add", "a.py"]);
    assert_eq!(place.flowhost(&fanout(&[])).answer().as_object().unwrap().len(), 1);
}

#[test]
fn a_bare_one_has_no_files_and_that_is_said() {
    let place = Place::plain("repo.git");
    place.git(&["init", "--quiet", "--bare"]);
    let done = place.flowhost(&fanout(&[]));
    assert_eq!(done.answer(), serde_json::json!({}));
    assert!(done.stderr.starts_with("│ git knows no Python files here\n"), "{}", done.stderr);
}

#[test]
fn no_repository_at_all_is_said_by_the_flow_that_needs_one() {
    let place = Place::plain("here");
    place.write("a.py", "x = 1\n");
    let error = error(&place.flowhost(&fanout(&[])));
    assert!(error.contains("not a git repository"), "{error}");
    // A flow that needs none works.
    let words =
        ["exec", "-f", "lines", "-a", "agent=demo", "--demo-speed", "0", "Add a one-line module docstring to `a.py`."];
    assert_eq!(place.flowhost(&words).answer().as_array().unwrap().len(), 1);
    assert!(place.read("a.py").starts_with("\"\"\""));
}

#[test]
fn without_git_the_flow_that_needs_it_says_so() {
    let place = Place::repository("repo", &[("a.py", "x = 1\n")]);
    let empty = place.above().join("no programs");
    std::fs::create_dir(&empty).unwrap();
    let done = Done::of(place.program(&fanout(&[])).env("PATH", &empty).output().unwrap());
    let error = error(&done);
    assert!(error.contains("git: no such program on PATH"), "{error}");
}
