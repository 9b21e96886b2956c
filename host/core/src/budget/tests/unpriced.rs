//! $4: what has no price does not run under a limit on cost.

use super::*;
use crate::usage::Grace;

/// Tokens, and nobody knows what they cost.
fn unknown(output_tokens: u64) -> Usage {
    Usage { output_tokens, ..Usage::default() }
}

fn unpriced(whose: &str) -> Refusal {
    Refusal::Unpriced { class: "fake".into(), whose: whose.into() }
}

#[test]
fn a_class_whose_turns_have_no_price_is_refused_under_a_limit_on_cost() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 4);
    assert_eq!(started(&mut ledger), turns[..2]);
    // It may still say what it cost.
    ledger.report(turns[0], &unknown(5), NOW);
    assert_eq!(ledger.decide(NOW), []);
    ledger.settle(turns[0], Some(&unknown(9)), Ended::Whole, NOW);
    let refused = Decision::Refuse(unpriced("1"));
    assert_eq!(ledger.decide(NOW), [(turns[2], refused.clone()), (turns[3], refused.clone())]);
    assert_eq!(ledger.another(turns[1], NOW), Err(unpriced("1")));
    let late = ledger.ask(Ask::new(branch, class), NOW);
    assert_eq!(ledger.decide(NOW), [(late, refused)]);
    assert_eq!(ledger.spent(branch).output_tokens, 9);
    // One that ends with a cost shows that it is known after all.
    ledger.settle(turns[1], Some(&dollars(0.1)), Ended::Whole, NOW);
    let next = ledger.ask(Ask::new(branch, class), NOW);
    assert_eq!(ledger.decide(NOW), [(next, Decision::Start)]);
}

#[test]
fn an_agent_that_says_its_cost_last_may_be_interrupted_but_not_for_ever() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    for nth in 0..4 {
        let turn = ledger.ask(Ask::new(branch, class), NOW);
        let told = if nth < 3 { Decision::Start } else { Decision::Refuse(unpriced("1")) };
        assert_eq!(ledger.decide(NOW), [(turn, told)], "{nth}");
        ledger.settle(turn, Some(&unknown(5)), Ended::Short, NOW);
    }
}

#[test]
fn another_class_and_a_branch_without_a_limit_on_cost_go_on() {
    let mut ledger = Ledger::new(None);
    let (fake, other) = (ledger.class("fake", []), ledger.class("other", []));
    let root = ledger.open(None, Limits { turns: Some(9), ..Limits::default() }, "1".into(), NOW);
    let child = ledger.open(Some(root), cost(1.0), "1.1".into(), NOW);
    let first = ledger.ask(Ask::new(root, fake), NOW);
    assert_eq!(started(&mut ledger), [first]);
    ledger.settle(first, Some(&unknown(5)), Ended::Whole, NOW);
    let asked = [(root, fake), (child, other), (child, fake)].map(|(at, class)| ledger.ask(Ask::new(at, class), NOW));
    let told = [Decision::Start, Decision::Start, Decision::Refuse(unpriced("1.1"))];
    assert_eq!(ledger.decide(NOW), asked.into_iter().zip(told).collect::<Vec<_>>());
}

#[test]
fn a_turn_that_used_nothing_or_whose_cost_is_known_is_no_reason_to_refuse_others() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    for total in [Usage::default(), tokens(5), dollars(0.1)] {
        let turn = ledger.ask(Ask::new(branch, class), NOW);
        assert_eq!(started(&mut ledger), [turn]);
        ledger.settle(turn, Some(&total), Ended::Whole, NOW);
    }
}

#[test]
fn a_person_may_let_what_has_no_price_run_and_count_as_nothing() {
    let mut ledger = Ledger::new(None).allowing_unpriced(true);
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits { grace: Grace::Cut, ..cost(1.0) }, "1".into(), NOW);
    for _ in 0..30 {
        let turn = ledger.ask(Ask::new(branch, class), NOW);
        assert_eq!(started(&mut ledger), [turn]);
        ledger.settle(turn, Some(&unknown(1000)), Ended::Whole, NOW);
    }
    assert_eq!(ledger.spent(branch), Usage { turns: 30, output_tokens: 30_000, ..Usage::default() });
}
