//! The record of a run: what is written down, in which order, and under which identity (J1, J2).
//!
//! One stream of [`Record`]s feeds the journal, the screen and `--json`. A record that a later resume answers from carries a
//! [`Key`], the call's own identity, so that siblings of a fan-out match whatever order they finished in.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    error::{Error, Result},
    harness::Event,
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    usage::{Limits, Usage},
};

/// The version of the shapes below. A reader refuses a journal with a greater one.
pub const FORMAT: u32 = 1;

/// Writes records down. Appending never waits and never fails: what went wrong is said where somebody waits.
#[async_trait]
pub trait Recorder: Send + Sync + 'static {
    /// Puts a record after all that were appended before; `at` is the time since the run began.
    fn append(&self, at: Duration, record: &Record) -> Mark;

    /// Writes what was appended on the caller's own thread, where that can be done at once. For one who cannot wait.
    fn write_out(&self) {}

    /// Returns when everything up to `mark` would outlive this process (J1: an `end`, before its answer).
    async fn written(&self, mark: Mark) -> Result<()>;

    /// Returns when everything up to `mark` would outlive this machine's power (J1: a `begin`, before its effect).
    async fn durable(&self, mark: Mark) -> Result<()>;
}

/// A place in the journal: how many bytes come before the end of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub u64);

/// Keeps nothing: for tests, benchmarks of the rules and `describe`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

#[async_trait]
impl Recorder for NoRecorder {
    fn append(&self, _: Duration, _: &Record) -> Mark {
        Mark(0)
    }
    async fn written(&self, _: Mark) -> Result<()> {
        Ok(())
    }
    async fn durable(&self, _: Mark) -> Result<()> {
        Ok(())
    }
}

/// Sees every record as it is appended: the screen, `--json`, a test. It must not wait.
pub trait Observer: Send + Sync + 'static {
    /// A record was appended; `at` is the time since the run began.
    fn record(&self, at: Duration, record: &Record);
}

/// A call's own identity (J2): equal for the call that a resumed run makes in its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// The identity of what has these parts, in this order. Each part counts with its length, so that no two lists of parts run
    /// into one another.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }

    /// The identity of the `nth` (from 0) call among those with equal keys.
    #[must_use]
    pub fn occurrence(self, nth: u32) -> Self {
        if nth == 0 { self } else { Self::of(&[&self.0, &nth.to_le_bytes()]) }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0u8; 32];
        for (at, byte) in self.0.iter().enumerate() {
            hex[at * 2] = DIGITS[usize::from(byte >> 4)];
            hex[at * 2 + 1] = DIGITS[usize::from(byte & 15)];
        }
        to.write_str(std::str::from_utf8(&hex).unwrap_or_default())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl FromStr for Key {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: not a key of 32 hexadecimal digits");
        if text.len() != 32 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut key = [0; 16];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(key))
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How something ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome<T> {
    /// With this.
    Ok(T),
    /// With this error.
    Error(Error),
}

impl<T> Outcome<T> {
    /// What failed, where it did.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Self::Ok(_) => None,
            Self::Error(error) => Some(error),
        }
    }
}

impl<T> From<Result<T>> for Outcome<T> {
    fn from(result: Result<T>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(error) => Self::Error(error),
        }
    }
}

impl<T> From<Outcome<T>> for Result<T> {
    fn from(outcome: Outcome<T>) -> Self {
        match outcome {
            Outcome::Ok(value) => Ok(value),
            Outcome::Error(error) => Err(error),
        }
    }
}

/// A JSON document, kept as it was written.
pub type Json = Arc<RawValue>;

/// What a turn answered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// What the agent said last.
    pub text: Arc<str>,
    /// The structured answer, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}

