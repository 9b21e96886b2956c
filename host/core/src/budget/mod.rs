//! The ledger of a run: what its branches may spend, what they have spent, and which turn may start when. It is where
//! **$1** to **$4** hold, the person's cap of **S2**, and what **S10** says of both.
//!
//! A [`Ledger`] is a plain state machine: it knows no clock, no lock, no agent. The run loop tells it what happens (a
//! turn [asks](Ledger::ask) to start, [reports](Ledger::report), [settles](Ledger::settle)) and carries out what it
//! [decides](Ledger::decide).
//!
//! # Accounts
//!
//! Each branch has an account under that of its caller; a turn with limits of its own has one under its branch's. What a
//! turn spends counts once in each account from its own up to the root, and each of them must allow it: so a branch's limit
//! is the tighter of its own and what is left above ($1). A limit that was spent once stays spent, there and below ($3).
//!
//! # Reservations
//!
//! Agents say what they have spent when it is too late, so money is reserved before it is spent ($2). In each account
//!
//! ```text
//! limit ┌──────────────────┬──────────────────────────┬─────────────┐
//!       │ spent            │ held for turns in flight │ free        │
//!       └──────────────────┴──────────────────────────┴─────────────┘
//!                          └──────────── left ──────────────────────┘
//! ```
//!
//! A turn that starts reserves what it is expected to cost, or all that is left where that is less. As it reports, what it
//! has spent moves from *held* to *spent*; so nothing is counted twice, and *held* is what is yet to come. When it settles,
//! the rest of its reservation is free again. Output tokens are reserved beside cost in the same way.
//!
//! What a turn is expected to cost:
//!
//! - with none of its class (harness, model and effort) settled, **half of what is left**;
//! - then the **90th percentile** of those that have, the last 20 of them at most, earlier runs too. A turn that was
//!   interrupted shows less than a whole one costs, so it counts only where it raises this;
//! - what the flow or the person expects, where that is more.
//!
//! A turn that passes its reservation is taken to need **as much again** as it has spent by then, as far as that is free; so a
//! runaway holds back those that wait, and what others have reserved stays theirs.
//!
//! # Waiting
//!
//! A turn that asks passes a series of gates, and waits at the first that is shut: each account from its own to the root
//! (does it fit in what is free?), its class (until 20 have settled, at most max(2, twice the settled) go at once, over the
//! whole run, of those under a limit on cost or tokens), and the person's `--at-once`. Who comes later does not pass a gate
//! at which an earlier one waits, so a big turn is not starved by small ones; but a branch that waits at its own limit
//! is not in the way of its siblings. Turns of one branch start in the order in which they asked. Where nothing is in
//! flight in an account, its gate is open to whatever asks, as long as anything is left: so those that wait always
//! wait for a turn that is going, and never for themselves.
//!
//! A turn that waits for the answer to an occasion is not in flight (S10): it takes no place of a class or a cap, and an
//! account in which all are paused is open. It goes on afterwards without asking, so what it holds stays held, and a turn that
//! starts beside it reserves only what nobody holds. A turn that [decides](Ask::deciding) an occasion goes ahead of those
//! that do not, and fits in what paused ones hold as well.
//!
//! Without a limit on cost or tokens nothing is reserved and nothing waits, but for the cap and for a limit on turns whose
//! last ones are just being handed over.
//!
//! # What has no price
//!
//! A turn that used tokens and ended without a known cost shows that nobody knows what its class costs; of turns that were cut
//! short it takes several in a row, since some agents say what they cost at the end. Under a limit on cost no further turn
//! of that class starts and none gets another prompt ($4), until one ends whose cost is known; a ledger that
//! [allows it](Ledger::allowing_unpriced) counts what such turns cost as nothing.
//!
//! # The bound
//!
//! Whenever a turn starts by fitting, spent and all that is held are within the limit. From then on spending that was reserved
//! changes nothing in that sum. So at each level, at any time,
//!
//! > spent <= limit + what turns in flight have cost beyond what each reserved when it started.
//!
//! (A report that comes after its turn has settled finds its reservation gone and adds to the right side.) With
//! [`Grace::Cut`](crate::usage::Grace::Cut) turns are interrupted as soon as spent reaches the limit, so what is spent beyond it is
//! what was not reported until then.
//!
//! # Example
//!
//! Four turns of $0.60 at once, of which nothing is known, under $1:
//!
//! | event | spent | held | free | then |
//! |---|---|---|---|---|
//! | four ask | 0 | 1.00 | 0 | two start, each with half of what is left reserved; two wait: until one has settled, two go at once |
//! | the first settles at 0.60 | 0.60 | 0.50 | 0 | a turn is expected to cost 0.60; only 0.40 is left, and that is held |
//! | the second settles at 0.60 | 1.20 | 0 | 0 | the limit is spent: the two that wait are refused |
//!
//! ```
//! use std::time::Duration;
//! use flowhost_core::budget::{Ask, Decision, Ended, Ledger};
//! use flowhost_core::usage::{CostSource, Limits, Usage, Usd};
//!
//! let now = Duration::ZERO;
//! let mut ledger = Ledger::new(None);
//! let class = ledger.class("claude/opus:high", []);
//! let limits = Limits { cost: Some(Usd::from_dollars(1.0)), ..Limits::default() };
//! let branch = ledger.open(None, limits, "20260101-120000-abcd/1".into(), now);
//!
//! let turns: Vec<_> = (0..4).map(|_| ledger.ask(Ask::new(branch, class), now)).collect();
//! assert_eq!(ledger.decide(now), [(turns[0], Decision::Start), (turns[1], Decision::Start)]);
//! assert_eq!(ledger.waiting(), 2);
//!
//! let total = Usage { cost: Usd::from_dollars(0.6), cost_source: CostSource::Reported, ..Usage::default() };
//! ledger.settle(turns[0], Some(&total), Ended::Whole, now);
//! assert!(ledger.decide(now).is_empty());
//!
//! ledger.settle(turns[1], Some(&total), Ended::Whole, now);
//! let refused = ledger.decide(now);
//! assert!(matches!(refused[..], [(_, Decision::Refuse(_)), (_, Decision::Refuse(_))]));
//! assert_eq!(ledger.spent(branch).cost, Usd::from_dollars(1.2));
//! ```

