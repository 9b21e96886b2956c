//! $1 and $3: what limits, and what becomes of it once it is spent.

use super::*;
use crate::{
    budget::{Settled, Waits},
    usage::Grace,
};

const fn turns(turns: u32) -> Limits {
    Limits { cost: None, output_tokens: None, turns: Some(turns), duration: None, grace: Grace::Finish }
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[test]
fn budget_1_what_a_nested_child_spends_counts_once_in_each_account_above() {
    let (mut ledger, root, class) = one_branch(cost(10.0));
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let grandchild = ledger.open(Some(child), cost(2.0), "1.1.1".into(), NOW);
    let sibling = ledger.open(Some(root), cost(2.0), "1.2".into(), NOW);
    let turn = ledger.ask(Ask::new(grandchild, class), NOW);
    ledger.handed_over(turn, NOW);
    ledger.report(turn, &dollars(0.25), NOW);
    ledger.settle(turn, Some(&dollars(0.5)), Ended::Whole, NOW);
    for account in [root, child, grandchild] {
        assert_eq!(ledger.spent(account), Usage { turns: 1, ..dollars(0.5) });
    }
    assert_eq!(ledger.spent(sibling), Usage::default());
    assert_eq!(ledger.close(grandchild), Usage { turns: 1, ..dollars(0.5) });
    assert_eq!(ledger.spent(root).cost, Usd::from_dollars(0.5), "its end changes nothing above");
}

#[test]
fn budget_1_a_branch_has_the_tighter_of_its_own_limit_and_what_is_left_above() {
    let above = Limits { output_tokens: Some(500), turns: Some(9), duration: Some(minutes(5)), ..cost(1.0) };
    let (mut ledger, root, class) = one_branch(above);
    let own = Limits { output_tokens: Some(900), turns: Some(3), duration: Some(minutes(30)), ..cost(0.8) };
    let child = ledger.open(Some(root), own, "1.1".into(), minutes(1));
    let turn = ledger.ask(Ask::new(root, class), minutes(2));
    ledger.settle(turn, Some(&dollars(0.7)), Ended::Whole, minutes(2));
    let left = ledger.remaining(child, minutes(2));
    assert_eq!(left.cost, Some(Usd::from_dollars(1.0).less(Usd::from_dollars(0.7))));
    assert_eq!((left.output_tokens, left.turns), (Some(500), Some(3)));
    assert_eq!(left.duration, Some(minutes(3)), "five minutes of the root from its start");
    // Nothing is limited where nothing limits.
    let (ledger, free, _) = one_branch(Limits::default());
    assert_eq!(ledger.remaining(free, NOW), Default::default());
}

#[test]
fn budget_1_a_turn_limited_alone_leaves_its_branch_alone() {
    let (mut ledger, branch, class) = one_branch(cost(10.0));
    let own = Limits { grace: Grace::Cut, duration: Some(minutes(1)), ..cost(0.1) };
    let turn = ledger.ask(Ask { own: Some(own), ..Ask::new(branch, class) }, NOW);
    assert_eq!(started(&mut ledger), [turn]);
    ledger.report(turn, &dollars(0.2), NOW);
    assert_eq!(ledger.decide(NOW), [(turn, Decision::Cut(spent_limit(Limit::Cost, "1")))]);
    ledger.settle(turn, None, Ended::Short, NOW);
    assert_eq!(ledger.next_deadline(), None, "its time is over with it");
    assert_eq!(ledger.spent(branch).cost, Usd::from_dollars(0.2));
    assert_eq!(ledger.check(branch, NOW), Ok(()));
    let next = ledger.ask(Ask { own: Some(cost(0.0)), ..Ask::new(branch, class) }, NOW);
    let after = ledger.ask(Ask::new(branch, class), NOW);
    assert_eq!(ledger.decide(NOW), [(next, Decision::Refuse(spent(Limit::Cost, "1"))), (after, Decision::Start)]);
}

#[test]
fn budget_1_the_time_of_a_turn_runs_from_its_start() {
    let mut ledger = Ledger::new(Some(1));
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let before = ledger.ask(Ask::new(branch, class), NOW);
    let own = Limits { duration: Some(minutes(1)), grace: Grace::Cut, ..Limits::default() };
    let turn = ledger.ask(Ask { own: Some(own), ..Ask::new(branch, class) }, NOW);
    ledger.decide(minutes(10));
    assert_eq!(ledger.next_deadline(), None);
    ledger.settle(before, None, Ended::Whole, minutes(10));
    assert_eq!(ledger.decide(minutes(10)), [(turn, Decision::Start)]);
    assert_eq!(ledger.next_deadline(), Some(minutes(11)));
    assert_eq!(ledger.decide(minutes(11)), [(turn, Decision::Cut(spent_limit(Limit::Duration, "1")))]);
}

#[test]
fn budget_2_a_limit_on_turns_is_exact() {
    let (mut ledger, root, class) = one_branch(turns(5));
    let child = ledger.open(Some(root), Limits::default(), "1.1".into(), NOW);
    let asked: Vec<_> = (0..20).map(|turn| ledger.ask(Ask::new([root, child][turn % 2], class), NOW)).collect();
    assert_eq!(started(&mut ledger), asked[..5], "those in flight count");
    assert_eq!(ledger.waiting(), 15, "a prompt may yet fail to be handed over");
    assert_eq!(ledger.why_waiting(asked[5]), Some(Waits::Limit { limit: Limit::Turns, whose: "1".into() }));
    for turn in &asked[..4] {
        ledger.handed_over(*turn, NOW);
    }
    assert_eq!(ledger.another(asked[0], NOW), Err(spent(Limit::Turns, "1")), "the last is promised to the fifth");
    assert_eq!(ledger.decide(NOW), []);
    // The program of the fifth is not there: no prompt, no turn.
    ledger.settle(asked[4], None, Ended::Short, NOW);
    assert_eq!(started(&mut ledger), asked[5..6]);
    ledger.handed_over(asked[5], NOW);
    assert_eq!(ledger.spent(root).turns, 5);
    let refused = ledger.decide(NOW);
    assert_eq!(refused.len(), 14);
    assert!(refused.iter().all(|(_, told)| *told == Decision::Refuse(spent(Limit::Turns, "1"))));
    assert_eq!(ledger.check(child, NOW).map_err(Refusal::Spent), Err(spent(Limit::Turns, "1")));
}

#[test]
fn sessions_9_a_repair_counts_as_one_more_turn() {
    let (mut ledger, branch, class) = one_branch(turns(3));
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.handed_over(turn, NOW);
    ledger.handed_over(turn, NOW);
    assert_eq!(ledger.spent(branch).turns, 1, "the first is handed over once");
    assert_eq!(ledger.another(turn, NOW), Ok(()));
    assert_eq!(ledger.another(turn, NOW), Ok(()));
    assert_eq!(ledger.another(turn, NOW), Err(spent(Limit::Turns, "1")));
    assert_eq!(ledger.spent(branch).turns, 3);
    assert_eq!(started(&mut ledger), [turn], "and it may finish");
}

#[test]
fn sessions_9_no_repair_once_a_limit_is_spent() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.handed_over(turn, NOW);
    ledger.report(turn, &dollars(1.0), NOW);
    assert_eq!(ledger.another(turn, NOW), Err(spent(Limit::Cost, "1")));
}

