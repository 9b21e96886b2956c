//! Agents: a harness, a model and an effort under a role.

use crate::raw::flowhost::flow::agents as wit;
use crate::{Batch, Env, Error, Moment, Permission, Pursue, Result, Run, Session, Watching, WhenBusy};

/// An agent that the flow was given under a role.
#[derive(Debug)]
pub struct Agent(pub(crate) wit::Agent);

impl Agent {
    /// The role it fills.
    pub fn role(&self) -> String {
        self.0.role()
    }

    /// The program behind it.
    pub fn harness(&self) -> String {
        self.0.harness()
    }

    /// The model, as the harness spells it.
    pub fn model(&self) -> String {
        self.0.model()
    }

    /// How hard it thinks, as the harness spells it.
    pub fn effort(&self) -> String {
        self.0.effort()
    }

    /// What it can do here: `steer`, `fork`, `goal` and the like, by their documented names.
    pub fn capabilities(&self) -> Vec<String> {
        self.0.capabilities()
    }

    /// Whether it can do this here.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities().iter().any(|each| each == capability)
    }

    /// Opens a conversation in the flow's workspace. It costs nothing until a turn lands in it.
    pub fn spawn(&self) -> Result<Session> {
        self.spawn_at(())
    }

    /// Opens a conversation elsewhere, or one that queues: see [`Spawn`]. A directory that is not there, or not inside its
    /// environment, is [`Error::Session`] with the fault `refused-dir`.
    ///
    /// ```no_run
    /// # async fn example(agent: &flowhost::Agent, workspace: &flowhost::Env) -> flowhost::Result<()> {
    /// use flowhost::Spawn;
    /// let docs = agent.spawn_at("docs")?;
    /// let worktree = workspace.worktree("attempt-1").await?;
    /// let apart = agent.spawn_at(&worktree)?;
    /// let queueing = agent.spawn_at(Spawn::new().queue())?;
    /// # Ok(()) }
    /// ```
    pub fn spawn_at<'a>(&self, place: impl Into<Spawn<'a>>) -> Result<Session> {
        let Spawn { env, directory, when_busy } = place.into();
        self.0.spawn(env.map(|env| &env.0), directory, when_busy).map(Session).map_err(Error::lift)
    }

    /// Opens many conversations by one call, all alike; `()` for the flow's workspace.
    pub fn spawn_many<'a>(&self, count: u32, place: impl Into<Spawn<'a>>) -> Result<Vec<Session>> {
        let Spawn { env, directory, when_busy } = place.into();
        let sessions = self.0.spawn_many(count, env.map(|env| &env.0), directory, when_busy).map_err(Error::lift)?;
        Ok(sessions.into_iter().map(Session).collect())
    }

    /// Takes one turn in a conversation of its own, closed after it.
    pub fn run(&self, prompt: impl Into<String>) -> Run<'_> {
        Run::apart(self, prompt.into())
    }

    /// Takes many turns, a conversation apiece: answers in the order asked. See [`Batch`] for how a failure counts.
    pub fn batch(&self, prompts: impl IntoIterator<Item = impl Into<String>>) -> Batch<'_> {
        Batch::new(self, prompts.into_iter().map(Into::into).collect())
    }

    /// Takes turns in a conversation of its own until the objective is met or so many rounds are over.
    pub fn pursue(&self, objective: impl Into<String>, rounds: u32) -> Pursue<'_> {
        Pursue::new(self, objective.into(), rounds)
    }

    /// Watches for what its sessions come upon, for a role that declared these moments. Call `open` on what it gives.
    pub fn watch(&self, moments: impl IntoIterator<Item = Moment>) -> Watching<'_> {
        Watching::new(self, moments.into_iter().collect())
    }

    /// The same harness under other settings. What the person did not give is [`Error::NotGranted`].
    pub fn derive(&self, settings: Settings) -> Result<Agent> {
        let Settings { permission, model, effort } = settings;
        self.0.derive(permission, model.as_deref(), effort.as_deref()).map(Agent).map_err(Error::lift)
    }
}

/// Where a conversation is rooted, and what it does with a turn while another is going.
///
/// An [`&Env`](Env), a directory by its path, both as a pair, and `()` for the flow's workspace turn into one.
#[derive(Clone, Copy, Debug)]
pub struct Spawn<'a> {
    env: Option<&'a Env>,
    directory: Option<&'a str>,
    when_busy: WhenBusy,
}

impl<'a> Spawn<'a> {
    /// In the flow's workspace, refusing a second turn while one is going.
    pub fn new() -> Self {
        Self { env: None, directory: None, when_busy: WhenBusy::Refuse }
    }

    /// In this environment.
    pub fn at(mut self, env: &'a Env) -> Self {
        self.env = Some(env);
        self
    }

    /// In this directory of the environment: relative to it, or absolute inside it.
    pub fn directory(mut self, path: &'a str) -> Self {
        self.directory = Some(path);
        self
    }

    /// A second turn while one is going waits for it, in order, instead of failing.
    pub fn queue(mut self) -> Self {
        self.when_busy = WhenBusy::Queue;
        self
    }
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl From<()> for Spawn<'_> {
    fn from((): ()) -> Self {
        Self::new()
    }
}

impl<'a> From<&'a Env> for Spawn<'a> {
    fn from(env: &'a Env) -> Self {
        Self::new().at(env)
    }
}

impl<'a> From<&'a str> for Spawn<'a> {
    fn from(directory: &'a str) -> Self {
        Self::new().directory(directory)
    }
}

impl<'a> From<(&'a Env, &'a str)> for Spawn<'a> {
    fn from((env, directory): (&'a Env, &'a str)) -> Self {
        Self::new().at(env).directory(directory)
    }
}

/// What to change of an agent in [`Agent::derive`]; what is not set stays.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    permission: Option<Permission>,
    model: Option<String>,
    effort: Option<String>,
}

impl Settings {
    /// Changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What its tools may do; no wider than before.
    pub fn permission(mut self, permission: Permission) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Another model, as the harness spells it.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Another effort, as the harness spells it.
    pub fn effort(mut self, effort: impl Into<String>) -> Self {
        self.effort = Some(effort.into());
        self
    }
}
