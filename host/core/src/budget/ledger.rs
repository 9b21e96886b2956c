//! The ledger itself: what the run loop tells it and asks it.

use std::{array, collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    Ask, Decision, Ended, Refusal, Waits,
    account::{Account, AccountId, Accounts, pair},
    admission::{Gate, Parked, Rank},
    estimate::{Class, ClassId, Settled},
    slots::Slots,
    turn::{State, Ticket, Turn},
};
use crate::{
    error::{Limit, SpentLimit},
    usage::{Allowance, CostSource, Limits, Usage, Usd},
};

/// How many turns that are over can still be reported on. A report that is later than that many is not counted.
const LATE: usize = 1024;

/// The accounts of a run, and the turns that count against them. See the [module](super) for what it holds to.
///
/// Times are those of the run's clock ([`Clock::elapsed`](crate::clock::Clock::elapsed)). One that is earlier than one that was
/// told before counts as that one.
#[derive(Debug)]
pub struct Ledger {
    pub(super) accounts: Accounts,
    pub(super) turns: Slots<Turn>,
    pub(super) classes: Vec<Class>,
    /// S2: how many turns go at once, over the whole run.
    pub(super) at_once: Option<u32>,
    pub(super) parked_at_once: Parked,

    pub(super) waiting: usize,
    /// Turns in flight, paused ones apart.
    pub(super) going: u32,
    paused: usize,

    /// The first turns of these accounts' lines are to be looked at. Empty when a call that was told the time returns.
    pub(super) ready: Parked,
    /// Limits that are spent and of which nobody was told yet. Empty likewise.
    pub(super) tripped: Vec<(u32, Limit)>,
    decisions: Vec<(Ticket, Decision)>,

    deadlines: BTreeSet<(Duration, u32)>,
    now: Duration,
    /// $4: whether what has no price counts as nothing.
    allows_unpriced: bool,
    asked: u64,
    /// How often a turn was looked at, which is what waiting costs.
    #[cfg(test)]
    pub(super) looks: std::cell::Cell<u64>,
}

impl Ledger {
    /// A ledger with no accounts. `at_once` is the person's cap on turns that go at once in the whole run (S2), at least 1.
    pub const fn new(at_once: Option<u32>) -> Self {
        Self {
            accounts: Accounts::new(),
            turns: Slots::new(LATE),
            classes: Vec::new(),
            at_once,
            parked_at_once: Parked::new(),
            waiting: 0,
            going: 0,
            paused: 0,
            ready: Parked::new(),
            tripped: Vec::new(),
            decisions: Vec::new(),
            deadlines: BTreeSet::new(),
            now: Duration::ZERO,
            allows_unpriced: false,
            asked: 0,
            #[cfg(test)]
            looks: std::cell::Cell::new(0),
        }
    }

    /// The same, where turns of which nobody knows the price may go on under a limit on cost and count as nothing ($4).
    #[must_use]
    pub fn allowing_unpriced(self, allows_unpriced: bool) -> Self {
        Self { allows_unpriced, ..self }
    }

    /// The class of this name (harness, model and effort). `history` is what its turns came to in earlier runs of the project,
    /// the oldest first; it counts when the class is named for the first time.
    pub fn class(&mut self, name: &str, history: impl IntoIterator<Item = Settled>) -> ClassId {
        let known = self.classes.iter().position(|class| &*class.name == name);
        let index = known.unwrap_or_else(|| {
            self.classes.push(Class::new(name, history));
            self.classes.len() - 1
        });
        ClassId(index as u32)
    }

    /// Opens the account of a branch, under that of its caller. Its time runs from now. `whose` is the branch's path.
    ///
    /// Under a caller that has ended it is an account that has ended.
    pub fn open(&mut self, parent: Option<AccountId>, limits: Limits, whose: Arc<str>, now: Duration) -> AccountId {
        self.tell(now);
        let above = parent.and_then(|parent| self.accounts.find(parent));
        let index = self.open_under(above, limits, whose);
        let id = self.accounts.id(index);
        if parent.is_some() && above.is_none() {
            self.accounts[index].closed = true;
            self.accounts.sweep(index);
        } else {
            self.set_deadline(index);
        }
        self.work();
        id
    }

