//! Plain values for the tests of the rules: a harness by function, an env without files, flows by closure, a clock that is driven.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use flowhost_core::{
    agent::{Agent, AgentGrant},
    branch::{Branch, Given},
    clock::Clock,
    env::{Child, Command, Entry, Env, EnvKind, Output, Program},
    error::{EnvFault, Error, FlowFault, HarnessFault, Result, SessionFault},
    harness::{Capabilities, Conversation, Event, Harness, Moment, Open, Prompt, Reply, Settings, TurnHost},
    id::{RunId, SessionId},
    manifest::Manifest,
    place::EnvGrant,
    record::{Json, NoRecorder, Observer, Record},
    run::{Ended, Flow, Header, Loader, Patience, Run, Setup},
    usage::{CostSource, Limits, Usage, Usd},
};
use futures::future::BoxFuture;
use parking_lot::Mutex;

/// What the stub does with a prompt.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers at once.
    Say(String),
    /// Answers after so many milliseconds.
    After(u64, String),
    /// Fails.
    Fail(Error),
    /// Goes on until it is interrupted.
    Hang,
    /// Goes on for ever, whatever it is told.
    Deaf,
    /// Comes upon a moment, and answers with what was said to it.
    Ask(Moment),
    /// Answers with the first words that it is steered with.
    Steered,
}

/// A harness by function.
#[derive(Clone)]
pub struct Stub {
    plan: Arc<dyn Fn(&str) -> Act + Send + Sync>,
    clock: Clock,
    cost: Usd,
    source: CostSource,
    /// Says what it spends while it goes, not only at its end.
    streams: bool,
    pub seen: Arc<Seen>,
}

#[derive(Default)]
pub struct Seen {
    pub prompts: Mutex<Vec<(SessionId, String)>>,
    pub opened: AtomicUsize,
    pub closed: AtomicUsize,
    pub going: AtomicUsize,
    pub peak: AtomicUsize,
    pub interrupted: AtomicUsize,
    in_session: Mutex<HashSet<SessionId>>,
    /// How often a session was asked to take a turn beside another: never, by S1.
    pub clashes: AtomicUsize,
}

impl Seen {
    pub fn prompts(&self) -> Vec<String> {
        self.prompts.lock().iter().map(|(_, prompt)| prompt.clone()).collect()
    }
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

impl std::fmt::Debug for Stub {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Stub")
    }
}

impl Stub {
    pub fn new(clock: &Clock, plan: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        Self {
            plan: Arc::new(plan),
            clock: clock.clone(),
            cost: Usd::ZERO,
            source: CostSource::MadeUp,
            streams: false,
            seen: Arc::default(),
        }
    }

    /// Uses tokens and does not know what they cost.
    pub fn unpriced(self) -> Self {
        Self { source: CostSource::Unknown, ..self }
    }

    pub fn costing(self, dollars: f64) -> Self {
        Self { cost: Usd::from_dollars(dollars), ..self }
    }

    pub fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }
}

const MOMENTS: [Moment; 2] = [Moment::Question, Moment::PreToolUse];

#[async_trait]
impl Harness for Stub {
    fn name(&self) -> &str {
        "stub"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { steer: true, fork: true, pure: true, moments: &MOMENTS, ..Capabilities::default() }
    }
    async fn open(&self, open: Open) -> Result<Box<dyn Conversation>> {
        self.seen.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Talk { session: open.session, stub: self.clone() }))
    }
}

struct Talk {
    session: SessionId,
    stub: Stub,
}

struct Going<'a>(&'a Seen, SessionId);

impl<'a> Going<'a> {
    fn new(seen: &'a Seen, session: SessionId) -> Self {
        let now = seen.going.fetch_add(1, Ordering::SeqCst) + 1;
        seen.peak.fetch_max(now, Ordering::SeqCst);
        if !seen.in_session.lock().insert(session) {
            seen.clashes.fetch_add(1, Ordering::SeqCst);
        }
        Self(seen, session)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.going.fetch_sub(1, Ordering::SeqCst);
        self.0.in_session.lock().remove(&self.1);
    }
}

