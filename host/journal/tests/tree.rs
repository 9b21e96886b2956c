//! J3: a run is read back as the tree it ran as.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod sample;

use std::time::Duration;

use flowhost_core::{
    error::{Error, HarnessFault},
    harness::Event,
    id::{BranchId, CallId, SessionId, TurnId},
    record::{Answer, Key, LogSource, Outcome, Record},
    usage::{Limits, Usage, Usd},
};
use flowhost_journal::{Span, Tree};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn span(began: u64, ended: u64) -> Span {
    Span { began: ms(began), ended: Some(ms(ended)) }
}

fn cents(turns: u32, cents: u64) -> Usage {
    Usage { turns, cost: Usd(cents * 10_000_000), ..Usage::default() }
}

fn branch(id: &BranchId, parent: Option<&BranchId>, flow: &str) -> Record {
    Record::Branch {
        branch: id.clone(),
        parent: parent.cloned(),
        flow: flow.into(),
        digest: "00".into(),
        key: Key::of(&[]),
        task: "a task".into(),
        params: sample::json("{}"),
        limits: Limits::default(),
    }
}

fn session(id: u32, branch: &BranchId, nth: u32) -> Record {
    Record::Session {
        session: SessionId(id),
        branch: branch.clone(),
        role: "agent".into(),
        agent: "demo".into(),
        directory: "/srv".into(),
        nth,
        fork_of: None,
    }
}

fn turn(id: u32, session: u32, branch: &BranchId) -> Record {
    Record::Turn {
        turn: TurnId(id),
        session: SessionId(session),
        branch: branch.clone(),
        key: Key::of(&[]),
        prompt: format!("prompt {id}").into(),
        schema: None,
    }
}

fn turn_end(id: u32, usage: Usage) -> Record {
    Record::TurnEnd { turn: TurnId(id), outcome: Outcome::Ok(Answer { text: "done".into(), value: None }), usage }
}

/// A run of `parts`, which called `fanout` twice; the second was going when the host was cut off.
fn cut_off() -> Vec<(Duration, Record)> {
    let root = BranchId::root();
    let (one, two) = (root.call(1), root.call(2));
    let t = TurnId;
    vec![
        (ms(0), sample::records().remove(0)),
        (ms(0), branch(&root, None, "parts")),
        (ms(1), branch(&one, Some(&root), "fanout")),
        (
            ms(2),
            Record::Call {
                call: CallId(1),
                branch: one.clone(),
                function: "env.exec".into(),
                key: Key::of(&[]),
                label: "git ls-files".into(),
                repeatable: false,
            },
        ),
        (ms(2), branch(&two, Some(&root), "fanout")),
        (ms(5), Record::CallEnd { call: CallId(1), outcome: Outcome::Ok(sample::json("{\"status\":0}")) }),
        (ms(6), session(1, &one, 1)),
        (ms(6), turn(1, 1, &one)),
        (ms(6), Record::Waiting { turn: t(1), why: Some("budget".into()) }),
        (ms(7), session(2, &two, 1)),
        (ms(7), turn(2, 2, &two)),
        (ms(9), Record::Waiting { turn: t(1), why: None }),
        (ms(9), Record::Native { session: SessionId(1), native: "abc".into() }),
        (
            ms(10),
            Record::Event {
                turn: t(1),
                event: Event::ToolStart { tool: "x".into(), name: "Read".into(), label: "Read(a)".into() },
            },
        ),
        (
            ms(11),
            Record::Event {
                turn: t(2),
                event: Event::ToolStart { tool: "x".into(), name: "Bash".into(), label: "Bash(ls)".into() },
            },
        ),
        (ms(12), Record::Event { turn: t(1), event: Event::ToolEnd { tool: "x".into(), ok: true } }),
        (ms(12), Record::Event { turn: t(2), event: Event::Usage { usage: cents(0, 7) } }),
        (ms(14), Record::Again { turn: t(1), why: "schema".into(), prompt: "once more".into() }),
        (ms(16), turn_end(1, cents(2, 30))),
        (ms(16), Record::Delivered { branch: one.clone(), of: "t1".into() }),
        (ms(17), turn(3, 1, &one)),
        (
            ms(18),
            Record::TurnEnd {
                turn: t(3),
                outcome: Outcome::Error(Error::harness(HarnessFault::Killed, "the CLI died mid-turn")),
                usage: cents(1, 5),
            },
        ),
        (ms(18), Record::Log { branch: one.clone(), line: "a.py: failed".into(), from: LogSource::Log }),
        (ms(19), Record::SessionEnd { session: SessionId(1) }),
        (ms(20), Record::BranchEnd { branch: one, outcome: Outcome::Ok(sample::json("{}")), usage: cents(3, 35) }),
    ]
}