    /// Closes the account of a branch that has ended, and gives what it has spent. Turns that still wait in it never start;
    /// what is reported of its turns from now on counts in the accounts above. Whoever can start now does at the next call.
    pub fn close(&mut self, account: AccountId) -> Usage {
        let Some(index) = self.accounts.find(account) else { return Usage::default() };
        self.accounts[index].closed = true;
        self.drop_deadline(index);
        self.turn_all_away(index, &Decision::Gone);
        let spent = self.accounts[index].spent();
        self.accounts.sweep(index);
        spent
    }

    /// A turn wants to start. What becomes of it comes from [`decide`](Ledger::decide), at once or later.
    pub fn ask(&mut self, ask: Ask, now: Duration) -> Ticket {
        self.tell(now);
        let branch = self.accounts.find(ask.account);
        let line = branch.unwrap_or_else(|| self.open_ended(None, Limits::default(), Arc::default()));
        let account = match ask.own {
            Some(own) if !own.is_none() => self.open_ended(Some(line), own, Arc::clone(&self.accounts[line].whose)),
            _ => line,
        };
        self.asked += 1;
        let turn = Turn {
            account,
            line,
            class: ask.class.0,
            rank: Rank::new(self.asked, ask.deciding),
            expected: ask.expected.unwrap_or_default(),
            state: State::Waiting,
            prompts: 0,
            so_far: Usage::default(),
            source: None,
            reserved: [0, 0],
            held: [0, 0],
            place: 0,
            cut: false,
        };
        let (key, forgotten) = self.turns.insert(turn);
        self.accounts[account].turns += 1;
        if let Some(forgotten) = forgotten {
            self.accounts[forgotten.account].turns -= 1;
            self.accounts.sweep(forgotten.account);
        }
        if branch.is_some() {
            self.enter(key.index());
        } else {
            self.turn_away(key.index(), Decision::Gone);
        }
        self.work();
        Ticket(key)
    }

    /// What was decided since it was asked last, in order; each decision comes once. Ask after whatever else was called, and
    /// when the [next deadline](Ledger::next_deadline) comes.
    ///
    /// A turn that asked is told [`Decision::Start`], [`Decision::Refuse`] or [`Decision::Gone`]; one that started may be told
    /// [`Decision::Cut`]. A turn that was cancelled or has settled meanwhile is told nothing.
    pub fn decide(&mut self, now: Duration) -> Vec<(Ticket, Decision)> {
        self.tell(now);
        let mut decisions = std::mem::take(&mut self.decisions);
        decisions.retain(|(ticket, decision)| {
            let Some(slot) = self.turns.find(ticket.0) else { return false };
            match decision {
                Decision::Start | Decision::Cut(_) => self.turns[slot].is_in_flight(),
                Decision::Refuse(_) | Decision::Gone => {
                    let told = self.turns[slot].state == State::Refused;
                    if told {
                        self.end(slot);
                    }
                    told
                }
            }
        });
        decisions
    }

    /// The prompt of a turn that has started is handed over: from here on the turn counts (S9). It was promised to the turn when
    /// it started, so this cannot fail.
    pub fn handed_over(&mut self, ticket: Ticket, now: Duration) {
        self.tell(now);
        if let Some(slot) = self.in_flight_slot(ticket)
            && self.turns[slot].prompts == 0
        {
            self.count_prompt(slot);
            self.work();
        }
    }

    /// Another prompt of a turn is about to be handed over: a repair, a retry, a next round. It counts as one more turn (S9).
    ///
    /// # Errors
    ///
    /// A limit is spent, or its last turns are promised to others, or nobody knows what its class costs: then the prompt must
    /// not be handed over.
    pub fn another(&mut self, ticket: Ticket, now: Duration) -> Result<(), Refusal> {
        self.handed_over(ticket, now);
        let Some(slot) = self.in_flight_slot(ticket) else { return Ok(()) };
        let turn = &self.turns[slot];
        let refused = self.accounts.up(turn.account).find_map(|(_, at)| {
            let none_left = || (at.turns_left() == Some(0)).then(|| at.spent_limit(Limit::Turns).into());
            self.barred(turn, at).or_else(none_left)
        });
        if let Some(refused) = refused {
            return Err(refused);
        }
        self.count_prompt(slot);
        self.work();
        Ok(())
    }

