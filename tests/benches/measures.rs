//! The measures of the design, both sides in one run: a compiled guest through the public contract with the journal on a disk, beside the
//! Python peer where it is there.
//!
//! ```text
//! cargo bench -p flowhost-tests --bench measures [-- ROW…]        gather gather10 idle branches chain
//! FLOWHOST_PEER="…/python …/flows_bench.py" cargo bench -p flowhost-tests --bench measures
//! ```
//!
//! Each row is measured several times, the sides in turn, and the best of each is kept: machines are noisy, so read ratios. CPU is
//! that of the whole process while the run lasts, the start of the engine apart; the peer says its own. Resident memory is the growth of
//! the peak, which memory of earlier rows hides: ask for `idle` and `branches` alone.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, clippy::disallowed_types, missing_docs)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    path::PathBuf,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use flowhost_agents::fake::Fake;
use flowhost_core::{
    clock::Clock,
    id::RunId,
    record::{NoRecorder, Recorder},
    run::Header,
};
use flowhost_engine::{Component, Limits};
use flowhost_journal::Journal;
use flowhost_tests::guests::BENCH;
use serde_json::{Value, json};
use support::{Stage, engine_with, load, runtime};

/// The program's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each side is measured, unless `TIMES` says: more for a profile.
const TIMES: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Took {
    wall: f64,
    cpu: f64,
    rss_kb: f64,
}

struct Bench {
    runtime: tokio::runtime::Runtime,
    flow: Arc<Component>,
    disk: PathBuf,
    runs: std::cell::Cell<u16>,
    peer: Option<Vec<String>>,
}

impl Bench {
    /// One run of the guest.
    fn ours(&self, task: &str, params: Value, fake: &Fake, journal: bool) -> Took {
        let nth = self.runs.get() + 1;
        self.runs.set(nth);
        let fake = fake.clone().without_record();
        self.runtime.block_on(async {
            let mut stage = Stage::new().agent("worker", &fake).params(params).shelved("bench", &self.flow);
            let kept =
                journal.then(|| Arc::new(Journal::create(&self.disk, &RunId::new("20260101-000000", nth)).unwrap()));
            let recorder: Arc<dyn Recorder> = match &kept {
                Some(journal) => journal.clone(),
                None => Arc::new(NoRecorder),
            };
            (stage.watched, stage.branches) = (false, 20_000);
            let (run, given) = stage.run_on(recorder);
            let (wall, cpu, rss) = (Instant::now(), cpu(), peak_rss_kb(true));
            let flow = self.flow.clone();
            let task: Arc<str> = task.into();
            tokio::spawn(async move { run.execute(flow, task, given, Header::default()).await.unwrap() })
                .await
                .unwrap();
            if let Some(journal) = kept {
                journal.close().await.unwrap();
            }
            Took { wall: wall.elapsed().as_secs_f64(), cpu: cpu_since(cpu), rss_kb: peak_rss_kb(false) - rss }
        })
    }

