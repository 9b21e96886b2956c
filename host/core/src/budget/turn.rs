//! One turn in the ledger, from when it asks to start until its last report.

use super::{account::Pair, admission::Rank, slots::Key};
use crate::usage::{CostSource, Usage, Usd};

/// A turn that asked to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) Key);

/// How far a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is yet to start.
    Waiting,
    /// It is in flight. It is paused while it waits for the answers to this many occasions (S10).
    Going { occasions: u32 },
    /// It will not start, and nobody has been told yet.
    Refused,
    /// It is over. Reports may still come.
    Over,
}

/// One turn.
#[derive(Debug)]
pub(super) struct Turn {
    /// Where it counts: the account of its branch, or one of its own under that.
    pub(super) account: u32,
    /// The account of its branch, in whose line it waits.
    pub(super) line: u32,
    pub(super) class: u32,
    pub(super) rank: Rank,
    /// The least that it is expected to cost.
    pub(super) expected: Usd,
    pub(super) state: State,
    /// Prompts that were handed over (S9).
    pub(super) prompts: u32,
    /// The most that was reported of each figure.
    pub(super) so_far: Usage,
    /// Where its cost comes from, once something was reported.
    pub(super) source: Option<CostSource>,
    /// What is reserved for it, spent or not.
    pub(super) reserved: Pair,
    /// What is yet to come of `reserved`.
    pub(super) held: Pair,
    /// Where it is among the running of its account.
    pub(super) place: u32,
    /// Whether it was told to end.
    pub(super) cut: bool,
}

impl Turn {
    pub(super) const fn is_in_flight(&self) -> bool {
        matches!(self.state, State::Going { .. })
    }

    pub(super) const fn is_paused(&self) -> bool {
        matches!(self.state, State::Going { occasions: 1.. })
    }

    /// Takes note of a report of all that it has spent so far, and gives what that adds. Figures never go back: one that
    /// is repeated, late or smaller than before adds nothing.
    pub(super) fn note(&mut self, total: &Usage) -> Usage {
        fn rise(so_far: &mut u64, total: u64) -> u64 {
            let more = total.saturating_sub(*so_far);
            *so_far += more;
            more
        }
        let so_far = &mut self.so_far;
        Usage {
            // The host counts these itself, as prompts are handed over.
            turns: 0,
            input_tokens: rise(&mut so_far.input_tokens, total.input_tokens),
            output_tokens: rise(&mut so_far.output_tokens, total.output_tokens),
            cache_read_tokens: rise(&mut so_far.cache_read_tokens, total.cache_read_tokens),
            cache_write_tokens: rise(&mut so_far.cache_write_tokens, total.cache_write_tokens),
            cost: Usd(rise(&mut so_far.cost.0, total.cost.0)),
            cost_source: CostSource::default(),
            duration_ms: rise(&mut so_far.duration_ms, total.duration_ms),
        }
    }
}
