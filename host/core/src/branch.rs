//! One call of a flow inside a run: rules B1-B5, X1.
//!
//! A branch owns its sessions, watches, processes and callees, and ends them all before its caller hears of its end.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    agent::{Agent, AgentGrant},
    budget::AccountId,
    cover,
    error::{Error, FlowFault, Kind, Result},
    id::{BranchId, SessionId},
    job::Job,
    manifest::Manifest,
    place::{EnvGrant, Place},
    record::{Json, Key, LogSource, Outcome, Record},
    run::{Ended, Flow, Run, millis},
    session::Session,
    turn::Cause,
    usage::{Allowance, Limits, Usage},
};

/// How deep a chain of flows may be; the root is level 1 (B2).
pub const DEEPEST: usize = 64;

/// What a flow is called with.
#[derive(Clone, Debug)]
pub struct Given {
    /// By role.
    pub agents: Vec<(Arc<str>, AgentGrant)>,
    /// By role.
    pub envs: Vec<(Arc<str>, EnvGrant)>,
    /// As its schema says.
    pub params: Json,
    /// On top of what is left above.
    pub limits: Limits,
    /// Where the sessions of flows without an env role work (S4).
    pub scratch: Option<EnvGrant>,
}

/// One call of a flow.
pub struct Branch {
    /// Its place in the run.
    pub id: BranchId,
    /// The run that it is of.
    pub run: Arc<Run>,
    /// Names of the flows from the root to this one.
    pub path: Arc<[Arc<str>]>,
    /// What it was given, as its schema says.
    pub params: Json,
    pub(crate) key: Key,
    pub(crate) account: AccountId,
    /// Everything that it has going: turns, commands, callees. It is over when this is empty (B5).
    pub(crate) tracker: TaskTracker,
    flow: Arc<dyn Flow>,
    /// Occasions that it has taken and not answered yet (S10).
    pub(crate) deciding: Arc<AtomicU32>,
    parent: Option<Arc<Branch>>,
    limits: Limits,
    scratch: Option<EnvGrant>,
    given_agents: Vec<(Arc<str>, AgentGrant)>,
    given_envs: Vec<(Arc<str>, EnvGrant)>,
    cancel: CancellationToken,
    ended: AtomicBool,
    calls: AtomicU32,
    agents: Mutex<HashMap<Arc<str>, Arc<Agent>>>,
    derived: Mutex<Vec<Arc<Agent>>>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    occurrences: Mutex<HashMap<Key, u32>>,
}

impl fmt::Debug for Branch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Branch").field(&self.id).finish()
    }
}

