//! What the journal costs a run: `cargo bench -p flowhost-journal`.
//!
//! `append` is the time that the caller of one small record spends, beside that of putting the same record into JSON and
//! doing nothing with it. `ten-thousand-turns` is all that a run of that many turns at once asks of the journal: each
//! begins, is delivered and ends, and waits until its end is written. `read-back` makes the tree of such a run again.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]

use std::{hint::black_box, time::Duration};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flowhost_core::{
    id::{BranchId, RunId, SessionId, TurnId},
    record::{Answer, Key, Outcome, Record, Recorder},
    usage::Usage,
};
use flowhost_journal::{FILE_NAME, Journal, Tree, line, read};

const TURNS: u32 = 10_000;

fn turn(nth: u32) -> Record {
    Record::Turn {
        turn: TurnId(nth),
        session: SessionId(nth),
        branch: BranchId::root(),
        key: Key::of(&[b"turn", &nth.to_le_bytes()]),
        prompt: "Add a one-line module docstring.\n\nThe file is src/a.py.".into(),
        schema: None,
    }
}

fn session(nth: u32) -> Record {
    Record::Session {
        session: SessionId(nth),
        branch: BranchId::root(),
        role: "agent".into(),
        agent: "fake".into(),
        directory: "/srv/project".into(),
        nth,
        fork_of: None,
    }
}

fn delivered(nth: u32) -> Record {
    Record::Delivered { branch: BranchId::root(), of: TurnId(nth).to_string().into() }
}

fn turn_end(nth: u32) -> Record {
    let outcome = Outcome::Ok(Answer { text: "src/a.py.".into(), value: None });
    Record::TurnEnd { turn: TurnId(nth), outcome, usage: Usage { turns: 1, output_tokens: 12, ..Usage::default() } }
}

fn append(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut group = criterion.benchmark_group("append");
    group.throughput(Throughput::Elements(1));
    let at = Duration::from_micros(1_234_567);
    for (name, record) in
        [("session", session(4321)), ("turn", turn(4321)), ("turn-end", turn_end(4321)), ("delivered", delivered(4321))]
    {
        group.bench_with_input(BenchmarkId::new("json-alone", name), &record, |bench, record| {
            let mut text = Vec::with_capacity(4096);
            bench.iter(|| {
                text.clear();
                line(at, black_box(record), &mut text).unwrap();
            });
        });
        group.bench_with_input(BenchmarkId::new("journal", name), &record, |bench, record| {
            let journal = Journal::create(folder.path(), &RunId(name.into())).unwrap();
            bench.iter(|| journal.append(at, black_box(record)));
            drop(journal);
            std::fs::remove_dir_all(folder.path().join(name)).unwrap();
        });
    }
    group.finish();
}

fn ten_thousand_turns(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("ten-thousand-turns");
    group.throughput(Throughput::Elements(TURNS.into())).sample_size(20);
    let mut runs = 0;
    for kept in [false, true] {
        let name = if kept { "journal" } else { "tasks-alone" };
        group.bench_function(name, |bench| {
            bench.iter_batched(
                || {
                    runs += 1;
                    let run = RunId(format!("{name}-{runs}").into());
                    kept.then(|| std::sync::Arc::new(Journal::create(folder.path(), &run).unwrap()))
                },
                |journal| {
                    runtime.block_on(async move {
                        let turns = (1..=TURNS).map(|nth| {
                            let journal = journal.clone();
                            tokio::spawn(async move {
                                let (begin, end) = (turn(nth), turn_end(nth));
                                let Some(journal) = journal else {
                                    black_box((session(nth), begin, end, delivered(nth)));
                                    return;
                                };
                                journal.append(Duration::ZERO, &session(nth));
                                journal.append(Duration::ZERO, &begin);
                                let mark = journal.append(Duration::ZERO, &end);
                                journal.written(mark).await.unwrap();
                                journal.append(Duration::ZERO, &delivered(nth));
                            })
                        });
                        for turn in turns.collect::<Vec<_>>() {
                            turn.await.unwrap();
                        }
                        // Closing it is no part of a turn, and is not measured.
                        journal
                    })
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn read_back(criterion: &mut Criterion) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let journal = Journal::create(folder.path(), &RunId("run".into())).unwrap();
    for nth in 1..=TURNS {
        for record in [session(nth), turn(nth), turn_end(nth), delivered(nth)] {
            journal.append(Duration::ZERO, &record);
        }
    }
    let path = journal.folder().join(FILE_NAME);
    drop(journal);
    let mut group = criterion.benchmark_group("read-back");
    group.throughput(Throughput::Elements(TURNS.into())).sample_size(20);
    group.bench_function("tree", |bench| {
        bench.iter(|| Tree::from_records(read(&path).unwrap().map(Result::unwrap)));
    });
    group.finish();
}

criterion_group!(benches, append, ten_thousand_turns, read_back);
criterion_main!(benches);