    /// What a turn has spent so far: a total, not a difference. Each figure counts as far as it is more than any that was
    /// reported before, so a report may come twice, out of order or late. `turns` is not read: prompts are counted as they are
    /// [handed over](Ledger::handed_over).
    pub fn report(&mut self, ticket: Ticket, so_far: &Usage, now: Duration) {
        self.tell(now);
        let Some(slot) = self.turns.find(ticket.0) else { return };
        self.count(slot, so_far);
        if self.turns[slot].is_in_flight() {
            self.move_hold(slot);
        }
        self.stir_up(self.turns[slot].account);
        self.work();
    }

    /// A turn waits for the answer to an occasion, and is not in flight while it does (S10). It may wait for several at once.
    pub fn pause(&mut self, ticket: Ticket, now: Duration) {
        self.tell(now);
        let Some(slot) = self.turns.find(ticket.0) else { return };
        let State::Going { occasions } = &mut self.turns[slot].state else { return };
        *occasions += 1;
        if *occasions == 1 {
            self.set_paused(slot, true);
            self.stir_for(slot);
            self.work();
        }
    }

    /// An occasion that a turn waited for is answered. After the last one it goes on, without being admitted again (S10).
    pub fn unpause(&mut self, ticket: Ticket, now: Duration) {
        self.tell(now);
        let Some(slot) = self.turns.find(ticket.0) else { return };
        let State::Going { occasions: occasions @ 1.. } = &mut self.turns[slot].state else { return };
        *occasions -= 1;
        if *occasions == 0 {
            self.set_paused(slot, false);
        }
    }

    /// A turn has ended, however. `total` is what it spent in all, where that is known better than by its last report.
    ///
    /// One that is still waiting is cancelled; of one that has settled before, only the total counts, as a late report.
    pub fn settle(&mut self, ticket: Ticket, total: Option<&Usage>, ended: Ended, now: Duration) {
        self.tell(now);
        let Some(slot) = self.turns.find(ticket.0) else { return };
        if let Some(total) = total {
            self.count(slot, total);
        }
        match self.turns[slot].state {
            State::Going { .. } => self.land(slot, ended),
            State::Waiting => {
                self.withdraw(slot);
                self.end(slot);
            }
            State::Refused => self.end(slot),
            State::Over => {}
        }
        self.stir_up(self.turns[slot].account);
        self.work();
    }

    /// A turn is no longer wanted. If it has started, this is the same as settling it with what it has reported.
    pub fn cancel(&mut self, ticket: Ticket, now: Duration) {
        self.settle(ticket, None, Ended::Short, now);
    }

    /// What a branch has spent, with all that it called. Nothing for one that has ended: [`close`](Ledger::close) said it.
    pub fn spent(&self, account: AccountId) -> Usage {
        self.accounts.find(account).map(|index| self.accounts[index].spent()).unwrap_or_default()
    }

    /// What is left to a branch: limit minus spent, the tightest of its own and those above.
    pub fn remaining(&self, account: AccountId, now: Duration) -> Allowance {
        let Some(index) = self.accounts.find(account) else { return Allowance::default() };
        let now = now.max(self.now);
        let [cost, output_tokens] = self.accounts.tightest(index, Account::left);
        let up = || self.accounts.up(index).map(|(_, account)| account);
        Allowance {
            cost: cost.map(Usd),
            output_tokens,
            turns: up().filter_map(Account::turns_left).min(),
            duration: up().filter_map(|at| at.deadline).min().map(|deadline| deadline.saturating_sub(now)),
        }
    }