impl Branch {
    pub(crate) fn root(run: &Arc<Run>, flow: Arc<dyn Flow>, given: Given) -> Result<Arc<Self>> {
        let path = Arc::new([Arc::<str>::from(flow.manifest().name.as_str())]);
        // J2: the root's identity is the run alone.
        let key = Key::of(&[b"root"]);
        Self::open(run, BranchId::root(), None, path, key, CancellationToken::new(), flow, given)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "called by the root and by a call, which make each of these in their own way"
    )]
    fn open(
        run: &Arc<Run>,
        id: BranchId,
        parent: Option<&Arc<Self>>,
        path: Arc<[Arc<str>]>,
        key: Key,
        cancel: CancellationToken,
        flow: Arc<dyn Flow>,
        given: Given,
    ) -> Result<Arc<Self>> {
        let given = cover::cover(flow.manifest(), given)?;
        let account = run.admission.open(parent.map(|parent| parent.account), given.limits, id.0.clone());
        let branch = Arc::new(Self {
            id,
            run: run.clone(),
            path,
            params: given.params,
            key,
            account,
            tracker: TaskTracker::new(),
            flow,
            deciding: Arc::default(),
            parent: parent.cloned(),
            limits: given.limits,
            scratch: given.scratch,
            given_agents: given.agents,
            given_envs: given.envs,
            cancel,
            ended: AtomicBool::new(false),
            calls: AtomicU32::new(0),
            agents: Mutex::default(),
            derived: Mutex::default(),
            sessions: Mutex::default(),
            occurrences: Mutex::default(),
        });
        if let Err(full) = run.enter(&branch) {
            run.admission.close(account);
            return Err(full);
        }
        Ok(branch)
    }

    /// What the flow that runs here declares.
    pub fn manifest(&self) -> &Manifest {
        self.flow.manifest()
    }

    /// BLAKE3 of the flow that runs here, in hexadecimal digits.
    pub fn digest(&self) -> &Arc<str> {
        self.flow.digest()
    }

    /// Its level: the root is 1.
    pub fn depth(&self) -> usize {
        self.path.len()
    }

    /// What is left, the tightest limit of this branch and those above.
    pub fn remaining(&self) -> Allowance {
        self.run.admission.remaining(self.account)
    }

    /// What this branch has spent, with all that it called.
    pub fn spent(&self) -> Usage {
        self.run.admission.spent(self.account)
    }

    /// A number that hash tables of the flow may start from: it follows from the run and the branch, so the record need not keep it.
    pub fn seed(&self) -> u128 {
        u128::from_le_bytes(Key::of(&[self.run.id.0.as_bytes(), &self.key.0, b"seed"]).0)
    }

    /// Milliseconds since the epoch.
    pub fn now_ms(&self) -> u64 {
        millis(self.run.clock.since_epoch())
    }

    /// Lets time pass.
    pub async fn sleep(&self, time: Duration) {
        self.run.clock.sleep(time).await;
    }

    /// Says a line in the run's log.
    pub fn log(&self, line: &str, from: LogSource) {
        self.run.record(&Record::Log { branch: self.id.clone(), line: line.into(), from });
    }

    /// Writes down what a call without an effect gave: clock, random (J1).
    pub fn value(&self, function: &'static str, outcome: Outcome<Json>) {
        self.run.record(&Record::Value { branch: self.id.clone(), function: function.into(), key: None, outcome });
    }

    /// Writes down that a completion reaches the flow now (J1).
    pub fn delivered(&self, of: Arc<str>) {
        self.run.record(&Record::Delivered { branch: self.id.clone(), of });
    }

    /// Fails with `stopped` once the run was stopped, or this branch has ended (X1).
    pub fn check(&self) -> Result<()> {
        if self.run.is_stopped() || self.ended.load(Ordering::Acquire) { Err(Error::stopped()) } else { Ok(()) }
    }

    /// The agent that fills a role; none for an optional role that nobody filled. Fails with `not-granted` at a role that the flow did
    /// not declare.
    pub fn agent(self: &Arc<Self>, role: &str) -> Result<Option<Arc<Agent>>> {
        self.check()?;
        if self.manifest().agent(role).is_none() {
            return Err(Error::not_granted(format!("{role}: the flow's manifest declares no agent role of this name")));
        }
        let Some((role, grant)) = self.given_agents.iter().find(|(name, _)| &**name == role) else { return Ok(None) };
        let mut agents = self.agents.lock();
        let agent = agents.entry(role.clone()).or_insert_with(|| Agent::new(self, role.clone(), grant.clone()));
        Ok(Some(agent.clone()))
    }

    /// The environment that fills a role; none for an optional role that nobody filled. Fails with `not-granted` at a role that the
    /// flow did not declare.
    pub fn env(self: &Arc<Self>, role: &str) -> Result<Option<Place>> {
        self.check()?;
        if self.manifest().env(role).is_none() {
            return Err(Error::not_granted(format!("{role}: the flow's manifest declares no env role of this name")));
        }
        let given = self.given_envs.iter().find(|(name, _)| &**name == role);
        Ok(given.map(|(role, grant)| Place::new(self, role.clone(), grant.clone())))
    }

    /// S4: the env that fills the role `workspace`, or the only one, or a scratch directory of the run.
    pub(crate) fn default_place(self: &Arc<Self>) -> Result<Place> {
        let given = match &self.given_envs[..] {
            [] => {
                let scratch = self
                    .scratch
                    .clone()
                    .ok_or_else(|| Error::requirement("there is no directory to open a session in"))?;
                return Ok(Place::new(self, "scratch".into(), scratch));
            }
            [only] => only,
            several => several.iter().find(|(name, _)| &**name == "workspace").ok_or_else(|| {
                let names: Vec<&str> = several.iter().map(|(name, _)| &**name).collect();
                let message = format!(
                    "a session needs an env here: there are {}, and none is called workspace",
                    names.join(", ")
                );
                Error::requirement(message)
            })?,
        };
        Ok(Place::new(self, given.0.clone(), given.1.clone()))
    }

    /// Fails with `not-granted` where an env is another branch's.
    pub(crate) fn own<'a>(&self, place: &'a Place) -> Result<&'a Place> {
        if place.branch().id == self.id {
            return Ok(place);
        }
        Err(Error::not_granted(format!("{}: this env belongs to the branch {}", place.role(), place.branch().id)))
    }

    /// The flow that `reference` means here. Fails with `not-granted` where the manifest does not declare it.
    pub async fn load(&self, reference: &str) -> Result<Arc<dyn Flow>> {
        self.check()?;
        if !self.manifest().loads.iter().any(|each| each == reference) {
            let message = format!(
                "{reference}: the manifest of {} does not declare that it loads this flow",
                self.manifest().name
            );
            return Err(Error::not_granted(message));
        }
        self.run.loader.load(reference, self).await
    }

    /// Calls a flow as a branch of this run (B1), and returns at once.
    ///
    /// Fails with `flow(too-deep)` (B2) and `requirement` (B3), both before anything of the callee has run, and `stopped`.
    pub fn call(self: &Arc<Self>, flow: &Arc<dyn Flow>, task: Arc<str>, given: Given) -> Result<Call> {
        self.check()?;
        let name: Arc<str> = flow.manifest().name.as_str().into();
        if self.depth() >= DEEPEST {
            let chain = chain(self.path.iter().chain([&name]));
            let message = format!(
                "{chain}: this call would be level {} of a chain of flows, and {DEEPEST} is the deepest",
                DEEPEST + 1
            );
            return Err(Error::flow(FlowFault::TooDeep, message));
        }
        let path: Arc<[Arc<str>]> = self.path.iter().cloned().chain([name]).collect();
        // J2: parent, callee's digest, task, params, occurrence.
        let key = Key::of(&[&self.key.0, flow.digest().as_bytes(), task.as_bytes(), given.params.get().as_bytes()]);
        let key = self.occurrence(key);
        let given = Given { scratch: given.scratch.or_else(|| self.scratch.clone()), ..given };
        let nth = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let child = Self::open(
            &self.run,
            self.id.call(nth),
            Some(self),
            path,
            key,
            self.cancel.child_token(),
            flow.clone(),
            given,
        )?;
        Ok(Call::start_in(&self.tracker, child, task))
    }

    /// J2: tells equal keys of one branch apart by the order of the calls.
    pub(crate) fn occurrence(&self, key: Key) -> Key {
        let mut occurrences = self.occurrences.lock();
        let nth = occurrences.entry(key).or_insert(0);
        let distinct = key.occurrence(*nth);
        *nth += 1;
        distinct
    }

    /// S10: whether its turns are taken to decide an occasion, its own or one of a branch above.
    pub(crate) fn is_deciding(&self) -> bool {
        let mut branches = std::iter::successors(Some(self), |branch| branch.parent.as_deref());
        branches.any(|branch| branch.deciding.load(Ordering::Relaxed) > 0)
    }

    pub(crate) fn child_token(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    pub(crate) fn keep(&self, derived: &Arc<Agent>) {
        self.derived.lock().push(derived.clone());
    }

    pub(crate) fn register(&self, session: &Arc<Session>) {
        self.sessions.lock().entry(session.id).or_insert_with(|| session.clone());
        if self.ended.load(Ordering::Acquire) {
            session.end(Cause::Interrupted);
        }
    }

    pub(crate) fn unregister(&self, session: &Session) {
        self.sessions.lock().remove(&session.id);
    }

    /// X1: every turn is interrupted.
    pub(crate) fn stop_turns(&self) {
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.interrupt(&Cause::Stopped);
        }
    }

    /// Ends everything that the flow left (B5): sessions, commands, callees. Returns when nothing of it is left.
    async fn end(self: &Arc<Self>) {
        self.ended.store(true, Ordering::Release);
        let cause = if self.run.is_stopped() { Cause::Stopped } else { Cause::Interrupted };
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.end(cause.clone());
        }
        self.cancel.cancel();
        self.tracker.close();
        self.tracker.wait().await;
        // The programs of harnesses too, whose turns were dropped with all that they had started.
        for grant in self.given_envs.iter().map(|(_, grant)| grant).chain(&self.scratch) {
            grant.env.swept().await;
        }
        // These hold the branch, which holds them.
        for agent in self.agents.lock().drain().map(|(_, agent)| agent).chain(self.derived.lock().drain(..)) {
            agent.let_go();
        }
        self.run.leave(self);
    }

    /// What the flow's end means to its caller (B4).
    fn outcome(&self, ended: Result<Json, Ended>) -> Result<Json> {
        if self.run.is_stopped() {
            // X1: a flow cannot catch a stop and go on.
            return Err(Error::stopped());
        }
        match ended {
            Ok(answer) => self.meets_result(answer),
            Err(Ended::Host(error)) => {
                let message = format!("{} ({}): {}", self.id, chain(self.path.iter()), error.message);
                Err(Error { kind: error.kind, message })
            }
            // B4: what a guest returns never decides the host's own facts.
            Err(Ended::Raised(Error { kind: Kind::Stopped, message })) => Err(Error::new(Kind::Failed, message)),
            Err(Ended::Raised(Error { kind: Kind::Budget(limit), message })) => {
                match self.run.admission.check(self.account) {
                    Err(limit) => Err(Error::new(Kind::Budget(limit), message)),
                    Ok(()) => {
                        let message = format!("{message} (a limit of {}, not of this branch)", limit.whose);
                        Err(Error::new(Kind::Failed, message))
                    }
                }
            }
            Err(Ended::Raised(error)) => Err(error),
        }
    }

    fn meets_result(&self, answer: Json) -> Result<Json> {
        let Some(schema) = &self.manifest().result else { return Ok(answer) };
        let wrong = |what: String| {
            Error::flow(
                FlowFault::Other,
                format!("{}: the answer does not meet the flow's own schema: {what}", self.id),
            )
        };
        let value = serde_json::from_str(answer.get()).map_err(|error| wrong(error.to_string()))?;
        schema.check(&value).map_err(wrong)?;
        Ok(answer)
    }
}

