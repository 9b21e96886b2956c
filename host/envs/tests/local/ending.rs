//! B5: nothing outlives the call that started it, whoever tries.

use std::{
    fs,
    time::{Duration, Instant},
};

use flowhost_core::{
    env::{Command, Program},
    error::EnvFault::{TimedOut, Unavailable},
};
use flowhost_envs::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fixture::{Place, command, eventually, fault, place, place_with, within};

/// A child that has left its session, its parents and its environment, and hears nothing.
const HIDDEN: &str =
    "(env -i /usr/bin/setsid /bin/bash -c 'trap \"\" TERM HUP INT; (while :; do /bin/sleep 0.1; done) & wait' &)";

async fn has_hidden(place: &Place) {
    eventually("the hidden child is there", || place.inhabitants().len() >= 3).await;
}

/// Starts a command with a hidden child, and drops it once the child is there.
async fn drop_an_exec(place: &Place) {
    let script = format!("{HIDDEN}; sleep 1000");
    let running = place.bash(&script);
    tokio::select! {
        _ = running => panic!("it ended"),
        () = has_hidden(place) => {}
    }
}

#[tokio::test]
async fn b5_a_dropped_exec_leaves_nothing() {
    let place = place();
    drop_an_exec(&place).await;
    place.env.swept().await;
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test]
async fn b5_all_who_wait_for_what_was_dropped_wait_until_it_is_gone() {
    let place = place();
    drop_an_exec(&place).await;
    let gone = async || {
        place.env.swept().await;
        place.inhabitants()
    };
    assert_eq!(tokio::join!(gone(), gone(), gone()), (vec![], vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_an_exec_that_is_dropped_at_any_moment_of_its_start_leaves_nothing() {
    let place = place();
    place.says("true").await;
    for step in 0..60 {
        let running = place.bash("setsid sleep 1000 & sleep 1000");
        let dropped = tokio::time::timeout(Duration::from_micros(step * 100), running).await;
        assert!(dropped.is_err());
        place.env.swept().await;
        assert_eq!(place.inhabitants(), [0; 0], "after {step}00 us");
    }
}

#[tokio::test]
async fn b5_a_storm_of_forks_is_ended() {
    let place = place_with(Limits { grace: Duration::ZERO, ..Limits::default() });
    let script = "f() { for i in 1 2 3; do ( [ $1 -gt 0 ] && f $(($1-1)); setsid sleep 1000 ) & done; wait; }; f 4";
    let storm = Command { timeout: Some(Duration::from_secs(4)), ..command(&["bash", "-c", script]) };
    let many = eventually("the storm is there", || place.inhabitants().len() >= 250);
    let (result, ()) = tokio::join!(place.env.exec(storm), many);
    assert_eq!(fault(result), TimedOut);
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test]
async fn b5_one_that_forks_and_ends_all_the_time_is_caught() {
    let place = place_with(Limits { grace: Duration::ZERO, ..Limits::default() });
    place.put("again", "#!/bin/bash\necho >> count\nsetsid \"$0\" &\nexit 0\n");
    let script = "chmod +x again; ./again; sleep 1000";
    let restless = Command { timeout: Some(Duration::from_millis(500)), ..command(&["bash", "-c", script]) };
    assert_eq!(fault(place.env.exec(restless).await), TimedOut);
    assert_eq!(place.inhabitants(), [0; 0]);
    let count = fs::read(place.root.join("count")).unwrap().len();
    assert!(count > 20, "it was not restless: {count}");
}

#[tokio::test]
async fn b5_a_command_that_kills_its_shim_takes_its_children_with_it() {
    let place = place();
    let result = place.bash(&format!("{HIDDEN}; sleep 0.3; kill -9 $PPID; sleep 1000")).await;
    assert_eq!(fault(result), Unavailable);
    assert_eq!(place.inhabitants(), [0; 0]);
    assert_eq!(place.says("echo still").await, "still");
}

#[tokio::test]
async fn b5_a_command_that_halts_its_shim_is_ended() {
    let place = place_with(Limits { grace: Duration::ZERO, ..Limits::default() });
    let script = format!("{HIDDEN}; kill -STOP $PPID; sleep 1000");
    let halting = Command { timeout: Some(Duration::from_millis(500)), ..command(&["bash", "-c", &script]) };
    assert_eq!(fault(place.env.exec(halting).await), TimedOut);
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test]
async fn b5_a_killed_guardian_is_replaced_and_what_goes_goes_on() {
    let place = place();
    let argv = ["/bin/bash", "-c", "read x; echo $x"].map(str::to_owned).to_vec();
    let mut harness = place.env.spawn(Program { argv, vars: Vec::new() }).await.unwrap();
    let guardian = place.says("ps -o ppid= -p $PPID").await;
    let killed = place.bash(&format!("{HIDDEN}; kill -9 {guardian}; sleep 0.2; exit 9")).await.unwrap();
    assert_eq!(killed.status, 9, "its shim goes on");
    let another = place.says("ps -o ppid= -p $PPID").await;
    assert_ne!(guardian, another);
    harness.stdin.write_all(b"alive\n").await.unwrap();
    let mut said = String::new();
    harness.stdout.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "alive\n");
    assert_eq!(harness.process.wait().await.unwrap(), 0);
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test]
async fn b5_what_has_lost_both_shim_and_guardian_comes_to_the_host_and_is_ended() {
    let place = place();
    let guardian = place.says("ps -o ppid= -p $PPID").await;
    let result = place.bash(&format!("{HIDDEN}; sleep 0.3; kill -9 {guardian} $PPID; sleep 1000")).await;
    assert_eq!(fault(result), Unavailable);
    assert_eq!(place.inhabitants(), [0; 0]);
    assert_eq!(place.says("echo again").await, "again");
}

#[tokio::test]
async fn b5_a_guardian_that_is_closed_has_ended_everything() {
    let place = place();
    let script = format!("{HIDDEN}; sleep 1000");
    let (env, guardian) = (place.env.clone(), place.guardian.clone());
    let running = tokio::spawn(async move { env.exec(command(&["bash", "-c", &script])).await });
    has_hidden(&place).await;
    guardian.close().await;
    assert_eq!(place.inhabitants(), [0; 0]);
    assert_eq!(fault(running.await.unwrap()), Unavailable);
    assert_eq!(place.says("echo $HOME > home; [ -d $HOME ] && echo anew").await, "anew");
    guardian.close().await;
    let home = fs::read_to_string(place.root.join("home")).unwrap();
    assert!(!std::path::Path::new(home.trim()).exists(), "the scratch directory is removed");
}

#[test]
fn b5_the_end_of_the_runtime_is_the_end_of_its_commands() {
    let place = place();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let env = place.env.clone();
    runtime.spawn(async move { env.exec(command(&["bash", "-c", "setsid sleep 1000; sleep 1000"])).await });
    within(Duration::from_secs(10), "it goes", || place.inhabitants().len() >= 2);
    runtime.shutdown_timeout(Duration::from_secs(5));
    within(Duration::from_secs(5), "nothing goes", || place.inhabitants().is_empty());
}

#[tokio::test]
async fn a_guardian_that_is_no_guardian_is_said_at_once() {
    let place = place();
    let began = Instant::now();
    for program in ["/bin/false", "/nowhere/at/all"] {
        let error = flowhost_envs::Guardian::start(std::path::Path::new(program), &[]).unwrap_err();
        let beginning = format!("no program can be started: {program} did not start as guardian: ");
        assert!(error.message.starts_with(&beginning), "{error}");
        assert_eq!(fault::<()>(Err(error)), Unavailable);
    }
    let started =
        flowhost_envs::Guardian::start(std::path::Path::new(crate::fixture::PROGRAM), &["guardian".into()]).unwrap();
    let env = flowhost_envs::Local::open(&place.root, started, Limits::default()).unwrap();
    assert_eq!(env.exec(command(&["true"])).await.unwrap().status, 0);
    assert!(began.elapsed() < Duration::from_secs(5));
}
