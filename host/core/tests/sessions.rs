//! S1-S10: sessions and turns.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

use flowhost_core::{
    agent::BatchOptions,
    error::{Error, HarnessFault, Kind, SessionFault},
    harness::{Moment, Steer, Verdict},
    occasion::Unanswered,
    session::WhenBusy,
    turn::TurnOptions,
    usage::Limits,
};
use support::*;

fn kind(error: &Error) -> &Kind {
    &error.kind
}

fn ask(words: &str) -> (Arc<str>, TurnOptions) {
    (words.into(), TurnOptions::default())
}

#[tokio::test]
async fn s1_a_second_turn_on_a_busy_session_is_refused_and_the_first_untouched() {
    let bench = Bench::new(|prompt| Act::After(10, last_word(prompt)));
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?.handle();
        let (prompt, options) = ask("say one");
        let first = session.start(prompt, options)?.handle();
        let (prompt, options) = ask("say two");
        let second = session.start(prompt, options).unwrap_err();
        assert_eq!(second.kind, Kind::Session(SessionFault::Busy), "{second}");
        assert!(!matches!(second.kind, Kind::Harness(_)), "catching failed turns does not swallow it");
        let answer = first.wait().await?.text.to_string();
        let (prompt, options) = ask("say three");
        let third = session.start(prompt, options)?.handle().wait().await?.text.to_string();
        said([answer, third])
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#"["one","three"]"#);
}

#[tokio::test]
async fn s1_a_session_that_queues_takes_turns_in_order() {
    let bench = Bench::new(|prompt| Act::After(3, last_word(prompt)));
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Queue)?.handle();
        let turns: Vec<_> = (0..5)
            .map(|n| session.start(format!("say {n}").into(), TurnOptions::default()).unwrap().handle())
            .collect();
        for turn in &turns {
            turn.wait().await?;
        }
        said(turns.len())
    });
    bench.execute(root).await.unwrap();
    assert_eq!(bench.seen().prompts(), ["say 0", "say 1", "say 2", "say 3", "say 4"]);
    assert_eq!(bench.seen().peak(), 1);
}

