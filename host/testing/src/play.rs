//! Playing a scenario.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use async_trait::async_trait;
use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::{
    agent::AgentGrant,
    branch::{Branch, Given},
    clock::Clock,
    error::{Error, FlowFault, Result as CoreResult},
    harness::{Capabilities, Harness as _, Moment, Settings, Verdict},
    id::RunId,
    manifest::Manifest,
    place::EnvGrant,
    record::NoRecorder,
    run::{Flow, Header, Loader, Patience, Run, Setup},
};
use flowhost_engine::{Component, Engine, Limits, LoadError, Options};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    disk,
    drive::drive,
    observe::Seen,
    outcome::{AgentSeen, EnvSeen, Outcome},
    scenario::{Scenario, Subject, Unplayable},
};

/// All that a role may ask for, and structured answers: what a fake can that says nothing of it.
const ABLE: Capabilities = Capabilities {
    steer: true,
    fork: true,
    goal: true,
    tools: true,
    skills: true,
    schema: true,
    pure: true,
    moments: &Moment::ALL,
    ..Capabilities::NONE
};

impl Scenario {
    /// Plays it: loads the flow and those that it may load, and runs it to its end. Blocks meanwhile; may be called from anywhere.
    ///
    /// # Errors
    /// Where a component cannot be read or is no flow. That a flow fails is an [`Outcome`].
    pub fn play(&self) -> Result<Outcome, Unplayable> {
        on_a_loop_of_its_own(|| async {
            let mut engine = BorrowedEngine::new(&self.limits)?;
            let flow = loaded(&mut engine, &self.subject).await?;
            let mut callees = HashMap::new();
            for (reference, subject) in &self.callees {
                callees.insert(reference.clone(), loaded(&mut engine, subject).await?);
            }
            self.run(flow, callees).await
        })?
    }

    /// Plays it with this flow in the place of its own, and with these to be loaded by name beside its own.
    ///
    /// # Errors
    /// Where the system gives no thread for it.
    pub fn play_on(
        &self,
        flow: &Arc<dyn Flow>,
        callees: &HashMap<String, Arc<dyn Flow>>,
    ) -> Result<Outcome, Unplayable> {
        on_a_loop_of_its_own(|| self.run(flow.clone(), callees.clone()))?
    }

    async fn run(&self, flow: Arc<dyn Flow>, callees: HashMap<String, Arc<dyn Flow>>) -> Result<Outcome, Unplayable> {
        let clock = Clock::driven();
        let seen = Arc::new(Seen::default());
        let patience = Patience::default();
        let run = Run::new(Setup {
            id: RunId::new("20260101-000000", 1),
            clock: clock.clone(),
            recorder: Arc::new(NoRecorder),
            observers: vec![seen.clone()],
            at_once: self.at_once,
            allows_unpriced: true,
            history: HashMap::new(),
            patience: Patience { occasion: self.patience.unwrap_or(patience.occasion), ..patience },
            branches: usize::try_from(self.limits.branches).unwrap_or(usize::MAX),
            loader: Arc::new(Callees(callees)),
        });
        let watchdog = Watchdog::start(&run, self.real_time)?;
        let (agents, envs) = (self.fakes(&clock), self.environments(&clock, flow.manifest()));
        let given = self.given(&agents, &envs);
        let header = Header::default();
        let work = async {
            let ending = run.execute(flow, self.task.as_str().into(), given, header);
            let Some(time) = self.stop else { return ending.await };
            let stopping = async {
                clock.sleep(time).await;
                run.stop("the scenario says so");
                std::future::pending().await
            };
            tokio::select! { ended = ending => ended, never = stopping => never }
        };
        let mut stuck = None;
        let ended = drive(&clock, self.limits.wall_clock, work, || {
            stuck = Some(seen.going());
            run.stop("nothing is left to happen");
        });
        let ended = ended.await.unwrap_or_else(|| Err(Error::other("it does not end when it is stopped")));
        let late = watchdog.stopped_it().then(|| format!("it took more than {:?} on this machine", self.real_time));
        Ok(outcome(&run, &seen, ended.map(|answer| read(answer.get())), stuck.or(late), &agents, &envs))
    }

