//! One conversation of one agent, rooted at one directory: rules S1, S3, S6, S7, S9.
//!
//! A session is idle, or one turn of it is *going* — also while that waits for budget or for a cap. Only what is being interrupted
//! does not count as going: the next turn waits for its end. The going turn takes the conversation out of the session and
//! puts it back, so that two turns in one conversation cannot even be written down.

use std::{collections::VecDeque, sync::Arc};

use futures::FutureExt;
use parking_lot::Mutex;

use crate::{
    agent::{Agent, Seat},
    error::{Error, Result, SessionFault},
    harness::{Conversation, Open, Steer},
    id::SessionId,
    place::Place,
    record::{Key, Record},
    turn::{Cause, Turn, TurnOptions},
    usage::Usage,
};

/// What a session does with a turn while another is going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenBusy {
    /// Fails at once; the one that is going is untouched (S1).
    #[default]
    Refuse,
    /// Takes it afterwards, in order.
    Queue,
}

/// One conversation. Idle it is a few words of memory: no process, no file, no budget (S3).
#[derive(Debug)]
pub struct Session {
    /// Its name in the record.
    pub id: SessionId,
    seat: Arc<Seat>,
    when_busy: WhenBusy,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    going: Option<Arc<Turn>>,
    /// Its conversation is being forked: no turn can start meanwhile.
    forking: bool,
    closed: bool,
    /// Whether the session's own handle is held.
    held: bool,
    /// How many handles of its turns are held, of ended ones too.
    turns_held: u32,
    /// What it has since its first turn.
    life: Option<Box<Life>>,
}

#[derive(Default)]
struct Life {
    queue: VecDeque<Arc<Turn>>,
    conversation: Option<Box<dyn Conversation>>,
    native: Option<Arc<str>>,
    /// J2: stands for the prompts already taken.
    taken: Option<Key>,
    turns: u32,
    usage: Usage,
    recorded: bool,
    fork_of: Option<SessionId>,
}

impl std::fmt::Debug for Life {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Life").field("turns", &self.turns).finish_non_exhaustive()
    }
}

impl State {
    fn life(&mut self) -> &mut Life {
        self.life.get_or_insert_default()
    }
}

impl Session {
    pub(crate) fn open(seat: Arc<Seat>, when_busy: WhenBusy) -> Arc<Self> {
        let id = seat.agent.branch.run.next_session();
        Arc::new(Self { id, seat, when_busy, state: Mutex::default() })
    }

    /// The agent whose conversation it is.
    pub fn agent(&self) -> &Arc<Agent> {
        &self.seat.agent
    }

    /// Where it is rooted.
    pub fn directory(&self) -> &str {
        &self.seat.directory
    }

