//! What a flow is tested with.

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::{clock::Clock, run::Flow, usage::Limits};
use flowhost_engine::LoadError;
use serde_json::{Value, json};

/// A flow to test: a component by its path or its bytes, or anything that can be run as one.
#[derive(Clone)]
pub enum Subject {
    /// A component's file.
    Path(PathBuf),
    /// A component's bytes.
    Bytes(Vec<u8>),
    /// A flow.
    Flow(Arc<dyn Flow>),
}

impl fmt::Debug for Subject {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => to.debug_tuple("Path").field(path).finish(),
            Self::Bytes(bytes) => write!(to, "Bytes({})", bytes.len()),
            Self::Flow(flow) => to.debug_tuple("Flow").field(&flow.manifest().name).finish(),
        }
    }
}

impl From<&str> for Subject {
    fn from(path: &str) -> Self {
        Self::Path(path.into())
    }
}

impl From<PathBuf> for Subject {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<Vec<u8>> for Subject {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&[u8]> for Subject {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<Arc<dyn Flow>> for Subject {
    fn from(flow: Arc<dyn Flow>) -> Self {
        Self::Flow(flow)
    }
}

/// Why a scenario could not be played: nothing of the flow has run.
#[derive(Debug, thiserror::Error)]
pub enum Unplayable {
    /// The component's file cannot be read.
    #[error("{}: {source}", path.display())]
    Unread {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// These bytes are not a flow.
    #[error("{what}: {source}")]
    NotAFlow {
        /// Which.
        what: String,
        /// Why not.
        source: LoadError,
    },
    /// The system gave no thread, or no event loop.
    #[error("a scenario could not be started: {0}")]
    Host(String),
}

pub(crate) type MakeAgent = Arc<dyn Fn(&Clock) -> Fake + Send + Sync>;
pub(crate) type MakeEnv = Arc<dyn Fn(&Clock) -> FakeEnv + Send + Sync>;

/// An agent of a scenario.
#[derive(Clone)]
pub(crate) struct Cast {
    pub(crate) make: MakeAgent,
    /// Whether what it can was said; else it can all that a role may ask for.
    pub(crate) exact: bool,
}

/// A flow, what it is given, and how it is run. Playing it leaves it as it is: each time everything is made afresh.
#[derive(Clone)]
pub struct Scenario {
    pub(crate) subject: Subject,
    pub(crate) task: String,
    pub(crate) params: Value,
    pub(crate) agents: Vec<(String, Cast)>,
    pub(crate) envs: Vec<(String, MakeEnv)>,
    pub(crate) callees: Vec<(String, Subject)>,
    pub(crate) budget: Limits,
    pub(crate) at_once: Option<u32>,
    pub(crate) patience: Option<Duration>,
    pub(crate) stop: Option<Duration>,
    pub(crate) limits: flowhost_engine::Limits,
    pub(crate) real_time: Duration,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Scenario").field("subject", &self.subject).field("task", &self.task).finish_non_exhaustive()
    }
}

/// Processor time of a branch's own code, where nobody says: a flow that is tested on fakes computes next to nothing.
const CPU_TIME: Duration = Duration::from_secs(10);
/// Time that a scenario takes on the machine, where nobody says.
const REAL_TIME: Duration = Duration::from_secs(60);

impl Scenario {
    /// This flow, with nothing said about what it is given.
    pub fn new(flow: impl Into<Subject>) -> Self {
        Self {
            subject: flow.into(),
            task: String::new(),
            params: json!({}),
            agents: Vec::new(),
            envs: Vec::new(),
            callees: Vec::new(),
            budget: Limits::default(),
            at_once: None,
            patience: None,
            stop: None,
            limits: flowhost_engine::Limits { cpu_time: CPU_TIME, ..flowhost_engine::Limits::default() },
            real_time: REAL_TIME,
        }
    }

    /// This flow in the place of its own.
    #[must_use]
    pub fn flow(mut self, flow: impl Into<Subject>) -> Self {
        self.subject = flow.into();
        self
    }

    /// What it is to do.
    #[must_use]
    pub fn task(mut self, task: impl Into<String>) -> Self {
        self.task = task.into();
        self
    }

    /// Its params, as its schema wants them.
    #[must_use]
    pub fn params(mut self, params: Value) -> Self {
        self.params = params;
        self
    }

    /// Who fills an agent's role. The fake is made anew each time that the scenario is played, and waits on the clock that it is
    /// made with. One that says nothing of what it can, can all that a role may ask for, and gives structured answers itself.
    #[must_use]
    pub fn agent(self, role: impl Into<String>, make: impl Fn(&Clock) -> Fake + Send + Sync + 'static) -> Self {
        self.cast(role.into(), Cast { make: Arc::new(make), exact: false })
    }

    pub(crate) fn cast(mut self, role: String, cast: Cast) -> Self {
        self.agents.push((role, cast));
        self
    }

    /// What fills an environment's role. A role that nothing fills gets an empty one, unless it is optional.
    #[must_use]
    pub fn env(mut self, role: impl Into<String>, make: impl Fn(&Clock) -> FakeEnv + Send + Sync + 'static) -> Self {
        self.envs.push((role.into(), Arc::new(make)));
        self
    }

    /// A flow that may be loaded by this name. No other can.
    #[must_use]
    pub fn loads(mut self, reference: impl Into<String>, flow: impl Into<Subject>) -> Self {
        self.callees.push((reference.into(), flow.into()));
        self
    }

    /// What it may spend.
    #[must_use]
    pub fn budget(mut self, limits: Limits) -> Self {
        self.budget = limits;
        self
    }

    /// How many turns go at once, whatever the flow says.
    #[must_use]
    pub fn at_once(mut self, turns: u32) -> Self {
        self.at_once = Some(turns);
        self
    }

    /// How long a turn waits for the flow's answer to what it watches for.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// The run is stopped from outside after so much of its time.
    #[must_use]
    pub fn stopped_after(mut self, time: Duration) -> Self {
        self.stop = Some(time);
        self
    }

    /// The limits of a branch of it, in place of the host's own with 10 seconds of processor time.
    #[must_use]
    pub fn limits(mut self, limits: flowhost_engine::Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long playing it may take on the machine before it is stopped; unsaid, a minute.
    #[must_use]
    pub fn real_time(mut self, time: Duration) -> Self {
        self.real_time = time;
        self
    }

    /// The limits that the flow's engine must have been made with.
    pub fn engine_limits(&self) -> &flowhost_engine::Limits {
        &self.limits
    }
}
