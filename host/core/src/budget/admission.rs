//! Which turn may start, what each of the others waits for, and when that is looked at again ($2, S2).
//!
//! Turns wait in the line of their account, and the first of a line waits at one [`Gate`]. What happens to a gate wakes the
//! first of those that wait there, which goes through all gates again; only when it has left does the next one wake. So
//! an event costs as much as it starts turns, however many wait.

use std::{array, collections::BTreeSet, sync::Arc};

use super::{
    Decision, Refusal,
    account::{Account, Pair},
    ledger::Ledger,
    turn::{State, Turn},
};
use crate::{error::Limit, usage::Grace};

/// The order in which turns get what they wait for: those that decide an occasion first, then as they asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    ordinary: bool,
    number: u64,
}

impl Rank {
    pub(super) const fn new(number: u64, deciding: bool) -> Self {
        Self { ordinary: !deciding, number }
    }

    /// Whether the turn is taken to decide an occasion (S10).
    pub(super) const fn decides(self) -> bool {
        !self.ordinary
    }
}

/// Where a turn waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// The limits of an account.
    Account(u32),
    /// How many of a class go at once.
    Class(u32),
    /// How many go at once.
    AtOnce,
}

/// What a turn that asks is told.
#[derive(Debug)]
pub(super) enum Answer {
    /// Start, with this reserved.
    Start(Pair),
    /// Wait here.
    Wait(Gate),
    /// There is nothing to wait for.
    Refuse(Refusal),
}

/// Who waits at a gate: the first turns of these accounts' lines.
pub(super) type Parked = BTreeSet<(Rank, u32)>;

impl Ledger {
    /// Goes through the gates for a turn.
    pub(super) fn admit(&self, turn: &Turn) -> Answer {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        let deciding = turn.rank.decides();
        let metered = self.accounts[turn.account].metered;
        let want = if metered { self.want(turn) } else { [0, 0] };
        let mut gate = None;
        for (index, account) in self.accounts.up(turn.account) {
            if let Some(why) = self.barred(turn, account) {
                return Answer::Refuse(why);
            }
            let idle = account.going == 0;
            let no_turn_left = account.turns_left() == Some(0);
            if no_turn_left && idle {
                // The last prompts are promised to turns that are paused: none in flight can make room.
                return Answer::Refuse(account.spent_limit(Limit::Turns).into());
            }
            let taken = account.parked.first().is_some_and(|(rank, _)| *rank < turn.rank);
            // $2: it fits, or nothing is in flight and anything is left.
            let shut = no_turn_left || taken || !idle && account.lacks(want, deciding).is_some();
            if shut && gate.is_none() {
                gate = Some(Gate::Account(index));
            }
        }
        if let Some(gate) = gate {
            return Answer::Wait(gate);
        }
        // Where others wait for their class or for the cap, these are full.
        if metered && self.classes[turn.class as usize].is_full() {
            return Answer::Wait(Gate::Class(turn.class));
        }
        // S2: a cap of nought would be no cap but a stop.
        if self.at_once.is_some_and(|cap| self.going >= cap.max(1)) {
            return Answer::Wait(Gate::AtOnce);
        }
        let free = if metered {
            self.accounts.tightest(turn.account, |at, measure| at.free(measure, [0, 0]))
        } else {
            [None; 2]
        };
        // S10: beside paused turns it may start with less than it wants. It never reserves what they hold.
        Answer::Start(array::from_fn(|measure| want[measure].min(free[measure].unwrap_or(0))))
    }

    /// Why a turn may get no prompt any more under the limits of an account.
    pub(super) fn barred(&self, turn: &Turn, account: &Account) -> Option<Refusal> {
        if let Some(limit) = account.over {
            // $3: spent is spent.
            return Some(account.spent_limit(limit).into());
        }
        let unpriced = account.limits.cost.is_some() && self.classes[turn.class as usize].is_unpriced();
        unpriced.then(|| self.unpriced(turn, account))
    }