    pub(crate) fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }

    /// What its turns have spent, those that ended.
    pub fn usage(&self) -> Usage {
        self.state.lock().life.as_ref().map(|life| life.usage).unwrap_or_default()
    }

    /// A handle for the flow: when it is let go of, S6 says what becomes of the session.
    pub fn handle(self: &Arc<Self>) -> SessionHandle {
        self.state.lock().held = true;
        SessionHandle(self.clone())
    }

    /// Starts a turn and does not wait for it; one that need not wait for anything may have ended when this returns.
    ///
    /// Fails with `session(busy)` while another is going and the session refuses (S1), `session(closed)`, `stopped`.
    pub fn start(self: &Arc<Self>, prompt: Arc<str>, options: TurnOptions) -> Result<Arc<Turn>> {
        let branch = &self.seat.agent.branch;
        branch.check()?;
        let (turn, begins) = {
            let mut state = self.state.lock();
            if state.closed {
                return Err(self.closed());
            }
            if state.going.is_some() || state.forking {
                let queue_is_empty = state.life.as_ref().is_none_or(|life| life.queue.is_empty());
                // S1: one that is being interrupted is not going; the next waits for its end.
                let ending = state.going.as_ref().is_some_and(|going| going.is_interrupted()) && queue_is_empty;
                if self.when_busy == WhenBusy::Refuse && !ending {
                    return Err(self.busy(state.going.as_deref(), "wait for it, or open another session"));
                }
                let turn = Turn::new(self, prompt, options);
                state.life().queue.push_back(turn.clone());
                (turn, false)
            } else {
                let turn = Turn::new(self, prompt, options);
                state.going = Some(turn.clone());
                (turn, true)
            }
        };
        if begins {
            branch.register(self);
        }
        if branch.run.is_stopped() {
            // X1: a stop that came meanwhile has not seen it.
            turn.interrupt(Cause::Stopped);
        }
        if begins {
            turn.begin();
        }
        Ok(turn)
    }

    /// Puts words into the turn that is going (S9).
    ///
    /// Fails with `session(idle)` where none is, `not-granted` where the role did not declare `steer`,
    /// `harness(unsupported)` where the harness cannot.
    pub fn steer(&self, words: Steer) -> Result<()> {
        self.seat.agent.branch.check()?;
        self.seat.agent.offers("steer")?;
        let going = {
            let state = self.state.lock();
            if state.closed {
                return Err(self.closed());
            }
            state.going.clone()
        };
        let idle = || {
            Error::session(
                SessionFault::Idle,
                format!("{}: no turn of it is going, so there is nothing to steer", self.id),
            )
        };
        going.filter(|turn| turn.steer(words)).map(drop).ok_or_else(idle)
    }

    /// Branches the conversation; the fork works in `at`, or where this one does (S9).
    ///
    /// Fails with `session(never-ran)`, `session(busy)`, `not-granted`, `harness(unsupported)`.
    pub async fn fork_to(self: &Arc<Self>, at: Option<&Place>) -> Result<Arc<Self>> {
        let agent = &self.seat.agent;
        agent.branch.check()?;
        agent.offers("fork")?;
        let mut conversation = Borrowed::take(self)?;
        let seat = match at {
            Some(at) => agent.seat(Some(at))?,
            None => self.seat.clone(),
        };
        let fork = Self::open(seat, self.when_busy);
        let branched = conversation.get()?.fork(fork.opening()).await?;
        {
            let (taken, turns) = {
                let mut state = self.state.lock();
                (state.life().taken, state.life().turns)
            };
            let mut state = fork.state.lock();
            let life = state.life();
            (life.taken, life.turns, life.fork_of) = (taken, turns, Some(self.id));
            life.native = branched.native().map(Into::into);
            life.conversation = Some(branched);
        }
        agent.branch.register(&fork);
        Ok(fork)
    }

    /// Closes it now: the turn that is going is interrupted, and calls on it return `closed`.
    pub fn close(self: &Arc<Self>) {
        self.end(Cause::Closed);
    }

    pub(crate) fn end(self: &Arc<Self>, cause: Cause) {
        let (going, queue, idle) = {
            let mut state = self.state.lock();
            if std::mem::replace(&mut state.closed, true) {
                return;
            }
            let going = state.going.clone();
            // Who has the conversation now gives it back to a closed session, which ends it.
            let busy = going.is_some() || state.forking;
            let life = state.life.as_mut();
            let queue = life.as_ref().map(|life| life.queue.clone()).unwrap_or_default();
            (going, queue, if busy { None } else { life.map(|life| life.conversation.take()) })
        };
        for turn in queue {
            turn.interrupt(cause.clone());
        }
        if let Some(turn) = going {
            turn.interrupt(cause);
        }
        if let Some(conversation) = idle {
            self.over(conversation);
        }
    }

    /// Interrupts what is going and what waits, and keeps the session (X1, $3).
    pub(crate) fn interrupt(&self, cause: &Cause) {
        let turns: Vec<Arc<Turn>> = {
            let state = self.state.lock();
            let queue = state.life.iter().flat_map(|life| life.queue.iter());
            state.going.iter().chain(queue).cloned().collect()
        };
        for turn in turns {
            turn.interrupt(cause.clone());
        }
    }

    /// What is left to do once the last turn of a closed session has ended.
    fn over(self: &Arc<Self>, conversation: Option<Box<dyn Conversation>>) {
        let branch = &self.seat.agent.branch;
        branch.unregister(self);
        let recorded = self.state.lock().life.as_ref().is_some_and(|life| life.recorded);
        let ended = Record::SessionEnd { session: self.id };
        let run = branch.run.clone();
        let mut closing = Box::pin(async move {
            if let Some(conversation) = conversation {
                conversation.close().await;
            }
            if recorded {
                run.record(&ended);
            }
        });
        // What ends at once has ended when this returns; the rest is waited for by the branch.
        if closing.as_mut().now_or_never().is_none() {
            branch.tracker.spawn(closing);
        }
    }

    fn busy(&self, going: Option<&Turn>, hint: &str) -> Error {
        let what = going.map_or("it is being forked".to_owned(), |turn| format!("a turn of it is going ({})", turn.id));
        Error::session(SessionFault::Busy, format!("{}: {what}; {hint}", self.id))
    }

    fn closed(&self) -> Error {
        Error::session(SessionFault::Closed, format!("{} is closed; open another session", self.id))
    }

    /// What its conversation is opened with.
    pub(crate) fn opening(&self) -> Open {
        let branch = &self.seat.agent.branch;
        let vars = [
            ("FLOWHOST_RUN", branch.run.id.to_string()),
            ("FLOWHOST_BRANCH", branch.id.to_string()),
            ("FLOWHOST_SESSION", self.id.to_string()),
        ];
        Open {
            session: self.id,
            env: self.seat.env.clone(),
            settings: self.seat.agent.grant.settings.clone(),
            vars: vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// J2: the identity of a turn that is about to be taken, before occurrences are told apart.
    pub(crate) fn turn_key(&self, prompt: &str, schema: Option<&str>) -> Key {
        let taken = self.state.lock().life.as_ref().and_then(|life| life.taken);
        let taken: &[u8] = taken.as_ref().map_or(&[], |key| &key.0);
        Key::of(&[&self.seat.key.0, taken, prompt.as_bytes(), schema.unwrap_or_default().as_bytes()])
    }

    /// The record of the session itself, before its first turn's.
    pub(crate) fn record_once(&self) {
        let fork_of = {
            let mut state = self.state.lock();
            let life = state.life();
            if std::mem::replace(&mut life.recorded, true) {
                return;
            }
            life.fork_of
        };
        let agent = &self.seat.agent;
        agent.branch.run.record(&Record::Session {
            session: self.id,
            branch: agent.branch.id.clone(),
            role: agent.role.clone(),
            agent: agent.grant.label.clone(),
            directory: self.seat.directory.clone(),
            nth: agent.next_conversation(),
            fork_of,
        });
    }

    /// The conversation, for the turn that is going: the one that is open, one that is taken up again, or a new one.
    pub(crate) async fn conversation(&self) -> Result<Box<dyn Conversation>> {
        let (open, native) = {
            let mut state = self.state.lock();
            let life = state.life();
            (life.conversation.take(), life.native.clone())
        };
        if let Some(conversation) = open {
            return Ok(conversation);
        }
        let harness = &self.seat.agent.grant.harness;
        match native.filter(|_| harness.capabilities().resume) {
            Some(native) => harness.resume(self.opening(), &native).await,
            None => harness.open(self.opening()).await,
        }
    }

    /// The going turn has ended: the session takes back its conversation and goes on with the next turn, if there is one.
    pub(crate) fn release(self: &Arc<Self>, turn: &Turn, conversation: Option<Box<dyn Conversation>>, usage: &Usage) {
        let native: Option<Arc<str>> = conversation.as_ref().and_then(|each| each.native()).map(Into::into);
        self.go_on(conversation, |state| {
            state.going = None;
            let life = state.life();
            life.usage.add(usage);
            if usage.turns > 0 {
                life.turns += 1;
                let before: &[u8] = life.taken.as_ref().map_or(&[], |key| &key.0);
                life.taken = Some(Key::of(&[before, turn.prompt.as_bytes()]));
            }
            if native.is_some() && native != life.native {
                let record = Record::Native { session: self.id, native: native.clone().unwrap_or_default() };
                life.native = native;
                self.seat.agent.branch.run.record(&record);
            }
        });
    }

    /// Puts the conversation back after `settle`, and starts what waited; a closed session ends it instead.
    fn go_on(self: &Arc<Self>, conversation: Option<Box<dyn Conversation>>, settle: impl FnOnce(&mut State)) {
        let next = {
            let mut state = self.state.lock();
            settle(&mut state);
            // One that ended before it took the conversation has none to give back.
            let conversation = conversation.or_else(|| state.life.as_mut().and_then(|life| life.conversation.take()));
            if state.closed {
                Err(conversation)
            } else {
                let life = state.life();
                life.conversation = conversation;
                let next = life.queue.pop_front();
                state.going = next.clone();
                Ok(next)
            }
        };
        match next {
            Ok(Some(next)) => next.begin_later(),
            Ok(None) => {}
            Err(conversation) => self.over(conversation),
        }
    }

    /// A turn that never began leaves the queue; whether it was there.
    pub(crate) fn withdraw(&self, turn: &Arc<Turn>) -> bool {
        let mut state = self.state.lock();
        let Some(life) = &mut state.life else { return false };
        let before = life.queue.len();
        life.queue.retain(|each| !Arc::ptr_eq(each, turn));
        life.queue.len() < before
    }

    pub(crate) fn hold_turn(&self) {
        self.state.lock().turns_held += 1;
    }

    /// S6: a turn goes on while its session or its own handle is held, and is interrupted when both are gone. A session closes
    /// when neither it nor any turn of it is held.
    pub(crate) fn let_go(self: &Arc<Self>, turn: Option<&Turn>) {
        let (close, unheld) = {
            let mut state = self.state.lock();
            match turn {
                Some(turn) => {
                    turn.set_held(false);
                    state.turns_held = state.turns_held.saturating_sub(1);
                }
                None => state.held = false,
            }
            if state.held {
                return;
            }
            let queue = state.life.iter().flat_map(|life| life.queue.iter());
            let unheld: Vec<Arc<Turn>> =
                state.going.iter().chain(queue).filter(|turn| !turn.is_held()).cloned().collect();
            (state.turns_held == 0, unheld)
        };
        if close {
            self.end(Cause::Interrupted);
        } else {
            for turn in unheld {
                turn.interrupt(Cause::Interrupted);
            }
        }
    }
}

/// The conversation of an idle session, taken out for as long as it is forked: no turn can start meanwhile.
struct Borrowed<'a> {
    session: &'a Arc<Session>,
    conversation: Option<Box<dyn Conversation>>,
}

