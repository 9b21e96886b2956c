//! Turns until an objective is met.

use crate::raw::flowhost::flow::agents as wit;
use crate::turn::no_options;
use crate::{Agent, Answer, Budget, Env, Error, Pending, Result, Turn};

/// Turns in a conversation of their own until the objective is met, judged by the harness where it can and by the agent itself
/// where not, or the rounds are over. Awaited it gives the last answer with what all have spent.
#[must_use = "it begins when it is awaited or started"]
#[derive(Debug)]
pub struct Pursue<'a> {
    agent: &'a Agent,
    objective: String,
    rounds: u32,
    at: Option<&'a Env>,
    options: wit::TurnOptions,
}

impl<'a> Pursue<'a> {
    pub(crate) fn new(agent: &'a Agent, objective: String, rounds: u32) -> Self {
        Self { agent, objective, rounds, at: None, options: no_options() }
    }

    /// Where the turns land.
    pub fn at(mut self, env: &'a Env) -> Self {
        self.at = Some(env);
        self
    }

    /// Limits all of them together.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.budget = Some(budget);
        self
    }

    /// Starts and returns at once; the handle is that of all its turns.
    pub fn start(self) -> Result<Turn> {
        let at = self.at.map(|env| &env.0);
        self.agent.0.pursue(&self.objective, at, self.rounds, &self.options).map(Turn).map_err(Error::lift)
    }
}

impl<'a> IntoFuture for Pursue<'a> {
    type Output = Result<Answer>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        // Nothing else holds its session, so dropping the handle with the future interrupts it.
        Box::pin(async move { self.start()?.wait().await })
    }
}
