//! Accounts: what a branch may spend, has spent and holds for its turns in flight, and the tree that they form ($1).

use std::{
    array,
    collections::BTreeMap,
    iter,
    ops::{Index, IndexMut},
    sync::Arc,
    time::Duration,
};

use super::{
    admission::{Gate, Parked, Rank},
    slots::{Key, Slots},
};
use crate::{
    error::{Limit, SpentLimit},
    usage::{CostSource, Limits, Usage, Usd},
};

/// What is reserved before it is spent ($2): cost in billionths of a dollar, and output tokens.
pub(super) type Pair = [u64; 2];

/// The names of a [`Pair`]'s two.
pub(super) const MEASURES: [Limit; 2] = [Limit::Cost, Limit::OutputTokens];

/// Where a cost can come from, in the order of [`CostSource`].
const SOURCES: [CostSource; 5] =
    [CostSource::Reported, CostSource::Priced, CostSource::Mixed, CostSource::MadeUp, CostSource::Unknown];

/// A branch's account in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub(super) Key);

/// One level of the tree: a branch, or one turn that has limits of its own.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) parent: Option<u32>,
    pub(super) whose: Arc<str>,
    pub(super) limits: Limits,
    /// When its time is over.
    pub(super) deadline: Option<Duration>,
    /// Whether it or one above limits cost or tokens. Where none does, nothing is reserved and nothing waits for money.
    pub(super) metered: bool,
    /// The limit that was spent first. It is never taken back ($3).
    pub(super) over: Option<Limit>,
    /// Whether its turns were told to end.
    pub(super) cut: bool,
    /// Whether its branch has ended. It is kept for as long as something counts against it.
    pub(super) closed: bool,

    /// Of it and all below. The source of the cost is in `sources`.
    spent: Usage,
    /// How many turns have their cost from where.
    sources: [u32; SOURCES.len()],
    /// Turns that have started and whose first prompt is yet to be handed over.
    pub(super) promised: u32,
    /// Turns in flight, paused ones apart (S10).
    pub(super) going: u32,
    /// Of cost and of output tokens, what turns in flight hold.
    held: [Held; MEASURES.len()],

    /// Turns in flight in this account alone.
    pub(super) running: Vec<u32>,
    /// Turns that wait in this account alone, in order.
    pub(super) line: BTreeMap<Rank, u32>,
    /// What the first of `line` waits for.
    pub(super) gate: Option<Gate>,
    /// The accounts, here and below, whose first turn waits for a limit of this one.
    pub(super) parked: Parked,

    /// Turns that count against this account alone and can still be reported on.
    pub(super) turns: u32,
    pub(super) children: Vec<u32>,
    /// Where it is among its parent's children.
    place: u32,
}

/// What is yet to come of the reservations of turns in flight. Nothing where nothing is limited: that sum would have no bound.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    all: u64,
    /// The part that paused ones hold (S10).
    paused: u64,
}

impl Account {
    /// What it and all below have spent.
    pub(super) fn spent(&self) -> Usage {
        let known = SOURCES.into_iter().zip(self.sources).filter(|(_, turns)| *turns > 0);
        let source = known.map(|(source, _)| source).reduce(CostSource::with);
        Usage { cost_source: source.unwrap_or_default(), ..self.spent }
    }

    /// Limit minus spent; none where there is no limit.
    pub(super) fn left(&self, measure: usize) -> Option<u64> {
        Some(limit(&self.limits, measure)?.saturating_sub(pair(&self.spent)[measure]))
    }

    /// Left minus what turns in flight hold; `own` is what one of them holds that does not mind itself.
    pub(super) fn free(&self, measure: usize, own: Pair) -> Option<u64> {
        Some(self.left(measure)?.saturating_sub(self.held[measure].all - own[measure]))
    }

    /// Prompts that may yet be promised; none where there is no limit.
    pub(super) fn turns_left(&self) -> Option<u32> {
        Some(self.limits.turns?.saturating_sub(self.spent.turns).saturating_sub(self.promised))
    }

    /// The limit in which `want` does not fit. To a turn that decides, paused ones hold nothing (S10).
    pub(super) fn lacks(&self, want: Pair, deciding: bool) -> Option<Limit> {
        let paused = if deciding { self.held.map(|held| held.paused) } else { [0, 0] };
        let short =
            (0..MEASURES.len()).find(|&measure| self.free(measure, paused).is_some_and(|free| want[measure] > free));
        short.map(|measure| MEASURES[measure])
    }

    /// A limit that what was spent has reached.
    pub(super) fn reached(&self) -> Option<Limit> {
        let spent = (0..MEASURES.len()).find(|&measure| self.left(measure) == Some(0)).map(|measure| MEASURES[measure]);
        spent.or_else(|| self.limits.turns.is_some_and(|most| self.spent.turns >= most).then_some(Limit::Turns))
    }