#[tokio::test]
async fn s1_a_turn_that_is_being_interrupted_is_not_going_and_the_next_waits_for_its_end() {
    let bench = Bench::new(|prompt| if prompt == "hang" { Act::Hang } else { Act::Say(last_word(prompt)) });
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?.handle();
        let (prompt, options) = ask("hang");
        let first = session.start(prompt, options)?.handle();
        settle().await;
        first.cancel();
        first.cancel();
        let (prompt, options) = ask("say next");
        let next = session.start(prompt, options)?.handle();
        let (prompt, options) = ask("say third");
        let third = session.start(prompt, options).unwrap_err();
        assert_eq!(third.kind, Kind::Session(SessionFault::Busy), "the one that waits is going");
        let interrupted = first.wait().await.unwrap_err();
        assert!(matches!(kind(&interrupted), Kind::Harness(failure) if failure.fault == HarnessFault::Interrupted));
        said(&*next.wait().await?.text)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""next""#);
    assert_eq!(bench.seen().clashes.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn s2_nothing_caps_turns_but_the_person() {
    let fan = |branch: Arc<flowhost_core::branch::Branch>, _| async move {
        let agent = agent(&branch)?;
        let prompts = (0..100).map(|n| format!("say {n}").into()).collect();
        said(agent.batch(prompts, None, BatchOptions::default()).await?.len())
    };
    let wide = Bench::new(|prompt| Act::After(5, last_word(prompt)));
    wide.execute(flow("root", fan)).await.unwrap();
    assert_eq!(wide.seen().peak(), 100);
    let capped = Bench::new(|prompt| Act::After(5, last_word(prompt))).with(|bench| bench.at_once = Some(7));
    capped.execute(flow("root", fan)).await.unwrap();
    assert_eq!(capped.seen().peak(), 7);
    let prompts: Vec<String> = (0..100).map(|n| format!("say {n}")).collect();
    assert_eq!(capped.seen().prompts(), prompts, "every prompt lands, the rest waiting in order");
}

#[tokio::test]
async fn s3_ten_thousand_sessions_are_a_list() {
    let bench = Bench::new(|_| Act::Hang);
    let root = flow("root", |branch, _| async move {
        let agent = agent(&branch)?;
        let first = agent.spawn(None, WhenBusy::Refuse)?;
        let held: Vec<_> =
            agent.spawn_many(10_000, &first, WhenBusy::Refuse).iter().map(|session| session.handle()).collect();
        said(held.len())
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), "10000");
    assert_eq!(bench.seen().opened.load(Ordering::SeqCst), 0, "no conversation was opened");
    assert_eq!(bench.kept.0.lock().len(), 3, "the run, its branch and its end are all that is recorded");
}

#[tokio::test]
async fn s5_a_session_is_refused_before_anything_runs() {
    let bench = Bench::new(|_| Act::Say("no".into()));
    let root = flow("root", |branch, _| async move {
        let agent = agent(&branch)?;
        let refused = agent.spawn_in(None, "nowhere", WhenBusy::Refuse).await.unwrap_err();
        assert_eq!(refused.message, "/srv/project/nowhere: no directory to open a session in");
        let swapped = agent.spawn_in(None, "swapped", WhenBusy::Refuse).await?.handle();
        let (prompt, options) = ask("say it");
        said(swapped.start(prompt, options)?.handle().wait().await.unwrap_err().message)
    });
    assert_eq!(
        bench.execute(root).await.unwrap().get(),
        r#""/srv/project/swapped: no directory to open a session in""#
    );
    assert_eq!(bench.seen().opened.load(Ordering::SeqCst), 0, "nothing ran there");
}

#[tokio::test]
async fn s6_a_turn_goes_on_while_its_session_or_its_own_handle_is_held() {
    let bench = Bench::new(|prompt| Act::After(5, last_word(prompt)));
    let root = flow("root", |branch, _| async move {
        let agent = agent(&branch)?;
        let session = agent.spawn(None, WhenBusy::Refuse)?.handle();
        let by_turn = session.start("say kept-by-turn".into(), TurnOptions::default())?.handle();
        drop(session);
        let session = agent.spawn(None, WhenBusy::Refuse)?.handle();
        drop(session.start("say kept-by-session".into(), TurnOptions::default())?.handle());
        let lost = agent.spawn(None, WhenBusy::Refuse)?.handle();
        let turn = lost.start("say lost".into(), TurnOptions::default())?;
        let both = turn.handle();
        drop(lost);
        drop(both);
        let gone = turn.wait().await.unwrap_err();
        assert!(matches!(gone.kind, Kind::Harness(failure) if failure.fault == HarnessFault::Interrupted), "{gone}");
        assert_eq!(&*by_turn.wait().await?.text, "kept-by-turn");
        branch.sleep(Duration::from_millis(20)).await;
        said(session.usage().turns)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), "1");
}

#[tokio::test]
async fn s6_close_returns_calls_at_once_and_the_queue_with_it() {
    let bench = Bench::new(|_| Act::Hang);
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Queue)?.handle();
        let turns: Vec<_> = (0..3)
            .map(|n| session.start(format!("say {n}").into(), TurnOptions::default()).unwrap().handle())
            .collect();
        settle().await;
        session.close();
        for turn in &turns {
            let closed = turn.wait().await.unwrap_err();
            assert_eq!(closed.kind, Kind::Session(SessionFault::Closed), "{closed}");
        }
        let late = session.start("say late".into(), TurnOptions::default()).unwrap_err();
        said(late.kind == Kind::Session(SessionFault::Closed))
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), "true");
    assert_eq!(bench.seen().prompts().len(), 1, "those that waited never ran");
    assert_eq!(bench.seen().closed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn s7_a_turn_that_does_not_stop_is_made_to_and_the_session_can_be_used_again() {
    let bench = Bench::new(|prompt| if prompt == "deaf" { Act::Deaf } else { Act::Say("again".into()) });
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?.handle();
        let turn = session.start("deaf".into(), TurnOptions::default())?.handle();
        settle().await;
        turn.cancel();
        assert!(turn.wait().await.is_err());
        said(&*session.start("say it".into(), TurnOptions::default())?.handle().wait().await?.text)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""again""#);
    assert_eq!(bench.seen().going.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn s8_a_batch_answers_in_order_and_says_its_first_failure_once_all_have_landed() {
    let plan = |prompt: &str| match prompt {
        "c" => Act::Fail(Error::harness(HarnessFault::Throttled, "c failed")),
        "b" => Act::After(9, "b".into()),
        other => Act::After(1, other.into()),
    };
    let bench = Bench::new(plan);
    let root = flow("root", |branch, _| async move {
        let agent = agent(&branch)?;
        let prompts = || ["a", "b", "c", "d"].map(Into::into).to_vec();
        let first = agent.batch(prompts(), None, BatchOptions::default()).await.unwrap_err();
        assert_eq!(first.message, "c failed");
        let options = BatchOptions { suppress: true, at_once: Some(2), ..BatchOptions::default() };
        let kept = agent.batch(prompts(), None, options).await?;
        said(
            kept.into_iter()
                .map(|each| each.map_or_else(|error| error.message, |answer| answer.text.to_string()))
                .collect::<Vec<_>>(),
        )
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#"["a","b","c failed","d"]"#);
    assert_eq!(bench.seen().prompts().len(), 8, "every turn landed, also beside one that failed");
    assert_eq!(bench.seen().closed.load(Ordering::SeqCst), 8, "none is kept");
}

#[tokio::test]
async fn s8_a_spent_budget_is_never_suppressed() {
    let bench = Bench::new(|_| Act::After(1, "done".into()));
    let bench = bench.with(|bench| bench.limits = Limits { turns: Some(2), ..Limits::default() });
    let root = flow("root", |branch, _| async move {
        let options = BatchOptions { suppress: true, ..BatchOptions::default() };
        let prompts = (0..5).map(|n| format!("say {n}").into()).collect();
        let spent = agent(&branch)?.batch(prompts, None, options).await.unwrap_err();
        Err(spent)
    });
    let error = bench.execute(root).await.unwrap_err();
    assert!(matches!(error.kind, Kind::Budget(_)), "{error:?}");
    assert_eq!(bench.seen().prompts().len(), 2, "a limit on turns is exact");
}

#[tokio::test]
async fn s9_steer_puts_words_into_the_turn_that_is_going() {
    let bench = Bench::new(|_| Act::Steered);
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?.handle();
        let words = Steer { text: "left a bit".into(), interrupting: false };
        let idle = session.steer(words.clone()).unwrap_err();
        assert_eq!(idle.kind, Kind::Session(SessionFault::Idle));
        let turn = session.start("go".into(), TurnOptions::default())?.handle();
        settle().await;
        session.steer(words)?;
        said(&*turn.wait().await?.text)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""left a bit""#);
}

#[tokio::test]
async fn s9_fork_branches_a_conversation_that_has_taken_a_turn_and_takes_none() {
    let bench = Bench::new(|prompt| if prompt == "hang" { Act::Hang } else { Act::Say(last_word(prompt)) });
    let root = flow("root", |branch, _| async move {
        let session = agent(&branch)?.spawn(None, WhenBusy::Refuse)?.handle();
        let never = session.fork_to(None).await.unwrap_err();
        assert_eq!(never.kind, Kind::Session(SessionFault::NeverRan));
        session.start("say one".into(), TurnOptions::default())?.handle().wait().await?;
        let fork = session.fork_to(None).await?.handle();
        let turn = session.start("hang".into(), TurnOptions::default())?.handle();
        let busy = session.fork_to(None).await.unwrap_err();
        assert_eq!(busy.kind, Kind::Session(SessionFault::Busy));
        turn.cancel();
        said(&*fork.start("say forked".into(), TurnOptions::default())?.handle().wait().await?.text)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""forked""#);
}

#[tokio::test]
async fn s9_what_the_manifest_did_not_ask_for_is_not_granted() {
    let bench = Bench::new(|_| Act::Hang);
    let mut narrow = manifest("root");
    narrow.agents[0].capabilities.clear();
    let root = flow_with(narrow, |branch, _| async move {
        let agent = agent(&branch).unwrap();
        let session = agent.spawn(None, WhenBusy::Refuse).unwrap().handle();
        let steer = session.steer(Steer { text: "x".into(), interrupting: false }).unwrap_err();
        let fork = session.fork_to(None).await.unwrap_err();
        let watch = agent.watch(vec![Moment::Question], None, Unanswered::Pass).unwrap_err();
        assert_eq!([steer.kind, fork.kind, watch.kind], [Kind::NotGranted, Kind::NotGranted, Kind::NotGranted]);
        Ok(json("null"))
    });
    bench.execute(root).await.unwrap();
}

#[tokio::test]
async fn s10_a_turn_may_decide_an_occasion_under_a_cap_of_one() {
    let bench =
        Bench::new(
            |prompt| if prompt == "risky" { Act::Ask(Moment::Question) } else { Act::After(2, "yes, do".into()) },
        );
    let bench = bench.with(|bench| {
        bench.at_once = Some(1);
        bench.limits = cost(1.0);
    });
    let root = flow("root", |branch, _| async move {
        let agent = agent(&branch)?;
        let watch = agent.watch(vec![Moment::Question], None, Unanswered::Block)?;
        let session = agent.spawn(None, WhenBusy::Refuse)?.handle();
        let turn = session.start("risky".into(), TurnOptions::default())?.handle();
        assert!(watch.ready().await);
        let mut occasion = watch.take().unwrap();
        let judged = agent.run("judge it".into(), None, TurnOptions::default()).await?;
        occasion.answer(Verdict::Reply(judged.text.to_string()))?;
        let late = occasion.answer(Verdict::Allow).unwrap_err();
        assert_eq!(late.kind, Kind::Session(SessionFault::Idle), "only the first answer counts");
        said(&*turn.wait().await?.text)
    });
    assert_eq!(bench.execute(root).await.unwrap().get(), r#""Reply(\"yes, do\")""#);
}

#[tokio::test]
async fn s10_an_occasion_that_nobody_answers_passes_or_is_blocked_as_the_watch_said() {
    for (unanswered, expected) in [(Unanswered::Pass, "Pass"), (Unanswered::Block, "Block")] {
        let bench = Bench::new(|_| Act::Ask(Moment::Question));
        let root = flow("root", move |branch, _| async move {
            let agent = agent(&branch)?;
            let _watch = agent.watch(vec![Moment::Question], Some(Duration::from_millis(5)), unanswered)?;
            said(&*agent.run("risky".into(), None, TurnOptions::default()).await?.text)
        });
        let answer = bench.execute(root).await.unwrap();
        assert!(answer.get().contains(expected), "{answer}");
    }
}
