//! What is counted of what harnesses say, and what is kept of it.

use super::*;
use crate::{budget::Settled, usage::CostSource};

#[test]
fn reports_count_once_however_they_come() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    for so_far in [0.5, 0.5, f64::NAN, 0.2, -3.0, 0.7, f64::NEG_INFINITY, 0.6] {
        ledger.report(turn, &dollars(so_far), NOW);
    }
    assert_eq!(ledger.spent(branch).cost, Usd::from_dollars(0.7));
    ledger.settle(turn, Some(&dollars(0.4)), Ended::Whole, NOW);
    ledger.settle(turn, Some(&dollars(0.4)), Ended::Whole, NOW);
    assert_eq!(ledger.spent(branch), Usage { turns: 1, ..dollars(0.7) });
    // Late, and more than was known.
    ledger.report(turn, &dollars(0.9), NOW);
    ledger.settle(turn, Some(&dollars(1.0)), Ended::Whole, NOW);
    assert_eq!(ledger.spent(branch), Usage { turns: 1, ..dollars(1.0) });
    assert_eq!(ledger.in_flight(), 0);
}

#[test]
fn an_absurd_report_spends_everything_and_nothing_overflows() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 2);
    for turn in turns {
        let absurd = Usage { output_tokens: u64::MAX, duration_ms: u64::MAX, ..dollars(f64::INFINITY) };
        ledger.report(turn, &absurd, NOW);
        ledger.settle(turn, Some(&absurd), Ended::Whole, NOW);
    }
    assert_eq!(ledger.spent(branch).cost, Usd::MAX);
    assert!(ledger.check(branch, NOW).is_err());
}

#[test]
fn a_turn_that_reports_nothing_costs_nothing_and_counts() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.handed_over(turn, NOW);
    ledger.settle(turn, None, Ended::Whole, NOW);
    assert_eq!(ledger.spent(branch), Usage { turns: 1, ..Usage::default() });
}

#[test]
fn all_figures_are_totals_of_their_own() {
    let (mut ledger, branch, class) = one_branch(Limits::default());
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    let first = Usage { turns: 7, input_tokens: 10, output_tokens: 2, cache_read_tokens: 3, ..Usage::default() };
    let second = Usage { input_tokens: 4, output_tokens: 5, cache_write_tokens: 6, duration_ms: 8, ..Usage::default() };
    ledger.report(turn, &first, NOW);
    ledger.report(turn, &second, NOW);
    let most = Usage {
        turns: 1,
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 3,
        cache_write_tokens: 6,
        duration_ms: 8,
        ..Usage::default()
    };
    assert_eq!(ledger.spent(branch), most, "turns are counted by the host");
}

#[test]
fn the_source_of_a_sum_is_that_of_what_each_turn_said_last() {
    let (mut ledger, root, class) = one_branch(Limits::default());
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let said = |dollars_: f64, cost_source| Usage { cost_source, ..dollars(dollars_) };
    let first = ledger.ask(Ask::new(child, class), NOW);
    ledger.handed_over(first, NOW);
    assert_eq!(ledger.spent(root).cost_source, CostSource::Unknown);
    ledger.report(first, &Usage { cost_source: CostSource::Unknown, ..tokens(5) }, NOW);
    ledger.settle(first, Some(&said(0.1, CostSource::Reported)), Ended::Whole, NOW);
    assert_eq!(ledger.spent(root).cost_source, CostSource::Reported);
    let second = ledger.ask(Ask::new(root, class), NOW);
    ledger.settle(second, Some(&said(0.1, CostSource::Priced)), Ended::Whole, NOW);
    assert_eq!(ledger.spent(root).cost_source, CostSource::Mixed);
    assert_eq!(ledger.spent(child).cost_source, CostSource::Reported);
    // One that nothing could be charged for says nothing about it.
    let third = ledger.ask(Ask::new(child, class), NOW);
    ledger.settle(third, Some(&Usage { duration_ms: 5, ..Usage::default() }), Ended::Whole, NOW);
    assert_eq!(ledger.spent(child).cost_source, CostSource::Reported);
}

#[test]
fn decisions_come_once_and_not_to_turns_that_are_gone() {
    let mut ledger = Ledger::new(Some(2));
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 5);
    // One that has not heard yet that it may start, one that waits, twice.
    ledger.cancel(turns[0], NOW);
    ledger.cancel(turns[4], NOW);
    ledger.cancel(turns[4], NOW);
    assert_eq!(started(&mut ledger), turns[1..3]);
    assert_eq!(ledger.decide(NOW), []);
    assert_eq!(ledger.waiting(), 1);
    ledger.close(branch);
    assert_eq!(ledger.decide(NOW), [(turns[3], Decision::Gone)]);
    assert_eq!(ledger.waiting(), 0);
    assert_eq!(ledger.spent(branch), Usage::default());
}

#[test]
fn a_branch_that_has_ended_takes_no_turns_and_no_branches() {
    let (mut ledger, root, class) = one_branch(cost(1.0));
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let turn = ledger.ask(Ask::new(child, class), NOW);
    assert_eq!(started(&mut ledger), [turn]);
    ledger.close(child);
    let below = ledger.open(Some(child), Limits::default(), "1.1.1".into(), NOW);
    for account in [child, below] {
        let turn = ledger.ask(Ask::new(account, class), NOW);
        assert_eq!(ledger.decide(NOW), [(turn, Decision::Gone)]);
    }
    // What is still reported of its turns counts above.
    ledger.report(turn, &dollars(0.25), NOW);
    ledger.settle(turn, Some(&dollars(0.5)), Ended::Short, NOW);
    assert_eq!(ledger.spent(root).cost, Usd::from_dollars(0.5));
}

#[test]
fn accounts_and_turns_of_a_long_run_take_no_more_room_than_those_at_once() {
    let (mut ledger, root, class) = one_branch(cost(1e6));
    for _ in 0..20_000 {
        let branch = ledger.open(Some(root), cost(1.0), "1.1".into(), NOW);
        let own = Some(Limits { duration: Some(Duration::from_secs(1)), ..Limits::default() });
        let turn = ledger.ask(Ask { own, ..Ask::new(branch, class) }, NOW);
        assert_eq!(started(&mut ledger), [turn]);
        ledger.settle(turn, Some(&dollars(0.01)), Ended::Whole, NOW);
        ledger.close(branch);
    }
    assert_eq!(ledger.spent(root), Usage { turns: 20_000, ..dollars(200.0) });
    let (turns, accounts) = (ledger.turns.capacity(), ledger.accounts.capacity());
    assert!(turns < 2_000 && accounts < 4_000, "{turns} turns, {accounts} accounts");
}

#[test]
fn a_late_report_does_not_reach_a_turn_that_took_the_place() {
    let (mut ledger, branch, _) = one_branch(cost(1e6));
    let class = ledger.class("known", [Settled::default(); 20]);
    let old = ledger.ask(Ask::new(branch, class), NOW);
    ledger.settle(old, None, Ended::Whole, NOW);
    for _ in 0..3_000 {
        let turn = ledger.ask(Ask::new(branch, class), NOW);
        ledger.settle(turn, None, Ended::Whole, NOW);
    }
    ledger.report(old, &dollars(5.0), NOW);
    assert_eq!(ledger.spent(branch).cost, Usd::ZERO);
}
