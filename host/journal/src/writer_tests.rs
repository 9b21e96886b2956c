use std::{
    collections::BTreeSet,
    path::Path,
    pin::pin,
    sync::mpsc::{Receiver, channel},
};

use flowhost_core::{
    id::{BranchId, RunId},
    record::{LogSource, Recorder},
};

use super::*;
use crate::{FILE_NAME, Journal, read};

/// A disk that fails where a test says so.
struct Faulty {
    log: Arc<Mutex<Log>>,
    /// Bytes that fit.
    room: usize,
    why: io::ErrorKind,
    /// How long a write takes.
    takes: Duration,
    /// Each sync waits for a word.
    syncs: Option<Receiver<()>>,
}

#[derive(Debug, Default)]
struct Log {
    bytes: Vec<u8>,
    writes: usize,
    syncs: usize,
    sync_fails: bool,
}

impl Log {
    fn seen(&self) -> (u64, usize) {
        (self.bytes.len() as u64, self.syncs)
    }
}

impl Disk for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        std::thread::sleep(self.takes);
        let mut log = self.log.lock();
        log.writes += 1;
        let fits = bytes.len().min(self.room - log.bytes.len());
        log.bytes.extend_from_slice(&bytes[..fits]);
        if fits == 0 { Err(self.why.into()) } else { Ok(fits) }
    }

    fn sync(&mut self) -> io::Result<()> {
        if let Some(word) = &self.syncs {
            let _ = word.recv();
        }
        let mut log = self.log.lock();
        log.syncs += 1;
        if log.sync_fails { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.log.lock().bytes.truncate(usize::try_from(len).unwrap());
        Ok(())
    }
}

fn start(disk: impl Disk) -> Arc<Journal> {
    Arc::new(Journal::start("runs/r".into(), &RunId("r".into()), disk).unwrap())
}

fn healthy(log: &Arc<Mutex<Log>>) -> Faulty {
    Faulty { log: log.clone(), room: usize::MAX, why: io::ErrorKind::Other, takes: Duration::ZERO, syncs: None }
}

fn said(line: &str) -> Record {
    Record::Log { branch: BranchId::root(), line: line.into(), from: LogSource::Log }
}

fn append(journal: &Journal, line: &str) -> Mark {
    journal.append(Duration::ZERO, &said(line))
}

fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_mark_that_was_passed_is_not_waited_for() {
    let log = Arc::default();
    let journal = start(healthy(&log));
    let mark = append(&journal, "one");
    journal.written(mark).await.unwrap();
    now(journal.written(mark)).expect("it is there already").unwrap();
    assert!(now(journal.durable(mark)).is_none());
    journal.durable(mark).await.unwrap();
    now(journal.durable(mark)).expect("it is there already").unwrap();
    assert_eq!(log.lock().bytes.len() as u64, mark.0);
}

#[tokio::test]
async fn a_record_that_nobody_waits_for_is_written_soon_and_not_synced() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(healthy(&log));
    let mark = append(&journal, "one");
    while log.lock().bytes.len() as u64 != mark.0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(log.lock().syncs, 0);
}

#[tokio::test]
async fn those_who_wait_for_the_disk_are_served_together() {
    let log = Arc::<Mutex<Log>>::default();
    let (word, syncs) = channel();
    let journal = start(Faulty { syncs: Some(syncs), ..healthy(&log) });
    let mark = append(&journal, "first");
    // Its sync is under way until it gets the word; a thousand more come meanwhile.
    let first = tokio::spawn({
        let journal = journal.clone();
        async move { journal.durable(mark).await }
    });
    journal.written(mark).await.unwrap();
    let mut rest: Vec<_> = (0..1000)
        .map(|nth| {
            let mark = append(&journal, &nth.to_string());
            let journal = journal.clone();
            Box::pin(async move { journal.durable(mark).await })
        })
        .collect();
    for wait in &mut rest {
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    for _ in 0..3 {
        word.send(()).unwrap();
    }
    first.await.unwrap().unwrap();
    for wait in rest {
        wait.await.unwrap();
    }
    let log = log.lock();
    assert!(log.syncs <= 3, "{} syncs", log.syncs);
    assert!(log.writes <= 4, "{} writes", log.writes);
}

#[tokio::test]
async fn who_waits_writes_what_has_come_together() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(healthy(&log));
    let marks: Vec<Mark> = (0..100).map(|nth| append(&journal, &nth.to_string())).collect();
    for mark in marks.iter().rev() {
        journal.written(*mark).await.unwrap();
    }
    let writes = log.lock().writes;
    assert!(writes <= 2, "{writes} writes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_turns_on_a_slow_disk_are_not_ten_thousand_writes() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(Faulty { takes: SLOW * 3, ..healthy(&log) });
    let turns = (0..10_000).map(|nth| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let mark = append(&journal, &nth.to_string());
            journal.written(mark).await.unwrap();
        })
    });
    for turn in turns.collect::<Vec<_>>() {
        turn.await.unwrap();
    }
    let writes = log.lock().writes;
    assert!(writes < 2_000, "{writes} writes");
}