    /// Whether a branch may go on spending.
    ///
    /// # Errors
    ///
    /// A limit is spent, here or above. It stays so ($3).
    pub fn check(&self, account: AccountId, now: Duration) -> Result<(), SpentLimit> {
        let Some(index) = self.accounts.find(account) else { return Ok(()) };
        let now = now.max(self.now);
        let spent = self.accounts.up(index).find_map(|(_, at)| {
            let late = at.deadline.is_some_and(|deadline| deadline <= now).then_some(Limit::Duration);
            at.over.or(late).map(|limit| at.spent_limit(limit))
        });
        spent.map_or(Ok(()), Err)
    }

    /// When time alone will change something: [`decide`](Ledger::decide) then.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// How many turns wait to start.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many turns are in flight. Those that wait for the answer to an occasion are not (S10).
    pub const fn in_flight(&self) -> usize {
        self.going as usize
    }

    /// How many turns wait for the answer to an occasion.
    pub const fn paused(&self) -> usize {
        self.paused
    }

    /// What a turn waits for, or the one at the head of its branch's line; none where it does not wait.
    pub fn why_waiting(&self, ticket: Ticket) -> Option<Waits> {
        let turn = &self.turns[self.turns.find(ticket.0)?];
        if turn.state != State::Waiting {
            return None;
        }
        Some(match self.accounts[turn.line].gate? {
            Gate::AtOnce => Waits::AtOnce(self.at_once?),
            Gate::Class(class) => Waits::Class(self.classes[class as usize].name.clone()),
            Gate::Account(index) => {
                let at = &self.accounts[index];
                let (rank, line) = at.parked.first()?;
                let first = &self.turns[*self.accounts[*line].line.get(rank)?];
                let limit = self.short_of(index, first).unwrap_or(Limit::Cost);
                Waits::Limit { limit, whose: Arc::clone(&at.whose) }
            }
        })
    }

    /// Takes note of the time, and of what it has ended.
    fn tell(&mut self, now: Duration) {
        self.now = self.now.max(now);
        while let Some(&(deadline, index)) = self.deadlines.first()
            && deadline <= self.now
        {
            self.deadlines.pop_first();
            self.trip(index, Limit::Duration);
        }
        self.work();
    }

    fn in_flight_slot(&self, ticket: Ticket) -> Option<u32> {
        self.turns.find(ticket.0).filter(|slot| self.turns[*slot].is_in_flight())
    }

    pub(super) fn say(&mut self, slot: u32, decision: Decision) {
        self.decisions.push((Ticket(self.turns.key(slot)), decision));
    }

    fn open_under(&mut self, parent: Option<u32>, limits: Limits, whose: Arc<str>) -> u32 {
        let index = self.accounts.open(parent, limits, whose);
        if let Some(limit) = self.accounts[index].reached() {
            self.trip(index, limit);
        }
        index
    }

    /// An account that nobody opens another under or asks in.
    fn open_ended(&mut self, parent: Option<u32>, limits: Limits, whose: Arc<str>) -> u32 {
        let index = self.open_under(parent, limits, whose);
        self.accounts[index].closed = true;
        index
    }

    pub(super) fn set_deadline(&mut self, index: u32) {
        let account = &mut self.accounts[index];
        account.deadline = account.limits.duration.map(|duration| self.now.saturating_add(duration));
        if let Some(deadline) = account.deadline {
            self.deadlines.insert((deadline, index));
        }
    }

    fn drop_deadline(&mut self, index: u32) {
        if let Some(deadline) = self.accounts[index].deadline.take() {
            self.deadlines.remove(&(deadline, index));
        }
    }

    /// Counts what a report adds, once at each level ($1). A turn that has not started has spent nothing, whatever is said.
    fn count(&mut self, slot: u32, total: &Usage) {
        let turn = &mut self.turns[slot];
        if matches!(turn.state, State::Waiting | State::Refused) {
            return;
        }
        let account = turn.account;
        let more = turn.note(total);
        let before = turn.source;
        if turn.so_far.is_charged() && before != Some(total.cost_source) {
            turn.source = Some(total.cost_source);
            self.accounts.each_up(account, |_, at| at.count_source(before, total.cost_source));
        }
        if more == Usage::default() {
            return;
        }
        if turn.is_in_flight() && turn.prompts == 0 {
            // It cannot spend before it has its prompt.
            self.count_prompt(slot);
        }
        self.add(account, &more);
    }