/// One thing that happened in a run.
///
/// On a line of the journal and of `--json` the variant's name is the key `type` beside the fields: the journal's `line`
/// writes that. Here it is around them, since a tagged enum that serde derives cannot read a [`Json`] back as it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// The run begins: the first record.
    #[serde(rename_all = "kebab-case")]
    Run {
        /// [`FORMAT`].
        format: u32,
        /// The host's version.
        flowhost: Arc<str>,
        /// Its name.
        run: RunId,
        /// The flow, as it was referred to.
        reference: Arc<str>,
        /// Milliseconds since the epoch.
        started_ms: u64,
        /// By role: `harness/model:effort`, fallbacks after it.
        agents: Vec<(Arc<str>, Arc<str>)>,
        /// By role: `local:DIR`.
        envs: Vec<(Arc<str>, Arc<str>)>,
        /// Turns at once, where the person said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_once: Option<u32>,
    },
    /// A branch begins.
    #[serde(rename_all = "kebab-case")]
    Branch {
        /// Its place in the run.
        branch: BranchId,
        /// The branch that called it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<BranchId>,
        /// The flow's name.
        flow: Arc<str>,
        /// BLAKE3 of the flow, in hexadecimal digits.
        digest: Arc<str>,
        /// J2: parent, callee's digest, task, params, occurrence.
        key: Key,
        /// What it was asked.
        task: Arc<str>,
        /// As its schema says.
        params: Json,
        /// On top of what is left above.
        limits: Limits,
    },
    /// A branch has ended, and everything that it left.
    #[serde(rename_all = "kebab-case")]
    BranchEnd {
        /// Which.
        branch: BranchId,
        /// Its answer, or its error.
        outcome: Outcome<Json>,
        /// What it spent, with all that it called.
        usage: Usage,
    },
    /// A session takes its first turn: before that there is nothing to record (S3).
    #[serde(rename_all = "kebab-case")]
    Session {
        /// Its name.
        session: SessionId,
        /// The branch that opened it.
        branch: BranchId,
        /// Its agent's role.
        role: Arc<str>,
        /// `harness/model:effort`, a script's program with its harness: `script:./agent.sh`.
        agent: Arc<str>,
        /// Its directory.
        directory: Arc<str>,
        /// Which conversation of its agent it is, from 1.
        nth: u32,
        /// The session that it branched off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork_of: Option<SessionId>,
    },
    /// The harness's own id for a session.
    #[serde(rename_all = "kebab-case")]
    Native {
        /// Which.
        session: SessionId,
        /// The id.
        native: Arc<str>,
    },
    /// A session is closed.
    #[serde(rename_all = "kebab-case")]
    SessionEnd {
        /// Which.
        session: SessionId,
    },
    /// A turn begins: durable before the prompt is handed over.
    #[serde(rename_all = "kebab-case")]
    Turn {
        /// Its name.
        turn: TurnId,
        /// Its session.
        session: SessionId,
        /// Its branch.
        branch: BranchId,
        /// J2: branch, role, settings, env, directory in it, prompts already taken, prompt, schema, occurrence.
        key: Key,
        /// What is asked.
        prompt: Arc<str>,
        /// JSON Schema that the answer must meet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json>,
    },
    /// Something happened in a turn.
    #[serde(rename_all = "kebab-case")]
    Event {
        /// Which.
        turn: TurnId,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
    /// A turn waits for budget or for a cap, or no longer does.
    #[serde(rename_all = "kebab-case")]
    Waiting {
        /// Which.
        turn: TurnId,
        /// Why; none once it goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Arc<str>>,
    },
    /// Another prompt of the same turn was handed over: a repair, a retry, a next round.
    #[serde(rename_all = "kebab-case")]
    Again {
        /// Which.
        turn: TurnId,
        /// Why.
        why: Arc<str>,
        /// The prompt.
        prompt: Arc<str>,
    },
    /// Words were put into a turn.
    #[serde(rename_all = "kebab-case")]
    Steer {
        /// Which.
        turn: TurnId,
        /// The words.
        prompt: Arc<str>,
        /// Whether they interrupt.
        interrupting: bool,
    },
    /// An occasion was answered, or went unanswered.
    #[serde(rename_all = "kebab-case")]
    Occasion {
        /// The turn that came upon it.
        turn: TurnId,
        /// What happened.
        moment: crate::harness::Moment,
        /// What it carries.
        details: serde_json::Value,
        /// What was said to it.
        verdict: crate::harness::Verdict,
        /// Whether somebody said it, and in time.
        answered: bool,
    },
    /// A turn has ended: written before its answer reaches the flow.
    #[serde(rename_all = "kebab-case")]
    TurnEnd {
        /// Which.
        turn: TurnId,
        /// Its answer, or its error.
        outcome: Outcome<Answer>,
        /// What it spent.
        usage: Usage,
    },
    /// A call that has an effect begins: durable before the effect.
    #[serde(rename_all = "kebab-case")]
    Call {
        /// Its name.
        call: CallId,
        /// Its branch.
        branch: BranchId,
        /// Which function, as the contract names it: `env.exec`.
        function: Arc<str>,
        /// J2: branch, resource, function, arguments, occurrence.
        key: Key,
        /// A short line for a person.
        label: Arc<str>,
        /// Whether it may be done again where it was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repeatable: bool,
    },
    /// A call that has an effect has ended.
    #[serde(rename_all = "kebab-case")]
    CallEnd {
        /// Which.
        call: CallId,
        /// What it gave.
        outcome: Outcome<Json>,
    },
    /// A call without an effect gave what a guest could not have computed.
    #[serde(rename_all = "kebab-case")]
    Value {
        /// Its branch.
        branch: BranchId,
        /// Which function: `now-ms`, `env.read`, `random`.
        function: Arc<str>,
        /// J2, as of a call; none where the order in the branch is identity enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Key>,
        /// What it gave.
        outcome: Outcome<Json>,
    },
    /// A completion was delivered to a branch: the order of these is the order in which the flow saw them.
    #[serde(rename_all = "kebab-case")]
    Delivered {
        /// The branch.
        branch: BranchId,
        /// The turn (`t40`), call (`c7`), branch (`1.2`) or sleep (`sleep`) that it is of.
        of: Arc<str>,
    },
    /// The flow says a line.
    #[serde(rename_all = "kebab-case")]
    Log {
        /// Its branch.
        branch: BranchId,
        /// The line.
        line: Arc<str>,
        /// Where it came from.
        from: LogSource,
    },
    /// The run is being stopped (X1).
    #[serde(rename_all = "kebab-case")]
    Stop {
        /// By what.
        why: Arc<str>,
    },
    /// The run has ended: the last record.
    #[serde(rename_all = "kebab-case")]
    End {
        /// The root's answer, or the error.
        outcome: Outcome<Json>,
        /// What the run spent.
        usage: Usage,
        /// The exit code.
        exit: i32,
    },
}

/// Where a line of a flow's log came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogSource {
    /// `context.log`.
    Log,
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
    /// The host, about the flow.
    Host,
}
