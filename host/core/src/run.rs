//! A run: one execution of a flow with every flow that it calls. It owns what its branches share: the clock, the record,
//! the ledger, the names, and the stop.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    admission::Admission,
    branch::{Branch, Call, Given},
    budget::{AccountId, Ledger, Settled},
    clock::Clock,
    error::{Error, FlowFault, Result},
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    manifest::Manifest,
    record::{FORMAT, Json, Mark, Observer, Record, Recorder},
    usage::Usage,
};

/// What a run is made with.
pub struct Setup {
    /// Its name.
    pub id: RunId,
    /// The time that its rules wait on.
    pub clock: Clock,
    /// Where it is written down.
    pub recorder: Arc<dyn Recorder>,
    /// Who else sees the record.
    pub observers: Vec<Arc<dyn Observer>>,
    /// How many turns go at once, where the person says so (S2).
    pub at_once: Option<u32>,
    /// Whether turns of which nobody knows the price may run under a limit on cost, and count as nothing ($4).
    pub allows_unpriced: bool,
    /// What settled turns of earlier runs cost, by class: `harness/model:effort` ($2).
    pub history: HashMap<String, Vec<Settled>>,
    /// What a turn waits for.
    pub patience: Patience,
    /// How many branches the run may have at once (X2).
    pub branches: usize,
    /// Finds the flows that flows call.
    pub loader: Arc<dyn Loader>,
}

impl fmt::Debug for Setup {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Setup").field("id", &self.id).finish_non_exhaustive()
    }
}

/// How long the host waits for what may never come.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For an answer to an occasion, where its watch does not say (S10).
    pub occasion: Duration,
    /// For a harness to end a turn that was interrupted, before it is made to (S7).
    pub interrupt: Duration,
    /// For a flow to return after a stop, before its store is dropped (X1).
    pub stop: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { occasion: Duration::from_secs(60), interrupt: Duration::from_secs(3), stop: Duration::from_secs(2) }
    }
}

/// How many branches a run may have at once, where nobody says: more than the widest honest fan-out, less than a machine has
/// memory for.
pub const BRANCHES: usize = 20_000;

/// A flow that can be called: the engine's, or a plain function in tests.
#[async_trait::async_trait]
pub trait Flow: Send + Sync + 'static {
    /// What it declares.
    fn manifest(&self) -> &Manifest;

    /// BLAKE3 of it, in hexadecimal digits.
    fn digest(&self) -> &Arc<str>;

    /// Runs it to its end on behalf of `branch`. Dropping the future is a sure stop.
    async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended>;
}

/// How a flow ended that gave no answer.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It returned this error: its own words, which decide nothing about the host's facts (B4).
    Raised(Error),
    /// The host says so: it trapped, or exceeded a limit.
    Host(Error),
}

/// Finds flows by reference.
#[async_trait::async_trait]
pub trait Loader: Send + Sync + 'static {
    /// The flow that `reference` means to `by`. Fails with `flow(not-found)`, `flow(bad-ref)`, `not-granted`.
    async fn load(&self, reference: &str, by: &Branch) -> Result<Arc<dyn Flow>>;
}

/// One execution of a flow, with every flow that it calls.
pub struct Run {
    /// Its name.
    pub id: RunId,
    pub(crate) clock: Clock,
    pub(crate) patience: Patience,
    pub(crate) admission: Admission,
    pub(crate) loader: Arc<dyn Loader>,
    began: Duration,
    recorder: Arc<dyn Recorder>,
    observers: Vec<Arc<dyn Observer>>,
    at_once: Option<u32>,
    most_branches: usize,
    counted: Counted,
    stop: CancellationToken,
    branches: Mutex<HashMap<BranchId, Arc<Branch>>>,
    root: OnceLock<AccountId>,
}

#[derive(Debug, Default)]
struct Counted {
    sessions: AtomicU32,
    turns: AtomicU32,
    calls: AtomicU32,
}

impl fmt::Debug for Run {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Run").field(&self.id.0).finish()
    }
}

/// What [`Run::execute`] writes into the first record beside what it knows itself.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The host's version.
    pub flowhost: Arc<str>,
    /// The flow, as it was referred to.
    pub reference: Arc<str>,
    /// By role, as the person wrote them.
    pub agents: Vec<(Arc<str>, Arc<str>)>,
    /// By role, as the person wrote them.
    pub envs: Vec<(Arc<str>, Arc<str>)>,
}