/// A call of a flow that was started.
#[derive(Clone, Debug)]
pub struct Call {
    /// The branch that it runs in.
    pub branch: BranchId,
    job: Arc<Job<Json>>,
}

impl Call {
    pub(crate) fn start(root: Arc<Branch>, task: Arc<str>) -> Self {
        Self::start_in(&TaskTracker::new(), root, task)
    }

    fn start_in(tracker: &TaskTracker, branch: Arc<Branch>, task: Arc<str>) -> Self {
        let run = branch.run.clone();
        run.record(&Record::Branch {
            branch: branch.id.clone(),
            parent: branch.parent.as_ref().map(|parent| parent.id.clone()),
            flow: branch.path.last().cloned().unwrap_or_default(),
            digest: branch.flow.digest().clone(),
            key: branch.key,
            task: task.clone(),
            params: branch.params.clone(),
            limits: branch.limits,
        });
        let id = branch.id.clone();
        let cancelled = Error::flow(
            FlowFault::Interrupted,
            format!("{id} ({}): interrupted by its caller", chain(branch.path.iter())),
        );
        let token = branch.cancel.clone();
        let flow = branch.flow.clone();
        // The flow is dropped where it was cancelled; what it left is ended in both cases.
        let work = {
            let (branch, token, cancelled) = (branch.clone(), token.clone(), cancelled.clone());
            async move {
                let late = async {
                    branch.run.stopped().await;
                    // X1: a flow that does not return by itself is dropped with its store.
                    branch.run.clock.sleep(branch.run.patience.stop).await;
                };
                let ended = tokio::select! {
                    biased;
                    () = token.cancelled() => Err(Ended::Host(cancelled)),
                    () = late => Err(Ended::Host(Error::stopped())),
                    ended = flow.run(branch.clone(), task) => ended,
                };
                let cancelled_by_caller = branch.cancel.is_cancelled() && !branch.run.is_stopped();
                branch.end().await;
                let result = match ended {
                    Err(Ended::Host(error)) if cancelled_by_caller => Err(error),
                    ended => branch.outcome(ended),
                };
                // The root's account stays, so that what the run spent can be asked for after its end.
                let usage =
                    if branch.depth() > 1 { branch.run.admission.close(branch.account) } else { branch.spent() };
                let mark = branch.run.record(&Record::BranchEnd {
                    branch: branch.id.clone(),
                    outcome: result.clone().into(),
                    usage,
                });
                // Its caller alone waits for it: there is nobody to let go first.
                branch.run.write_out();
                branch.run.written(mark).await.and(result)
            }
        };
        // The job itself is never cancelled, so that the branch is always ended; its token is the branch's.
        let job = Job::spawn_guarded(tracker, token, work);
        Self { branch: id, job }
    }