    /// Why a turn cannot run under the limit on cost of an account ($4).
    pub(super) fn unpriced(&self, turn: &Turn, account: &Account) -> Refusal {
        let class = self.classes[turn.class as usize].name.clone();
        Refusal::Unpriced { class, whose: Arc::clone(&account.whose) }
    }

    /// What a turn reserves if it can: what it is expected to cost, or all that is left at the tightest level ($2).
    fn want(&self, turn: &Turn) -> Pair {
        let left = self.accounts.tightest(turn.account, |at, measure| at.left(measure));
        let estimate = self.classes[turn.class as usize].estimate();
        let expected = [turn.expected.0, 0];
        array::from_fn(|measure| {
            let Some(left) = left[measure] else { return 0 };
            let estimate = estimate.map_or(left.div_ceil(2), |estimate| estimate[measure]);
            estimate.max(expected[measure]).min(left)
        })
    }

    /// The limit of an account that keeps the first of a line waiting there.
    pub(super) fn short_of(&self, account: u32, turn: &Turn) -> Option<Limit> {
        let at = &self.accounts[account];
        if at.turns_left() == Some(0) {
            return Some(Limit::Turns);
        }
        at.lacks(self.want(turn), turn.rank.decides())
    }

    fn parked_at(&mut self, gate: Gate) -> &mut Parked {
        match gate {
            Gate::Account(index) => &mut self.accounts[index].parked,
            Gate::Class(class) => &mut self.classes[class as usize].parked,
            Gate::AtOnce => &mut self.parked_at_once,
        }
    }

    /// Answers a turn that asks, or puts it in line.
    pub(super) fn enter(&mut self, slot: u32) {
        let Turn { line, rank, .. } = self.turns[slot];
        if self.accounts[line].line.is_empty() {
            match self.admit(&self.turns[slot]) {
                Answer::Start(reserved) => return self.start(slot, reserved),
                Answer::Refuse(why) => return self.turn_away(slot, Decision::Refuse(why)),
                Answer::Wait(gate) => {
                    self.accounts[line].gate = Some(gate);
                    self.parked_at(gate).insert((rank, line));
                }
            }
        }
        self.unpark_behind(line, rank);
        self.accounts[line].line.insert(rank, slot);
        self.waiting += 1;
    }

    /// Where a turn goes ahead of the first of a line, that one no longer stands at a gate and the new one is looked at.
    fn unpark_behind(&mut self, line: u32, rank: Rank) {
        if let Some((&first, _)) = self.accounts[line].line.first_key_value()
            && rank < first
        {
            self.unpark(line, first);
            self.ready.insert((rank, line));
        }
    }

    /// Takes the first of a line from its gate. The account still names the gate, so that it is stirred afterwards.
    fn unpark(&mut self, line: u32, first: Rank) {
        self.ready.remove(&(first, line));
        if let Some(gate) = self.accounts[line].gate {
            self.parked_at(gate).remove(&(first, line));
        }
    }

    /// Takes a turn out of its line.
    pub(super) fn withdraw(&mut self, slot: u32) {
        let Turn { line, rank, .. } = self.turns[slot];
        let first = self.accounts[line].line.first_key_value().is_some_and(|(first, _)| *first == rank);
        if first {
            self.unpark(line, rank);
        }
        if self.accounts[line].line.remove(&rank).is_some() {
            self.waiting -= 1;
        }
        if first {
            self.advance(line);
        }
    }

    /// Something has changed at a gate: the first that waits there is looked at again.
    pub(super) fn stir(&mut self, gate: Gate) {
        if let Some(first) = self.parked_at(gate).pop_first() {
            self.ready.insert(first);
        }
    }

    /// Something has changed in an account, and so in all above it.
    pub(super) fn stir_up(&mut self, from: u32) {
        let mut next = Some(from);
        while let Some(index) = next {
            next = self.accounts[index].parent;
            self.stir(Gate::Account(index));
        }
    }

    /// The first of a line has left: the next one is looked at, and so is whoever waits behind it at its gate.
    fn advance(&mut self, line: u32) {
        let account = &mut self.accounts[line];
        if let Some((&next, _)) = account.line.first_key_value() {
            self.ready.insert((next, line));
        }
        if let Some(gate) = account.gate.take() {
            self.stir(gate);
        }
    }

