//! Which turns may start: the [`Ledger`] of the run behind one lock, and the turns that wait for its word.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    budget::{AccountId, Ask, ClassId, Decision, Ended, Ledger, Refusal, Settled, Ticket},
    clock::Clock,
    error::{Result, SpentLimit},
    turn::Turn,
    usage::{Allowance, Limits, Usage},
};

/// The ledger of a run, shared.
#[derive(Debug)]
pub(crate) struct Admission {
    clock: Clock,
    inner: Mutex<Inner>,
    /// Says that the next deadline may be another one.
    pub(crate) deadlines: Notify,
}

#[derive(Debug)]
struct Inner {
    ledger: Ledger,
    turns: HashMap<Ticket, Arc<Turn>>,
}

impl Admission {
    pub(crate) fn new(clock: Clock, ledger: Ledger) -> Self {
        let inner = Inner { ledger, turns: HashMap::new() };
        Self { clock, inner: Mutex::new(inner), deadlines: Notify::new() }
    }

    /// Does something to the ledger and hands its decisions to the turns that they are about.
    fn with<T>(&self, change: impl FnOnce(&mut Ledger, Duration) -> T) -> T {
        self.change(|inner, now| change(&mut inner.ledger, now))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner, Duration) -> T) -> T {
        let now = self.clock.elapsed();
        let (result, decided) = {
            let mut inner = self.inner.lock();
            let deadline = inner.ledger.next_deadline();
            let result = change(&mut inner, now);
            let decisions = inner.ledger.decide(now);
            if inner.ledger.next_deadline() != deadline {
                self.deadlines.notify_one();
            }
            let decided: Vec<(Arc<Turn>, Decision)> = decisions
                .into_iter()
                .filter_map(|(ticket, decision)| Some((inner.turns.get(&ticket)?.clone(), decision)))
                .collect();
            (result, decided)
        };
        for (turn, decision) in decided {
            turn.decided(decision);
        }
        result
    }

    pub(crate) fn class(&self, name: &str, history: Vec<Settled>) -> ClassId {
        self.with(|ledger, _| ledger.class(name, history))
    }

    pub(crate) fn open(&self, parent: Option<AccountId>, limits: Limits, whose: Arc<str>) -> AccountId {
        self.with(|ledger, now| ledger.open(parent, limits, whose, now))
    }

    pub(crate) fn close(&self, account: AccountId) -> Usage {
        self.with(|ledger, _| ledger.close(account))
    }

    /// Asks for a turn to start; the decision comes to `turn.decided`.
    pub(crate) fn ask(&self, ask: Ask, turn: &Arc<Turn>) -> Ticket {
        self.change(|inner, now| {
            let ticket = inner.ledger.ask(ask, now);
            inner.turns.insert(ticket, turn.clone());
            ticket
        })
    }

    pub(crate) fn report(&self, ticket: Ticket, so_far: &Usage) {
        self.with(|ledger, now| ledger.report(ticket, so_far, now));
    }

    pub(crate) fn handed_over(&self, ticket: Ticket) {
        self.with(|ledger, now| ledger.handed_over(ticket, now));
    }

    pub(crate) fn another(&self, ticket: Ticket) -> Result<(), Refusal> {
        self.with(|ledger, now| ledger.another(ticket, now))
    }

    pub(crate) fn pause(&self, ticket: Ticket) {
        self.with(|ledger, now| ledger.pause(ticket, now));
    }

    pub(crate) fn unpause(&self, ticket: Ticket) {
        self.with(|ledger, now| ledger.unpause(ticket, now));
    }

    pub(crate) fn settle(&self, ticket: Ticket, total: Option<&Usage>, ended: Ended) {
        self.change(|inner, now| {
            inner.ledger.settle(ticket, total, ended, now);
            inner.turns.remove(&ticket);
        });
    }

    pub(crate) fn spent(&self, account: AccountId) -> Usage {
        self.inner.lock().ledger.spent(account)
    }

    pub(crate) fn remaining(&self, account: AccountId) -> Allowance {
        let now = self.clock.elapsed();
        self.inner.lock().ledger.remaining(account, now)
    }

    pub(crate) fn check(&self, account: AccountId) -> Result<(), SpentLimit> {
        let now = self.clock.elapsed();
        self.inner.lock().ledger.check(account, now)
    }

    pub(crate) fn why_waiting(&self, ticket: Ticket) -> Option<String> {
        self.inner.lock().ledger.why_waiting(ticket).map(|why| why.to_string())
    }

    /// Lets deadlines pass for as long as the run lasts: time is a limit too ($1).
    pub(crate) async fn watch_deadlines(&self) -> Infallible {
        loop {
            let next = self.inner.lock().ledger.next_deadline();
            let until = async {
                match next {
                    Some(deadline) => self.clock.sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = until => self.with(|_, _| ()),
                () = self.deadlines.notified() => {}
            }
        }
    }
}
