//! Turns: one prompt, and all that the agent does until it answers.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::HarnessError;
use crate::raw::flowhost::flow::agents as wit;
use crate::{Agent, Budget, Env, Error, HarnessFault, Pending, Result, Session, Usage};

/// What a turn came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the agent said last.
    pub text: String,
    /// The structured answer, where a schema was given.
    pub value: Option<serde_json::Value>,
    /// What the turn spent.
    pub usage: Usage,
}

impl Answer {
    pub(crate) fn lift(answer: wit::Answer) -> Result<Self> {
        let wit::Answer { text, value, usage } = answer;
        let value = value.map(|json| serde_json::from_str(&json)).transpose().map_err(unreadable)?;
        Ok(Self { text, value, usage })
    }
}

/// An answer that its harness or the schema let through and serde does not.
fn unreadable(error: serde_json::Error) -> Error {
    let message = format!("the structured answer cannot be read: {error}");
    Error::Harness(HarnessError { fault: HarnessFault::BadOutput, retry_after: None, message })
}

/// A turn to take: awaited it runs to its end, and interrupted when the future is dropped before.
///
/// ```no_run
/// # async fn example(session: &flowhost::Session) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
///
/// #[answer]
/// struct Verdict { good: bool, why: String }
///
/// let said = session.run("Fix the failing test.").budget(Budget::new().with_cost(0.2)).await?;
/// let verdict = session.run("Is the fix good?").json::<Verdict>().await?;
/// log!("{} tokens; {}", said.usage.output_tokens, verdict.why);
/// # Ok(()) }
/// ```
#[must_use = "a turn is taken when it is awaited or started"]
#[derive(Debug)]
pub struct Run<'a> {
    place: Place<'a>,
    prompt: String,
    options: wit::TurnOptions,
}

/// Where a turn lands.
#[derive(Debug)]
enum Place<'a> {
    Within(&'a Session),
    Apart(&'a Agent, Option<&'a Env>),
}

/// How to take a turn, with nothing said.
pub(crate) fn no_options() -> wit::TurnOptions {
    wit::TurnOptions { schema: None, budget: None, expected_cost: None }
}

/// The JSON Schema of a type, as text.
pub(crate) fn schema_of<T: JsonSchema>() -> String {
    crate::export::schema::<T>()
}

impl<'a> Run<'a> {
    pub(crate) fn within(session: &'a Session, prompt: String) -> Self {
        Self { place: Place::Within(session), prompt, options: no_options() }
    }

    pub(crate) fn apart(agent: &'a Agent, prompt: String) -> Self {
        Self { place: Place::Apart(agent, None), prompt, options: no_options() }
    }

    /// Where a turn in a conversation of its own lands; a session has its place already and keeps it.
    pub fn at(mut self, env: &'a Env) -> Self {
        if let Place::Apart(_, at) = &mut self.place {
            *at = Some(env);
        }
        self
    }

    /// A JSON Schema that the answer must meet; [`Answer::value`] then holds it. The host asks once more where it does not.
    pub fn schema(mut self, schema: &serde_json::Value) -> Self {
        self.options.schema = Some(schema.to_string());
        self
    }

    /// Asks for an answer of this type: see [`answer`](macro@crate::answer).
    pub fn json<T: JsonSchema + DeserializeOwned>(mut self) -> TypedRun<'a, T> {
        self.options.schema = Some(schema_of::<T>());
        TypedRun { run: self, answer: PhantomData }
    }

    /// Limits this turn alone, on top of the branch's limits.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.budget = Some(budget);
        self
    }

    /// US dollars that it is expected to cost: the host reserves that much where it would reserve less.
    pub fn expect_cost(mut self, dollars: f64) -> Self {
        self.options.expected_cost = Some(dollars);
        self
    }

    /// Starts it and returns at once.
    pub fn start(self) -> Result<Turn> {
        let turn = match self.place {
            Place::Within(session) => session.0.start(&self.prompt, &self.options),
            Place::Apart(agent, at) => agent
                .0
                .spawn(at.map(|env| &env.0), None, wit::WhenBusy::Refuse)
                .and_then(|session| session.start(&self.prompt, &self.options)),
        };
        turn.map(Turn).map_err(Error::lift)
    }

    async fn take(self) -> Result<Answer> {
        let answer = match self.place {
            // One call of the contract: dropping it interrupts the turn (S7). `start` and `wait` would be two, and a handle to
            // drop; other languages need them, since only Rust knows that nobody drops a session while a call is out.
            Place::Within(session) => session.0.run(self.prompt, self.options).await,
            Place::Apart(agent, at) => agent.0.run(self.prompt, at.map(|env| &env.0), self.options).await,
        };
        Answer::lift(answer.map_err(Error::lift)?)
    }
}

impl<'a> IntoFuture for Run<'a> {
    type Output = Result<Answer>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.take())
    }
}

/// A turn whose answer has a type.
#[must_use = "a turn is taken when it is awaited"]
#[derive(Debug)]
pub struct TypedRun<'a, T> {
    run: Run<'a>,
    answer: PhantomData<fn() -> T>,
}

impl<T> TypedRun<'_, T> {
    /// As [`Run::budget`].
    pub fn budget(mut self, budget: Budget) -> Self {
        self.run = self.run.budget(budget);
        self
    }

    /// As [`Run::expect_cost`].
    pub fn expect_cost(mut self, dollars: f64) -> Self {
        self.run = self.run.expect_cost(dollars);
        self
    }
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for TypedRun<'a, T> {
    type Output = Result<T>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let value = self.run.take().await?.value.unwrap_or_default();
            serde_json::from_value(value).map_err(unreadable)
        })
    }
}

/// A turn that was started. Dropping it lets go of its answer; the turn goes on while its session is held.
#[derive(Debug)]
pub struct Turn(pub(crate) wit::Turn);

impl Turn {
    /// Waits for its end, when its session can take the next. May be asked again and by several; all get the same. Dropping the
    /// wait interrupts nothing.
    pub async fn wait(&self) -> Result<Answer> {
        Answer::lift(self.0.wait().await.map_err(Error::lift)?)
    }

    /// Whether it has ended.
    pub fn done(&self) -> bool {
        self.0.done()
    }

    /// Interrupts it and returns at once; `wait` says `interrupted` when it is over. Twice, or after its end, is nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
