//! J1: what was acknowledged is there, whatever became of the host or the disk. Each host here is a process of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    missing_docs
)]

mod sample;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    id::TurnId,
    record::{Answer, Outcome, Record, Recorder},
};
use flowhost_journal::{FILE_NAME, Journal, RunState, read, runs};
use tempfile::TempDir;

/// Where a host that a test started finds its folder of runs.
const RUNS: &str = "FLOWHOST_TEST_RUNS";
const AT_ONCE: u32 = 16;

fn turn_end(nth: u32) -> Record {
    let answer = Answer { text: "x".repeat(nth as usize % 700).into(), value: None };
    Record::TurnEnd { turn: TurnId(nth), outcome: Outcome::Ok(answer), usage: sample::usage() }
}

/// Ends turns, several at once, until it is killed or the disk fails; says each that was acknowledged. Without a test that
/// started it, ends a thousand and finds them again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_ends_turns() {
    let (given, own) = (std::env::var_os(RUNS), tempfile::tempdir().unwrap());
    let started = given.is_some();
    let folder = given.as_deref().map_or(own.path(), Path::new);
    let last = if started { u32::MAX } else { 1000 };
    let journal = Arc::new(Journal::create(folder, &sample::run_id()).unwrap());
    let ends = (0..AT_ONCE).map(|first| {
        let journal = journal.clone();
        tokio::spawn(async move {
            for nth in (first..last).step_by(AT_ONCE as usize) {
                let mark = journal.append(Duration::from_millis(nth.into()), &turn_end(nth));
                let kept = if nth % 64 == 0 { journal.durable(mark).await } else { journal.written(mark).await };
                let failed = kept.is_err();
                if started {
                    let said = kept.map_or_else(|error| format!("failed {error}"), |()| format!("kept {nth}"));
                    writeln!(std::io::stdout(), "{said}").unwrap();
                }
                if failed {
                    break;
                }
            }
        })
    });
    for end in ends.collect::<Vec<_>>() {
        end.await.unwrap();
    }
    let closed = journal.close().await;
    if !started {
        closed.unwrap();
        assert_eq!(turns(folder).len(), 1000);
    }
}

/// Starts that test as a host of its own, through `sh` so that it can be given limits first.
fn host(runs: &TempDir, limits: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{limits} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_host_ends_turns", "--nocapture", "--test-threads=1"])
        .env(RUNS, runs.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn turns(runs: &Path) -> Vec<u32> {
    let path = runs.join(&*sample::run_id().0).join(FILE_NAME);
    read(&path)
        .unwrap()
        .map(|record| match record.unwrap().1 {
            Record::TurnEnd { turn, .. } => turn.0,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn kill_9_at_any_moment_loses_nothing_that_was_acknowledged() {
    for kept_before in [1, 10, 100, 1000, 3000] {
        let folder = tempfile::tempdir().unwrap();
        let mut host = host(&folder, "");
        let mut kept = Vec::new();
        let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
        for line in lines.by_ref() {
            let line = line.unwrap();
            assert!(!line.starts_with("failed"), "{line}");
            kept.extend(line.strip_prefix("kept ").map(|nth| nth.parse::<u32>().unwrap()));
            if kept.len() == kept_before {
                assert!(matches!(runs(folder.path()).unwrap().next().unwrap().state, RunState::Running));
                // SIGKILL.
                host.kill().unwrap();
            }
        }
        assert!(!host.wait().unwrap().success());
        let written = turns(folder.path());
        assert!(kept.len() >= kept_before);
        for nth in &kept {
            assert!(written.contains(nth), "turn {nth} was acknowledged and is not there");
        }
        assert!(matches!(runs(folder.path()).unwrap().next().unwrap().state, RunState::CutOff));
    }
}

#[test]
fn a_disk_that_is_full_ends_the_run_and_tears_no_record() {
    // A file may have 64 blocks of 512 bytes (1024 in some shells); the signal that would kill the host is ignored, as a host's
    // caller may do.
    let folder = tempfile::tempdir().unwrap();
    let output = host(&folder, "trap '' XFSZ; ulimit -f 64;").wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let kept: Vec<u32> =
        said.lines().filter_map(|line| line.strip_prefix("kept ")).map(|nth| nth.parse().unwrap()).collect();
    let failed: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("failed ")).collect();
    assert_eq!(failed.len(), AT_ONCE as usize, "each who waits is told\n{said}");
    let path = folder.path().join(&*sample::run_id().0).join(FILE_NAME);
    for message in failed {
        assert!(message.starts_with(&*path.to_string_lossy()), "{message}");
        assert!(message.ends_with("; raise the limit on the size of files (ulimit -f)"), "{message}");
    }
    assert!(!kept.is_empty());
    let written = turns(folder.path());
    assert!(kept.iter().all(|nth| written.contains(nth)));
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 31 << 10 && bytes.ends_with(b"\n"), "it is filled up to its last whole record");
}
