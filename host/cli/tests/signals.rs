//! ctrl-c and worse, end to end: X1 and B5.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::Child,
    time::{Duration, Instant},
};

use program::{Done, Place};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Starts `lines` with so many turns of a script that says who it is in `pids/` and then does `then`.
fn start(place: &Place, turns: usize, then: &str) -> Child {
    let pids = place.path().join("pids");
    fs::create_dir(&pids).unwrap();
    place.script(
        "agent.sh",
        &format!("read -r name\necho $$ > '{}'/$name.new\nmv '{0}'/$name.new '{0}'/$name\n{then}\n", pids.display()),
    );
    let task: Vec<String> = (0..turns).map(|turn| format!("turn{turn}")).collect();
    let words = ["exec", "-f", "lines", "-a", "agent=script:./agent.sh", &task.join("\n")];
    let child = place.program(&words).spawn().unwrap();
    until("every turn goes", || started(&pids).len() == turns);
    child
}

fn started(pids: &Path) -> Vec<Pid> {
    let names = fs::read_dir(pids).unwrap().map(|entry| entry.unwrap().path());
    let whole = names.filter(|path| path.extension().is_none());
    whole.map(|path| Pid::from_raw(fs::read_to_string(path).unwrap().trim().parse().unwrap()).unwrap()).collect()
}

fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn last_record(place: &Place) -> serde_json::Value {
    let runs = place.runs();
    assert_eq!(runs.len(), 1);
    let journal = fs::read_to_string(runs[0].join("journal.jsonl")).unwrap();
    serde_json::from_str(journal.lines().last().unwrap()).unwrap()
}

#[test]
fn x1_ctrl_c_interrupts_every_turn_and_closes_the_journal() {
    let place = Place::plain("here");
    let child = start(&place, 50, "sleep 1000");
    let pids = started(&place.path().join("pids"));
    signal(&child, Signal::INT);
    let done = Done::of(child.wait_with_output().unwrap());
    assert_eq!(done.exit, 130, "{}", done.stderr);
    assert_eq!(done.stdout, "");
    assert!(pids.iter().all(|pid| test_kill_process(*pid).is_err()), "no process is left");
    let last = last_record(&place);
    assert_eq!((&last["type"], &last["exit"]), (&"end".into(), &130.into()));
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("■ interrupted")).count(), 50, "{}", done.stderr);
}

#[test]
fn x1_sigterm_and_sighup_stop_as_well() {
    for each in [Signal::TERM, Signal::HUP] {
        let place = Place::plain("here");
        let child = start(&place, 1, "sleep 1000");
        signal(&child, each);
        assert_eq!(Done::of(child.wait_with_output().unwrap()).exit, 130);
    }
}

#[test]
fn x1_a_second_signal_kills_what_does_not_stop() {
    let place = Place::plain("here");
    let mut child = start(&place, 1, "trap '' TERM INT\nwhile :; do sleep 1; done");
    let pids = started(&place.path().join("pids"));
    signal(&child, Signal::INT);
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // B5: what the dead host left, its guardian ends.
    until("the agent is gone", || pids.iter().all(|pid| test_kill_process(*pid).is_err()));
}

#[test]
fn b5_nothing_outlives_a_host_that_is_killed() {
    let place = Place::plain("here");
    // Each agent has a child in a session of its own, which writes for ever.
    let write = format!(
        "cd '{}'\nsetsid sh -c 'while :; do date +%N > written.'$name'; sleep 0.1; done' &\nsleep 1000",
        place.path().display()
    );
    let mut child = start(&place, 6, &write);
    let written = || -> Vec<String> {
        (0..6)
            .map(|turn| fs::read_to_string(place.path().join(format!("written.turn{turn}"))).unwrap_or_default())
            .collect()
    };
    until("every child writes", || written().iter().all(|text| !text.is_empty()));
    signal(&child, Signal::KILL);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let killed = Instant::now();
    std::thread::sleep(Duration::from_secs(5));
    let then = written();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(then, written(), "written {:?} after the host was killed", killed.elapsed());
}