    /// Which limit is spent, for whoever asks.
    pub(super) fn spent_limit(&self, limit: Limit) -> SpentLimit {
        SpentLimit { limit, whose: self.whose.to_string() }
    }

    /// Counts what a turn has spent.
    pub(super) fn count(&mut self, more: &Usage) {
        self.spent.add(more);
    }

    /// Counts a turn by where its cost comes from.
    pub(super) fn count_source(&mut self, before: Option<CostSource>, after: CostSource) {
        if let Some(before) = before {
            self.sources[before as usize] -= 1;
        }
        self.sources[after as usize] += 1;
    }

    /// Replaces what a turn in flight holds.
    pub(super) fn hold(&mut self, before: Pair, after: Pair, paused: bool) {
        for (measure, held) in self.held.iter_mut().enumerate() {
            if limit(&self.limits, measure).is_some() {
                held.all = held.all - before[measure] + after[measure];
                if paused {
                    held.paused = held.paused - before[measure] + after[measure];
                }
            }
        }
    }

    /// Moves what a turn holds to or from what paused ones hold.
    pub(super) fn rest(&mut self, hold: Pair, paused: bool) {
        for (measure, held) in self.held.iter_mut().enumerate() {
            if limit(&self.limits, measure).is_some() {
                held.paused = if paused { held.paused + hold[measure] } else { held.paused - hold[measure] };
            }
        }
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> (Pair, Pair) {
        (self.held.map(|held| held.all), self.held.map(|held| held.paused))
    }
}

fn limit(limits: &Limits, measure: usize) -> Option<u64> {
    [limits.cost.map(|Usd(cost)| cost), limits.output_tokens][measure]
}

/// What of usage is reserved before it is spent.
pub(super) fn pair(usage: &Usage) -> Pair {
    [usage.cost.0, usage.output_tokens]
}

/// All accounts of a run.
#[derive(Debug)]
pub(super) struct Accounts(Slots<Account>);

impl Accounts {
    pub(super) const fn new() -> Self {
        Self(Slots::new(0))
    }

    /// Opens an account under another.
    pub(super) fn open(&mut self, parent: Option<u32>, limits: Limits, whose: Arc<str>) -> u32 {
        let here = limits.cost.is_some() || limits.output_tokens.is_some();
        let metered = here || parent.is_some_and(|parent| self[parent].metered);
        let place = parent.map_or(0, |parent| self[parent].children.len() as u32);
        let account = Account { parent, limits, whose, metered, place, ..Account::default() };
        let (key, _) = self.0.insert(account);
        let index = key.index();
        if let Some(parent) = parent {
            self[parent].children.push(index);
        }
        index
    }

    pub(super) fn id(&self, index: u32) -> AccountId {
        AccountId(self.0.key(index))
    }

    /// The account of a branch that has not ended.
    pub(super) fn find(&self, id: AccountId) -> Option<u32> {
        self.0.find(id.0).filter(|index| !self[*index].closed)
    }

    /// This account and those above it, the innermost first.
    pub(super) fn up(&self, from: u32) -> impl Iterator<Item = (u32, &Account)> {
        iter::successors(Some(from), |index| self[*index].parent).map(|index| (index, &self[index]))
    }

    /// The same, to change.
    pub(super) fn each_up(&mut self, from: u32, mut change: impl FnMut(u32, &mut Account)) {
        let mut next = Some(from);
        while let Some(index) = next {
            change(index, &mut self[index]);
            next = self[index].parent;
        }
    }

    /// The least of a figure over this account and those above; none where none limits it.
    pub(super) fn tightest(
        &self,
        from: u32,
        figure: impl Fn(&Account, usize) -> Option<u64>,
    ) -> [Option<u64>; MEASURES.len()] {
        array::from_fn(|measure| self.up(from).filter_map(|(_, account)| figure(account, measure)).min())
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Frees the slots of accounts that have ended and that nothing counts against any more, from this one upwards.
    pub(super) fn sweep(&mut self, from: u32) {
        let mut next = Some(from);
        while let Some(index) = next {
            let Account { closed, turns, ref children, parent, place, .. } = self[index];
            if !closed || turns > 0 || !children.is_empty() {
                return;
            }
            self.0.retire(index);
            if let Some(parent) = parent {
                let siblings = &mut self[parent].children;
                siblings.swap_remove(place as usize);
                if let Some(&moved) = siblings.get(place as usize) {
                    self[moved].place = place;
                }
            }
            next = parent;
        }
    }
}

impl Index<u32> for Accounts {
    type Output = Account;

    fn index(&self, index: u32) -> &Account {
        &self.0[index]
    }
}

impl IndexMut<u32> for Accounts {
    fn index_mut(&mut self, index: u32) -> &mut Account {
        &mut self.0[index]
    }
}
