//! What a fake was asked.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use flowhost_core::{
    harness::{Steer, Verdict},
    id::SessionId,
};
use parking_lot::Mutex;

/// A conversation that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its session.
    pub session: SessionId,
    /// Where it works.
    pub directory: Arc<str>,
    /// The session that it was forked off.
    pub fork_of: Option<SessionId>,
    /// The id of the conversation of an earlier run that it is.
    pub resumed: Option<String>,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its session.
    pub session: SessionId,
    /// The words.
    pub prompt: String,
    /// Where the session works.
    pub directory: Arc<str>,
}

/// A number that goes up and down, and how far it went up.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    count: AtomicU64,
    peak: AtomicU64,
}

impl Gauge {
    pub(super) fn up(&self) {
        let count = self.count.fetch_add(1, Relaxed) + 1;
        if count > self.peak.load(Relaxed) {
            self.peak.fetch_max(count, Relaxed);
        }
    }

    pub(super) fn down(&self) {
        self.count.fetch_sub(1, Relaxed);
    }

    pub(super) fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) turns: Gauge,
    pub(super) going: Gauge,
    pub(super) open: Gauge,
    pub(super) interrupted: Gauge,
    pub(super) entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) sessions: Vec<Opened>,
    pub(super) prompts: Vec<Asked>,
    pub(super) closed: Vec<SessionId>,
    pub(super) steers: Vec<(SessionId, Steer)>,
    pub(super) verdicts: Vec<(SessionId, Verdict)>,
}

impl Entries {
    /// The directory, shared with the session before where it is the same one: thousands of them have one.
    pub(super) fn directory(&self, directory: &str) -> Arc<str> {
        match self.sessions.last() {
            Some(last) if *last.directory == *directory => last.directory.clone(),
            _ => directory.into(),
        }
    }
}