    fn fakes(&self, clock: &Clock) -> Vec<(String, Fake)> {
        let make = |(role, cast): &(String, crate::scenario::Cast)| {
            let fake = (cast.make)(clock);
            let says_nothing = !cast.exact && fake.capabilities() == Fake::new().capabilities();
            (role.clone(), if says_nothing { fake.can(ABLE) } else { fake })
        };
        self.agents.iter().map(make).collect()
    }

    fn environments(&self, clock: &Clock, manifest: &Manifest) -> Vec<(String, FakeEnv)> {
        let mut envs: Vec<_> = self.envs.iter().map(|(role, make)| (role.clone(), make(clock))).collect();
        for role in &manifest.envs {
            if !role.optional && !envs.iter().any(|(name, _)| *name == role.name) {
                envs.push((role.name.clone(), FakeEnv::at(&format!("/{}", role.name))));
            }
        }
        envs
    }

    fn given(&self, agents: &[(String, Fake)], envs: &[(String, FakeEnv)]) -> Given {
        let agents = agents
            .iter()
            .map(|(role, fake)| (role.as_str().into(), AgentGrant::new(Arc::new(fake.clone()), Settings::default())));
        let envs = envs.iter().map(|(role, env)| (role.as_str().into(), EnvGrant::new(Arc::new(env.clone()))));
        Given {
            agents: agents.collect(),
            envs: envs.collect(),
            // What serde_json made is JSON.
            params: serde_json::value::to_raw_value(&self.params).unwrap_or_default().into(),
            limits: self.budget,
            scratch: Some(EnvGrant::new(Arc::new(FakeEnv::at("/scratch")))),
        }
    }
}

/// Stops a run that takes too long on the machine, from a thread of its own: a flow may leave no other thread a turn.
struct Watchdog {
    bit: Arc<AtomicBool>,
    /// Dropped with this, which ends the thread.
    _ends: mpsc::Sender<()>,
}

impl Watchdog {
    fn start(run: &Arc<Run>, time: Duration) -> Result<Self, Unplayable> {
        let bit = Arc::new(AtomicBool::new(false));
        let (ends, ended) = mpsc::channel::<()>();
        let (run, bites) = (Arc::downgrade(run), bit.clone());
        let watch = move || {
            if ended.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout)
                && let Some(run) = run.upgrade()
            {
                bites.store(true, Ordering::Release);
                run.stop("it takes too long on this machine");
            }
        };
        let thread = thread::Builder::new().name("watchdog".into()).spawn(watch);
        thread.map_err(|error| Unplayable::Host(error.to_string()))?;
        Ok(Self { bit, _ends: ends })
    }

    fn stopped_it(&self) -> bool {
        self.bit.load(Ordering::Acquire)
    }
}

fn read(answer: &str) -> Value {
    // The engine has checked that it is JSON.
    serde_json::from_str(answer).unwrap_or_default()
}

fn outcome(
    run: &Run,
    seen: &Seen,
    result: CoreResult<Value>,
    stuck: Option<String>,
    agents: &[(String, Fake)],
    envs: &[(String, FakeEnv)],
) -> Outcome {
    let kept = seen.take();
    let each = |(role, fake): &(String, Fake)| {
        let sessions: HashSet<_> = fake.sessions().into_iter().map(|opened| opened.session).collect();
        let seen = AgentSeen {
            prompts: kept.prompts(|session| sessions.contains(&session)),
            steers: fake.steers().into_iter().map(|(_, steer)| steer.text).collect(),
            verdicts: fake.verdicts().iter().map(|(_, verdict)| said(verdict)).collect(),
            sessions: sessions.len() as u64,
            turns: fake.turns(),
            peak: fake.peak_turns(),
            peak_sessions: fake.peak_sessions(),
            interrupted: fake.interrupted(),
        };
        (role.clone(), seen)
    };
    let agents: std::collections::BTreeMap<_, _> = agents.iter().map(each).collect();
    let env = |(role, env): &(String, FakeEnv)| {
        let commands = env.commands().into_iter().map(|command| command.argv).collect();
        (role.clone(), EnvSeen { files: env.files(), commands })
    };
    Outcome {
        result,
        stuck,
        prompts: kept.prompts(|_| true),
        sessions: agents.values().map(|agent| agent.sessions).sum(),
        turns: agents.values().map(|agent| agent.turns).sum(),
        peak: kept.peak(),
        interrupted: agents.values().map(|agent| agent.interrupted).sum(),
        branches: kept.branches,
        spent: run.spent(),
        took: run.elapsed(),
        envs: envs.iter().map(env).collect(),
        agents,
        log: kept.log,
    }
}

fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Allow => "allow".to_owned(),
        Verdict::Block(reason) => format!("block: {reason}"),
        Verdict::Reply(text) => format!("reply: {text}"),
    }
}

/// Flows by the names that flows load them by.
struct Callees(HashMap<String, Arc<dyn Flow>>);

#[async_trait]
impl Loader for Callees {
    async fn load(&self, reference: &str, _: &Branch) -> CoreResult<Arc<dyn Flow>> {
        let missing =
            || Error::flow(FlowFault::NotFound, format!("{reference}: the scenario has no flow of this name to load"));
        self.0.get(reference).cloned().ok_or_else(missing)
    }
}

/// Engines that nobody uses at the moment, with the components that they have compiled.
static IDLE: Mutex<Vec<Engine>> = Mutex::new(Vec::new());

/// An engine that one scenario has for itself: what it waited for in one that others use would not be seen by its clock.
struct BorrowedEngine(Option<Engine>);

impl BorrowedEngine {
    fn new(limits: &Limits) -> Result<Self, Unplayable> {
        let idle = {
            let mut idle = IDLE.lock();
            let at = idle.iter().position(|engine| engine.limits() == limits);
            at.map(|at| idle.swap_remove(at))
        };
        let engine = match idle {
            Some(engine) => engine,
            None => Engine::new(Options { cache: None, limits: limits.clone() })
                .map_err(|error| Unplayable::Host(error.to_string()))?,
        };
        Ok(Self(Some(engine)))
    }

    async fn load(&mut self, bytes: Vec<u8>) -> Result<Arc<Component>, LoadError> {
        let Some(engine) = &self.0 else { return Err(LoadError::Host("the engine has failed before".to_owned())) };
        let loaded = engine.load(bytes).await;
        if loaded.is_err() {
            // A compiler that was given up may still be at it, and the next one would wait for it.
            self.0 = None;
        }
        loaded
    }
}

impl Drop for BorrowedEngine {
    fn drop(&mut self) {
        IDLE.lock().extend(self.0.take());
    }
}

async fn loaded(engine: &mut BorrowedEngine, subject: &Subject) -> Result<Arc<dyn Flow>, Unplayable> {
    let (bytes, what) = match subject {
        Subject::Flow(flow) => return Ok(flow.clone()),
        Subject::Bytes(bytes) => (bytes.clone(), "these bytes".to_owned()),
        Subject::Path(path) => {
            let bytes = disk::read(path).map_err(|source| Unplayable::Unread { path: path.clone(), source })?;
            (bytes, path.display().to_string())
        }
    };
    let component = engine.load(bytes).await;
    Ok(component.map_err(|source| Unplayable::NotAFlow { what, source })?)
}

/// Bytes of stack for the thread of a scenario: as a process's first thread has, since a chain of flows may be deep.
const STACK: usize = 8 << 20;

/// Runs it on a thread and an event loop of its own, whose time stands still; see [`drive`].
fn on_a_loop_of_its_own<T: Send, F: Future<Output = T>>(work: impl FnOnce() -> F + Send) -> Result<T, Unplayable> {
    let host = |error: std::io::Error| Unplayable::Host(error.to_string());
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("scenario".into()).stack_size(STACK).spawn_scoped(scope, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
            let runtime = runtime.map_err(host)?;
            let done = runtime.block_on(work());
            // A compiler that is still at it is nothing to wait for.
            runtime.shutdown_timeout(Duration::ZERO);
            Ok(done)
        });
        match thread.map_err(host)?.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