#[test]
fn budget_2_time_is_a_deadline() {
    let (mut ledger, root, class) = one_branch(Limits { duration: Some(minutes(2)), ..cost(1.0) });
    let child =
        ledger.open(Some(root), Limits { duration: Some(minutes(9)), ..Limits::default() }, "1.1".into(), minutes(1));
    let asked = ask_many(&mut ledger, Ask::new(child, class), 4);
    assert_eq!(started(&mut ledger), asked[..2]);
    assert_eq!(ledger.next_deadline(), Some(minutes(2)));
    assert_eq!(
        ledger.check(child, minutes(2)).map_err(Refusal::Spent),
        Err(spent(Limit::Duration, "1")),
        "asked before anything was decided"
    );
    let refuse = Decision::Refuse(spent(Limit::Duration, "1"));
    // Those in flight may finish; who waits is refused, and so is who asks later.
    assert_eq!(ledger.decide(minutes(2)), [(asked[2], refuse.clone()), (asked[3], refuse.clone())]);
    assert_eq!(ledger.in_flight(), 2);
    let late = ledger.ask(Ask::new(child, class), minutes(1));
    assert_eq!(ledger.decide(minutes(1)), [(late, refuse)], "time does not go back");
    ledger.close(child);
    assert_eq!(ledger.next_deadline(), None, "a branch that has ended has none");
}