#[async_trait]
impl Conversation for Talk {
    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply> {
        let Stub { plan, clock, cost, source, streams, seen } = &self.stub;
        seen.prompts.lock().push((self.session, prompt.text.to_owned()));
        let going = Going::new(seen, self.session);
        let usage = Usage { cost: *cost, output_tokens: 10, cost_source: *source, ..Usage::default() };
        let work = async {
            if *streams {
                host.event(Event::Usage { usage });
            }
            match plan(prompt.text) {
                Act::Say(text) => Ok(text),
                Act::After(ms, text) => {
                    clock.sleep(Duration::from_millis(ms)).await;
                    Ok(text)
                }
                Act::Fail(error) => Err(error),
                Act::Hang => std::future::pending().await,
                Act::Deaf => Ok("deaf".to_owned()),
                Act::Ask(moment) => {
                    Ok(format!("{:?}", host.occasion(moment, serde_json::json!({"really": true})).await))
                }
                Act::Steered => Ok(host.steered().await.text),
            }
        };
        if matches!(plan(prompt.text), Act::Deaf) {
            std::future::pending::<()>().await;
        }
        let said = tokio::select! {
            said = work => said,
            () = host.interrupted() => {
                seen.interrupted.fetch_add(1, Ordering::SeqCst);
                Err(Error::harness(HarnessFault::Interrupted, "told to stop"))
            }
        };
        drop(going);
        host.event(Event::Usage { usage });
        said.map(|text| Reply { text, value: None, usage: Some(usage) })
    }

    async fn fork(&mut self, open: Open) -> Result<Box<dyn Conversation>> {
        self.stub.seen.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Self { session: open.session, stub: self.stub.clone() }))
    }

    async fn close(self: Box<Self>) {
        self.stub.seen.closed.fetch_add(1, Ordering::SeqCst);
    }
}

/// An env without files: every directory below it is there, but for `nowhere`. What was dropped in it takes a while to sweep.
#[derive(Debug)]
pub struct Bare {
    directory: String,
    clock: Clock,
    sweep: Duration,
}

#[async_trait]
impl Env for Bare {
    fn kind(&self) -> EnvKind {
        EnvKind::Workspace
    }
    fn directory(&self) -> &str {
        &self.directory
    }
    async fn swept(&self) {
        self.clock.sleep(self.sweep).await;
    }
    async fn verify(&self) -> Result<()> {
        if self.directory.ends_with("swapped") {
            return Err(Error::session(
                SessionFault::RefusedDir,
                format!("{}: no directory to open a session in", self.directory),
            ));
        }
        Ok(())
    }
    async fn exec(&self, command: Command) -> Result<Output> {
        if command.argv[0] == "hang" {
            std::future::pending::<()>().await;
        }
        Ok(Output { stdout: command.argv.join(" ").into_bytes(), ..Output::default() })
    }
    async fn spawn(&self, _: Program) -> Result<Child> {
        Err(self.cannot("spawn"))
    }
    async fn read(&self, path: &str, _: Option<(u64, u32)>) -> Result<Vec<u8>> {
        Err(Error::env(EnvFault::NotFound, path))
    }
    async fn write(&self, _: &str, _: Vec<u8>) -> Result<()> {
        Ok(())
    }
    async fn append(&self, _: &str, _: Vec<u8>) -> Result<()> {
        Ok(())
    }
    async fn make_dir(&self, _: &str) -> Result<()> {
        Ok(())
    }
    async fn stat(&self, path: &str) -> Result<Entry> {
        Err(Error::env(EnvFault::NotFound, path))
    }
    async fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }
    async fn find(&self, _: &str, _: &str) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }
    async fn subdir(&self, path: &str) -> Result<Arc<dyn Env>> {
        if path == "nowhere" {
            let message = format!("{}/nowhere: no directory to open a session in", self.directory);
            return Err(Error::session(SessionFault::RefusedDir, message));
        }
        Ok(Arc::new(Self { directory: format!("{}/{path}", self.directory), clock: self.clock.clone(), ..*self }))
    }
}

type Body = dyn Fn(Arc<Branch>, Arc<str>) -> BoxFuture<'static, Result<Json, Ended>> + Send + Sync;

/// A flow by closure.
pub struct Plain {
    manifest: Manifest,
    digest: Arc<str>,
    body: Box<Body>,
}

#[async_trait]
impl Flow for Plain {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }
    fn digest(&self) -> &Arc<str> {
        &self.digest
    }
    async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended> {
        (self.body)(branch, task).await
    }
}

