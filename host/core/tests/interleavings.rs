//! S1, S6, S7: whatever order a flow does things in, no conversation ever has two turns, and nothing is left at the end.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod support;

use std::{sync::atomic::Ordering, time::Duration};

use flowhost_core::{
    error::{Kind, SessionFault},
    harness::Steer,
    session::{SessionHandle, WhenBusy},
    turn::{TurnHandle, TurnOptions},
};
use proptest::prelude::*;
use support::*;

/// One thing that a flow does; numbers choose among the handles that it holds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Spawn { queue: bool },
    Start { session: usize, prompt: usize },
    Steer { session: usize },
    Cancel { turn: usize },
    Fork { session: usize },
    DropSession { session: usize },
    DropTurn { turn: usize },
    Close { session: usize },
    Wait { turn: usize },
    Sleep { ms: u64 },
    Yield,
}

fn step() -> impl Strategy<Value = Step> {
    let one = 0..8usize;
    prop_oneof![
        2 => any::<bool>().prop_map(|queue| Step::Spawn { queue }),
        8 => (one.clone(), 0..5usize).prop_map(|(session, prompt)| Step::Start { session, prompt }),
        2 => one.clone().prop_map(|session| Step::Steer { session }),
        3 => one.clone().prop_map(|turn| Step::Cancel { turn }),
        2 => one.clone().prop_map(|session| Step::Fork { session }),
        1 => one.clone().prop_map(|session| Step::DropSession { session }),
        2 => one.clone().prop_map(|turn| Step::DropTurn { turn }),
        1 => one.clone().prop_map(|session| Step::Close { session }),
        1 => one.prop_map(|turn| Step::Wait { turn }),
        2 => (1..6u64).prop_map(|ms| Step::Sleep { ms }),
        3 => Just(Step::Yield),
    ]
}

const PROMPTS: [&str; 5] = ["say it", "after a while", "fail", "hang", "steered"];

fn plan(prompt: &str) -> Act {
    match prompt {
        "after a while" => Act::After(3, "late".into()),
        "fail" => Act::Fail(flowhost_core::error::Error::other("no")),
        "hang" => Act::Hang,
        "steered" => Act::Steered,
        _ => Act::Say("it".into()),
    }
}

async fn play(steps: Vec<Step>) {
    let bench = Bench::new(plan);
    let root = flow("root", move |branch, _| {
        let steps = steps.clone();
        async move {
            let agent = agent(&branch)?;
            let mut sessions: Vec<SessionHandle> = Vec::new();
            let mut turns: Vec<TurnHandle> = Vec::new();
            let mut refused = 0;
            for step in steps {
                match step {
                    Step::Spawn { queue } => {
                        let when_busy = if queue { WhenBusy::Queue } else { WhenBusy::Refuse };
                        sessions.push(agent.spawn(None, when_busy)?.handle());
                    }
                    Step::Start { session, prompt } => {
                        let Some(session) = sessions.get(session) else { continue };
                        match session.start(PROMPTS[prompt].into(), TurnOptions::default()) {
                            Ok(turn) => turns.push(turn.handle()),
                            Err(error) => {
                                assert!(
                                    matches!(error.kind, Kind::Session(SessionFault::Busy | SessionFault::Closed)),
                                    "{error:?}"
                                );
                                refused += 1;
                            }
                        }
                    }
                    Step::Steer { session } => {
                        if let Some(session) = sessions.get(session) {
                            let _ = session.steer(Steer { text: "left".into(), interrupting: false });
                        }
                    }
                    Step::Cancel { turn } => {
                        if let Some(turn) = turns.get(turn) {
                            turn.cancel();
                        }
                    }
                    Step::Fork { session } => {
                        if let Some(session) = sessions.get(session)
                            && let Ok(fork) = session.fork_to(None).await
                        {
                            sessions.push(fork.handle());
                        }
                    }
                    Step::DropSession { session } => {
                        if session < sessions.len() {
                            drop(sessions.swap_remove(session));
                        }
                    }
                    Step::DropTurn { turn } => {
                        if turn < turns.len() {
                            drop(turns.swap_remove(turn));
                        }
                    }
                    Step::Close { session } => {
                        if let Some(session) = sessions.get(session) {
                            session.close();
                        }
                    }
                    Step::Wait { turn } => {
                        if let Some(turn) = turns.get(turn) {
                            tokio::select! {
                                _ = turn.wait() => {}
                                () = branch.sleep(Duration::from_millis(4)) => {}
                            }
                        }
                    }
                    Step::Sleep { ms } => branch.sleep(Duration::from_millis(ms)).await,
                    Step::Yield => tokio::task::yield_now().await,
                }
            }
            // Everything that is still held is let go of by the end of the branch.
            std::mem::forget((sessions, turns));
            said(refused)
        }
    });
    bench.execute(root).await.unwrap();
    assert_eq!(bench.seen().clashes.load(Ordering::SeqCst), 0, "two turns in one session");
    assert_eq!(bench.seen().going.load(Ordering::SeqCst), 0, "a turn outlived its branch");
    let (opened, closed) = (bench.seen().opened.load(Ordering::SeqCst), bench.seen().closed.load(Ordering::SeqCst));
    assert_eq!(opened, closed, "a conversation outlived its branch");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s1_no_interleaving_has_two_turns_in_one_session(steps in prop::collection::vec(step(), 0..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(20), play(steps)).await.expect("it never ended");
        });
    }
}
