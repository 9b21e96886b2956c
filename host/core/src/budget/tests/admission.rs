//! $2 and S2: who starts when.

use super::*;
use crate::budget::{Settled, Waits};

fn settled(dollars: f64) -> Settled {
    Settled { cost: Usd::from_dollars(dollars), output_tokens: 0 }
}

#[test]
fn budget_2_a_hundred_turns_of_60_cents_at_once_under_a_dollar_spend_at_most_1_60() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    ask_many(&mut ledger, Ask::new(branch, class), 100);
    let played = play(&mut ledger, &dollars(0.6));
    assert!(ledger.spent(branch).cost <= Usd::from_dollars(1.6), "{:?}", ledger.spent(branch));
    assert!(played.landed >= 1);
    assert_eq!(played.refused, vec![spent(Limit::Cost, "1"); 100 - played.landed], "the flow is told which limit");
}

#[test]
fn budget_2_two_hundred_cheap_turns_with_no_history_all_land_and_widen_as_they_settle() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    ask_many(&mut ledger, Ask::new(branch, class), 200);
    let played = play(&mut ledger, &dollars(0.02));
    assert_eq!((played.landed, played.refused.len()), (200, 0));
    assert_eq!(ledger.spent(branch).cost, Usd::from_dollars(4.0));
    // At most max(2, twice the settled) until 20 have settled; then all.
    for (settled, in_flight) in played.in_flight.iter().enumerate().take(20) {
        assert_eq!(*in_flight, 2.max(2 * settled), "with {settled} settled");
    }
    assert_eq!(played.in_flight[20], 180);
}

#[test]
fn budget_2_a_flow_that_expects_nothing_changes_nothing() {
    let play_expecting = |expected| {
        let (mut ledger, branch, class) = one_branch(cost(1.0));
        let turns = ask_many(&mut ledger, Ask { expected, ..Ask::new(branch, class) }, 100);
        let mut told = ledger.decide(NOW);
        for turn in turns {
            ledger.settle(turn, Some(&dollars(0.3)), Ended::Whole, NOW);
            told.extend(ledger.decide(NOW));
        }
        (told, ledger.spent(branch))
    };
    assert_eq!(play_expecting(Some(Usd::ZERO)), play_expecting(None));
}

#[test]
fn budget_2_what_is_expected_counts_where_it_is_more() {
    let (mut ledger, branch, _) = one_branch(cost(10.0));
    let class = ledger.class("known", [settled(0.1); 20]);
    let dear = Ask { expected: Some(Usd::from_dollars(4.0)), ..Ask::new(branch, class) };
    let turns = ask_many(&mut ledger, dear, 5);
    assert_eq!(started(&mut ledger), turns[..2], "two of $4 fit under $10");
    ledger.settle(turns[0], Some(&dollars(0.1)), Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), turns[2..3]);
}

#[test]
fn budget_2_with_nothing_settled_a_turn_reserves_half_of_what_is_left() {
    let (mut ledger, branch, first) = one_branch(cost(1.0));
    let second = ledger.class("another", []);
    let turns = [first, second, second].map(|class| ledger.ask(Ask::new(branch, class), NOW));
    assert_eq!(started(&mut ledger), turns[..2]);
    let whose = "1".into();
    assert_eq!(ledger.why_waiting(turns[2]), Some(Waits::Limit { limit: Limit::Cost, whose }), "all is reserved");
}

#[test]
fn budget_2_the_estimate_is_the_90th_percentile_of_the_last_20() {
    let (mut ledger, branch, _) = one_branch(cost(100.0));
    // Of the last twenty, eighteen are at most $1; the dear ones before them no longer count.
    let history = [vec![settled(50.0); 30], vec![settled(1.0); 18], vec![settled(9.0); 2]].concat();
    let class = ledger.class("known", history);
    ask_many(&mut ledger, Ask::new(branch, class), 150);
    assert_eq!(started(&mut ledger).len(), 100);
}