/// A flow with the roles `agent` (all capabilities) and `workspace`, that loads whatever there is.
pub fn flow<F>(name: &str, body: impl Fn(Arc<Branch>, Arc<str>) -> F + Send + Sync + 'static) -> Arc<dyn Flow>
where
    F: Future<Output = Result<Json, Error>> + Send + 'static,
{
    let manifest = manifest(name);
    flow_with(manifest, move |branch, task| {
        let work = body(branch, task);
        async move { work.await.map_err(Ended::Raised) }
    })
}

pub fn manifest(name: &str) -> Manifest {
    Manifest::read(
        &serde_json::json!({
            "contract": "0.1.0", "name": name,
            "agents": [{"name": "agent", "capabilities": ["steer", "fork", "question", "pre-tool-use"]}],
            "envs": [{"name": "workspace", "capabilities": ["shell", "files"]}],
            "loads": ["root", "leaf", "a", "b", "ping", "pong"],
        })
        .to_string(),
    )
    .unwrap()
}

pub fn flow_with<F>(
    manifest: Manifest,
    body: impl Fn(Arc<Branch>, Arc<str>) -> F + Send + Sync + 'static,
) -> Arc<dyn Flow>
where
    F: Future<Output = Result<Json, Ended>> + Send + 'static,
{
    let digest = format!("digest of {}", manifest.name).into();
    Arc::new(Plain { manifest, digest, body: Box::new(move |branch, task| Box::pin(body(branch, task))) })
}

#[derive(Default)]
pub struct Flows(pub Mutex<HashMap<String, Arc<dyn Flow>>>);

#[async_trait]
impl Loader for Flows {
    async fn load(&self, reference: &str, _: &Branch) -> Result<Arc<dyn Flow>> {
        let missing = || Error::flow(FlowFault::NotFound, format!("{reference}: no such flow"));
        self.0.lock().get(reference).cloned().ok_or_else(missing)
    }
}

/// Keeps what was recorded.
#[derive(Default)]
pub struct Kept(pub Mutex<Vec<Record>>);

impl Observer for Kept {
    fn record(&self, _: Duration, record: &Record) {
        self.0.lock().push(record.clone());
    }
}

/// A run to test a rule in.
pub struct Bench {
    pub clock: Clock,
    pub stub: Stub,
    pub flows: Arc<Flows>,
    pub kept: Arc<Kept>,
    pub limits: Limits,
    pub at_once: Option<u32>,
    pub allows_unpriced: bool,
    /// How long its env takes to sweep what was dropped in it.
    pub sweep: Duration,
}

impl Bench {
    pub fn new(plan: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let clock = Clock::driven();
        let stub = Stub::new(&clock, plan);
        Self {
            clock,
            stub,
            flows: Arc::default(),
            kept: Arc::default(),
            limits: Limits::default(),
            at_once: None,
            allows_unpriced: false,
            sweep: Duration::ZERO,
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn seen(&self) -> &Seen {
        &self.stub.seen
    }

    pub fn run(&self) -> Arc<Run> {
        Run::new(Setup {
            id: RunId::new("20260101-000000", 1),
            clock: self.clock.clone(),
            recorder: Arc::new(NoRecorder),
            observers: vec![self.kept.clone()],
            allows_unpriced: self.allows_unpriced,
            at_once: self.at_once,
            history: HashMap::new(),
            patience: Patience::default(),
            branches: flowhost_core::run::BRANCHES,
            loader: self.flows.clone(),
        })
    }

    pub fn given(&self) -> Given {
        let (clock, sweep) = (self.clock.clone(), self.sweep);
        let env: Arc<dyn Env> = Arc::new(Bare { directory: "/srv/project".into(), clock, sweep });
        Given {
            agents: vec![("agent".into(), AgentGrant::new(Arc::new(self.stub.clone()), Settings::default()))],
            envs: vec![("workspace".into(), EnvGrant::new(env))],
            params: json("{}"),
            limits: self.limits,
            scratch: None,
        }
    }

    /// Runs a flow as the root, and drives the clock on whenever nothing else can go on.
    pub async fn execute(&self, root: Arc<dyn Flow>) -> Result<Json> {
        self.drive(self.run().execute(root, "task".into(), self.given(), Header::default())).await
    }

    pub async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = settle() => self.clock.advance(Duration::from_millis(1)),
            }
        }
    }
}

/// Returns when every task has had its turn a good many times: on one thread, what still waits then waits for the clock.
pub async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

pub fn json(text: &str) -> Json {
    serde_json::value::RawValue::from_string(text.to_owned()).unwrap().into()
}

pub fn said<T: serde::Serialize>(value: T) -> Result<Json> {
    Ok(serde_json::value::to_raw_value(&value).unwrap().into())
}

pub fn agent(branch: &Arc<Branch>) -> Result<Arc<Agent>> {
    Ok(branch.agent("agent")?.unwrap())
}

/// What a callee is handed by its caller: the same agent and env.
pub fn handed(branch: &Arc<Branch>, limits: Limits) -> Result<Given> {
    Ok(Given {
        agents: vec![("agent".into(), agent(branch)?.grant.clone())],
        envs: vec![("workspace".into(), branch.env("workspace")?.unwrap().grant().clone())],
        params: json("{}"),
        limits,
        scratch: None,
    })
}

pub fn last_word(prompt: &str) -> String {
    prompt.split_whitespace().last().unwrap_or_default().to_owned()
}

pub fn cost(dollars: f64) -> Limits {
    Limits { cost: Some(Usd::from_dollars(dollars)), ..Limits::default() }
}