#[test]
fn budget_3_cut_interrupts_what_runs_in_the_branch_and_below_and_nothing_else() {
    let mut ledger = Ledger::new(None);
    let class = ledger.class("known", [Settled::default(); 20]);
    let root = ledger.open(None, Limits::default(), "1".into(), NOW);
    let cut = ledger.open(Some(root), Limits { grace: Grace::Cut, ..cost(1.0) }, "1.1".into(), NOW);
    let below = ledger.open(Some(cut), cost(5.0), "1.1.1".into(), NOW);
    let asked = [root, cut, below, below].map(|account| ledger.ask(Ask::new(account, class), NOW));
    assert_eq!(started(&mut ledger), asked);
    ledger.pause(asked[3], NOW);
    ledger.report(asked[2], &dollars(0.99), NOW);
    assert_eq!(ledger.decide(NOW), []);
    ledger.report(asked[2], &dollars(1.0), NOW);
    let mut told = ledger.decide(NOW);
    told.sort_by_key(|(ticket, _)| *ticket);
    let told_cut = Decision::Cut(spent_limit(Limit::Cost, "1.1"));
    assert_eq!(told, [asked[1], asked[2], asked[3]].map(|turn| (turn, told_cut.clone())), "a paused one too");
    ledger.report(asked[2], &dollars(2.0), NOW);
    assert_eq!(ledger.decide(NOW), [], "once");
    for turn in asked {
        ledger.settle(turn, None, Ended::Short, NOW);
    }
    assert_eq!(ledger.check(root, NOW), Ok(()));
}

#[test]
fn budget_3_finish_lets_the_turn_under_way_end() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    let asked = ask_many(&mut ledger, Ask::new(branch, class), 3);
    assert_eq!(started(&mut ledger), asked[..2]);
    ledger.report(asked[0], &dollars(3.0), NOW);
    assert_eq!(ledger.decide(NOW), [(asked[2], Decision::Refuse(spent(Limit::Cost, "1")))]);
    ledger.settle(asked[1], Some(&dollars(0.5)), Ended::Whole, NOW);
    assert_eq!(ledger.spent(branch).cost, Usd::from_dollars(3.5));
}

#[test]
fn budget_3_a_limit_on_turns_cuts_nothing_since_the_last_is_within_it() {
    let (mut ledger, branch, class) = one_branch(Limits { grace: Grace::Cut, ..turns(1) });
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.handed_over(turn, NOW);
    assert_eq!(ledger.decide(NOW), [(turn, Decision::Start)]);
}

#[test]
fn budget_3_turns_spent_first_do_not_keep_cost_from_cutting() {
    let (mut ledger, branch, class) = one_branch(Limits { grace: Grace::Cut, turns: Some(1), ..cost(1.0) });
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.handed_over(turn, NOW);
    ledger.report(turn, &dollars(1.5), NOW);
    assert_eq!(ledger.decide(NOW), [(turn, Decision::Start), (turn, Decision::Cut(spent_limit(Limit::Cost, "1")))]);
    assert_eq!(
        ledger.check(branch, NOW).map_err(Refusal::Spent),
        Err(spent(Limit::Turns, "1")),
        "the first that was spent is the one it says"
    );
}

#[test]
fn budget_3_spent_stays_spent_for_the_branch_and_all_below_and_not_above() {
    let (mut ledger, root, class) = one_branch(cost(10.0));
    let child = ledger.open(Some(root), cost(1.0), "1.1".into(), NOW);
    let turn = ledger.ask(Ask::new(child, class), NOW);
    ledger.report(turn, &dollars(1.0), NOW);
    // It takes it back; the limit stays spent.
    ledger.report(turn, &dollars(0.1), NOW);
    ledger.settle(turn, Some(&dollars(0.0)), Ended::Whole, NOW);
    ledger.decide(NOW);
    let below = ledger.open(Some(child), cost(5.0), "1.1.1".into(), NOW);
    for account in [child, below] {
        assert_eq!(ledger.check(account, NOW).map_err(Refusal::Spent), Err(spent(Limit::Cost, "1.1")));
        let turn = ledger.ask(Ask::new(account, class), NOW);
        assert_eq!(ledger.decide(NOW), [(turn, Decision::Refuse(spent(Limit::Cost, "1.1")))]);
    }
    assert_eq!(ledger.check(root, NOW), Ok(()));
    let turn = ledger.ask(Ask::new(root, class), NOW);
    assert_eq!(started(&mut ledger), [turn]);
}

#[test]
fn budget_3_a_limit_of_nothing_is_spent_from_the_start() {
    let nothing = [
        (Limit::Cost, cost(0.0)),
        (Limit::OutputTokens, Limits { output_tokens: Some(0), ..Limits::default() }),
        (Limit::Turns, turns(0)),
        (Limit::Duration, Limits { duration: Some(Duration::ZERO), ..Limits::default() }),
    ];
    for (limit, limits) in nothing {
        let (mut ledger, branch, class) = one_branch(limits);
        let turn = ledger.ask(Ask::new(branch, class), NOW);
        assert_eq!(ledger.decide(NOW), [(turn, Decision::Refuse(spent(limit, "1")))]);
        assert_eq!(ledger.check(branch, NOW).map_err(Refusal::Spent), Err(spent(limit, "1")));
    }
}
