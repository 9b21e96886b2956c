//! One prompt and all that the agent does until it answers: rules S1, S7, S9, S10, J1.
//!
//! A turn waits for admission, is written down, hands its prompt to the harness, reports what it spends while it goes, and gives
//! its session back before it says its answer.

use std::{
    collections::VecDeque,
    future::Future as _,
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock, atomic::Ordering},
    task::{Context, Waker},
};

use async_trait::async_trait;
use futures::FutureExt;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

use crate::{
    answer::Schema,
    budget::{Ask, Decision, Ended, Refusal, Ticket},
    error::{Error, HarnessFault, Kind, Result, SessionFault, SpentLimit},
    harness::{Conversation, Event, Moment, Prompt, Reply, Steer, TurnHost, Verdict},
    id::TurnId,
    job::Ending,
    record::{self, Json, Mark, Record},
    run::{Run, millis},
    session::Session,
    usage::{Limits, Usage, Usd},
};

/// How to take a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnOptions {
    /// What the answer must meet.
    pub schema: Option<Arc<Schema>>,
    /// Limits this turn alone, on top of the branch's.
    pub limits: Option<Limits>,
    /// What it is expected to cost, for the reservation ($2: it counts where it is more).
    pub expected: Option<Usd>,
}

/// What a turn came to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the agent said last.
    pub text: Arc<str>,
    /// The structured answer, where one was asked for.
    pub value: Option<Json>,
    /// What the turn spent.
    pub usage: Usage,
}

/// Why a turn is interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The flow interrupted it, or let go of it.
    Interrupted,
    /// Its session was closed.
    Closed,
    /// The run was stopped (X1).
    Stopped,
    /// A limit is spent and its grace is `cut` ($3).
    Spent(SpentLimit),
}

/// One prompt and all that the agent does until it answers.
#[derive(Debug)]
pub struct Turn {
    /// Its name in the record.
    pub id: TurnId,
    /// What is asked.
    pub prompt: Arc<str>,
    session: Arc<Session>,
    options: TurnOptions,
    signals: Mutex<Signals>,
    /// Says that `signals` are other ones.
    changed: Notify,
    ticket: OnceLock<Ticket>,
    spent: Mutex<Spent>,
    ending: Ending<Answer>,
}

#[derive(Debug, Default)]
struct Signals {
    cause: Option<Cause>,
    admitted: Option<Result<()>>,
    steers: VecDeque<Steer>,
    /// Whether it takes words: its prompt is with the harness.
    steerable: bool,
    held: bool,
    recorded: bool,
    /// Its end is in the record, if not on disk yet.
    concluded: bool,
}

#[derive(Debug, Default)]
struct Spent {
    /// By the prompts of this turn that were answered.
    before: Usage,
    /// By the one that is going, as far as it was reported.
    now: Usage,
}

impl Turn {
    pub(crate) fn new(session: &Arc<Session>, prompt: Arc<str>, options: TurnOptions) -> Arc<Self> {
        Arc::new(Self {
            id: session.agent().branch.run.next_turn(),
            prompt,
            session: session.clone(),
            options,
            signals: Mutex::default(),
            changed: Notify::new(),
            ticket: OnceLock::new(),
            spent: Mutex::default(),
            ending: Ending::default(),
        })
    }

    /// Waits for its end, when its session can take the next. May be asked again and by several; all get the same.
    pub async fn wait(&self) -> Result<Answer> {
        self.ending.wait().await
    }

    /// Whether it has ended.
    pub fn done(&self) -> bool {
        self.ending.get().is_some()
    }

    fn run(&self) -> &Run {
        &self.session.agent().branch.run
    }

    /// Its session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Interrupts it and returns at once (S7). Twice, or after its end, is nothing.
    pub fn cancel(self: &Arc<Self>) {
        self.interrupt(Cause::Interrupted);
    }

    /// A handle for the flow: when it is let go of, S6 says what becomes of the turn.
    pub fn handle(self: &Arc<Self>) -> TurnHandle {
        self.set_held(true);
        self.session.hold_turn();
        TurnHandle(self.clone())
    }

    pub(crate) fn set_held(&self, held: bool) {
        self.signals.lock().held = held;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.signals.lock().held
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.signals.lock().cause.is_some()
    }

    pub(crate) fn interrupt(self: &Arc<Self>, cause: Cause) {
        {
            let mut signals = self.signals.lock();
            if signals.cause.is_some() {
                return;
            }
            signals.cause = Some(cause);
        }
        self.changed.notify_waiters();
        // One that only stood in the queue of its session has nothing to wait for.
        if self.session.withdraw(self) {
            let this = self.clone();
            self.session.agent().branch.tracker.spawn(async move {
                let result = this.conclude(Err(this.cut()), Usage::default()).await;
                this.ending.publish(result);
            });
        }
    }