#[test]
fn branches_sessions_turns_and_tools_have_their_places_times_and_outcomes() {
    let tree = Tree::from_records(cut_off());
    assert_eq!(tree.run, Some(sample::run_id()));
    assert_eq!((tree.reference.as_deref(), tree.started_ms), (Some("fanout"), Some(1_767_225_600_000)));
    let [root, one, two] = &tree.branches[..] else { panic!("{tree:?}") };
    assert_eq!((&root.branches[..], root.parent, &*root.flow), (&[1, 2][..], None, "parts"));
    assert_eq!((&one.sessions[..], one.parent, one.span), (&[0][..], Some(0), span(1, 20)));
    assert!(matches!(one.outcome, Some(Outcome::Ok(_))));
    assert_eq!((one.calls.len(), &*one.calls[0].label, one.calls[0].span), (1, "git ls-files", span(2, 5)));
    assert_eq!((one.log[0].0, &*one.log[0].2), (ms(18), "a.py: failed"));
    assert_eq!((&two.sessions[..], two.span.ended), (&[1][..], None));

    let [first, second] = &tree.sessions[..] else { panic!("{tree:?}") };
    assert_eq!((first.branch, &first.turns[..], first.native.as_deref()), (Some(1), &[0, 2][..], Some("abc")));
    assert_eq!((first.span, first.usage), (span(6, 19), cents(3, 35)));
    assert_eq!((second.branch, &second.turns[..]), (Some(2), &[1][..]));

    let [repaired, going, failed] = &tree.turns[..] else { panic!("{tree:?}") };
    assert_eq!((repaired.span, repaired.waited, repaired.again.len()), (span(6, 16), ms(3), 1));
    assert_eq!((&*repaired.prompt, repaired.usage), ("prompt 1", cents(2, 30)));
    let tool = &repaired.tools[0];
    assert_eq!((&*tool.label, tool.span, tool.ok), ("Read(a)", span(10, 12), Some(true)));
    assert_eq!((going.tools[0].ok, going.tools[0].span.ended), (None, None));
    assert!(matches!(&failed.outcome, Some(Outcome::Error(error)) if error.message == "the CLI died mid-turn"));
}

#[test]
fn what_a_run_that_was_cut_off_spent_is_added_up() {
    let tree = Tree::from_records(cut_off());
    assert!(tree.end.is_none());
    assert_eq!(tree.branches[1].usage, cents(3, 35));
    assert_eq!(tree.branches[2].usage, cents(0, 7));
    assert_eq!((tree.branches[0].usage, tree.usage), (cents(3, 42), cents(3, 42)));
    assert_eq!(tree.last, ms(20));
}

#[test]
fn a_run_that_ended_says_itself_what_it_spent() {
    let mut records = cut_off();
    records.push((ms(21), Record::Stop { why: "ctrl-c".into() }));
    let outcome = Outcome::Error(Error::stopped());
    records.push((ms(22), Record::End { outcome, usage: cents(9, 99), exit: 130 }));
    let tree = Tree::from_records(records);
    assert_eq!(tree.stopped.as_deref(), Some("ctrl-c"));
    assert!(matches!(tree.end, Some((Outcome::Error(_), 130))));
    assert_eq!((tree.usage, tree.last), (cents(9, 99), ms(22)));
}

#[test]
fn records_that_refer_to_nothing_are_left_out_and_a_deep_chain_is_no_trouble() {
    let tree = Tree::from_records(sample::records().into_iter().skip(4).map(|record| (ms(1), record)));
    assert!(tree.branches.is_empty());
    assert!(tree.sessions.iter().all(|session| session.branch.is_none()));
    let id = |nth: u32| BranchId(format!("1.{nth}").into());
    let chain = (0..100_000).map(|nth| (ms(1), branch(&id(nth + 1), Some(&id(nth)), "deep")));
    assert_eq!(Tree::from_records(chain).branches.len(), 100_000);
}
