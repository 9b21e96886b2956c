//! `script:PROGRAM`, with real programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "a test looks at the machine with its own eyes")]

mod support;

use std::time::{Duration, Instant};

use flowhost_agents::script::{ANSWER_LIMIT, Script};
use flowhost_core::{
    error::{Error, HarnessFailure, HarnessFault, Kind, Result},
    harness::{Event, Harness, Reply},
    usage::CostSource,
};
use support::{Listener, Machine, prompt};
use tokio::time::timeout;

async fn turn(machine: &std::sync::Arc<Machine>, argv: Vec<String>, text: &str, host: &Listener) -> Result<Reply> {
    let mut conversation = Script::new(argv).open(machine.open()).await.unwrap();
    conversation.turn(prompt(text), host).await
}

fn fault(error: &Error) -> HarnessFault {
    match error.kind {
        Kind::Harness(HarnessFailure { fault, .. }) => fault,
        ref other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_prompt_is_read_and_the_output_is_the_answer() {
    let (machine, host) = (Machine::new(), Listener::new());
    let argv = machine.shell("cat; echo; pwd; echo $FLOWHOST_RUN $FLOWHOST_BRANCH $FLOWHOST_SESSION $FLOWHOST_TURN");
    let reply = turn(&machine, argv, "do it\n", &host).await.unwrap();
    let directory = machine.dir.path().canonicalize().unwrap();
    assert_eq!(reply.text, format!("do it\n\n{}\nr1 1.2 s7 t40", directory.display()));
    // $4: a plain script's turns cost nothing, and that is known.
    let usage = reply.usage.unwrap();
    assert_eq!((usage.cost.0, usage.output_tokens, usage.cost_source), (0, 0, CostSource::Reported));
    assert_eq!(host.events(), [Event::Text { text: reply.text }]);
}

#[tokio::test]
async fn s3_nothing_runs_until_a_turn_lands() {
    let machine = Machine::new();
    let conversation = Script::new(machine.shell("touch ran")).open(machine.open()).await.unwrap();
    conversation.close().await;
    assert_eq!(machine.read("ran"), None);
}

#[tokio::test]
async fn a_status_that_is_not_0_is_a_failed_turn_with_what_it_complained_of() {
    let (machine, host) = (Machine::new(), Listener::new());
    let script = machine.shell("echo partial; echo first >&2; echo 'no such model' >&2; exit 3");
    let error = turn(&machine, script, "x", &host).await.unwrap_err();
    assert_eq!(error, Error::harness(HarnessFault::Other, "sh ended with status 3: first / no such model"));
    assert!(host.events().is_empty());
    let error = turn(&machine, machine.shell("kill -KILL $$"), "x", &host).await.unwrap_err();
    assert_eq!(error, Error::harness(HarnessFault::Killed, "sh was killed by signal 9"));
}

#[tokio::test]
async fn a_program_that_is_gone_by_now_is_not_installed() {
    let (machine, host) = (Machine::new(), Listener::new());
    let error = turn(&machine, vec!["/no/such/program".into()], "x", &host).await.unwrap_err();
    assert_eq!(fault(&error), HarnessFault::NotInstalled);
    assert!(error.message.contains("/no/such/program"));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_and_its_program_stopped() {
    let (machine, host) = (Machine::new(), Listener::new());
    let error = turn(&machine, machine.shell("echo $$ > pid; exec yes"), "x", &host).await.unwrap_err();
    assert_eq!(error, Error::harness(HarnessFault::BadOutput, "sh answered with more than 8 MiB"));
    assert_gone(&machine.read("pid").unwrap());
    let fits = format!("head -c {ANSWER_LIMIT} /dev/zero");
    assert_eq!(turn(&machine, machine.shell(&fits), "x", &host).await.unwrap().text.len(), ANSWER_LIMIT);
}

#[tokio::test]
async fn it_may_leave_its_prompt_unread_and_flood_its_standard_error() {
    let (machine, host) = (Machine::new(), Listener::new());
    let argv = machine.shell("head -c 20000000 /dev/zero >&2; printf 'a\\377b\\r\\n'");
    let reply = turn(&machine, argv, &"x".repeat(10 << 20), &host).await.unwrap();
    assert_eq!(reply.text, "a\u{fffd}b");
}

#[tokio::test]
async fn what_it_leaves_behind_ends_with_its_turn() {
    let (machine, host) = (Machine::new(), Listener::new());
    let began = Instant::now();
    let reply = turn(&machine, machine.shell("sleep 60 & echo $! > pid; echo done"), "x", &host).await.unwrap();
    assert_eq!(reply.text, "done");
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_gone(&machine.read("pid").unwrap());
}

#[tokio::test]
async fn s7_an_interrupted_turn_tells_its_program_to_stop_and_the_session_goes_on() {
    let (machine, host) = (Machine::new(), Listener::new());
    let script = "read word; [ $word = stay ] || { echo ok; exit; }; trap 'echo told > told; exit' TERM; touch up; while :; do sleep 0.02; done";
    let mut conversation = Script::new(machine.shell(script)).open(machine.open()).await.unwrap();
    let (result, ()) = tokio::join!(conversation.turn(prompt("stay\n"), &host), async {
        wait_for(&machine, "up").await;
        host.interrupt();
    });
    assert_eq!(fault(&result.unwrap_err()), HarnessFault::Interrupted);
    assert_eq!(machine.read("told").as_deref(), Some("told\n"));
    let reply = conversation.turn(prompt("go\n"), &Listener::new()).await.unwrap();
    assert_eq!(reply.text, "ok");
}

#[tokio::test]
async fn s7_a_program_that_does_not_stop_is_made_to() {
    let (machine, host) = (Machine::new(), Listener::new());
    let argv = machine.shell("trap '' TERM; echo $$ > pid; touch up; while :; do sleep 0.02; done");
    let began = Instant::now();
    let (result, ()) = tokio::join!(turn(&machine, argv, "x", &host), async {
        wait_for(&machine, "up").await;
        host.interrupt();
    });
    assert_eq!(fault(&result.unwrap_err()), HarnessFault::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_gone(&machine.read("pid").unwrap());
}

#[tokio::test]
async fn a_turn_that_is_dropped_ends_its_program() {
    let (machine, host) = (Machine::new(), Listener::new());
    let argv = machine.shell("echo $$ > pid; touch up; sleep 60");
    tokio::select! {
        _ = turn(&machine, argv, "x", &host) => panic!("it does not end"),
        () = wait_for(&machine, "up") => {}
    }
    let pid = machine.read("pid").unwrap();
    timeout(Duration::from_secs(10), async {
        while is_there(&pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
}

async fn wait_for(machine: &Machine, file: &str) {
    while machine.read(file).is_none() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Whether a process runs; one that only waits to be reaped does not.
fn is_there(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn assert_gone(pid: &str) {
    // A killed child of a shell that has ended is somebody else's to reap.
    let until = Instant::now() + Duration::from_secs(5);
    while is_there(pid) {
        assert!(Instant::now() < until, "{pid} still runs");
        std::thread::yield_now();
    }
}