    pub(crate) fn decided(self: &Arc<Self>, decision: Decision) {
        let admitted = match decision {
            Decision::Start => Ok(()),
            Decision::Refuse(why) => Err(refused(why)),
            Decision::Gone => Err(self.cut_by(Some(&Cause::Interrupted))),
            Decision::Cut(limit) => return self.interrupt(Cause::Spent(limit)),
        };
        self.signals.lock().admitted = Some(admitted);
        self.changed.notify_waiters();
    }

    pub(crate) fn steer(&self, words: Steer) -> bool {
        let record =
            Record::Steer { turn: self.id, prompt: words.text.as_str().into(), interrupting: words.interrupting };
        {
            let mut signals = self.signals.lock();
            if !signals.steerable || signals.cause.is_some() {
                return false;
            }
            signals.steers.push_back(words);
        }
        self.session.agent().branch.run.record(&record);
        self.changed.notify_waiters();
        true
    }

    /// Takes it: at once, where turns of its agent need not wait for anything, as far as is known; else in a task of its own.
    pub(crate) fn begin(self: &Arc<Self>) {
        let agent = self.session.agent();
        if !agent.instant.load(Ordering::Relaxed) {
            return self.begin_later();
        }
        let mut taking = Box::pin(self.clone().take());
        let mut goes_on = || taking.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
        if !goes_on() {
            return;
        }
        if self.signals.lock().concluded {
            // It waits for its record and nothing else.
            self.run().write_out();
            if !goes_on() {
                return;
            }
        } else {
            agent.instant.store(false, Ordering::Relaxed);
        }
        // The task polls it again, with a waker.
        agent.branch.tracker.spawn(taking);
    }

    /// Takes it in a task of its own: taken at once, a queue of turns that need not wait would recurse.
    pub(crate) fn begin_later(self: &Arc<Self>) {
        self.session.agent().branch.tracker.spawn(self.clone().take());
    }

    async fn take(self: Arc<Self>) {
        let mut conversation = None;
        let taken = AssertUnwindSafe(self.steps(&mut conversation)).catch_unwind().await;
        let result = taken.unwrap_or_else(|_| {
            let message = format!("{}: the harness module broke down; this is a bug of the host", self.id);
            Err(Error::harness(HarnessFault::Other, message))
        });
        let usage = self.spent_in_all();
        let result = self.conclude(result, usage).await;
        // S1: the session can take the next turn before anybody hears of the end of this one.
        self.session.release(&self, conversation, &usage);
        self.ending.publish(result);
    }

    async fn steps(self: &Arc<Self>, slot: &mut Option<Box<dyn Conversation>>) -> Result<(Arc<str>, Option<Json>)> {
        let run = &self.session.agent().branch.run;
        self.admit().await?;
        let began = run.clock.elapsed();
        let mark = self.record_begin();
        // J1: nothing of the turn happens before its beginning is on disk.
        if !self.session.agent().grant.harness.capabilities().pure {
            run.durable(mark).await?;
        }
        // S5: the directory is still the one that was opened.
        self.session.seat().env.verify().await?;
        let opened = tokio::select! {
            biased;
            () = self.overdue() => Err(self.cut()),
            opened = self.session.conversation() => opened,
        };
        *slot = Some(opened?);
        if self.is_interrupted() {
            return Err(self.cut());
        }
        self.signals.lock().steerable = true;
        let result = self.prompts(slot).await;
        self.signals.lock().steerable = false;
        self.spent.lock().before.duration_ms = millis(run.clock.elapsed().saturating_sub(began));
        result
    }

