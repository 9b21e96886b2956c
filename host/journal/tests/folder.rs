//! The folder of a run: whose it is, who may read it, what git sees, and which runs there are.
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
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    time::Duration,
};

use flowhost_core::{
    id::RunId,
    record::{Outcome, Record, Recorder},
};
use flowhost_journal::{FILE_NAME, Journal, RunState, runs};

fn run(nth: u32) -> RunId {
    RunId(format!("2026010{nth}-120000-0a1b").into())
}

fn began(journal: &Journal, run: &RunId) {
    let record = Record::Run {
        format: 1,
        flowhost: "0.1.0".into(),
        run: run.clone(),
        reference: "fanout".into(),
        started_ms: 1_767_225_600_000,
        agents: vec![],
        envs: vec![],
        at_once: None,
    };
    journal.append(Duration::ZERO, &record);
}

fn end(answer: &str) -> Record {
    let outcome = Outcome::Ok(sample::json(&serde_json::to_string(answer).unwrap()));
    Record::End { outcome, usage: sample::usage(), exit: 3 }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_record_is_nobody_elses_to_read_and_git_leaves_it_alone() {
    let project = tempfile::tempdir().unwrap();
    let folder = project.path().join(".flowhost/runs");
    let journal = Journal::create(&folder, &run(1)).unwrap();
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(journal.folder()), 0o700);
    assert_eq!(mode(&journal.folder().join(FILE_NAME)), 0o600);
    let ignored = project.path().join(".flowhost/.gitignore");
    assert!(fs::read_to_string(&ignored).unwrap().ends_with("\n/*\n!/flows/\n"));
    // What a person made of it stays.
    fs::write(&ignored, "mine\n").unwrap();
    Journal::create(&folder, &run(2)).unwrap();
    assert_eq!(fs::read_to_string(&ignored).unwrap(), "mine\n");
    // A folder of runs elsewhere has nothing written beside it.
    Journal::create(&project.path().join("runs"), &run(1)).unwrap();
    assert!(!project.path().join(".gitignore").exists());
}

#[test]
fn one_run_has_one_journal_and_one_host() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path(), &run(1)).unwrap();
    let again = Journal::create(folder.path(), &run(1)).unwrap_err();
    assert!(again.to_string().ends_with("20260101-120000-0a1b: there is such a run already"), "{again}");
    let path = journal.folder().join(FILE_NAME);
    let other = fs::File::open(&path).unwrap();
    assert!(matches!(other.try_lock(), Err(fs::TryLockError::WouldBlock)));
    drop(journal);
    other.try_lock().unwrap();
}

#[test]
fn a_link_does_not_lead_the_record_elsewhere() {
    let project = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), project.path().join(".flowhost")).unwrap();
    let refused = Journal::create(&project.path().join(".flowhost/runs"), &run(1)).unwrap_err();
    assert!(
        refused.to_string().ends_with(".flowhost: a link, which could lead the record anywhere; move it away"),
        "{refused}"
    );
    symlink(elsewhere.path(), project.path().join("runs")).unwrap();
    Journal::create(&project.path().join("runs"), &run(1)).unwrap_err();
    fs::write(project.path().join("file"), "").unwrap();
    Journal::create(&project.path().join("file"), &run(1)).unwrap_err();
    Journal::create(&project.path().join("not/there"), &run(1)).unwrap();
    Journal::create(&project.path().join("away/not/there"), &run(1)).unwrap_err();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    for name in ["", "..", "a/b", "a\0b", "a b"] {
        Journal::create(&project.path().join("named"), &RunId(name.into())).unwrap_err();
    }
}

#[tokio::test]
async fn runs_are_listed_newest_first_with_how_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let going = Journal::create(folder.path(), &run(1)).unwrap();
    began(&going, &run(1));
    going.written(going.append(Duration::ZERO, &Record::Stop { why: "".into() })).await.unwrap();
    // An answer that is longer than any piece of a file that is read at once.
    for (nth, answer) in [(2, "done".to_owned()), (3, "long ".repeat(100_000)), (4, "x".repeat(4060))] {
        let ended = Journal::create(folder.path(), &run(nth)).unwrap();
        began(&ended, &run(nth));
        ended.append(Duration::ZERO, &end(&answer));
        ended.close().await.unwrap();
    }
    let cut_off = Journal::create(folder.path(), &run(5)).unwrap();
    began(&cut_off, &run(5));
    drop(cut_off);
    let torn = Journal::create(folder.path(), &run(6)).unwrap();
    began(&torn, &run(6));
    torn.append(Duration::ZERO, &end("done"));
    let path = torn.folder().join(FILE_NAME);
    drop(torn);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1).unwrap();
    Journal::create(folder.path(), &run(7)).unwrap();
    fs::write(folder.path().join(&*run(7).0).join(FILE_NAME), "{\"flowhost-journal\":99}\n").unwrap();
    fs::create_dir(folder.path().join("20260108-120000-0a1b")).unwrap();
    fs::create_dir(folder.path().join("not a run")).unwrap();
    fs::write(folder.path().join("settled"), "").unwrap();
    symlink("/", folder.path().join("20260109-120000-0a1b")).unwrap();

    let listed: Vec<_> = runs(folder.path()).unwrap().collect();
    let states: Vec<String> = listed
        .iter()
        .map(|each| {
            let state = match &each.state {
                RunState::Running => "running".to_owned(),
                RunState::Ended { exit, usage } => format!("ended {exit} {}", usage.turns),
                RunState::CutOff => "cut off".to_owned(),
                RunState::Unreadable(why) => why.to_string().rsplit_once(": ").unwrap().1.to_owned(),
            };
            format!("{} {state}", &each.run.0[7..8])
        })
        .collect();
    assert_eq!(
        states,
        [
            "8 No such file or directory (os error 2)",
            "7 update it",
            "6 cut off",
            "5 cut off",
            "4 ended 3 2",
            "3 ended 3 2",
            "2 ended 3 2",
            "1 running",
        ]
    );
    assert_eq!(listed[7].reference.as_deref(), Some("fanout"));
    assert_eq!(listed[7].started_ms, Some(1_767_225_600_000));
    assert_eq!(runs(&folder.path().join("nowhere")).unwrap().count(), 0);
    // Looking leaves no lock behind.
    drop(going);
    assert!(matches!(runs(folder.path()).unwrap().last().unwrap().state, RunState::CutOff));
}