    /// Waits for its end and that of all that it left. May be asked again and by several; all get the same.
    pub async fn wait(&self) -> Result<Json> {
        self.job.wait().await
    }

    /// Whether it has ended.
    pub fn done(&self) -> bool {
        self.job.done()
    }

    /// Interrupts it and returns at once; `wait` says `flow(interrupted)` when it is over. Twice, or after its end, is nothing.
    pub fn cancel(&self) {
        self.job.cancel();
    }
}

/// A chain of flows by name, shortened where it repeats: `a > (b > c) x 31`.
fn chain<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> String {
    let names: Vec<&str> = names.map(|name| &**name).collect();
    let mut shown: Vec<String> = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let (period, times) = repeats(&names[at..]);
        if times > 1 {
            let unit = names[at..at + period].join(" > ");
            shown.push(if period == 1 { format!("{unit} x {times}") } else { format!("({unit}) x {times}") });
            at += period * times;
        } else {
            shown.push(names[at].to_owned());
            at += 1;
        }
    }
    shown.join(" > ")
}

/// The repetition at the start of `names` that covers most of it: its period, and how many times it stands there.
fn repeats(names: &[&str]) -> (usize, usize) {
    (1..=names.len() / 2)
        .map(|period| {
            let unit = &names[..period];
            let times = names.chunks_exact(period).take_while(|chunk| *chunk == unit).count();
            (period, times)
        })
        .filter(|(_, times)| *times > 1)
        .max_by_key(|(period, times)| (period * times, std::cmp::Reverse(*period)))
        .unwrap_or((1, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_shortened_where_it_repeats() {
        let shown = |names: &str| {
            let names: Vec<Arc<str>> = names.split_whitespace().map(Into::into).collect();
            chain(names.iter())
        };
        assert_eq!(shown("a b c"), "a > b > c");
        assert_eq!(shown("a a a a"), "a x 4");
        assert_eq!(shown("root a b a b a b end"), "root > (a > b) x 3 > end");
    }
}
