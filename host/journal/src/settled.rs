//! What turns cost, remembered from run to run ($2: the estimate of a turn counts those of earlier runs of the project).
//!
//! Kept apart from the journals in one small file, `runs/settled.jsonl`, so that a run that starts reads the last
//! [`KEPT`] turns of each class and nothing else. It is a help and no record: where it is damaged or lost, estimates begin
//! anew, and nothing that fails here fails a run.

use std::{
    borrow::Cow,
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    budget::{Ended, Settled},
    id::{SessionId, TurnId},
    record::{Observer, Record},
    usage::{Usage, Usd},
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How many turns of a class count.
pub const KEPT: usize = flowhost_core::budget::SAMPLE;

const FILE_NAME: &str = "settled.jsonl";
/// Bytes from which on the file is written anew with what counts.
const LONG: u64 = 256 << 10;
/// Bytes of it that are read at most: what is there is not trusted to be ours.
const LONGEST: u64 = 4 << 20;

/// Settled turns by class, `harness/model:effort`; the oldest first.
pub type ByClass = HashMap<String, Vec<Settled>>;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Line<'a> {
    #[serde(borrow)]
    class: Cow<'a, str>,
    cost: Usd,
    output_tokens: u64,
}

/// The first line. It names the file that it is in: one that came with a repository, or was copied, is another file, and
/// what a stranger says that turns cost must not decide how many start.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    #[serde(rename = "flowhost-settled")]
    version: u32,
    device: u64,
    inode: u64,
}

impl Header {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self { version: 1, device: found.dev(), inode: found.ino() })
    }
}

/// What earlier runs in this folder of runs settled: the last [`KEPT`] of each class. None where there is nothing to read.
pub fn recent(runs: &Path) -> ByClass {
    read(&runs.join(FILE_NAME)).unwrap_or_default()
}

fn read(path: &Path) -> io::Result<ByClass> {
    let file = crate::read::open(path)?;
    let mut found = ByClass::new();
    let text = {
        let mut text = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(&file, LONGEST), &mut text)?;
        text
    };
    let mut lines = text.split(|byte| *byte == b'\n');
    let header = lines.next().and_then(|line| serde_json::from_slice::<Header>(line).ok());
    if header == Some(Header::of(&file)?) {
        for line in lines {
            if let Ok(Line { class, cost, output_tokens }) = serde_json::from_slice(line) {
                keep(found.entry(class.into_owned()).or_default(), Settled { cost, output_tokens });
            }
        }
    }
    Ok(found)
}

fn keep(of_class: &mut Vec<Settled>, settled: Settled) {
    if of_class.len() == KEPT {
        of_class.remove(0);
    }
    of_class.push(settled);
}

/// Sees a run and gathers what its turns settle, by their agents.
#[derive(Debug, Default)]
pub struct Gathering(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    sessions: HashMap<SessionId, Arc<str>>,
    /// Turns that are going.
    turns: HashMap<TurnId, Arc<str>>,
    settled: ByClass,
}

impl Observer for Gathering {
    fn record(&self, _: Duration, record: &Record) {
        match record {
            Record::Session { session, agent, .. } => {
                self.0.lock().sessions.insert(*session, agent.clone());
            }
            Record::SessionEnd { session } => {
                self.0.lock().sessions.remove(session);
            }
            Record::Turn { turn, session, .. } => {
                let mut gathered = self.0.lock();
                if let Some(agent) = gathered.sessions.get(session).cloned() {
                    gathered.turns.insert(*turn, agent);
                }
            }
            Record::TurnEnd { turn, outcome, usage } => {
                let mut gathered = self.0.lock();
                // A turn that was cut short, and one that nobody knows the price of, do not show what others will cost ($2, $4).
                let whole = Ended::of(outcome.error()) == Ended::Whole;
                if let Some(agent) = gathered.turns.remove(turn)
                    && whole
                    && usage.turns > 0
                    && !usage.is_unpriced()
                {
                    let Usage { cost, output_tokens, .. } = *usage;
                    keep(gathered.settled.entry(agent.to_string()).or_default(), Settled { cost, output_tokens });
                }
            }
            _ => {}
        }
    }
}

impl Gathering {
    /// Remembers what was gathered for later runs in this folder of runs.
    ///
    /// # Errors
    /// Where the disk refuses; the run is none the worse.
    pub fn remember(&self, runs: &Path) -> io::Result<()> {
        let settled = std::mem::take(&mut self.0.lock().settled);
        if settled.is_empty() { Ok(()) } else { remember(runs, settled) }
    }
}

fn remember(runs: &Path, settled: ByClass) -> io::Result<()> {
    let path = runs.join(FILE_NAME);
    // One run at a time: two would write it anew from what they read.
    let lock = File::open(runs)?;
    lock.lock()?;
    let mut all = recent(runs);
    if !all.is_empty() && fs::symlink_metadata(&path)?.len() < LONG {
        let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
        let mut last = [b'\n'];
        file.read_exact_at(&mut last, file.metadata()?.len().saturating_sub(1))?;
        // After what another run may have left half done.
        let mut text = if last == [b'\n'] { Vec::new() } else { vec![b'\n'] };
        text.extend(lines(&settled));
        return file.write_all(&text);
    }
    for (class, of_run) in settled {
        let of_class = all.entry(class).or_default();
        of_run.into_iter().for_each(|each| keep(of_class, each));
    }
    let fresh = runs.join(format!("{FILE_NAME}.new"));
    let _ = fs::remove_file(&fresh);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let mut text = serde_json::to_vec(&Header::of(&file)?)?;
    text.push(b'\n');
    text.extend(lines(&all));
    file.write_all(&text)?;
    fs::rename(&fresh, &path)
}

fn lines(settled: &ByClass) -> Vec<u8> {
    let mut text = Vec::new();
    for (class, of_class) in settled {
        for Settled { cost, output_tokens } in of_class {
            let line = Line { class: class.into(), cost: *cost, output_tokens: *output_tokens };
            // A string and two numbers: nothing that JSON cannot say.
            if serde_json::to_writer(&mut text, &line).is_ok() {
                text.push(b'\n');
            }
        }
    }
    text
}
