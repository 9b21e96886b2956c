//! `spawn`: programs with pipes, as harnesses are.

use std::time::{Duration, Instant};

use flowhost_core::{
    env::{Child, Program},
    error::EnvFault::NotStarted,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fixture::{Place, eventually, fault, place, text};

async fn start(place: &Place, script: &str) -> Child {
    let argv = ["/bin/bash", "-c", script].map(str::to_owned).to_vec();
    place.env.spawn(Program { argv, vars: vec![("A".into(), "1".into())] }).await.unwrap()
}

async fn line(child: &mut Child) -> String {
    let mut line = Vec::new();
    loop {
        match child.stdout.read_u8().await {
            Ok(b'\n') | Err(_) => return text(&line),
            Ok(byte) => line.push(byte),
        }
    }
}

#[tokio::test]
async fn a_program_is_talked_to_until_its_stdin_is_closed() {
    let place = place();
    let mut child = start(&place, "read x; echo got $x $A; echo odd >&2; cat; exit 4").await;
    child.stdin.write_all(b"one\n").await.unwrap();
    assert_eq!(line(&mut child).await, "got one 1");
    child.stdin.write_all(b"two").await.unwrap();
    drop(child.stdin);
    let (mut rest, mut odd) = (String::new(), String::new());
    child.stdout.read_to_string(&mut rest).await.unwrap();
    child.stderr.read_to_string(&mut odd).await.unwrap();
    assert_eq!((rest.as_str(), odd.as_str()), ("two", "odd\n"));
    assert_eq!(child.process.wait().await.unwrap(), 4);
    assert_eq!(child.process.wait().await.unwrap(), 4, "it may be asked again");
    assert_eq!(child.process.stop(Duration::from_secs(1)).await.unwrap(), 4);
}

#[tokio::test]
async fn a_harness_is_never_found_in_the_directory_of_its_session() {
    let place = place();
    place.put("tool", "#!/bin/sh\n");
    for program in ["./tool", "tool", "sub/../tool"] {
        let program = Program { argv: vec![program.into()], vars: Vec::new() };
        assert_eq!(fault(place.env.spawn(program).await), NotStarted);
    }
}

#[tokio::test]
async fn a_harness_gets_no_settings_of_git() {
    let place = place();
    let mut child = start(&place, "env | grep -c ^GIT_").await;
    assert_eq!(line(&mut child).await, "0");
}

#[tokio::test]
async fn s7_a_program_is_told_to_stop_and_then_made_to() {
    let place = place();
    let mut polite = start(&place, "trap 'exit 5' TERM; echo; sleep 1000 & wait").await;
    line(&mut polite).await;
    assert_eq!(polite.process.stop(Duration::from_secs(30)).await.unwrap(), 5);
    let mut deaf = start(&place, "trap '' TERM; echo; setsid sleep 1000; setsid sleep 1000").await;
    line(&mut deaf).await;
    let began = Instant::now();
    assert_eq!(deaf.process.stop(Duration::from_millis(200)).await.unwrap(), 137);
    assert!(began.elapsed() >= Duration::from_millis(200), "it had its grace");
    assert_eq!(place.inhabitants(), [0; 0]);
    let mut halted = start(&place, "trap 'exit 6' TERM; echo; kill -STOP $$; exit 7").await;
    line(&mut halted).await;
    assert_eq!(halted.process.stop(Duration::from_secs(30)).await.unwrap(), 6);
}

#[tokio::test]
async fn b5_dropping_a_program_ends_its_tree_and_what_it_has_in_other_sessions() {
    let place = place();
    let mut child = start(&place, "trap '' TERM; setsid bash -c \"trap '' TERM; echo; sleep 1000; sleep 1000\"").await;
    line(&mut child).await;
    eventually("its tree is there", || place.inhabitants().len() >= 2).await;
    drop(child);
    place.env.swept().await;
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test]
async fn the_pipes_of_a_program_that_ended_end() {
    let place = place();
    let mut child = start(&place, "setsid sleep 1000 & echo hi").await;
    let mut all = String::new();
    child.stdout.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "hi\n");
    let (env, root) = (place.env.clone(), place.root.clone());
    drop(env);
    eventually("the background is ended without anybody asking", || crate::fixture::inhabitants(&root).is_empty())
        .await;
}
