//! What the program itself takes: a run without turns, and the host's part of a turn that is a process.
//!
//! ```text
//! cargo bench --bench process
//! FLOWHOST_PEER="…/python …/flows_bench.py" cargo bench --bench process
//! ```
//!
//! Best of several, both sides in turn. The peer's process runs one flow without turns on its own fakes. A turn's cost is that of
//! `script:cat`, the same program started without a host taken off; processor time is that of all processes, as the system counts it
//! when they are waited for. Memory is what the host's own processes hold in proportion (Pss) while turns are in flight.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, clippy::disallowed_types, missing_docs)]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const TIMES: usize = 10;
const SCRIPTS: [(&str, &str, &str); 2] = [
    ("JavaScript", "flow.js", "import { log } from 'flowhost';\nexport default (task) => log(task);\n"),
    ("TypeScript", "flow.ts", "import { log } from 'flowhost';\nexport default (task: string): void => log(task);\n"),
];
const TURNS: u32 = 200;
const IN_FLIGHT: u32 = 100;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let peer = std::env::var("FLOWHOST_PEER").ok();
    println!("| work | flowhost | peer | ratio | to reach |\n|---|---|---|---|---|");

    // The first fills the cache.
    empty(place.path());
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    for _ in 0..TIMES {
        ours = ours.min(wall(|| empty(place.path())));
        if let Some(peer) = &peer {
            theirs = theirs.min(wall(|| the_peers(peer)));
        }
    }
    let (said, ratio) = match peer {
        Some(_) => (format!("{:.1} ms", theirs * 1e3), format!("{:.1} x", theirs / ours)),
        None => ("no peer".to_owned(), "-".to_owned()),
    };
    println!(
        "| `exec` of a cached flow without turns, whole process | {:.1} ms | {said} | {ratio} | <= 30 ms, >= 15 x |",
        ours * 1e3
    );

    // Beside one that is compiled, in the same rounds.
    for (language, file, text) in SCRIPTS {
        fs::write(place.path().join(file), text).unwrap();
        script(place.path(), file);
        let (mut compiled, mut interpreted) = (f64::MAX, f64::MAX);
        for _ in 0..TIMES {
            compiled = compiled.min(wall(|| empty(place.path())));
            interpreted = interpreted.min(wall(|| script(place.path(), file)));
        }
        println!(
            "| `exec` of a cached flow in {language}, whole process | {:.1} ms | one that is compiled: {:.1} ms | {:.1} x | <= 40 ms |",
            interpreted * 1e3,
            compiled * 1e3,
            interpreted / compiled
        );
    }

    let least = |work: &dyn Fn()| (0..TIMES / 2).map(|_| cpu(work)).fold(f64::MAX, f64::min);
    let without = least(&|| empty(place.path()));
    let with = least(&|| run(place.path(), "script:cat", TURNS));
    let bare = least(&|| (0..TURNS).for_each(|_| cat()));
    let each = (with - without - bare) / f64::from(TURNS) * 1e3;
    let alone = bare / f64::from(TURNS) * 1e3;
    println!("| host cost of a turn, CPU | {each:.2} ms (its program {alone:.2} ms) | | | <= 1 ms |");

    let (mib, processes) = held(place.path());
    println!("| host cost of a turn in flight, memory | {mib:.2} MiB | | | <= 1 MiB |");
    println!("| host processes a turn in flight, beside the host | {processes:.2} | | | one helper in all |");
}

fn flowhost(place: &Path, agent: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_flowhost"))
        .args(["exec", "-f", "lines", "-a", &format!("agent={agent}"), "-"])
        .current_dir(place)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn begin(place: &Path, agent: &str, turns: u32) -> Child {
    let mut child = flowhost(place, agent);
    let task: String = (0..turns).map(|turn| format!("turn {turn}\n")).collect();
    child.stdin.take().unwrap().write_all(task.as_bytes()).unwrap();
    child
}

fn run(place: &Path, agent: &str, turns: u32) {
    assert!(begin(place, agent, turns).wait().unwrap().success());
}

fn empty(place: &Path) {
    run(place, "script:cat", 0);
}

fn script(place: &Path, file: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowhost"));
    command.args(["exec", "-f", &format!("./{file}"), "--grant", "unconfined", "x"]).current_dir(place);
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
}

fn the_peers(command: &str) {
    let mut words = command.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    assert!(command.args(words).args(["chain", "1"]).stdout(Stdio::null()).status().unwrap().success());
}

fn cat() {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    cat.stdin.take().unwrap().write_all(b"turn\n").unwrap();
    assert!(cat.wait_with_output().unwrap().status.success());
}

fn wall(work: impl Fn()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

/// Seconds of processor time of this process and of all that it has waited for.
fn cpu(work: &dyn Fn()) -> f64 {
    let seconds = || {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        // After the name: user and system time, own and of children, in ticks of 10 ms.
        let fields: Vec<u64> =
            stat.rsplit_once(") ").unwrap().1.split(' ').skip(11).take(4).map(|n| n.parse().unwrap()).collect();
        fields.iter().sum::<u64>() as f64 / 100.0
    };
    let before = seconds();
    work();
    seconds() - before
}

/// MiB that the host's processes hold for each turn in flight, and how many processes of its own it has for each.
fn held(place: &Path) -> (f64, f64) {
    let sample = |turns: u32| {
        let mut host = begin(place, "script:sleep 3", turns);
        thread::sleep(Duration::from_millis(1500));
        let own = own_processes(host.id());
        let kib: u64 = own.iter().filter_map(|pid| pss_kib(*pid)).sum();
        assert!(host.wait().unwrap().success());
        (kib as f64 / 1024.0, own.len() as f64)
    };
    let ((least, few), (most, many)) = (sample(1), sample(IN_FLIGHT + 1));
    ((most - least) / f64::from(IN_FLIGHT), (many - few) / f64::from(IN_FLIGHT))
}

fn pss_kib(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The process and those below it that run the same program.
fn own_processes(root: u32) -> Vec<u32> {
    let program = fs::read_link(format!("/proc/{root}/exe")).unwrap();
    let parent = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(&next) = found.get(at) {
        found.extend(all.iter().filter(|(_, parent)| *parent == next).map(|(pid, _)| *pid));
        at += 1;
    }
    found.retain(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program));
    found
}