#[test]
fn budget_2_from_the_first_settled_on_the_estimate_is_that_of_those_there_are() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 4);
    assert_eq!(started(&mut ledger), turns[..2]);
    ledger.settle(turns[0], Some(&dollars(4.5)), Ended::Whole, NOW);
    // Left is 5.50; the other holds 5 of it.
    assert_eq!(started(&mut ledger), []);
    ledger.settle(turns[1], Some(&dollars(0.0)), Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), turns[2..3], "one of $4.50 fits in 5.50, and not two");
}

#[test]
fn budget_2_earlier_runs_of_the_project_count() {
    let (mut ledger, branch, _) = one_branch(cost(10.0));
    let class = ledger.class("claude/opus:high", [settled(0.05); 20]);
    assert_eq!(ledger.class("claude/opus:high", []), class, "named again, it is the same");
    ask_many(&mut ledger, Ask::new(branch, class), 300);
    assert_eq!(started(&mut ledger).len(), 200, "as many as fit, all at once");
}

#[test]
fn budget_2_how_many_go_at_once_is_counted_by_class_over_the_run() {
    let mut ledger = Ledger::new(None);
    let (one, two) = (ledger.class("one", [settled(0.01)]), ledger.class("two", [settled(0.01)]));
    let root = ledger.open(None, cost(10.0), "1".into(), NOW);
    let children = ["1.1", "1.2", "1.3"].map(|whose| ledger.open(Some(root), Limits::default(), whose.into(), NOW));
    let turns = children.map(|child| ledger.ask(Ask::new(child, one), NOW));
    let other = ledger.ask(Ask::new(root, two), NOW);
    assert_eq!(started(&mut ledger), [turns[0], turns[1], other]);
    assert_eq!(ledger.why_waiting(turns[2]), Some(Waits::Class("one".into())));
}

#[test]
fn budget_2_interrupted_turns_neither_lower_the_estimate_nor_widen() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 100);
    let mut going = started(&mut ledger);
    for _ in 0..50 {
        assert_eq!(going.len(), 2);
        let turn = going.remove(0);
        ledger.handed_over(turn, NOW);
        ledger.cancel(turn, NOW);
        going.extend(started(&mut ledger));
    }
    assert_eq!(going, turns[50..52]);
    // One that was dear shows that they may be.
    let (mut ledger, branch, _) = one_branch(cost(10.0));
    let class = ledger.class("known", [settled(0.01); 20]);
    let dear = ledger.ask(Ask::new(branch, class), NOW);
    for _ in 0..3 {
        let dear = ledger.ask(Ask::new(branch, class), NOW);
        ledger.settle(dear, Some(&dollars(2.0)), Ended::Short, NOW);
    }
    ledger.cancel(dear, NOW);
    ledger.decide(NOW);
    ask_many(&mut ledger, Ask::new(branch, class), 100);
    assert_eq!(started(&mut ledger).len(), 2, "$4 are left for turns of $2");
}

#[test]
fn budget_2_a_turn_that_passes_its_reservation_holds_as_much_again() {
    let (mut ledger, branch, _) = one_branch(cost(10.0));
    let class = ledger.class("known", [settled(1.0); 20]);
    let runaway = ledger.ask(Ask::new(branch, class), NOW);
    ledger.report(runaway, &dollars(4.0), NOW);
    // Spent is 4, and as much again is held.
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 5);
    assert_eq!(started(&mut ledger), [&[runaway], &turns[..2]].concat());
    // It does not take what others have reserved.
    ledger.report(runaway, &dollars(7.5), NOW);
    ledger.report(runaway, &dollars(8.5), NOW);
    assert_eq!(started(&mut ledger), []);
    ledger.settle(runaway, None, Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), [], "what is left is held by the two");
}

#[test]
fn budget_2_streaming_moves_a_reservation_and_counts_nothing_twice() {
    let (mut ledger, branch, _) = one_branch(cost(10.0));
    let class = ledger.class("known", [settled(4.0); 20]);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 3);
    assert_eq!(started(&mut ledger), turns[..2]);
    for so_far in [1.0, 2.0, 3.0, 4.0] {
        ledger.report(turns[0], &dollars(so_far), NOW);
        assert_eq!(started(&mut ledger), [], "free stays at 2");
        assert_eq!(ledger.remaining(branch, NOW).cost, Some(Usd::from_dollars(10.0 - so_far)));
    }
    ledger.report(turns[1], &dollars(4.0), NOW);
    assert_eq!(started(&mut ledger), turns[2..], "only 2 are left, and they are free");
}