    fn count_prompt(&mut self, slot: u32) {
        let turn = &mut self.turns[slot];
        turn.prompts += 1;
        let (account, first) = (turn.account, turn.prompts == 1);
        if first {
            self.accounts.each_up(account, |_, at| at.promised -= 1);
        }
        self.add(account, &Usage { turns: 1, ..Usage::default() });
    }

    fn add(&mut self, account: u32, more: &Usage) {
        let mut next = Some(account);
        while let Some(index) = next {
            let at = &mut self.accounts[index];
            next = at.parent;
            at.count(more);
            if let Some(limit) = at.reached() {
                self.trip(index, limit);
            }
        }
    }

    /// What a turn in flight has reported is spent and no longer held. One that has passed its reservation is taken to need as
    /// much again, as far as that is free at every level ($2).
    fn move_hold(&mut self, slot: u32) {
        let turn = &self.turns[slot];
        let Turn { account, held, reserved, .. } = *turn;
        if !self.accounts[account].metered {
            return;
        }
        let (spent, paused) = (pair(&turn.so_far), turn.is_paused());
        let free = self.accounts.tightest(account, |at, measure| at.free(measure, held));
        let reserved = array::from_fn(|measure| match free[measure] {
            Some(free) if spent[measure] > reserved[measure] => spent[measure].saturating_add(spent[measure].min(free)),
            _ => reserved[measure],
        });
        let hold = array::from_fn(|measure| reserved[measure].saturating_sub(spent[measure]));
        self.accounts.each_up(account, |_, at| at.hold(held, hold, paused));
        (self.turns[slot].reserved, self.turns[slot].held) = (reserved, hold);
    }

    fn set_paused(&mut self, slot: u32, paused: bool) {
        let Turn { account, class, held, .. } = self.turns[slot];
        let step = |count: u32| if paused { count - 1 } else { count + 1 };
        self.accounts.each_up(account, |_, at| {
            at.going = step(at.going);
            at.rest(held, paused);
        });
        if self.accounts[account].metered {
            let class = &mut self.classes[class as usize];
            class.going = if paused { class.going - 1 } else { class.going + 1 };
        }
        self.going = step(self.going);
        self.paused = if paused { self.paused + 1 } else { self.paused - 1 };
    }

    /// A turn in flight has ended: what it held is free, and what it cost is known.
    fn land(&mut self, slot: u32, ended: Ended) {
        if self.turns[slot].is_paused() {
            self.set_paused(slot, false);
        }
        let turn = &self.turns[slot];
        let Turn { account, line, class, held, prompts, place, .. } = *turn;
        let amount = pair(&turn.so_far);
        let whole = ended == Ended::Whole;
        if prompts == 0 && whole {
            self.count_prompt(slot);
        }
        let promised = u32::from(self.turns[slot].prompts == 0);
        self.accounts.each_up(account, |_, at| {
            at.hold(held, [0, 0], false);
            at.going -= 1;
            at.promised -= promised;
        });
        let at = &mut self.accounts[account];
        at.running.swap_remove(place as usize);
        let (moved, metered) = (at.running.get(place as usize).copied(), at.metered);
        if let Some(moved) = moved {
            self.turns[moved].place = place;
        }
        if account != line {
            self.drop_deadline(account);
        }
        let charged = self.turns[slot].so_far.is_charged();
        let known = self.allows_unpriced || self.turns[slot].source != Some(CostSource::Unknown);
        let class = &mut self.classes[class as usize];
        class.going -= usize::from(metered);
        class.settle(amount, whole);
        if charged {
            class.note_price(known, whole);
        }
        self.going -= 1;
        self.end(slot);
        self.stir_for(slot);
    }

    fn end(&mut self, slot: u32) {
        self.turns[slot].state = State::Over;
        self.turns[slot].held = [0, 0];
        self.turns.retire(slot);
    }
}
