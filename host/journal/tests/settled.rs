//! $2: what turns of earlier runs of the project cost is known to later ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod sample;

use std::{fs, path::Path, time::Duration};

use flowhost_core::{
    error::Error,
    id::{BranchId, SessionId, TurnId},
    record::{Answer, Key, Observer, Outcome, Record},
    usage::{CostSource, Usage, Usd},
};
use flowhost_journal::settled::{Gathering, KEPT, recent};

/// A run of one session and this many turns, each a cent dearer than the one before.
fn run(runs: &Path, class: &str, costs: std::ops::Range<u32>) {
    let gathering = Gathering::default();
    let see = |record| gathering.record(Duration::ZERO, &record);
    see(Record::Session {
        session: SessionId(1),
        branch: BranchId::root(),
        role: "agent".into(),
        agent: class.into(),
        directory: "/srv".into(),
        nth: 1,
        fork_of: None,
    });
    for cents in costs {
        let turn = |id: u32, error: Option<Error>, usage: Usage| {
            let answer = Answer { text: "done".into(), value: None };
            let outcome = error.map_or(Outcome::Ok(answer), Outcome::Error);
            let (turn, session, branch) = (TurnId(id), SessionId(1), BranchId::root());
            see(Record::Turn { turn, session, branch, key: Key::of(&[]), prompt: "".into(), schema: None });
            see(Record::TurnEnd { turn, outcome, usage });
        };
        let cost = Usd::from_dollars(f64::from(cents) / 100.0);
        let tokens = Usage { turns: 1, output_tokens: cents.into(), ..Usage::default() };
        let cost_source = CostSource::Reported;
        turn(cents, None, Usage { cost, cost_source, ..tokens });
        // These do not show what a turn costs: cut short, without a prompt, without a price.
        turn(1000 + cents, Some(Error::stopped()), Usage { cost_source, ..tokens });
        turn(2000 + cents, None, Usage::default());
        turn(3000 + cents, None, tokens);
        turn(4000 + cents, None, Usage { output_tokens: 0, input_tokens: 5, ..tokens });
    }
    gathering.remember(runs).unwrap();
}

fn cents(runs: &Path, class: &str) -> Vec<u64> {
    let recent = recent(runs);
    let settled = recent.get(class).into_iter().flatten();
    settled
        .map(|each| (each.output_tokens, each.cost))
        .map(|(tokens, cost)| {
            assert_eq!(cost, Usd(tokens * 10_000_000));
            tokens
        })
        .collect()
}

#[test]
fn the_last_twenty_of_a_class_are_known_to_the_next_run() {
    let runs = tempfile::tempdir().unwrap();
    assert!(recent(runs.path()).is_empty());
    run(runs.path(), "claude/opus:high", 1..4);
    run(runs.path(), "codex/gpt:low", 7..8);
    run(runs.path(), "claude/opus:high", 4..6);
    assert_eq!(cents(runs.path(), "claude/opus:high"), [1, 2, 3, 4, 5]);
    assert_eq!(cents(runs.path(), "codex/gpt:low"), [7]);
    assert_eq!(cents(runs.path(), "claude"), Vec::<u64>::new());
    run(runs.path(), "claude/opus:high", 6..50);
    assert_eq!(cents(runs.path(), "claude/opus:high"), (30..50).collect::<Vec<_>>());
    assert_eq!(KEPT, 20);
}

#[test]
fn it_stays_small() {
    let runs = tempfile::tempdir().unwrap();
    for nth in 0..400 {
        run(runs.path(), "claude/opus:high", nth..nth + 30);
    }
    assert_eq!(cents(runs.path(), "claude/opus:high"), (409..429).collect::<Vec<_>>());
    assert!(fs::metadata(runs.path().join("settled.jsonl")).unwrap().len() < (256 << 10) + 4096);
}

#[test]
fn what_came_with_a_repository_is_not_believed() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(theirs.path(), "claude/opus:high", 0..20);
    fs::copy(theirs.path().join("settled.jsonl"), ours.path().join("settled.jsonl")).unwrap();
    assert!(recent(ours.path()).is_empty());
    run(ours.path(), "claude/opus:high", 60..62);
    assert_eq!(cents(ours.path(), "claude/opus:high"), [60, 61]);
}

#[test]
fn a_damaged_line_is_left_out_and_a_damaged_file_begins_anew() {
    let runs = tempfile::tempdir().unwrap();
    run(runs.path(), "demo", 1..3);
    let path = runs.path().join("settled.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"class\":\"demo\",\"cost\":1e999\n{\"cl");
    fs::write(&path, text).unwrap();
    assert_eq!(cents(runs.path(), "demo"), [1, 2]);
    run(runs.path(), "demo", 3..4);
    assert_eq!(cents(runs.path(), "demo"), [1, 2, 3]);
    fs::write(&path, [0u8; 100]).unwrap();
    assert!(recent(runs.path()).is_empty());
    run(runs.path(), "demo", 5..6);
    assert_eq!(cents(runs.path(), "demo"), [5]);
}
