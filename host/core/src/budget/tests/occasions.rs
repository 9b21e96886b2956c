//! S10: a turn that waits for the answer to an occasion is not in flight, so that a turn may be taken to decide.

use super::*;
use crate::budget::Settled;

#[test]
fn sessions_10_a_judging_turn_starts_inside_an_occasion_with_one_at_once() {
    let mut ledger = Ledger::new(Some(1));
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let worker = ledger.ask(Ask::new(branch, class), NOW);
    assert_eq!(started(&mut ledger), [worker]);
    ledger.pause(worker, NOW);
    assert_eq!((ledger.in_flight(), ledger.paused()), (0, 1));
    let judge = ledger.ask(Ask { deciding: true, ..Ask::new(branch, class) }, NOW);
    assert_eq!(started(&mut ledger), [judge]);
    // The judge may itself be judged.
    ledger.pause(judge, NOW);
    let above = ledger.ask(Ask { deciding: true, ..Ask::new(branch, class) }, NOW);
    assert_eq!(started(&mut ledger), [above]);
    for turn in [above, judge, worker] {
        ledger.unpause(turn, NOW);
        ledger.settle(turn, None, Ended::Whole, NOW);
    }
    assert_eq!((ledger.in_flight(), ledger.paused()), (0, 0));
}

#[test]
fn sessions_10_it_goes_on_without_being_admitted_again() {
    let mut ledger = Ledger::new(Some(1));
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 3);
    assert_eq!(started(&mut ledger), turns[..1]);
    ledger.pause(turns[0], NOW);
    assert_eq!(started(&mut ledger), turns[1..2]);
    ledger.unpause(turns[0], NOW);
    assert_eq!(ledger.in_flight(), 2, "beside the one that took its place");
    ledger.settle(turns[0], None, Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), [], "which is still there");
    ledger.settle(turns[1], None, Ended::Whole, NOW);
    assert_eq!(started(&mut ledger), turns[2..]);
}

#[test]
fn sessions_10_several_occasions_at_once_are_one_pause() {
    let mut ledger = Ledger::new(Some(1));
    let class = ledger.class("fake", []);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    ledger.unpause(turn, NOW);
    assert_eq!(ledger.in_flight(), 1, "an answer to nothing");
    ledger.pause(turn, NOW);
    ledger.pause(turn, NOW);
    ledger.unpause(turn, NOW);
    assert_eq!(ledger.in_flight(), 0, "one is still to be answered");
    ledger.unpause(turn, NOW);
    assert_eq!(ledger.in_flight(), 1);
}

#[test]
fn sessions_10_a_judge_starts_though_all_that_is_left_is_reserved_and_reserves_none_of_it() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 10);
    assert_eq!(started(&mut ledger), turns[..2], "each with half");
    ledger.pause(turns[0], NOW);
    assert_eq!(started(&mut ledger), [], "a pause lets no other spend what is reserved");
    // But a turn that decides starts at once, ahead of those that wait.
    let judge = ledger.ask(Ask { deciding: true, ..Ask::new(branch, class) }, NOW);
    assert_eq!(started(&mut ledger), [judge]);
    ledger.settle(judge, Some(&dollars(0.1)), Ended::Whole, NOW);
    ledger.unpause(turns[0], NOW);
    assert_eq!(started(&mut ledger), [], "what is left, 0.90, is still reserved by the two");
    assert_eq!(ledger.remaining(branch, NOW).cost, Some(Usd::from_dollars(0.9)));
}

#[test]
fn sessions_10_where_all_are_paused_whoever_asks_starts_if_anything_is_left() {
    let (mut ledger, branch, class) = one_branch(cost(1.0));
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 3);
    assert_eq!(started(&mut ledger), turns[..2]);
    ledger.pause(turns[0], NOW);
    ledger.pause(turns[1], NOW);
    assert_eq!(started(&mut ledger), turns[2..], "nothing is in flight and something is left");
}

#[test]
fn sessions_10_judges_go_ahead_of_a_line_in_the_order_in_which_they_asked() {
    let mut ledger = Ledger::new(Some(2));
    let class = ledger.class("known", [Settled::default(); 20]);
    let branch = ledger.open(None, Limits::default(), "1".into(), NOW);
    let turns = ask_many(&mut ledger, Ask::new(branch, class), 6);
    assert_eq!(started(&mut ledger), turns[..2]);
    let judges = ask_many(&mut ledger, Ask { deciding: true, ..Ask::new(branch, class) }, 2);
    let mut order: Vec<Ticket> = Vec::new();
    let mut going = turns[..2].to_vec();
    while !going.is_empty() {
        ledger.settle(going.remove(0), None, Ended::Whole, NOW);
        let next = started(&mut ledger);
        order.extend(&next);
        going.extend(next);
    }
    assert_eq!(order, [&judges[..], &turns[2..]].concat());
}

#[test]
fn sessions_10_a_turn_promised_to_a_paused_one_is_not_waited_for() {
    let limits = Limits { turns: Some(1), ..Limits::default() };
    let (mut ledger, branch, class) = one_branch(limits);
    let turn = ledger.ask(Ask::new(branch, class), NOW);
    let behind = ledger.ask(Ask::new(branch, class), NOW);
    assert_eq!(started(&mut ledger), [turn]);
    // It is asked something before its prompt is handed over, and the flow takes a turn to answer.
    ledger.pause(turn, NOW);
    assert_eq!(ledger.decide(NOW), [(behind, Decision::Refuse(spent(Limit::Turns, "1")))]);
    ledger.unpause(turn, NOW);
    ledger.handed_over(turn, NOW);
    assert_eq!(ledger.spent(branch).turns, 1);
}
