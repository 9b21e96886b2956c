//! What a turn is expected to cost, from what those before it did ($2).

use std::{collections::VecDeque, sync::Arc};

use super::{account::Pair, admission::Parked};
use crate::usage::Usd;

/// How many settled turns an estimate looks at, and how many it takes until nothing holds back how many go at once ($2).
pub const SAMPLE: usize = 20;

/// How many turns that were cut short have to end without a known cost until nobody is taken to know it ($4).
const UNPRICED: u32 = 3;

/// How many turns go at once before anything is known of what they cost ($2).
const FIRST: usize = 2;

/// Turns of one harness, model and effort: those that are expected to cost alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub(super) u32);

/// What one turn came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// US dollars.
    pub cost: Usd,
    /// Tokens written.
    pub output_tokens: u64,
}

/// Turns that are expected to cost alike, and what the last of them cost.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: Arc<str>,
    /// Turns in flight under a limit on cost or tokens, paused ones apart (S10).
    pub(super) going: usize,
    /// The accounts whose first turn waits until more go at once.
    pub(super) parked: Parked,
    /// How many charged turns in a row have ended without a known cost ($4). A whole one counts for [`UNPRICED`].
    unknown: u32,
    last: VecDeque<Pair>,
}

impl Class {
    pub(super) fn new(name: &str, history: impl IntoIterator<Item = Settled>) -> Self {
        let mut class = Self { name: name.into(), going: 0, parked: Parked::new(), unknown: 0, last: VecDeque::new() };
        for settled in history {
            class.push([settled.cost.0, settled.output_tokens]);
        }
        class
    }

    /// Whether nobody knows what its turns cost ($4).
    pub(super) const fn is_unpriced(&self) -> bool {
        self.unknown >= UNPRICED
    }

    /// Takes note of whether the cost of a turn that was charged for is known.
    pub(super) fn note_price(&mut self, known: bool, whole: bool) {
        self.unknown = match (known, whole) {
            (true, _) => 0,
            (false, true) => UNPRICED,
            (false, false) => self.unknown.saturating_add(1),
        };
    }

    /// A turn has settled at `amount`. One that was cut short only shows what a turn costs at least: it may raise the
    /// estimate and never lowers it, so that a flow gains nothing by interrupting its own turns.
    pub(super) fn settle(&mut self, amount: Pair, whole: bool) {
        if whole {
            return self.push(amount);
        }
        if let Some(estimate) = self.estimate()
            && (amount[0] > estimate[0] || amount[1] > estimate[1])
        {
            self.push([amount[0].max(estimate[0]), amount[1].max(estimate[1])]);
        }
    }

    /// The 90th percentile of cost and of tokens among the last settled; none with nothing settled.
    pub(super) fn estimate(&self) -> Option<Pair> {
        // By nearest rank: the smallest that nine in ten do not exceed.
        let rank = (self.last.len() * 9).div_ceil(10).checked_sub(1)?;
        let percentile = |measure: usize| {
            let mut sorted = [u64::MAX; SAMPLE];
            for (place, amount) in sorted.iter_mut().zip(&self.last) {
                *place = amount[measure];
            }
            sorted.sort_unstable();
            sorted[rank]
        };
        Some([percentile(0), percentile(1)])
    }

    /// Whether as many go at once as what is known of their cost allows.
    pub(super) fn is_full(&self) -> bool {
        let settled = self.last.len();
        settled < SAMPLE && self.going >= FIRST.max(2 * settled)
    }

    fn push(&mut self, amount: Pair) {
        if self.last.len() == SAMPLE {
            self.last.pop_front();
        }
        self.last.push_back(amount);
    }
}