#[test]
fn budget_2_output_tokens_are_reserved_like_cost_and_both_must_fit() {
    let both = Limits { output_tokens: Some(1000), ..cost(10.0) };
    let (mut ledger, branch, _) = one_branch(both);
    let class = ledger.class("known", [Settled { cost: Usd::from_dollars(0.1), output_tokens: 400 }; 20]);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 4);
    assert_eq!(started(&mut ledger), turns[..2]);
    assert!(matches!(ledger.why_waiting(turns[2]), Some(Waits::Limit { limit: Limit::OutputTokens, .. })));
    ledger.settle(turns[0], Some(&tokens(400)), Ended::Whole, NOW);
    ledger.settle(turns[1], Some(&tokens(700)), Ended::Whole, NOW);
    let refuse = Decision::Refuse(spent(Limit::OutputTokens, "1"));
    assert_eq!(ledger.decide(NOW), [(turns[2], refuse.clone()), (turns[3], refuse)]);
}

#[test]
fn budget_2_a_turn_fits_at_every_level_or_waits() {
    let mut ledger = Ledger::new(None);
    let class = ledger.class("known", [settled(1.0); 20]);
    let root = ledger.open(None, cost(3.0), "1".into(), NOW);
    let wide = ledger.open(Some(root), cost(100.0), "1.1".into(), NOW);
    let narrow = ledger.open(Some(root), cost(1.5), "1.2".into(), NOW);
    let inside = ask_many(&mut ledger, Ask::new(narrow, class), 2);
    let beside = ask_many(&mut ledger, Ask::new(wide, class), 3);
    // The branch that waits at its own limit is not in the way of its sibling, which then waits at the limit above both.
    assert_eq!(started(&mut ledger), [inside[0], beside[0], beside[1]]);
    assert_eq!(ledger.why_waiting(inside[1]), Some(Waits::Limit { limit: Limit::Cost, whose: "1.2".into() }));
    assert_eq!(ledger.why_waiting(beside[2]), Some(Waits::Limit { limit: Limit::Cost, whose: "1".into() }));
}

#[test]
fn budget_2_small_turns_do_not_starve_a_big_one_that_asked_before_them() {
    let mut ledger = Ledger::new(None);
    let (small, big) = (ledger.class("small", [settled(1.0); 20]), ledger.class("big", [settled(9.0); 20]));
    let root = ledger.open(None, cost(1000.0), "1".into(), NOW);
    let narrow = ledger.open(Some(root), cost(100.0), "1.1".into(), NOW);
    let sibling = ledger.open(Some(narrow), Limits::default(), "1.1.1".into(), NOW);
    let free = ledger.open(Some(root), Limits::default(), "1.2".into(), NOW);
    let first = ask_many(&mut ledger, Ask::new(narrow, small), 95);
    let waits = ledger.ask(Ask::new(narrow, big), NOW);
    let behind = [ledger.ask(Ask::new(narrow, small), NOW), ledger.ask(Ask::new(sibling, small), NOW)];
    let elsewhere = ledger.ask(Ask::new(free, small), NOW);
    // 5 are free: not enough for it; enough for those behind it, who wait all the same where they share its limit.
    assert_eq!(started(&mut ledger), [&first[..], &[elsewhere]].concat());
    // They cost nothing, so each makes room.
    for turn in &first[..3] {
        ledger.settle(*turn, Some(&dollars(0.0)), Ended::Whole, NOW);
        assert_eq!(started(&mut ledger), []);
    }
    ledger.settle(first[3], Some(&dollars(0.0)), Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), [waits]);
    ledger.settle(waits, Some(&dollars(0.0)), Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), behind);
}

