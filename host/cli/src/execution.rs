//! A run from its start to its end: the journal, the signals, the flow, and how it came out.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use flowhost_core::{
    branch::Given,
    clock::Clock,
    error::{Error, Kind, Result},
    id::RunId,
    place::EnvGrant,
    record::{Json, Observer, Record},
    run::{Header, Patience, Run, Setup},
    usage::Usage,
};
use flowhost_envs::{Guardian, Local};
use flowhost_journal::{Journal, settled};

use crate::{
    exit::{Exit, Failure},
    preflight::Ready,
    project, signal,
};

/// How a run is to be taken.
#[derive(Debug)]
pub(crate) struct Manner {
    pub(crate) clock: Clock,
    pub(crate) guardian: Guardian,
    pub(crate) at_once: Option<u32>,
    /// $4: whether what has no price counts as nothing.
    pub(crate) allows_unpriced: bool,
    /// Branches at once.
    pub(crate) branches: u64,
    /// For answers to occasions.
    pub(crate) patience: Duration,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) run: RunId,
    pub(crate) result: Result<Json>,
    pub(crate) exit: Exit,
    pub(crate) usage: Usage,
    pub(crate) took: Duration,
    /// The folder of its record.
    pub(crate) folder: std::path::PathBuf,
}

/// Runs it to its end; gives it once its journal is closed. Fails only where it could not start.
pub(crate) async fn execute(
    ready: Ready,
    task: Arc<str>,
    standing: &Path,
    manner: Manner,
    mut observers: Vec<Arc<dyn Observer>>,
) -> anyhow::Result<Ended> {
    let Manner { clock, guardian, at_once, allows_unpriced, branches, patience } = manner;
    let runs = project::root(standing).join(project::STATE).join("runs");
    let id = name();
    let hint = "A run is recorded in .flowhost/runs of its project";
    let journal = Journal::create(&runs, &id).map_err(|error| Failure::refused(error.message).hint(hint))?;
    let journal = Arc::new(journal);
    let gathering = Arc::new(settled::Gathering::default());
    let began = Arc::new(Began::default());
    observers.push(gathering.clone());
    observers.push(began.clone());

    let scratch = journal.folder().join("scratch");
    std::fs::create_dir(&scratch).with_context(|| scratch.display().to_string())?;
    let env = Local::open(&scratch, guardian.clone(), flowhost_envs::Limits::default())?;

    let run = Run::new(Setup {
        id: id.clone(),
        clock,
        recorder: journal.clone(),
        observers,
        at_once,
        allows_unpriced,
        history: settled::recent(&runs),
        patience: Patience { occasion: patience, ..Patience::default() },
        branches: usize::try_from(branches).unwrap_or(usize::MAX),
        loader: Arc::new(ready.callees),
    });
    let stopped = run.clone();
    let listening = signal::listen(move |why| stopped.stop(why)).context("signals cannot be listened to")?;
    let given = Given {
        agents: ready.agents,
        envs: ready.envs,
        params: ready.params,
        limits: ready.limits,
        scratch: Some(EnvGrant::new(env)),
    };
    let header = Header {
        flowhost: env!("CARGO_PKG_VERSION").into(),
        reference: ready.reference,
        agents: ready.wrote.agents,
        envs: ready.wrote.envs,
    };
    let result = run.execute(ready.flow.component, task, given, header).await;
    guardian.close().await;

    let exit = match &result {
        Ok(_) => Exit::Answered,
        // What is given did not cover what is declared: nothing of the flow has run.
        Err(Error { kind: Kind::Requirement, .. }) if !began.0.load(Ordering::Acquire) => Exit::Refused,
        Err(error) => Exit::of(error),
    };
    let usage = run.spent();
    run.record(&Record::End { outcome: result.clone().into(), usage, exit: i32::from(exit.code()) });
    let took = run.elapsed();
    // Listening goes on until here: a second signal must be able to end what hangs.
    let closed = journal.close().await;
    drop(listening);
    // There is something in it, or it is nobody's.
    let _ = std::fs::remove_dir(&scratch);
    // A help for later runs: that it is not there harms none.
    let _ = gathering.remember(&runs);
    let result = result.and_then(|answer| closed.map(|()| answer));
    let exit = if result.is_err() && exit == Exit::Answered { Exit::Failed } else { exit };
    Ok(Ended { run: id, result, exit, usage, took, folder: journal.folder().to_owned() })
}

/// Whether the run has begun.
#[derive(Debug, Default)]
struct Began(AtomicBool);

impl Observer for Began {
    fn record(&self, _: Duration, record: &Record) {
        if matches!(record, Record::Run { .. }) {
            self.0.store(true, Ordering::Release);
        }
    }
}

/// A name for a run that starts now.
fn name() -> RunId {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};

    let stamp = jiff::ZonedDateTime::now().strftime("%Y%m%d-%H%M%S").to_string();
    let salt = RandomState::new().build_hasher().finish() as u16;
    RunId::new(&stamp, salt)
}

/// The models behind `harness/model:effort`, for lines that show the model alone.
pub(crate) fn models(ready: &Ready) -> HashMap<Arc<str>, Arc<str>> {
    let model = |grant: &flowhost_core::agent::AgentGrant| {
        let model = &grant.settings.model;
        let model = if model.is_empty() { grant.harness.name() } else { model };
        (grant.label.clone(), model.into())
    };
    ready.agents.iter().map(|(_, grant)| model(grant)).collect()
}
