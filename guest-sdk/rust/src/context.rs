//! What a flow knows of its own call.

use std::time::{Duration, SystemTime};

use crate::raw::flowhost::flow::{agents, context, envs};
use crate::{Agent, Allowance, Env, Error, Result, Usage};

/// What a flow was given: its agents and environments by role, its params, its budget.
#[derive(Debug)]
pub struct Context {
    _private: (),
}

impl Context {
    pub(crate) fn new() -> Self {
        Self { _private: () }
    }

    /// The agent that fills a role. An optional role that nobody filled is [`Error::Requirement`], a role that the flow did not
    /// declare [`Error::NotGranted`].
    pub fn agent(&self, role: &str) -> Result<Agent> {
        self.agent_opt(role)?.ok_or_else(|| Error::Requirement(format!("no agent fills the role {role}")))
    }

    /// The agent that fills an optional role, or none.
    pub fn agent_opt(&self, role: &str) -> Result<Option<Agent>> {
        Ok(agents::get_agent(role).map_err(Error::lift)?.map(Agent))
    }

    /// The environment that fills a role. Errors as [`Context::agent`].
    pub fn env(&self, role: &str) -> Result<Env> {
        self.env_opt(role)?.ok_or_else(|| Error::Requirement(format!("no environment fills the role {role}")))
    }

    /// The environment that fills an optional role, or none.
    pub fn env_opt(&self, role: &str) -> Result<Option<Env>> {
        Ok(envs::get_env(role).map_err(Error::lift)?.map(Env))
    }

    /// What the flow was called with, for a flow under `#[flow(params = P)]`. The host has held it to the schema already;
    /// what serde refuses beyond that is [`Error::Requirement`].
    pub fn params<P: serde::de::DeserializeOwned>(&self) -> Result<P> {
        serde_json::from_str(&context::params()).map_err(|error| Error::Requirement(format!("params: {error}")))
    }

    /// The run's name.
    pub fn run_id(&self) -> String {
        context::run_id()
    }

    /// This branch's place in the run, such as `1.3.2`.
    pub fn branch_id(&self) -> String {
        context::branch_id()
    }

    /// Names of the flows from the root of the run to this one.
    pub fn path(&self) -> Vec<String> {
        context::path()
    }

    /// What is left to spend: the tightest limit of this branch and those above.
    pub fn remaining(&self) -> Allowance {
        context::remaining()
    }

    /// What this branch has spent, with all that it called.
    pub fn spent(&self) -> Usage {
        context::spent()
    }

    /// Whether this branch was cut off before and is being taken up again.
    pub fn resumed(&self) -> bool {
        context::resumed()
    }
}

/// The time, to the millisecond; the same again when the run is resumed.
pub fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(context::now_ms())
}

/// Says a line in the run's log; [`log!`](crate::log!) formats it first.
pub fn log_line(line: &str) {
    context::log(line);
}

/// Says a line in the run's log, formatted as `format!` does.
///
/// ```no_run
/// # let (path, failed) = ("a.py", "the CLI died mid-turn");
/// flowhost::log!("{path}: failed, {failed}");
/// ```
#[macro_export]
macro_rules! log {
    ($($line:tt)*) => {
        $crate::log_line(&::std::format!($($line)*))
    };
}

/// Whole milliseconds, rounded up so that a wait is never shorter than asked.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
