//! Tests of the ledger, by rule.

use std::time::Duration;

use super::{AccountId, Ask, ClassId, Decision, Ended, Ledger, Refusal, Ticket};
use crate::{
    error::{Limit, SpentLimit},
    usage::{CostSource, Limits, Usage, Usd},
};

mod admission;
mod limits;
mod model;
mod occasions;
mod properties;
mod reports;
mod unpriced;

const NOW: Duration = Duration::ZERO;

fn dollars(dollars: f64) -> Usage {
    Usage { cost: Usd::from_dollars(dollars), ..priced() }
}

fn tokens(output_tokens: u64) -> Usage {
    Usage { output_tokens, ..priced() }
}

/// Nothing, of which it is known what it costs.
fn priced() -> Usage {
    Usage { cost_source: CostSource::Reported, ..Usage::default() }
}

fn cost(dollars: f64) -> Limits {
    Limits { cost: Some(Usd::from_dollars(dollars)), ..Limits::default() }
}

fn spent_limit(limit: Limit, whose: &str) -> SpentLimit {
    SpentLimit { limit, whose: whose.into() }
}

fn spent(limit: Limit, whose: &str) -> Refusal {
    Refusal::Spent(spent_limit(limit, whose))
}

/// A ledger with one branch, `1`, under these limits, and one class of which nothing is known.
fn one_branch(limits: Limits) -> (Ledger, AccountId, ClassId) {
    let mut ledger = Ledger::new(None);
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, limits, "1".into(), NOW);
    (ledger, branch, class)
}

fn ask_many(ledger: &mut Ledger, ask: Ask, turns: usize) -> Vec<Ticket> {
    (0..turns).map(|_| ledger.ask(ask, NOW)).collect()
}

/// Those that are told to start.
fn started(ledger: &mut Ledger) -> Vec<Ticket> {
    let told = ledger.decide(NOW);
    told.into_iter().filter(|(_, decision)| *decision == Decision::Start).map(|(ticket, _)| ticket).collect()
}

/// What a run came to whose turns all cost the same, each settling in the order in which it started.
struct Played {
    landed: usize,
    refused: Vec<Refusal>,
    /// How many were in flight, after each decision.
    in_flight: Vec<usize>,
}

fn play(ledger: &mut Ledger, each: &Usage) -> Played {
    let mut played = Played { landed: 0, refused: Vec::new(), in_flight: Vec::new() };
    let mut going = std::collections::VecDeque::new();
    loop {
        for (ticket, decision) in ledger.decide(NOW) {
            match decision {
                Decision::Start => going.push_back(ticket),
                Decision::Refuse(why) => played.refused.push(why),
                other => panic!("{other:?}"),
            }
        }
        played.in_flight.push(going.len());
        let Some(first) = going.pop_front() else { return played };
        ledger.settle(first, Some(each), Ended::Whole, NOW);
        played.landed += 1;
    }
}