#[test]
fn budget_2_without_a_limit_on_cost_or_tokens_nothing_waits() {
    let limits = Limits { turns: Some(20_000), duration: Some(Duration::from_secs(60)), ..Limits::default() };
    let (mut ledger, root, class) = one_branch(limits);
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let turns = ask_many(&mut ledger, Ask::new(child, class), 10_000);
    assert_eq!(started(&mut ledger), turns);
    assert_eq!((ledger.waiting(), ledger.in_flight()), (0, 10_000));
}

#[test]
fn caps_2_at_most_so_many_go_at_once_and_the_rest_start_in_order() {
    let mut ledger = Ledger::new(Some(3));
    let class = ledger.class("fake", []);
    let root = ledger.open(None, Limits::default(), "1".into(), NOW);
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let turns: Vec<_> = (0..50).map(|turn| ledger.ask(Ask::new([root, child][turn % 2], class), NOW)).collect();
    assert_eq!(started(&mut ledger), turns[..3]);
    assert_eq!(ledger.why_waiting(turns[3]), Some(Waits::AtOnce(3)));
    for (turn, next) in turns.iter().zip(&turns[3..]) {
        ledger.settle(*turn, None, Ended::Whole, NOW);
        assert_eq!(started(&mut ledger), [*next]);
        assert_eq!(ledger.in_flight(), 3);
    }
}

/// Looks at turns that 10,000 cost which wait like this.
fn looks_at(mut ledger: Ledger, class: ClassId, branches: &[AccountId]) -> u64 {
    for turn in 0..10_000 {
        ledger.ask(Ask::new(branches[turn % branches.len()], class), NOW);
    }
    assert!(ledger.waiting() >= 9_000);
    assert_eq!(play(&mut ledger, &dollars(0.01)).landed, 10_000);
    ledger.looks.get()
}

#[test]
fn budget_2_ten_thousand_that_wait_cost_a_few_looks_each() {
    // For the cap, in one line and in many.
    let mut ledger = Ledger::new(Some(2));
    let class = ledger.class("fake", []);
    let root = ledger.open(None, Limits::default(), "1".into(), NOW);
    assert!(looks_at(ledger, class, &[root]) < 40_000);

    let mut ledger = Ledger::new(Some(2));
    let class = ledger.class("fake", []);
    let branches: Vec<_> =
        (0..1000).map(|at| ledger.open(None, Limits::default(), at.to_string().into(), NOW)).collect();
    assert!(looks_at(ledger, class, &branches) < 40_000);

    // For one limit above all, and each for its own.
    let mut ledger = Ledger::new(None);
    let class = ledger.class("fake", [settled(60.0); 20]);
    let root = ledger.open(None, cost(200.0), "1".into(), NOW);
    let under = |ledger: &mut Ledger, limits| -> Vec<_> {
        (0..1000).map(|at| ledger.open(Some(root), limits, format!("1.{at}").into(), NOW)).collect()
    };
    let branches = under(&mut ledger, Limits::default());
    assert!(looks_at(ledger, class, &branches) < 60_000);

    let mut ledger = Ledger::new(None);
    let class = ledger.class("fake", [settled(60.0); 20]);
    let root = ledger.open(None, Limits::default(), "1".into(), NOW);
    let branches: Vec<_> =
        (0..1000).map(|at| ledger.open(Some(root), cost(1.0), format!("1.{at}").into(), NOW)).collect();
    assert!(looks_at(ledger, class, &branches) < 60_000);
}

#[test]
fn what_a_turn_waits_for_reads_well() {
    let mut ledger = Ledger::new(Some(4));
    let class = ledger.class("claude/opus:high", []);
    let branch = ledger.open(None, cost(1.0), "20260101-120000-abcd/1".into(), NOW);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 3);
    let why = |ledger: &Ledger, turn| ledger.why_waiting(turn).map(|why| why.to_string());
    assert_eq!(why(&ledger, turns[0]), None, "it does not wait");
    assert_eq!(
        why(&ledger, turns[2]).as_deref(),
        Some("what is left of the cost of branch 20260101-120000-abcd/1 is held by turns in flight")
    );
    assert_eq!(Waits::AtOnce(4).to_string(), "--at-once 4");
    assert_eq!(
        Waits::Class("claude/opus:high".into()).to_string(),
        "what the first turns of claude/opus:high cost is not known yet"
    );
}