    /// Carries every change to its end: what is spent is refused and cut, and who can start does.
    pub(super) fn work(&mut self) {
        loop {
            if let Some((account, limit)) = self.tripped.pop() {
                self.spread(account, limit);
                continue;
            }
            let Some((rank, line)) = self.ready.pop_first() else { return };
            let Some(&slot) = self.accounts[line].line.get(&rank) else { continue };
            match self.admit(&self.turns[slot]) {
                Answer::Wait(gate) => {
                    self.parked_at(gate).insert((rank, line));
                    let from = self.accounts[line].gate.replace(gate);
                    if let Some(from) = from
                        && from != gate
                    {
                        self.stir(from);
                    }
                }
                Answer::Start(reserved) => {
                    self.withdraw(slot);
                    self.start(slot, reserved);
                }
                Answer::Refuse(why) => {
                    self.withdraw(slot);
                    self.turn_away(slot, Decision::Refuse(why));
                }
            }
        }
    }

    fn start(&mut self, slot: u32, reserved: Pair) {
        let Turn { account, line, class, .. } = self.turns[slot];
        if account != line {
            // The time of a turn's own limits runs from here.
            self.set_deadline(account);
        }
        let place = self.accounts[account].running.len() as u32;
        self.accounts[account].running.push(slot);
        self.accounts.each_up(account, |_, at| {
            at.going += 1;
            at.promised += 1;
            at.hold([0, 0], reserved, false);
        });
        if self.accounts[account].metered {
            self.classes[class as usize].going += 1;
        }
        self.going += 1;
        let turn = &mut self.turns[slot];
        turn.state = State::Going { occasions: 0 };
        (turn.reserved, turn.held, turn.place) = (reserved, reserved, place);
        self.say(slot, Decision::Start);
    }

    /// Tells a turn that it will not start.
    pub(super) fn turn_away(&mut self, slot: u32, decision: Decision) {
        self.turns[slot].state = State::Refused;
        self.say(slot, decision);
    }

    /// Turns all of a line away.
    pub(super) fn turn_all_away(&mut self, line: u32, decision: &Decision) {
        let Some((&first, _)) = self.accounts[line].line.first_key_value() else { return };
        self.unpark(line, first);
        for (_, slot) in std::mem::take(&mut self.accounts[line].line) {
            self.waiting -= 1;
            self.turn_away(slot, decision.clone());
        }
        self.advance(line);
    }

    /// Notes that a limit is spent ($3).
    pub(super) fn trip(&mut self, index: u32, limit: Limit) {
        let account = &mut self.accounts[index];
        let cuts = account.limits.grace == Grace::Cut && limit != Limit::Turns;
        if account.over.is_none() || cuts && !account.cut {
            account.over.get_or_insert(limit);
            account.cut |= cuts;
            self.tripped.push((index, limit));
        }
    }

    /// A limit is spent: whoever waits in the account or below is refused, and with grace `cut` whoever runs is cut. A limit
    /// on turns cuts nothing, since the last turn is within it.
    fn spread(&mut self, account: u32, limit: Limit) {
        let spent = self.accounts[account].spent_limit(limit);
        let cut = self.accounts[account].cut;
        let refuse = Decision::Refuse(spent.clone().into());
        let mut below = vec![account];
        while let Some(index) = below.pop() {
            below.extend(&self.accounts[index].children);
            self.turn_all_away(index, &refuse);
            if !cut {
                continue;
            }
            for place in 0..self.accounts[index].running.len() {
                let slot = self.accounts[index].running[place];
                if !std::mem::replace(&mut self.turns[slot].cut, true) {
                    self.say(slot, Decision::Cut(spent.clone()));
                }
            }
        }
    }

    /// Whatever of a limit is free again may let others start.
    pub(super) fn stir_for(&mut self, slot: u32) {
        let Turn { account, class, .. } = self.turns[slot];
        self.stir_up(account);
        self.stir(Gate::Class(class));
        self.stir(Gate::AtOnce);
    }
}
