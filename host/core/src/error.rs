//! What can go wrong, as the contract names it: a [`Kind`] that a flow acts on and a message for a person.
//!
//! The names are those of `wit/types.wit`; they are the same in the journal, in `--json` and in every SDK.

use serde::{Deserialize, Serialize};

/// The result of everything that a flow may ask for.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What a flow acts on.
    #[serde(flatten)]
    pub kind: Kind,
    /// What happened, where, and what to do next.
    pub message: String,
}

impl Error {
    /// An error of this kind with this message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// A flow's own mistake with a session.
    pub fn session(fault: SessionFault, message: impl Into<String>) -> Self {
        Self::new(Kind::Session(fault), message)
    }

    /// A turn that a harness could not take.
    pub fn harness(fault: HarnessFault, message: impl Into<String>) -> Self {
        Self::new(Kind::Harness(HarnessFailure { fault, retry_after_ms: None }), message)
    }

    /// Something that an environment could not do.
    pub fn env(fault: EnvFault, message: impl Into<String>) -> Self {
        Self::new(Kind::Env(fault), message)
    }

    /// A flow that could not be called, or did not end by itself.
    pub fn flow(fault: FlowFault, message: impl Into<String>) -> Self {
        Self::new(Kind::Flow(fault), message)
    }

    /// What was given does not meet what was declared.
    pub fn requirement(message: impl Into<String>) -> Self {
        Self::new(Kind::Requirement, message)
    }

    /// The flow used what it did not declare or was not granted.
    pub fn not_granted(message: impl Into<String>) -> Self {
        Self::new(Kind::NotGranted, message)
    }

    /// The run was stopped from outside.
    pub fn stopped() -> Self {
        Self::new(Kind::Stopped, "the run was stopped")
    }

    /// Anything that has no kind of its own.
    pub fn other(message: impl Into<String>) -> Self {
        Self::new(Kind::Other, message)
    }

    /// Whether this is a stop or a spent budget, which nothing suppresses (S8).
    pub fn is_final(&self) -> bool {
        matches!(self.kind, Kind::Stopped | Kind::Budget(_))
    }
}

/// Everything that a call can fail with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "fault", rename_all = "kebab-case")]
pub enum Kind {
    /// The flow's own mistake with a session.
    Session(SessionFault),
    /// The harness could not take the turn.
    Harness(HarnessFailure),
    /// The environment could not do it.
    Env(EnvFault),
    /// A limit is spent here or above. It stays so.
    Budget(SpentLimit),
    /// What was given does not meet what was declared; nothing has run.
    Requirement,
    /// The flow used what it did not declare or was not granted.
    NotGranted,
    /// A called flow could not be run, or did not end by itself.
    Flow(FlowFault),
    /// A flow says that it failed.
    Failed,
    /// The run was stopped from outside.
    Stopped,
    /// Anything else.
    Other,
}

/// Why a session could not do what it was asked. Each is the flow's own mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionFault {
    /// Another turn of it is going (S1).
    Busy,
    /// It is closed.
    Closed,
    /// Another agent or branch opened it (S6).
    NotYours,
    /// It has taken no turn yet, so there is nothing to fork (S9).
    NeverRan,
    /// Its directory is not there, or not inside the workspace (S5).
    RefusedDir,
    /// It takes no turn, so there is nothing to steer (S9).
    Idle,
    /// Anything else.
    Other,
}

/// How a harness failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HarnessFailure {
    /// In one word.
    pub fault: HarnessFault,
    /// When to try again in milliseconds, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// Why a harness could not take a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarnessFault {
    /// Its program is not there.
    NotInstalled,
    /// It has no account to work with.
    NotLoggedIn,
    /// It does not know the model, or may not use it.
    ModelUnavailable,
    /// A rate or usage limit.
    Throttled,
    /// The provider is too busy.
    Overloaded,
    /// Another program holds what it needs.
    Contended,
    /// The conversation no longer fits.
    ContextFull,
    /// Its process was killed.
    Killed,
    /// Its connection broke.
    Dropped,
    /// It said nothing for too long.
    Hung,
    /// The flow interrupted it, or let go of it.
    Interrupted,
    /// Its answer does not meet the schema, or cannot be read.
    BadOutput,
    /// It cannot do this.
    Unsupported,
    /// Anything else.
    Other,
}

/// Why an environment could not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvFault {
    /// No such path.
    NotFound,
    /// Not permitted.
    Denied,
    /// The path leaves the environment (W1).
    Outside,
    /// It took longer than was allowed.
    TimedOut,
    /// The program did not start.
    NotStarted,
    /// Something is in the way: a merge that does not apply, a name that is taken.
    Conflict,
    /// More bytes than one call carries.
    TooLarge,
    /// The machine cannot be reached.
    Unavailable,
    /// The flow interrupted it, or let go of it.
    Interrupted,
    /// Anything else.
    Other,
}

/// Which limit is spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SpentLimit {
    /// Which.
    pub limit: Limit,
    /// The branch whose limit it is, as its path.
    pub whose: String,
}

/// What a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// US dollars.
    Cost,
    /// Tokens written.
    OutputTokens,
    /// Turns.
    Turns,
    /// Time.
    Duration,
}

/// Why a called flow gave no answer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowFault {
    /// No such flow.
    NotFound,
    /// The reference cannot be read.
    BadRef,
    /// The chain of calls is at its bottom (B2).
    TooDeep,
    /// It broke down (B4).
    Trapped,
    /// It exceeded a limit on CPU, memory, output, handles or time (X2).
    Exceeded,
    /// The caller cancelled it, or let go of it.
    Interrupted,
    /// Anything else.
    Other,
}