    /// Waits until the budget and the caps let it start ($2, S2).
    async fn admit(self: &Arc<Self>) -> Result<()> {
        let agent = self.session.agent();
        let run = &agent.branch.run;
        let TurnOptions { limits, expected, .. } = self.options;
        let ask = Ask {
            account: agent.branch.account,
            class: agent.class,
            expected,
            own: limits,
            deciding: agent.branch.is_deciding(),
        };
        let ticket = run.admission.ask(ask, self);
        let _ = self.ticket.set(ticket);
        let mut waited = false;
        let admitted = loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let mut signals = self.signals.lock();
                if signals.cause.is_some() {
                    break Err(self.cut_by(signals.cause.as_ref()));
                }
                if let Some(admitted) = signals.admitted.take() {
                    break admitted;
                }
            }
            if !std::mem::replace(&mut waited, true) {
                let why = run.admission.why_waiting(ticket);
                run.record(&Record::Waiting { turn: self.id, why: Some(why.as_deref().unwrap_or("its turn").into()) });
            }
            changed.await;
        };
        if waited {
            run.record(&Record::Waiting { turn: self.id, why: None });
        }
        admitted
    }

    /// The prompt and, where the answer does not meet its schema, one repair.
    async fn prompts(&self, slot: &mut Option<Box<dyn Conversation>>) -> Result<(Arc<str>, Option<Json>)> {
        let agent = self.session.agent();
        let Some(schema) = &self.options.schema else {
            let reply = self.prompt(slot, &self.prompt).await?;
            return Ok((reply.text.into(), None));
        };
        let native = agent.grant.harness.capabilities().schema;
        let mut prompt =
            if native { self.prompt.to_string() } else { format!("{}{}", self.prompt, schema.instruction()) };
        let mut repaired = false;
        loop {
            let reply = self.prompt(slot, &prompt).await?;
            match schema.value_in(&reply) {
                Ok(value) => {
                    let json =
                        serde_json::value::to_raw_value(&value).map_err(|error| Error::other(error.to_string()))?;
                    return Ok((reply.text.into(), Some(json.into())));
                }
                Err(wrong) if repaired => return Err(Schema::unmet(&wrong)),
                Err(wrong) => {
                    repaired = true;
                    prompt = schema.repair(&wrong);
                    let why = "the answer does not meet its schema".into();
                    agent.branch.run.record(&Record::Again { turn: self.id, why, prompt: prompt.as_str().into() });
                }
            }
        }
    }

    /// Hands one prompt to the harness and waits for its reply.
    async fn prompt(&self, slot: &mut Option<Box<dyn Conversation>>, text: &str) -> Result<Reply> {
        let Some(conversation) = slot else { return Err(self.cut()) };
        // S9: a turn counts when its prompt is handed over; a retry or a repair counts as one more.
        if let Some(ticket) = self.ticket.get() {
            let admission = &self.session.agent().branch.run.admission;
            if self.spent.lock().before.turns == 0 {
                admission.handed_over(*ticket);
            } else {
                admission.another(*ticket).map_err(refused)?;
            }
        }
        self.spent.lock().before.turns += 1;
        let id = self.id.to_string();
        let schema = self.options.schema.as_ref().map(|schema| schema.shape.value());
        let reply = tokio::select! {
            biased;
            reply = conversation.turn(Prompt { id: &id, text, schema }, self) => Some(reply),
            () = self.overdue() => None,
        };
        let result = match reply {
            // S7: it was told to stop and did not; dropping the conversation makes it.
            None => {
                *slot = None;
                Err(self.cut())
            }
            Some(_) if self.is_interrupted() => Err(self.cut()),
            Some(reply) => reply,
        };
        {
            let mut spent = self.spent.lock();
            let said = result.as_ref().ok().and_then(|reply| reply.usage);
            let now = said.unwrap_or(std::mem::take(&mut spent.now));
            spent.now = Usage::default();
            spent.before.add(&Usage { turns: 0, ..now });
        }
        self.report();
        result
    }

    /// Returns once the turn was interrupted and has not ended in good time.
    async fn overdue(&self) {
        let run = &self.session.agent().branch.run;
        self.interrupted().await;
        run.clock.sleep(run.patience.interrupt).await;
    }

    fn spent_in_all(&self) -> Usage {
        let spent = self.spent.lock();
        let mut usage = spent.before;
        usage.add(&Usage { turns: 0, ..spent.now });
        usage
    }

    fn report(&self) {
        if let Some(ticket) = self.ticket.get() {
            let so_far = self.spent_in_all();
            self.session.agent().branch.run.admission.report(*ticket, &so_far);
        }
    }

    /// The error of what interrupted it.
    fn cut(&self) -> Error {
        self.cut_by(self.signals.lock().cause.as_ref())
    }

    fn cut_by(&self, cause: Option<&Cause>) -> Error {
        match cause {
            Some(Cause::Stopped) => Error::stopped(),
            Some(Cause::Closed) => {
                let message = format!("{}: its session {} was closed while it went", self.id, self.session.id);
                Error::session(SessionFault::Closed, message)
            }
            Some(Cause::Spent(limit)) => refused(limit.clone().into()),
            Some(Cause::Interrupted) | None => {
                Error::harness(HarnessFault::Interrupted, format!("{} was interrupted", self.id))
            }
        }
    }

    fn record_begin(&self) -> Mark {
        let session = &self.session;
        let branch = &session.agent().branch;
        session.record_once();
        self.signals.lock().recorded = true;
        let schema = self.options.schema.as_ref().map(|schema| schema.text.clone());
        let key = session.turn_key(&self.prompt, schema.as_ref().map(|text| text.get()));
        branch.run.record(&Record::Turn {
            turn: self.id,
            session: session.id,
            branch: branch.id.clone(),
            key: branch.occurrence(key),
            prompt: self.prompt.clone(),
            schema,
        })
    }

    /// Settles and writes down how it ended (J1: before the flow hears of it).
    async fn conclude(&self, result: Result<(Arc<str>, Option<Json>)>, usage: Usage) -> Result<Answer> {
        let run = self.run();
        if let Some(ticket) = self.ticket.get() {
            run.admission.settle(*ticket, Some(&usage), Ended::of(result.as_ref().err()));
        }
        if !self.signals.lock().recorded {
            self.record_begin();
        }
        let result = result.map(|(text, value)| Answer { text, value, usage });
        let outcome = match &result {
            Ok(answer) => {
                record::Outcome::Ok(record::Answer { text: answer.text.clone(), value: answer.value.clone() })
            }
            Err(error) => record::Outcome::Error(error.clone()),
        };
        let mark = run.record(&Record::TurnEnd { turn: self.id, outcome, usage });
        self.signals.lock().concluded = true;
        run.written(mark).await.and(result)
    }
}

