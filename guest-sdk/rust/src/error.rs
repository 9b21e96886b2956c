//! What can go wrong, as the contract names it.

use std::fmt;
use std::time::Duration;

use crate::raw::flowhost::flow::types::{
    self as wit, EnvFault, ErrorKind, FlowFault, HarnessFailure, HarnessFault, Limit, SessionFault, SpentLimit,
};

/// The result of everything that a flow may ask for.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed: a kind that a flow acts on, and a message that `Display` shows.
///
/// Every error of the standard library and of other crates becomes [`Error::Failed`] through `?`; that is why this type is not
/// itself a [`std::error::Error`]. An error that a flow returns reaches its caller as it was raised.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The flow's own mistake with a session, such as a second turn while one is going.
    Session(SessionError),
    /// A turn that the harness could not take. The one that a flow may read past.
    Harness(HarnessError),
    /// Something that an environment could not do.
    Env(EnvError),
    /// A limit is spent, here or above. It stays so.
    Budget(BudgetError),
    /// What was given does not meet what was declared; nothing has run.
    Requirement(String),
    /// The flow used what it did not declare or was not granted.
    NotGranted(String),
    /// A called flow that could not be run, or did not end by itself.
    Flow(FlowError),
    /// A flow says that it failed: the one to raise, see [`Error::failed`].
    Failed(String),
    /// The run was stopped from outside. Every later call says the same.
    Stopped(String),
    /// Anything else: read the message.
    Other(String),
}

/// The flow's own mistake with a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionError {
    /// In one word.
    pub fault: SessionFault,
    /// What happened, where, and what to do next.
    pub message: String,
}

/// A turn that a harness could not take.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessError {
    /// In one word.
    pub fault: HarnessFault,
    /// When to try again, where it is known.
    pub retry_after: Option<Duration>,
    /// What happened, where, and what to do next.
    pub message: String,
}

/// Something that an environment could not do.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvError {
    /// In one word.
    pub fault: EnvFault,
    /// What happened, where, and what to do next.
    pub message: String,
}

/// A limit that is spent.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetError {
    /// Which limit.
    pub limit: Limit,
    /// The branch whose limit it is, as its path.
    pub whose: String,
    /// What happened, where, and what to do next.
    pub message: String,
}

/// A called flow that gave no answer of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowError {
    /// In one word.
    pub fault: FlowFault,
    /// What happened, where, and what to do next.
    pub message: String,
}

macro_rules! display_the_message {
    ($($error:ty),*) => {$(
        impl fmt::Display for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.message)
            }
        }
    )*};
}
display_the_message!(SessionError, HarnessError, EnvError, BudgetError, FlowError);

impl Error {
    /// A flow's own failure.
    ///
    /// ```
    /// # use flowhost::Error;
    /// let error = Error::failed("no file is called `main.rs`");
    /// assert_eq!(error.to_string(), "no file is called `main.rs`");
    /// ```
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// What happened, where, and what to do next.
    pub fn message(&self) -> &str {
        match self {
            Self::Session(error) => &error.message,
            Self::Harness(error) => &error.message,
            Self::Env(error) => &error.message,
            Self::Budget(error) => &error.message,
            Self::Flow(error) => &error.message,
            Self::Requirement(message)
            | Self::NotGranted(message)
            | Self::Failed(message)
            | Self::Stopped(message)
            | Self::Other(message) => message,
        }
    }

    /// Its kind, by the contract's name, such as `harness` or `not-granted`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Harness(_) => "harness",
            Self::Env(_) => "env",
            Self::Budget(_) => "budget",
            Self::Requirement(_) => "requirement",
            Self::NotGranted(_) => "not-granted",
            Self::Flow(_) => "flow",
            Self::Failed(_) => "failed",
            Self::Stopped(_) => "stopped",
            Self::Other(_) => "other",
        }
    }

    /// As the contract carries it.
    pub(crate) fn lower(self) -> wit::Error {
        let (kind, message) = match self {
            Self::Session(SessionError { fault, message }) => (ErrorKind::Session(fault), message),
            Self::Harness(HarnessError { fault, retry_after, message }) => {
                let retry_after_ms = retry_after.map(crate::context::millis);
                (ErrorKind::Harness(HarnessFailure { fault, retry_after_ms }), message)
            }
            Self::Env(EnvError { fault, message }) => (ErrorKind::Env(fault), message),
            Self::Budget(BudgetError { limit, whose, message }) => {
                (ErrorKind::Budget(SpentLimit { limit, whose }), message)
            }
            Self::Requirement(message) => (ErrorKind::Requirement, message),
            Self::NotGranted(message) => (ErrorKind::NotGranted, message),
            Self::Flow(FlowError { fault, message }) => (ErrorKind::Flow(fault), message),
            Self::Failed(message) => (ErrorKind::Failed, message),
            Self::Stopped(message) => (ErrorKind::Stopped, message),
            Self::Other(message) => (ErrorKind::Other, message),
        };
        wit::Error { kind, message }
    }

    /// From what the contract carries. Not a `From`: the contract's error is a `std` one, and those become `Failed`.
    pub(crate) fn lift(error: wit::Error) -> Self {
        let message = error.message;
        match error.kind {
            ErrorKind::Session(fault) => Self::Session(SessionError { fault, message }),
            ErrorKind::Harness(HarnessFailure { fault, retry_after_ms }) => {
                let retry_after = retry_after_ms.map(Duration::from_millis);
                Self::Harness(HarnessError { fault, retry_after, message })
            }
            ErrorKind::Env(fault) => Self::Env(EnvError { fault, message }),
            ErrorKind::Budget(SpentLimit { limit, whose }) => Self::Budget(BudgetError { limit, whose, message }),
            ErrorKind::Requirement => Self::Requirement(message),
            ErrorKind::NotGranted => Self::NotGranted(message),
            ErrorKind::Flow(fault) => Self::Flow(FlowError { fault, message }),
            ErrorKind::Failed => Self::Failed(message),
            ErrorKind::Stopped => Self::Stopped(message),
            ErrorKind::Other => Self::Other(message),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(each) = cause {
            message.push_str(": ");
            message.push_str(&each.to_string());
            cause = each.source();
        }
        Self::Failed(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B4: a flow's own error reaches its caller as it was raised.
    #[test]
    fn every_kind_crosses_the_contract_and_comes_back() {
        let message = || "what happened".to_owned();
        let retry_after = Some(Duration::from_millis(1500));
        let all = [
            Error::Session(SessionError { fault: SessionFault::Busy, message: message() }),
            Error::Harness(HarnessError { fault: HarnessFault::Throttled, retry_after, message: message() }),
            Error::Env(EnvError { fault: EnvFault::NotFound, message: message() }),
            Error::Budget(BudgetError { limit: Limit::OutputTokens, whose: "1.2".into(), message: message() }),
            Error::Requirement(message()),
            Error::NotGranted(message()),
            Error::Flow(FlowError { fault: FlowFault::TooDeep, message: message() }),
            Error::Failed(message()),
            Error::Stopped(message()),
            Error::Other(message()),
        ];
        for error in all {
            assert_eq!(Error::lift(error.clone().lower()), error);
            assert_eq!(error.to_string(), "what happened");
        }
    }

    #[test]
    fn a_foreign_error_is_failed_and_names_its_causes() {
        let number = || -> Result<u32> { Ok("x".parse::<u32>()?) };
        assert_eq!(number(), Err(Error::Failed("invalid digit found in string".into())));
    }
}
