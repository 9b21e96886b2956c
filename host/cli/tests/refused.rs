//! What is refused before anything starts: exit 2, one line and a hint.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use insta::assert_snapshot;
use program::Place;

fn refused(words: &[&str]) -> String {
    let place = Place::repository("repo", &[("a.py", "x = 1\n")]);
    refused_at(&place, words)
}

fn refused_at(place: &Place, words: &[&str]) -> String {
    let done = place.flowhost(words);
    assert_eq!(done.exit, 2, "{words:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{words:?}");
    assert!(!place.path().join(".flowhost/runs").exists(), "{words:?}: nothing may have started");
    let starts: Vec<_> = done.stderr.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(starts.ends_with(&["error:", "Hint:"]) && starts.len() == 2, "{words:?}: {}", done.stderr);
    done.said(place)
}

#[test]
fn roles_and_agents() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agnet=demo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "pair", "-a", "actor=demo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=dmeo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "demo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-a", "agent=demo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=script:./nobody.sh", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=claude", "x"]), @"");
}

#[test]
fn flows() {
    assert_snapshot!(refused(&["exec", "-f", "fanuot", "-a", "agent=demo", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "./nothing.wasm", "-a", "agent=demo", "x"]), @"");
    let place = Place::plain("here");
    place.write("text.wasm", "no component");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "text.wasm", "-a", "agent=demo", "x"]), @"");
}

#[test]
fn envs() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=local:nowhere", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=local:a.py", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspac=local:.", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=ssh:host:/srv", "x"]), @"");
}

#[test]
fn params_and_limits() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-p", "width=3", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "-p", "at-once=many", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "-p", "at-onec=3", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--limit", "memroy=1GiB", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--limit", "memory=much", "x"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--grant", "hom=read", "x"]), @"");
}

#[test]
fn dollar_4_what_can_cost_money_has_a_budget() {
    let place = Place::plain("here");
    place.script("agent.sh", "cat >/dev/null\n");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "lines", "-a", "agent=script+json:./agent.sh", "x"]), @"");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "lines", "-a", "agent=demo", "--budget", "costs=1", "x"]), @"");
}

#[test]
fn words_that_are_misspelt() {
    assert_snapshot!(refused(&["exce"]), @"");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "--bugdet", "cost=1", "x"]), @"");
    assert_snapshot!(refused(&["flows", "shwo", "fanout"]), @"");
}
