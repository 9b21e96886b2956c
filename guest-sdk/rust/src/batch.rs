//! One agent over many prompts.

use crate::raw::flowhost::flow::agents as wit;
use crate::turn::no_options;
use crate::{Agent, Answer, Budget, Env, Error, Pending, Result};

/// Many turns to take, a conversation apiece; awaited it gives the answers in the order asked.
///
/// The first failure by position is returned once every turn has landed. A [suppressed](Batch::suppress) batch keeps failures in
/// their places. A stop and a spent budget are returned either way.
///
/// ```no_run
/// # async fn example(agent: &flowhost::Agent) -> flowhost::Result<()> {
/// let answers = agent.batch(["What is in src?", "What is in tests?"]).at_once(4).await?;
/// for answer in agent.batch(["one", "two"]).suppress().await? {
///     match answer {
///         Ok(answer) => flowhost::log!("{}", answer.text),
///         Err(error) => flowhost::log!("failed, {error}"),
///     }
/// }
/// # Ok(()) }
/// ```
#[must_use = "a batch is taken when it is awaited"]
#[derive(Debug)]
pub struct Batch<'a> {
    agent: &'a Agent,
    prompts: Vec<String>,
    at: Option<&'a Env>,
    options: wit::BatchOptions,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(agent: &'a Agent, prompts: Vec<String>) -> Self {
        let options = wit::BatchOptions { at_once: None, suppress: false, turn: no_options() };
        Self { agent, prompts, at: None, options }
    }

    /// How many go at once; all where it is not said.
    pub fn at_once(mut self, turns: u32) -> Self {
        self.options.at_once = Some(turns);
        self
    }

    /// Where they land.
    pub fn at(mut self, env: &'a Env) -> Self {
        self.at = Some(env);
        self
    }

    /// A JSON Schema that each answer must meet.
    pub fn schema(mut self, schema: &serde_json::Value) -> Self {
        self.options.turn.schema = Some(schema.to_string());
        self
    }

    /// Limits each turn alone.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.turn.budget = Some(budget);
        self
    }

    /// US dollars that each is expected to cost.
    pub fn expect_cost(mut self, dollars: f64) -> Self {
        self.options.turn.expected_cost = Some(dollars);
        self
    }

    /// Keeps failures in their places instead of failing.
    pub fn suppress(mut self) -> Suppressed<'a> {
        self.options.suppress = true;
        Suppressed(self)
    }

    async fn take(self) -> Result<impl Iterator<Item = Result<Answer>>> {
        let said = self.agent.0.batch(self.prompts, self.at.map(|env| &env.0), self.options).await;
        let lift = |answer: std::result::Result<_, _>| Answer::lift(answer.map_err(Error::lift)?);
        Ok(said.map_err(Error::lift)?.into_iter().map(lift))
    }
}

impl<'a> IntoFuture for Batch<'a> {
    type Output = Result<Vec<Answer>>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.take().await?.collect() })
    }
}

/// A [`Batch`] that keeps failures in their places.
#[must_use = "a batch is taken when it is awaited"]
#[derive(Debug)]
pub struct Suppressed<'a>(Batch<'a>);

impl<'a> IntoFuture for Suppressed<'a> {
    type Output = Result<Vec<Result<Answer>>>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.0.take().await?.collect()) })
    }
}
