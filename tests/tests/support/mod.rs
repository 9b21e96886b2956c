//! A run of a compiled guest on fakes: the real engine and the real rules, with no process and no file.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used, clippy::panic)]

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::{
    agent::AgentGrant,
    branch::{Branch, Given},
    clock::Clock,
    error::{Error, FlowFault, Result},
    harness::Settings,
    id::RunId,
    place::EnvGrant,
    record::{NoRecorder, Observer, Record, Recorder},
    run::{Flow, Header, Loader, Patience, Run, Setup},
    usage::Limits as Budget,
};
use flowhost_engine::{Component, Engine, Limits, Options};
use parking_lot::Mutex;
use serde_json::Value;

/// One engine a test binary, as one a process is the rule.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| engine_with(Limits::default()))
}

/// Another one, under other limits.
pub fn engine_with(limits: Limits) -> Engine {
    Engine::new(Options { cache: Some(cache()), limits }).unwrap()
}

/// Compiled guests are kept beside the build, so that each is compiled once.
fn cache() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-cache")
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(std::env::var("W").ok().and_then(|w| w.parse().ok()).unwrap_or(2))
        .enable_all()
        .build()
        .unwrap()
}

pub async fn load(engine: &Engine, bytes: &[u8]) -> Arc<Component> {
    engine.load(bytes.to_vec()).await.unwrap()
}

/// Keeps what was recorded.
#[derive(Default)]
pub struct Kept(pub Mutex<Vec<Record>>);

impl Observer for Kept {
    fn record(&self, _: Duration, record: &Record) {
        self.0.lock().push(record.clone());
    }
}

impl Kept {
    /// Lines of the log, by whoever said them.
    pub fn log(&self) -> Vec<String> {
        let lines = |record: &Record| match record {
            Record::Log { line, .. } => Some(line.to_string()),
            _ => None,
        };
        self.0.lock().iter().filter_map(lines).collect()
    }
}

/// Flows by the names that guests load them by.
#[derive(Default)]
pub struct Shelf(pub HashMap<String, Arc<dyn Flow>>);

#[async_trait]
impl Loader for Shelf {
    async fn load(&self, reference: &str, _: &Branch) -> Result<Arc<dyn Flow>> {
        let missing = || Error::flow(FlowFault::NotFound, format!("{reference}: no such flow"));
        self.0.get(reference).cloned().ok_or_else(missing)
    }
}

/// What a guest is run with.
pub struct Stage {
    pub clock: Clock,
    pub agents: Vec<(&'static str, Fake)>,
    pub envs: Vec<(&'static str, FakeEnv)>,
    pub shelf: Shelf,
    pub budget: Budget,
    pub at_once: Option<u32>,
    pub params: Value,
    pub kept: Arc<Kept>,
    /// Whether `kept` keeps anything.
    pub watched: bool,
    /// How many branches there may be at once.
    pub branches: usize,
}

impl Stage {
    pub fn new() -> Self {
        Self {
            clock: Clock::system(),
            agents: Vec::new(),
            envs: Vec::new(),
            shelf: Shelf::default(),
            budget: Budget::default(),
            at_once: None,
            params: serde_json::json!({}),
            kept: Arc::default(),
            watched: true,
            branches: 500,
        }
    }

    pub fn agent(mut self, role: &'static str, fake: &Fake) -> Self {
        self.agents.push((role, fake.clone()));
        self
    }

    pub fn env(mut self, role: &'static str, env: FakeEnv) -> Self {
        self.envs.push((role, env));
        self
    }

    pub fn params(mut self, params: Value) -> Self {
        self.params = params;
        self
    }

    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    pub fn at_once(mut self, turns: u32) -> Self {
        self.at_once = Some(turns);
        self
    }

    pub fn shelved(mut self, name: &str, flow: &Arc<Component>) -> Self {
        self.shelf.0.insert(name.into(), flow.clone());
        self
    }

    pub fn run(&mut self) -> (Arc<Run>, Given) {
        self.run_on(Arc::new(NoRecorder))
    }

    /// The same, written down somewhere; then nobody else watches.
    pub fn run_on(&mut self, recorder: Arc<dyn Recorder>) -> (Arc<Run>, Given) {
        let run = Run::new(Setup {
            id: RunId::new("20260101-000000", 1),
            clock: self.clock.clone(),
            recorder,
            observers: self.watched.then(|| self.kept.clone() as Arc<dyn Observer>).into_iter().collect(),
            allows_unpriced: false,
            at_once: self.at_once,
            history: HashMap::new(),
            patience: Patience { stop: Duration::from_millis(300), ..Patience::default() },
            branches: self.branches,
            loader: Arc::new(std::mem::take(&mut self.shelf)),
        });
        let agents = self
            .agents
            .iter()
            .map(|(role, fake)| ((*role).into(), AgentGrant::new(Arc::new(fake.clone()), Settings::default())));
        let envs = self.envs.drain(..).map(|(role, env)| (role.into(), EnvGrant::new(Arc::new(env))));
        let given = Given {
            agents: agents.collect(),
            envs: envs.collect(),
            params: serde_json::value::to_raw_value(&self.params).unwrap().into(),
            limits: self.budget,
            scratch: Some(EnvGrant::new(Arc::new(FakeEnv::at("/scratch")))),
        };
        (run, given)
    }

    /// Runs a guest to its end.
    pub async fn play(&mut self, flow: &Arc<Component>, task: &str) -> Result<Value> {
        let (run, given) = self.run();
        let answer = run.execute(flow.clone(), task.into(), given, Header::default()).await?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    }
}