fn refused(why: Refusal) -> Error {
    use crate::error::Limit;
    let limit = match why {
        Refusal::Spent(limit) => limit,
        Refusal::Unpriced { class, whose } => {
            let message = format!(
                "{class}: it used tokens and nobody knows what they cost, so it cannot run under the limit on cost of branch {whose}; \
                 let it run and count as nothing with --unpriced allow"
            );
            return Error::not_granted(message);
        }
    };
    let what = match limit.limit {
        Limit::Cost => "cost",
        Limit::OutputTokens => "output-tokens",
        Limit::Turns => "turns",
        Limit::Duration => "duration",
    };
    let message = format!("the budget is spent: {what} of branch {}; raise it with --budget {what}=…", limit.whose);
    Error::new(Kind::Budget(limit), message)
}

#[async_trait]
impl TurnHost for Turn {
    fn event(&self, event: Event) {
        if let Event::Usage { usage } = &event {
            self.spent.lock().now = *usage;
            self.report();
        }
        self.session.agent().branch.run.record(&Record::Event { turn: self.id, event });
    }

    async fn interrupted(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.is_interrupted() {
                return;
            }
            changed.await;
        }
    }

    async fn steered(&self) -> Steer {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(words) = self.signals.lock().steers.pop_front() {
                return words;
            }
            changed.await;
        }
    }

    async fn occasion(&self, moment: Moment, details: Value) -> Verdict {
        let agent = self.session.agent();
        let run = &agent.branch.run;
        let details = Arc::new(details);
        for watch in agent.watches() {
            let Some(mut question) = watch.ask(moment, self.session.id, &details) else { continue };
            // S10: while it waits for the answer it is not in flight, so that the flow may take a turn to decide.
            let waiting = self.ticket.get().map(|ticket| Paused::new(self, *ticket));
            let patience = question.patience;
            let said = tokio::select! {
                biased;
                said = question.answered() => said,
                () = run.clock.sleep(patience) => None,
                () = self.interrupted() => None,
            };
            drop(waiting);
            let answered = said.is_some();
            let verdict = said.unwrap_or_else(|| question.unanswered());
            let details = Value::clone(&details);
            run.record(&Record::Occasion { turn: self.id, moment, details, verdict: verdict.clone(), answered });
            if verdict != Verdict::Pass {
                return verdict;
            }
        }
        Verdict::Pass
    }
}

/// A turn that is not in flight; it is again when this is dropped, however that comes.
struct Paused<'a>(&'a Turn, Ticket);

impl<'a> Paused<'a> {
    fn new(turn: &'a Turn, ticket: Ticket) -> Self {
        turn.session.agent().branch.run.admission.pause(ticket);
        Self(turn, ticket)
    }
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.session.agent().branch.run.admission.unpause(self.1);
    }
}

/// A turn as a flow holds it. Dropping it lets go of it (S6).
#[derive(Debug)]
pub struct TurnHandle(Arc<Turn>);

impl std::ops::Deref for TurnHandle {
    type Target = Arc<Turn>;
    fn deref(&self) -> &Arc<Turn> {
        &self.0
    }
}

impl Drop for TurnHandle {
    fn drop(&mut self) {
        self.0.session.clone().let_go(Some(&self.0));
    }
}