    fn theirs(&self, arguments: &[&str]) -> Option<Value> {
        let peer = self.peer.as_ref()?;
        let output = Command::new(&peer[0]).args(&peer[1..]).args(arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Best of both sides, in turn.
    fn both(&self, ours: impl Fn() -> Took, peer: &[&str]) -> (Took, Option<Value>) {
        let mut best: Option<Took> = None;
        let mut theirs: Option<Value> = None;
        let times = std::env::var("TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(TIMES);
        for _ in 0..times {
            let took = ours();
            let least = |one: f64, other: f64| one.min(other);
            best = Some(best.map_or(took, |best| Took {
                wall: least(best.wall, took.wall),
                cpu: least(best.cpu, took.cpu),
                rss_kb: least(best.rss_kb, took.rss_kb),
            }));
            if let Some(said) = self.theirs(peer) {
                let better = theirs.as_ref().is_none_or(|best| said["cpu_s"].as_f64() < best["cpu_s"].as_f64());
                if better {
                    theirs = Some(said);
                }
            }
        }
        (best.unwrap(), theirs)
    }
}

fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn cpu_since(before: Duration) -> f64 {
    (cpu() - before).as_secs_f64()
}

/// Peak of resident memory since it was last asked to start over.
fn peak_rss_kb(start_over: bool) -> f64 {
    if start_over {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn field(value: &Option<Value>, name: &str) -> Option<f64> {
    value.as_ref()?.get(name)?.as_f64()
}

fn ratio(theirs: Option<f64>, ours: f64) -> String {
    theirs.map_or_else(|| "-".into(), |theirs| format!("{:.1} x", theirs / ours))
}

fn show(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "no peer".into(), |value| format!("{value:.4} {unit}"))
}

fn row(name: &str, ours: String, theirs: String, ratio: &str, goal: &str) {
    println!("| {name} | {ours} | {theirs} | {ratio} | {goal} |");
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|each| !each.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|each| each == name);
    let runtime = runtime();
    let flow = runtime.block_on(async { load(&engine_with(Limits::default()), BENCH).await });
    let disk = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("measures-{}", std::process::id()));
    let peer = std::env::var("FLOWHOST_PEER").ok().map(|peer| peer.split_whitespace().map(str::to_owned).collect());
    let bench = Bench { runtime, flow, disk: disk.clone(), runs: Default::default(), peer };
    let clock = Clock::system();
    let instant = Fake::new().reply("done");
    let slow = Fake::new().reply("done").delay(&clock, Duration::from_millis(10));

    println!("| work | flowhost | peer | ratio | to reach |\n|---|---|---|---|---|");
    let n = |n: u32| json!({ "n": n });
    if wants("gather") {
        let (ours, theirs) = bench.both(|| bench.ours("sessions", n(10_000), &instant, true), &["gather", "10000"]);
        let cpu = field(&theirs, "cpu_s");
        row(
            "10,000 sessions, one instant turn each, CPU",
            format!("{:.4} s", ours.cpu),
            show(cpu, "s"),
            &ratio(cpu, ours.cpu),
            ">= 20 x",
        );
        let (bare, _) = bench.both(|| bench.ours("sessions", n(10_000), &instant, false), &[]);
        row("the same without a journal, CPU", format!("{:.4} s", bare.cpu), String::new(), &ratio(cpu, bare.cpu), "");
        let (batch, _) = bench.both(|| bench.ours("batch", n(10_000), &instant, true), &[]);
        row("the same by `agent.batch`, CPU", format!("{:.4} s", batch.cpu), String::new(), &ratio(cpu, batch.cpu), "");
    }
    if wants("gather10") {
        let (ours, theirs) = bench.both(|| bench.ours("sessions", n(10_000), &slow, true), &["gather10", "10000"]);
        let wall = field(&theirs, "run_s");
        row(
            "10,000 turns of 10 ms, all at once, wall",
            format!("{:.4} s", ours.wall),
            show(wall, "s"),
            &ratio(wall, ours.wall),
            ">= 6 x",
        );
        let (bare, _) = bench.both(|| bench.ours("sessions", n(10_000), &slow, false), &[]);
        let more = (ours.wall / bare.wall - 1.0) * 100.0;
        row(
            "the same without a journal, wall",
            format!("{:.4} s", bare.wall),
            String::new(),
            &format!("journal {more:+.0} %"),
            "<= 10 %",
        );
        let per_turn = ours.wall / 10_000.0;
        for count in [30_000_u32, 100_000] {
            let took = bench.ours("sessions", n(count), &slow, true);
            let each = took.wall / f64::from(count);
            row(
                &format!("{count} turns in flight, wall each"),
                format!("{:.1} us", each * 1e6),
                String::new(),
                &format!("{:.2} x of 10,000", each / per_turn),
                "<= 2 x",
            );
        }
    }
    if wants("idle") {
        // What the first run of all takes is no session's.
        bench.ours("idle", n(10), &instant, true);
        let mut resident = Vec::new();
        for count in [10_000_u32, 100_000] {
            let took = bench.ours("idle", json!({ "n": count, "ms": 50 }), &instant, true);
            resident.push(took.rss_kb);
            let theirs = bench.theirs(&["idle", &count.to_string()]);
            let each = took.rss_kb * 1024.0 / f64::from(count);
            row(
                &format!("{count} idle sessions, resident"),
                format!("{each:.0} bytes"),
                show(field(&theirs, "bytes_per_session"), "bytes"),
                "",
                "<= 256 bytes",
            );
        }
        // The peak of the first is kept by the allocator, so the second grows by what the rest takes.
        row(
            "each of the 90000 between, resident",
            format!("{:.0} bytes", resident[1] * 1024.0 / 90_000.0),
            String::new(),
            "",
            "<= 256 bytes",
        );
    }
    if wants("branches") {
        let (ours, theirs) = bench.both(|| bench.ours("calls", n(10_000), &instant, true), &["sub", "10000"]);
        row(
            "a branch: call, store, return, CPU",
            format!("{:.1} us", ours.cpu * 100.0),
            show(field(&theirs, "cpu_s").map(|s| s * 100.0), "us"),
            "",
            "<= 100 us",
        );
        row(
            "10,000 branches gathered, peak resident",
            format!("{:.0} MiB", ours.rss_kb / 1024.0),
            String::new(),
            "",
            "<= 1024 MiB",
        );
    }
    if wants("chain") {
        let (ours, theirs) = bench.both(|| bench.ours("chain", n(64), &instant, true), &["chain", "64"]);
        let wall = field(&theirs, "run_s");
        row(
            "a chain of 64 flows, wall",
            format!("{:.2} ms", ours.wall * 1e3),
            show(wall.map(|s| s * 1e3), "ms"),
            &ratio(wall, ours.wall),
            "<= the peer's",
        );
    }
    let _ = std::fs::remove_dir_all(disk);
}
