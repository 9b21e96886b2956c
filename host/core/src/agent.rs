//! A harness under a role: what a branch opens its sessions with (S2, S4, S8).

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use parking_lot::Mutex;

use crate::{
    branch::Branch,
    budget::ClassId,
    env::Env,
    error::{Error, HarnessFault, Kind, Result},
    harness::{Harness, Moment, Permission, Settings},
    occasion::{Unanswered, Watch},
    place::Place,
    record::Key,
    session::{Session, WhenBusy},
    turn::{Answer, Turn, TurnOptions},
};

/// A harness with its settings, as a person or a flow hands it on.
#[derive(Clone)]
pub struct AgentGrant {
    /// The program behind it.
    pub harness: Arc<dyn Harness>,
    /// Model, effort, permission.
    pub settings: Arc<Settings>,
    /// `harness/model:effort`, the harness by its label: also its class in the ledger ($2).
    pub label: Arc<str>,
    /// What may be used of it; never more than the harness can.
    pub capabilities: Arc<[String]>,
}

impl fmt::Debug for AgentGrant {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("AgentGrant").field(&self.label).finish()
    }
}

impl AgentGrant {
    /// All that the harness can, under these settings.
    pub fn new(harness: Arc<dyn Harness>, settings: Settings) -> Self {
        let mut label = harness.label();
        for (mark, part) in [('/', &settings.model), (':', &settings.effort)] {
            if !part.is_empty() {
                label.push(mark);
                label.push_str(part);
            }
        }
        let capabilities = harness.capabilities().names().into_iter().map(str::to_owned).collect();
        Self { harness, settings: Arc::new(settings), label: label.into(), capabilities }
    }

    fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|each| each == capability)
    }
}

/// An agent as one branch has it: its sessions and watches are the branch's own (B1).
pub struct Agent {
    /// The role it fills.
    pub role: Arc<str>,
    /// What stands behind it, narrowed to what the role declares (B3).
    pub grant: AgentGrant,
    pub(crate) branch: Arc<Branch>,
    pub(crate) class: ClassId,
    conversations: AtomicU32,
    /// Whether none of its turns had to wait for anything so far.
    pub(crate) instant: AtomicBool,
    watches: Mutex<Vec<Arc<Watch>>>,
    /// The last place that a session was opened at: ten thousand sessions share it.
    seat: Mutex<Option<Arc<Seat>>>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Agent").field("role", &self.role).field("grant", &self.grant).finish_non_exhaustive()
    }
}

/// Where a session of an agent works.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) agent: Arc<Agent>,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) directory: Arc<str>,
    /// J2: branch, role, settings, env, directory in it.
    pub(crate) key: Key,
}

/// How to take many turns.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// How many go at once; none for all (S2).
    pub at_once: Option<u32>,
    /// Keep failures in their places instead of failing (S8).
    pub suppress: bool,
    /// How to take each.
    pub turn: TurnOptions,
}

impl Agent {
    pub(crate) fn new(branch: &Arc<Branch>, role: Arc<str>, grant: AgentGrant) -> Arc<Self> {
        let class = branch.run.admission.class(&grant.label, Vec::new());
        Arc::new(Self {
            role,
            grant,
            branch: branch.clone(),
            class,
            conversations: AtomicU32::new(0),
            instant: AtomicBool::new(true),
            watches: Mutex::default(),
            seat: Mutex::default(),
        })
    }

