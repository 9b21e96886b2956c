//! What is written is what is read, and what is broken is known as such.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod sample;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use flowhost_core::record::{Mark, Outcome, Record, Recorder};
use flowhost_journal::{FILE_NAME, Journal, JournalError, Reader, Torn, read};
use proptest::prelude::*;
use tempfile::TempDir;

/// A journal of `records`, closed; each record's mark; and its bytes.
fn journal_of(records: &[Record]) -> (TempDir, PathBuf, Vec<Mark>, Vec<u8>) {
    let runs = tempfile::tempdir().unwrap();
    let journal = Journal::create(runs.path(), &sample::run_id()).unwrap();
    let marks = records
        .iter()
        .enumerate()
        .map(|(nth, record)| journal.append(Duration::from_micros(nth as u64 * 3), record))
        .collect();
    let path = journal.folder().join(FILE_NAME);
    drop(journal);
    let bytes = fs::read(&path).unwrap();
    (runs, path, marks, bytes)
}

fn all(path: &Path) -> (Vec<Record>, Reader) {
    let mut reader = read(path).unwrap();
    let records = reader.by_ref().map(|read| read.unwrap().1).collect();
    (records, reader)
}

#[test]
fn every_record_is_read_as_it_was_written() {
    let written = sample::records();
    let (_runs, path, marks, bytes) = journal_of(&written);
    let mut reader = read(&path).unwrap();
    assert_eq!(reader.run(), Some(&sample::run_id()));
    for (nth, expected) in written.iter().enumerate() {
        let (at, record) = reader.next().unwrap().unwrap();
        assert_eq!(format!("{record:?}"), format!("{expected:?}"));
        assert_eq!(at, Duration::from_micros(nth as u64 * 3));
        assert_eq!(Mark(reader.offset()), marks[nth], "a mark is the bytes before the end of its record");
    }
    assert!(reader.next().is_none());
    assert_eq!((reader.torn(), reader.skipped(), reader.offset()), (None, 0, bytes.len() as u64));
}

#[test]
fn a_document_of_a_flow_is_kept_as_it_was_written_but_for_line_ends() {
    let ended = |text: &str| Record::BranchEnd {
        branch: flowhost_core::id::BranchId::root(),
        outcome: Outcome::Ok(sample::json(text)),
        usage: sample::usage(),
    };
    let (_runs, path, ..) = journal_of(&[ended("{\"b\" : 1.00e3,\t\"a\":[ 9007199254740993 ]}"), ended("[1,\r\n 2]")]);
    let texts: Vec<String> = all(&path)
        .0
        .into_iter()
        .map(|record| match record {
            Record::BranchEnd { outcome: Outcome::Ok(json), .. } => json.get().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["{\"b\" : 1.00e3,\t\"a\":[ 9007199254740993 ]}", "[1,\r  2]"]);
}

#[test]
fn each_line_is_json_by_itself() {
    let (_runs, _, _, bytes) = journal_of(&sample::records());
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("{\"flowhost-journal\":1,\"run\":\"20260101-120000-0a1b\"}\n"));
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    assert_eq!(text.lines().count(), sample::records().len() + 1);
}

#[test]
fn a_line_torn_at_any_byte_is_dropped_and_said() {
    let written = sample::records();
    let (_runs, path, marks, bytes) = journal_of(&written);
    let whole = marks[marks.len() - 2].0;
    for len in whole..bytes.len() as u64 {
        fs::write(&path, &bytes[..len as usize]).unwrap();
        let (records, reader) = all(&path);
        assert_eq!(records.len(), written.len() - 1);
        let torn = (len > whole).then_some(Torn { offset: whole, bytes: len - whole });
        assert_eq!(reader.torn(), torn, "cut at {len}");
    }
}

#[test]
fn a_journal_that_was_cut_off_in_its_first_line_is_a_run_in_which_nothing_happened() {
    let (_runs, path, _, bytes) = journal_of(&[]);
    for len in 0..bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        let (records, reader) = all(&path);
        assert!(records.is_empty());
        assert_eq!(reader.run(), None);
        assert_eq!(reader.torn(), (len > 0).then_some(Torn { offset: 0, bytes: len as u64 }));
    }
}

