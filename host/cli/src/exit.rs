//! How the program ends: the one table of exit codes, and the error that carries one.

use std::{borrow::Cow, fmt};

use flowhost_core::error::{Error, Kind};

/// How a command ended. The numbers are the same for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: it did what was asked; a flow answered.
    Answered,
    /// 1: the flow failed; of a batch, some items did.
    Failed,
    /// 2: refused before anything started: usage, grants, a program that is not there.
    Refused,
    /// 3: the budget is spent.
    BudgetSpent,
    /// 124: the `--timeout` of a command that waits ran out.
    TimedOut,
    /// 130: stopped by ctrl-c, SIGTERM or SIGHUP.
    Stopped,
}

impl Exit {
    /// All of them, with what they mean: for the man page and the help.
    pub const TABLE: [(Self, &'static str); 6] = [
        (Self::Answered, "it did what was asked: the flow answered"),
        (Self::Failed, "the flow failed"),
        (Self::Refused, "refused before anything started: usage, grants, a program that is not there"),
        (Self::BudgetSpent, "the budget is spent"),
        (Self::TimedOut, "a --timeout ran out"),
        (Self::Stopped, "stopped by ctrl-c, SIGTERM or SIGHUP"),
    ];

    /// The number that the program exits with.
    pub fn code(self) -> u8 {
        match self {
            Self::Answered => 0,
            Self::Failed => 1,
            Self::Refused => 2,
            Self::BudgetSpent => 3,
            Self::TimedOut => 124,
            Self::Stopped => 130,
        }
    }

    /// How a run ends that ended with this error.
    pub fn of(error: &Error) -> Self {
        match error.kind {
            Kind::Stopped => Self::Stopped,
            Kind::Budget(_) => Self::BudgetSpent,
            _ => Self::Failed,
        }
    }
}

/// Why a command did not do what was asked: a line or more for `error:`, perhaps one for `Hint:`, and the exit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    /// The exit.
    pub exit: Exit,
    /// What is wrong, and where. It may quote what others wrote: whoever prints it escapes it.
    pub message: Cow<'static, str>,
    /// What to do next.
    pub hint: Option<Cow<'static, str>>,
}

impl Failure {
    /// A refusal before anything started.
    pub fn refused(message: impl Into<Cow<'static, str>>) -> Self {
        Self { exit: Exit::Refused, message: message.into(), hint: None }
    }

    /// A failure of what had started.
    pub fn failed(message: impl Into<Cow<'static, str>>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), hint: None }
    }

    /// With what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Said of what somebody asked for.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message).into();
        self
    }

    /// What an error says about itself: its own exit and hint where it has them.
    pub fn of(error: &anyhow::Error) -> Self {
        match error.downcast_ref::<Self>() {
            Some(failure) => failure.clone(),
            None => Self::failed(format!("{error:#}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use flowhost_core::error::{HarnessFault, Limit, SpentLimit};

    use super::*;

    #[test]
    fn the_exit_of_a_run_follows_its_error() {
        let spent = Kind::Budget(SpentLimit { limit: Limit::Cost, whose: "1".into() });
        assert_eq!(Exit::of(&Error::new(spent, "spent")).code(), 3);
        assert_eq!(Exit::of(&Error::stopped()).code(), 130);
        assert_eq!(Exit::of(&Error::harness(HarnessFault::Killed, "the CLI died")).code(), 1);
    }

    #[test]
    fn an_error_keeps_its_exit_and_hint_under_context() {
        let error = anyhow::Error::from(Failure::refused("no").hint("yes")).context("while asking");
        let failure = Failure::of(&error);
        assert_eq!((failure.exit, failure.hint.as_deref()), (Exit::Refused, Some("yes")));
        assert_eq!(Failure::of(&anyhow::anyhow!("disk").context("writing")).message, "writing: disk");
    }
}