#[tokio::test]
async fn a_full_disk_is_said_to_all_who_wait_and_leaves_whole_records() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(Faulty { room: 1000, why: io::ErrorKind::StorageFull, ..healthy(&log) });
    let marks: Vec<Mark> = (0..50).map(|nth| append(&journal, &format!("line {nth}"))).collect();
    let mut failed = 0;
    for mark in &marks {
        match journal.written(*mark).await {
            Ok(()) => assert!(mark.0 <= 1000 && failed == 0),
            Err(error) => {
                failed += 1;
                assert!(mark.0 > 1000 - 80);
                let message = error.to_string();
                assert!(
                    message.starts_with("runs/r/journal.jsonl: the run can no longer be written down"),
                    "{message}"
                );
                assert!(message.ends_with("; make room on that disk"), "{message}");
            }
        }
    }
    assert!(failed > 30);
    let last_whole = marks.iter().rev().find(|mark| mark.0 <= 1000).unwrap().0;
    assert_eq!(log.lock().bytes.len() as u64, last_whole, "no torn record stays");
    // It stays so: nothing is written behind a hole.
    let late = append(&journal, "late");
    assert!(journal.written(late).await.is_err());
    assert!(journal.durable(late).await.is_err());
    assert!(journal.close().await.is_err());
    assert_eq!(log.lock().bytes.len() as u64, last_whole);
}

#[tokio::test]
async fn a_disk_that_cannot_sync_is_said_too() {
    let log = Arc::<Mutex<Log>>::default();
    log.lock().sync_fails = true;
    let journal = start(healthy(&log));
    let mark = append(&journal, "one");
    journal.written(mark).await.unwrap();
    let error = journal.durable(mark).await.unwrap_err();
    assert!(error.to_string().contains("can no longer be made durable"), "{error}");
    let later = append(&journal, "two");
    assert!(journal.written(later).await.is_err());
}

#[tokio::test]
async fn a_record_too_long_for_a_line_breaks_the_journal() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(healthy(&log));
    let before = append(&journal, "one");
    journal.written(before).await.unwrap();
    let long = append(&journal, &"x".repeat(LONGEST_LINE));
    let error = journal.written(long).await.unwrap_err();
    assert!(error.to_string().contains("a record of 2684"), "{error}");
    let after = append(&journal, "two");
    assert!(journal.written(after).await.is_err());
    drop(journal);
    assert_eq!(log.lock().bytes.len() as u64, before.0);
}

#[tokio::test]
async fn closing_makes_all_durable_and_what_comes_later_is_refused() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(healthy(&log));
    let mark = append(&journal, "one");
    journal.close().await.unwrap();
    assert_eq!(log.lock().seen(), (mark.0, 1));
    now(journal.durable(mark)).expect("it was closed").unwrap();
    let late = append(&journal, "late");
    let error = journal.written(late).await.unwrap_err();
    assert!(error.to_string().contains("the journal is closed"), "{error}");
}

#[test]
fn dropping_a_journal_makes_all_durable() {
    let log = Arc::<Mutex<Log>>::default();
    let journal = start(healthy(&log));
    let mark = append(&journal, "one");
    drop(journal);
    assert_eq!(log.lock().seen(), (mark.0, 1));
}

#[test]
fn records_of_eight_threads_keep_the_order_of_each_and_no_two_share_a_mark() {
    let runs = tempfile::tempdir().unwrap();
    let journal = Journal::create(runs.path(), &RunId("r".into())).unwrap();
    let mut marks = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let journal = &journal;
                scope
                    .spawn(move || (0..1000).map(|nth| append(journal, &format!("{thread} {nth}"))).collect::<Vec<_>>())
            })
            .collect();
        for thread in threads {
            let of_one = thread.join().unwrap();
            assert!(of_one.is_sorted());
            marks.extend(of_one);
        }
    });
    drop(journal);
    let mut next = [0; 8];
    let mut found = BTreeSet::new();
    let mut reader = read(&runs.path().join(Path::new("r")).join(FILE_NAME)).unwrap();
    while let Some(record) = reader.next() {
        let Record::Log { line, .. } = record.unwrap().1 else { panic!("it was a log") };
        let (thread, nth) = line.split_once(' ').unwrap();
        let next = &mut next[thread.parse::<usize>().unwrap()];
        assert_eq!(nth.parse(), Ok(*next));
        *next += 1;
        found.insert(Mark(reader.offset()));
    }
    assert_eq!(next, [1000; 8]);
    assert_eq!(found, marks.into_iter().collect());
}