proptest! {
    /// After a loss of power the end of a file may be anything: zeros, old blocks, several half lines.
    #[test]
    fn whatever_follows_the_last_whole_line_is_dropped(
        kept in 0usize..8,
        tail in proptest::collection::vec(prop_oneof![Just(0u8), Just(b'\n'), Just(b'{'), any::<u8>()], 1..400),
    ) {
        let written: Vec<_> = sample::records().into_iter().take(8).collect();
        let (_runs, path, marks, mut bytes) = journal_of(&written);
        let whole = if kept == 0 { bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1 } else { marks[kept - 1].0 as usize };
        bytes.truncate(whole);
        bytes.extend(&tail);
        fs::write(&path, &bytes).unwrap();
        let (records, reader) = all(&path);
        prop_assert_eq!(records.len(), kept);
        prop_assert_eq!(reader.torn(), Some(Torn { offset: whole as u64, bytes: tail.len() as u64 }));
    }

    #[test]
    fn a_byte_that_changed_in_the_middle_is_an_error_that_names_its_line(at in 0.0f64..1.0, to in any::<u8>()) {
        let written: Vec<_> = sample::records().into_iter().take(8).collect();
        let (_runs, path, marks, mut bytes) = journal_of(&written);
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() as u64 + 1;
        // Not in the last line, which could be torn, and not the line end before it, which keeps the two apart.
        let place = header + ((marks[6].0 - 1 - header) as f64 * at) as u64;
        prop_assume!(bytes[place as usize] != to);
        bytes[place as usize] = to;
        fs::write(&path, &bytes).unwrap();
        let before = marks.iter().filter(|mark| mark.0 <= place).count();
        let mut read: Vec<_> = read(&path).unwrap().collect();
        let last = read.pop().unwrap();
        prop_assert_eq!(read.len(), before);
        prop_assert!(read.iter().all(Result::is_ok));
        let starts = if before == 0 { header } else { marks[before - 1].0 };
        match last {
            Err(JournalError::Damaged { line, offset, .. }) => {
                prop_assert_eq!((line, offset), (before as u64 + 2, starts));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn what_a_newer_host_of_this_format_wrote_is_skipped_and_counted() {
    let written: Vec<_> = sample::records().into_iter().take(3).collect();
    let (_runs, path, _, mut bytes) = journal_of(&written);
    let mut add = |body: &str| {
        bytes.extend(format!("{{\"crc\":\"{:08x}\",{body}\n", crc32fast::hash(body.as_bytes())).bytes());
    };
    add("\"at-us\":9,\"type\":\"telepathy\",\"turn\":\"t1\"}");
    add("\"at-us\":9,\"type\":\"event\",\"turn\":\"t1\",\"event\":\"telepathy\"}");
    add("\"at-us\":9,\"new\":[1],\"type\":\"stop\",\"why\":\"ctrl-c\",\"newer\":{\"a\":1}}");
    fs::write(&path, &bytes).unwrap();
    let (records, reader) = all(&path);
    assert_eq!(records.len(), 4, "an unknown key is ignored");
    assert!(matches!(&records[3], Record::Stop { why } if &**why == "ctrl-c"));
    assert_eq!((reader.skipped(), reader.torn()), (2, None));
}

#[test]
fn a_journal_of_a_newer_format_is_refused() {
    let runs = tempfile::tempdir().unwrap();
    let path = runs.path().join("journal.jsonl");
    fs::write(&path, "{\"flowhost-journal\":2,\"something\":\"else\"}\n").unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(error, JournalError::Newer { version: 2, .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("written in format 2 by a newer flowhost; this one reads up to format 1: update it")
    );
}

#[test]
fn what_is_no_journal_is_refused() {
    let runs = tempfile::tempdir().unwrap();
    let path = runs.path().join("journal.jsonl");
    for text in
        ["hello\n", "{\"flowhost\":1}\n", "{\"flowhost-journal\":\"x\"}\n", "\n", "x", "{\"flowhost-journal\":1}\n"]
    {
        fs::write(&path, text).unwrap();
        assert!(matches!(read(&path), Err(JournalError::NotAJournal { .. })), "{text}");
    }
    let link = runs.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for no_file in [link.as_path(), runs.path(), &runs.path().join("nowhere")] {
        assert!(matches!(read(no_file), Err(JournalError::Io { .. })));
    }
}
