//! Flows calling flows.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::raw::flowhost::flow::flows as wit;
use crate::{Agent, Budget, Env, Error, Pending, Result};

/// Finds a flow by its reference, which the manifest must list in `loads(..)`.
///
/// ```no_run
/// # async fn example(agent: &flowhost::Agent, workspace: &flowhost::Env) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
/// let fanout = load("fanout").await?;
/// let answers = fanout
///     .call("Add a docstring.")
///     .agent("agent", agent)
///     .env("workspace", workspace)
///     .budget(Budget::new().with_cost(0.5))
///     .json::<BTreeMap<String, String>>()
///     .await?;
/// # Ok(()) }
/// ```
pub async fn load(reference: impl Into<String>) -> Result<Callee> {
    wit::load(reference.into()).await.map(Callee).map_err(Error::lift)
}

/// A flow that can be called, any number of times and many at once. Each call is a branch of the run: its own memory,
/// sessions and budget.
#[derive(Debug)]
pub struct Callee(wit::Callee);

impl Callee {
    /// Its name.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// What it declares.
    pub fn manifest(&self) -> Result<serde_json::Value> {
        Ok(serde_json::from_str(&self.0.manifest())?)
    }

    /// Calls it. What it gives is handed agents, envs and params, and then awaited or started.
    pub fn call(&self, task: impl Into<String>) -> Call<'_> {
        Call {
            callee: self,
            task: task.into(),
            agents: vec![],
            envs: vec![],
            params: Ok("{}".to_owned()),
            budget: None,
        }
    }
}

/// A call to make. Awaited it runs to its end, and is cancelled when the future is dropped before.
///
/// What is handed over must cover what the callee declares, else it is [`Error::Requirement`] before anything of it runs.
/// The callee's own error comes back as it was raised; one that broke down is [`Error::Flow`].
#[must_use = "a flow is called when the call is awaited or started"]
#[derive(Debug)]
pub struct Call<'a> {
    callee: &'a Callee,
    task: String,
    agents: Vec<(String, &'a Agent)>,
    envs: Vec<(String, &'a Env)>,
    params: serde_json::Result<String>,
    budget: Option<Budget>,
}

impl<'a> Call<'a> {
    /// Hands an agent over under a role of the callee.
    pub fn agent(mut self, role: impl Into<String>, agent: &'a Agent) -> Self {
        self.agents.push((role.into(), agent));
        self
    }

    /// Hands an environment over under a role of the callee.
    pub fn env(mut self, role: impl Into<String>, env: &'a Env) -> Self {
        self.envs.push((role.into(), env));
        self
    }

    /// Its params, as its schema says.
    pub fn params(mut self, params: &impl Serialize) -> Self {
        self.params = serde_json::to_string(params);
        self
    }

    /// Limits it, on top of what is left of the caller's.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Reads its answer as this type.
    pub fn json<T: DeserializeOwned>(self) -> TypedCall<'a, T> {
        TypedCall { call: self, answer: PhantomData }
    }

    /// Starts it and returns at once.
    pub fn start(self) -> Result<Branch> {
        let (callee, task, given) = self.parts()?;
        callee.0.start(&task, &given).map(Branch).map_err(Error::lift)
    }

    fn parts(self) -> Result<(&'a Callee, String, wit::Handover<'a>)> {
        let agents = self.agents.into_iter().map(|(role, agent)| (role, &agent.0)).collect();
        let envs = self.envs.into_iter().map(|(role, env)| (role, &env.0)).collect();
        let params = self.params.map_err(|error| Error::Requirement(format!("params: {error}")))?;
        Ok((self.callee, self.task, wit::Handover { agents, envs, params, budget: self.budget }))
    }

    async fn take<T: DeserializeOwned>(self) -> Result<T> {
        let (callee, task, given) = self.parts()?;
        let answer = callee.0.call(task, given).await.map_err(Error::lift)?;
        serde_json::from_str(&answer).map_err(|error| {
            Error::failed(format!("the answer of {} is not what was expected: {error}", callee.name()))
        })
    }
}

impl<'a> IntoFuture for Call<'a> {
    type Output = Result<serde_json::Value>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.take())
    }
}

/// A call whose answer has a type.
#[must_use = "a flow is called when the call is awaited"]
#[derive(Debug)]
pub struct TypedCall<'a, T> {
    call: Call<'a>,
    answer: PhantomData<fn() -> T>,
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for TypedCall<'a, T> {
    type Output = Result<T>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.call.take())
    }
}

/// A call of a flow that was started. Dropping it cancels it.
#[derive(Debug)]
pub struct Branch(pub(crate) wit::Branch);

impl Branch {
    /// Waits for its end and that of all that it left. May be asked again and by several; all get the same. Dropping the wait
    /// cancels nothing.
    pub async fn wait(&self) -> Result<serde_json::Value> {
        Ok(serde_json::from_str(&self.0.wait().await.map_err(Error::lift)?)?)
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