    pub(crate) fn next_conversation(&self) -> u32 {
        self.conversations.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn let_go(&self) {
        *self.seat.lock() = None;
        for watch in self.watches.lock().drain(..) {
            watch.close();
        }
    }

    /// Fails unless the role declared `capability` and the harness has it (S9).
    pub(crate) fn offers(&self, capability: &str) -> Result<()> {
        if self.grant.can(capability) {
            return Ok(());
        }
        let can = self.grant.harness.capabilities().names().contains(&capability);
        let role = &self.role;
        Err(if can {
            Error::not_granted(format!("{capability}: the flow's manifest does not declare it for the role {role}"))
        } else {
            let message =
                format!("{capability}: {}, which fills the role {role}, cannot do it", self.grant.harness.name());
            Error::harness(HarnessFault::Unsupported, message)
        })
    }

    /// Opens a conversation in `at`, or where S4 says. It costs nothing until a turn lands in it (S3).
    ///
    /// Fails with `stopped`, `requirement` where S4 leaves several envs to choose from, `not-granted` at another branch's env.
    pub fn spawn(self: &Arc<Self>, at: Option<&Place>, when_busy: WhenBusy) -> Result<Arc<Session>> {
        self.branch.check()?;
        Ok(Session::open(self.seat(at)?, when_busy))
    }

    /// The same at a directory of the env, given relative to it or absolute inside it. Fails in the words of S5.
    pub async fn spawn_in(
        self: &Arc<Self>,
        at: Option<&Place>,
        directory: &str,
        when_busy: WhenBusy,
    ) -> Result<Arc<Session>> {
        self.branch.check()?;
        Ok(Session::open(self.seat_in(at, directory).await?, when_busy))
    }

    /// Many of them at one place (S8).
    pub fn spawn_many(self: &Arc<Self>, count: u32, like: &Arc<Session>, when_busy: WhenBusy) -> Vec<Arc<Session>> {
        (0..count).map(|_| Session::open(like.seat().clone(), when_busy)).collect()
    }

    pub(crate) fn seat(self: &Arc<Self>, at: Option<&Place>) -> Result<Arc<Seat>> {
        let place = match at {
            Some(place) => self.branch.own(place)?.clone(),
            None => self.branch.default_place()?,
        };
        Ok(self.seated(place.env().clone(), place.key()))
    }

    pub(crate) async fn seat_in(self: &Arc<Self>, at: Option<&Place>, directory: &str) -> Result<Arc<Seat>> {
        let place = match at {
            Some(place) => self.branch.own(place)?.clone(),
            None => self.branch.default_place()?,
        };
        let env = place.env().subdir(directory).await?;
        Ok(self.seated(env, Key::of(&[&place.key().0, directory.as_bytes()])))
    }

    fn seated(self: &Arc<Self>, env: Arc<dyn Env>, place: Key) -> Arc<Seat> {
        let mut last = self.seat.lock();
        if let Some(seat) = last.as_ref().filter(|seat| Arc::ptr_eq(&seat.env, &env)) {
            return seat.clone();
        }
        let settings = serde_json::to_vec(&*self.grant.settings).unwrap_or_default();
        let key =
            Key::of(&[&self.branch.key.0, self.role.as_bytes(), self.grant.label.as_bytes(), &settings, &place.0]);
        let seat = Arc::new(Seat { agent: self.clone(), directory: env.directory().into(), env, key });
        *last = Some(seat.clone());
        seat
    }

    /// One turn in a conversation of its own, closed after it. Dropping the future interrupts the turn (S7).
    pub async fn run(self: &Arc<Self>, prompt: Arc<str>, at: Option<&Place>, options: TurnOptions) -> Result<Answer> {
        let session = self.spawn(at, WhenBusy::Refuse)?.handle();
        let turn = session.start(prompt, options)?;
        let turn = CutOnDrop(turn);
        turn.0.wait().await
    }

    /// One agent over many prompts, a session apiece, none kept, answers in the order asked (S8).
    ///
    /// Without `suppress` the first failure by position comes back once every turn has landed. A stop and a spent budget
    /// always do.
    pub async fn batch(
        self: &Arc<Self>,
        prompts: Vec<Arc<str>>,
        at: Option<&Place>,
        options: BatchOptions,
    ) -> Result<Vec<Result<Answer>>> {
        let at_once = options.at_once.map_or(usize::MAX, |most| most.max(1) as usize).min(prompts.len().max(1));
        let turns = prompts.into_iter().map(|prompt| self.run(prompt, at, options.turn.clone()));
        let answers: Vec<Result<Answer>> = futures::stream::iter(turns).buffered(at_once).collect().await;
        let of_all = |error: &&Error| !options.suppress || error.is_final();
        // A stop reads as a stop even where something failed before it.
        let stop = answers.iter().filter_map(|each| each.as_ref().err()).find(|error| error.kind == Kind::Stopped);
        let first = stop.or_else(|| answers.iter().filter_map(|each| each.as_ref().err()).find(of_all));
        match first {
            Some(error) => Err(error.clone()),
            None => Ok(answers),
        }
    }

    /// The same harness under other settings, for a branch of its own. Fails with `not-granted` where that is wider, or names a
    /// model or effort that the person did not give.
    pub fn derive(
        self: &Arc<Self>,
        permission: Option<Permission>,
        model: Option<&str>,
        effort: Option<&str>,
    ) -> Result<Arc<Self>> {
        self.branch.check()?;
        let settings = &self.grant.settings;
        for (what, asked, given) in [("model", model, &settings.model), ("effort", effort, &settings.effort)] {
            if let Some(asked) = asked.filter(|asked| asked != given) {
                let message = format!(
                    "{what} {asked}: the person gave the role {} {given:?}; they allow another with --grant model=NAME",
                    self.role
                );
                return Err(Error::not_granted(message));
            }
        }
        let permission = permission.unwrap_or(settings.permission);
        if !settings.permission.covers(&permission) {
            return Err(Error::not_granted(format!(
                "derive: the permission asked for is wider than what the role {} has",
                self.role
            )));
        }
        let settings = Arc::new(Settings { permission, ..Settings::clone(settings) });
        let derived = Self::new(&self.branch, self.role.clone(), AgentGrant { settings, ..self.grant.clone() });
        self.branch.keep(&derived);
        Ok(derived)
    }

    /// Opens a queue of what its sessions come upon. Fails where the role did not declare a moment, or the harness does not tell
    /// of it.
    pub fn watch(
        &self,
        moments: Vec<Moment>,
        patience: Option<Duration>,
        unanswered: Unanswered,
    ) -> Result<Arc<Watch>> {
        self.branch.check()?;
        for moment in &moments {
            self.offers(moment.name())?;
        }
        let patience = patience.unwrap_or(self.branch.run.patience.occasion);
        let watch = Watch::new(moments, patience, unanswered, self.branch.deciding.clone());
        let mut watches = self.watches.lock();
        watches.retain(|each| !each.is_closed());
        watches.push(watch.clone());
        Ok(watch)
    }

    pub(crate) fn watches(&self) -> Vec<Arc<Watch>> {
        self.watches.lock().iter().filter(|each| !each.is_closed()).cloned().collect()
    }
}

/// A turn that nobody can ask after once this is gone.
pub struct CutOnDrop(pub Arc<Turn>);

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        if !self.0.done() {
            self.0.cancel();
        }
    }
}