impl<'a> Borrowed<'a> {
    fn take(session: &'a Arc<Session>) -> Result<Self> {
        let mut state = session.state.lock();
        if state.closed {
            return Err(session.closed());
        }
        if state.going.is_some() || state.forking {
            return Err(session.busy(state.going.as_deref(), "fork it before or after"));
        }
        let never = || {
            Error::session(
                SessionFault::NeverRan,
                format!("{} has taken no turn yet, so there is nothing to fork", session.id),
            )
        };
        let life = state.life.as_mut().filter(|life| life.turns > 0).ok_or_else(never)?;
        let lost = || {
            Error::session(SessionFault::Other, format!("{}: its conversation was lost with its last turn", session.id))
        };
        let conversation = Some(life.conversation.take().ok_or_else(lost)?);
        state.forking = true;
        Ok(Self { session, conversation })
    }

    fn get(&mut self) -> Result<&mut Box<dyn Conversation>> {
        self.conversation.as_mut().ok_or_else(|| Error::other("the conversation is gone"))
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let conversation = self.conversation.take();
        self.session.go_on(conversation, |state| state.forking = false);
    }
}

/// A session as a flow holds it. Dropping it lets go of it (S6).
#[derive(Debug)]
pub struct SessionHandle(Arc<Session>);

impl std::ops::Deref for SessionHandle {
    type Target = Arc<Session>;
    fn deref(&self) -> &Arc<Session> {
        &self.0
    }
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        self.0.let_go(None);
    }
}