use std::{fmt, sync::Arc};

use crate::{
    error::{Error, HarnessFailure, HarnessFault, Kind, Limit, SpentLimit},
    usage::{Limits, Usd},
};

mod account;
mod admission;
mod estimate;
mod ledger;
mod slots;
#[cfg(test)]
mod tests;
mod turn;

pub use account::AccountId;
pub use estimate::{ClassId, SAMPLE, Settled};
pub use ledger::Ledger;
pub use turn::Ticket;

/// What a turn asks for when it wants to start.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Its branch's account.
    pub account: AccountId,
    /// Those that it is expected to cost as much as.
    pub class: ClassId,
    /// US dollars that the flow or the person expects it to cost. It counts where it is more than the ledger's own estimate,
    /// never where it is less ($2).
    pub expected: Option<Usd>,
    /// Limits of this turn alone. Their time runs from its start.
    pub own: Option<Limits>,
    /// Whether it is taken to decide an occasion: its branch, or one above, has taken an occasion and not answered it yet
    /// (S10). It goes ahead of those that are not, and what paused turns hold does not stand in its way.
    pub deciding: bool,
}

impl Ask {
    /// A turn of this branch and class of which nothing more is known.
    pub const fn new(account: AccountId, class: ClassId) -> Self {
        Self { account, class, expected: None, own: None, deciding: false }
    }
}

/// What becomes of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It starts. It is in flight from here until it settles.
    Start,
    /// It never starts.
    Refuse(Refusal),
    /// It never starts: its branch has ended.
    Gone,
    /// It is in flight and is to be interrupted: a limit with grace `cut` is spent ($3). It still settles.
    Cut(SpentLimit),
}

/// Why a turn gets no prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A limit is spent, and stays so ($3).
    Spent(SpentLimit),
    /// Turns of its class used tokens of which nobody knows the price, so a limit on cost cannot hold them ($4).
    Unpriced {
        /// The class: harness, model and effort.
        class: Arc<str>,
        /// The branch whose limit it is, as its path.
        whose: Arc<str>,
    },
}

impl From<SpentLimit> for Refusal {
    fn from(limit: SpentLimit) -> Self {
        Self::Spent(limit)
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its harness took it to the end, whatever the answer: it shows what such a turn costs.
    Whole,
    /// It was interrupted, or broke off, or never got going.
    Short,
}

impl Ended {
    /// How a turn ended that failed like this, or did not.
    pub fn of(error: Option<&Error>) -> Self {
        match error.map(|error| &error.kind) {
            None | Some(Kind::Harness(HarnessFailure { fault: HarnessFault::BadOutput, .. })) => Self::Whole,
            Some(_) => Self::Short,
        }
    }
}

/// What a turn waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The person's cap on turns at once (S2).
    AtOnce(u32),
    /// More turns of its class to settle, so that it is known what they cost ($2).
    Class(Arc<str>),
    /// Turns in flight that hold what is left of a limit.
    Limit {
        /// Which limit.
        limit: Limit,
        /// The branch whose limit it is, as its path.
        whose: Arc<str>,
    },
}

impl fmt::Display for Waits {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtOnce(cap) => write!(to, "--at-once {cap}"),
            Self::Class(name) => write!(to, "what the first turns of {name} cost is not known yet"),
            Self::Limit { limit, whose } => {
                let limit = match limit {
                    Limit::Cost => "cost",
                    Limit::OutputTokens => "output tokens",
                    Limit::Turns => "turns",
                    Limit::Duration => "time",
                };
                write!(to, "what is left of the {limit} of branch {whose} is held by turns in flight")
            }
        }
    }
}