impl Run {
    /// A run in which nothing has happened yet.
    pub fn new(setup: Setup) -> Arc<Self> {
        let mut history = setup.history;
        let admission =
            Admission::new(setup.clock.clone(), Ledger::new(setup.at_once).allowing_unpriced(setup.allows_unpriced));
        for (class, settled) in history.drain() {
            admission.class(&class, settled);
        }
        Arc::new(Self {
            id: setup.id,
            began: setup.clock.elapsed(),
            admission,
            clock: setup.clock,
            patience: setup.patience,
            loader: setup.loader,
            recorder: setup.recorder,
            observers: setup.observers,
            at_once: setup.at_once,
            most_branches: setup.branches,
            counted: Counted::default(),
            stop: CancellationToken::new(),
            branches: Mutex::default(),
            root: OnceLock::new(),
        })
    }

    /// Runs a flow as the root of this run: its first branch. Gives its answer once nothing of the run is left.
    ///
    /// Fails with `requirement` where what is given does not meet what the flow declares, with `stopped` where the run was
    /// stopped (X1), with `budget` where the flow ended by a spent limit, else as the flow failed.
    pub async fn execute(
        self: &Arc<Self>,
        flow: Arc<dyn Flow>,
        task: Arc<str>,
        given: Given,
        header: Header,
    ) -> Result<Json> {
        let root = Branch::root(self, flow, given)?;
        self.record(&Record::Run {
            format: FORMAT,
            flowhost: header.flowhost,
            run: self.id.clone(),
            reference: header.reference,
            started_ms: millis(self.clock.since_epoch()),
            agents: header.agents,
            envs: header.envs,
            at_once: self.at_once,
        });
        let call = Call::start(root, task);
        tokio::select! {
            result = call.wait() => result,
            never = self.admission.watch_deadlines() => match never {},
        }
    }

    /// Stops the run (X1): every turn is interrupted, every later call of a flow says `stopped`.
    pub fn stop(&self, why: &str) {
        if self.stop.is_cancelled() {
            return;
        }
        self.record(&Record::Stop { why: why.into() });
        self.stop.cancel();
        let branches: Vec<_> = self.branches.lock().values().cloned().collect();
        for branch in branches {
            branch.stop_turns();
        }
    }

    /// Whether the run was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns when the run is stopped.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.began)
    }

    /// What the run has spent.
    pub fn spent(&self) -> Usage {
        self.root.get().map(|root| self.admission.spent(*root)).unwrap_or_default()
    }

    /// Appends to the record and shows it to all who watch.
    pub fn record(&self, record: &Record) -> Mark {
        let at = self.elapsed();
        let mark = self.recorder.append(at, record);
        for observer in &self.observers {
            observer.record(at, record);
        }
        mark
    }

    /// Lets what was recorded be written without waiting.
    pub(crate) fn write_out(&self) {
        self.recorder.write_out();
    }

    /// J1: an `end`, before its answer.
    pub(crate) async fn written(&self, mark: Mark) -> Result<()> {
        self.recorder.written(mark).await
    }

    /// J1: a `begin`, before its effect.
    pub(crate) async fn durable(&self, mark: Mark) -> Result<()> {
        self.recorder.durable(mark).await
    }

    pub(crate) fn next_session(&self) -> SessionId {
        SessionId(self.counted.sessions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn next_turn(&self) -> TurnId {
        TurnId(self.counted.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn next_call(&self) -> CallId {
        CallId(self.counted.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// X2: fails where the run has as many branches as it may.
    pub(crate) fn enter(&self, branch: &Arc<Branch>) -> Result<()> {
        let most = self.most_branches;
        let mut branches = self.branches.lock();
        if branches.len() < most {
            branches.insert(branch.id.clone(), branch.clone());
            self.root.get_or_init(|| branch.account);
            return Ok(());
        }
        let message = format!(
            "the run exceeded its limit branches of {most} at once; if it needs more, raise it with --limit branches=…"
        );
        Err(Error::flow(FlowFault::Exceeded, message))
    }

    pub(crate) fn leave(&self, branch: &Branch) {
        self.branches.lock().remove(&branch.id);
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
