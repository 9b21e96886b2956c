//! Any interleaving of what can happen to a ledger, held against the slow one.

use proptest::{prelude::*, sample::Index};

use super::{
    model::{self, Model, State},
    *,
};
use crate::{
    budget::{
        account::Account,
        admission::{Answer, Gate},
        slots::Slots,
        turn,
    },
    usage::Grace,
};

const CLASSES: usize = 2;

/// Something that happens. Whom it happens to is an index into those there are.
#[derive(Clone, Debug)]
enum Op {
    Open { under: Index, limits: Limits },
    Close { account: Index },
    Ask { account: Index, class: usize, expected: Option<f64>, own: Option<Limits>, deciding: bool },
    HandedOver { turn: Index },
    Another { turn: Index },
    Report { turn: Index, late: bool, dollars: f64, tokens: u64 },
    Pause { turn: Index },
    Unpause { turn: Index },
    Settle { turn: Index, late: bool, total: Option<(f64, u64)>, whole: bool },
    Cancel { turn: Index },
    Tick { ms: u64 },
}

fn a_cost() -> impl Strategy<Value = f64> {
    prop_oneof![
        30 => 0.0..0.7,
        4 => Just(0.0),
        2 => 0.0..20.0,
        1 => prop::sample::select(vec![f64::NAN, -1.0, f64::NEG_INFINITY, 1e300, f64::INFINITY, -0.0]),
    ]
}

fn some_tokens() -> impl Strategy<Value = u64> {
    prop_oneof![30 => 0..700_u64, 4 => Just(0), 1 => Just(u64::MAX)]
}

/// Limits of a cost like this, and perhaps others.
fn limits(cost: impl Strategy<Value = Option<f64>>) -> impl Strategy<Value = Limits> {
    let tokens = prop_oneof![3 => Just(None), 2 => (0..6_000_u64).prop_map(Some)];
    let turns = prop_oneof![5 => Just(None), 1 => (0..12_u32).prop_map(Some)];
    let duration = prop_oneof![5 => Just(None), 1 => (0..200_u64).prop_map(Some)];
    (cost, tokens, turns, duration, any::<bool>()).prop_map(|(cost, output_tokens, turns, duration, cut)| Limits {
        cost: cost.map(Usd::from_dollars),
        output_tokens,
        turns,
        duration: duration.map(Duration::from_millis),
        grace: if cut { Grace::Cut } else { Grace::Finish },
    })
}

fn any_limits() -> impl Strategy<Value = Limits> {
    limits(prop_oneof![3 => Just(None), 1 => Just(Some(0.0)), 6 => (0.05..6.0).prop_map(Some)])
}

fn ops(
    classes: usize,
    limits: BoxedStrategy<Limits>,
    own: BoxedStrategy<Option<Limits>>,
) -> impl Strategy<Value = Vec<Op>> {
    let expected = prop_oneof![4 => Just(None), 1 => a_cost().prop_map(Some)];
    let total = prop_oneof![1 => Just(None), 3 => (a_cost(), some_tokens()).prop_map(Some)];
    let late = prop::bool::weighted(0.1);
    let turn = any::<Index>;
    let op = prop_oneof![
        4 => (any::<Index>(), limits).prop_map(|(under, limits)| Op::Open { under, limits }),
        3 => any::<Index>().prop_map(|account| Op::Close { account }),
        24 => (any::<Index>(), 0..classes, expected, own, prop::bool::weighted(0.1))
            .prop_map(|(account, class, expected, own, deciding)| Op::Ask { account, class, expected, own, deciding }),
        8 => turn().prop_map(|turn| Op::HandedOver { turn }),
        2 => turn().prop_map(|turn| Op::Another { turn }),
        12 => (turn(), late, a_cost(), some_tokens())
            .prop_map(|(turn, late, dollars, tokens)| Op::Report { turn, late, dollars, tokens }),
        4 => turn().prop_map(|turn| Op::Pause { turn }),
        4 => turn().prop_map(|turn| Op::Unpause { turn }),
        14 => (turn(), late, total, prop::bool::weighted(0.8))
            .prop_map(|(turn, late, total, whole)| Op::Settle { turn, late, total, whole }),
        2 => turn().prop_map(|turn| Op::Cancel { turn }),
        2 => (0..20_u64).prop_map(|ms| Op::Tick { ms }),
    ];
    prop::collection::vec(op, 1..160)
}

/// A ledger and the slow one beside it.
struct Pair {
    ledger: Ledger,
    model: Model,
    classes: Vec<ClassId>,
    /// Whether who starts is held against the slow one too. With several limits or classes the two may differ in the order
    /// of turns that wait for different things: the ledger looks at one again when something happens where it waits, and not
    /// when something elsewhere changes what it is expected to cost, or would have it wait at another gate.
    exact: bool,
}

impl Pair {
    fn new(at_once: Option<u32>, root: Limits, exact: bool) -> Self {
        let mut ledger = Ledger::new(at_once);
        // So few turns that are over are remembered that slots are soon used again.
        ledger.turns = Slots::new(4);
        let model =
            Model { at_once: at_once.map(|cap| cap as usize), settled: vec![vec![]; CLASSES], ..Model::default() };
        let mut pair = Self { ledger, model, classes: vec![], exact };
        pair.classes = (0..CLASSES).map(|class| pair.ledger.class(&class.to_string(), [])).collect();
        pair.open(None, root);
        pair.after();
        pair
    }

    fn open(&mut self, parent: Option<usize>, limits: Limits) {
        let now = self.model.now;
        let above = parent.map(|parent| self.model.accounts[parent].id.unwrap());
        let whose = self.model.accounts.len().to_string();
        let id = self.ledger.open(above, limits, whose.into(), now);
        let deadline = limits.duration.map(|duration| now + duration);
        self.model.accounts.push(model::Account {
            id: Some(id),
            parent,
            limits,
            deadline,
            closed: false,
            overrun: [0, 0],
        });
    }

    /// Branches that have not ended.
    fn branches(&self) -> Vec<usize> {
        let open = |at: &usize| self.model.accounts[*at].id.is_some() && !self.model.accounts[*at].closed;
        (0..self.model.accounts.len()).filter(open).collect()
    }

    fn turn(&self, index: Index, among: impl Fn(&model::Turn) -> bool) -> Option<usize> {
        let turns: Vec<usize> = (0..self.model.turns.len()).filter(|at| among(&self.model.turns[*at])).collect();
        (!turns.is_empty()).then(|| turns[index.index(turns.len())])
    }

    fn apply(&mut self, op: &Op) {
        let now = self.model.now;
        match *op {
            Op::Tick { ms } => self.model.now += Duration::from_millis(ms),
            Op::Open { under, limits } => {
                let branches = self.branches();
                if !branches.is_empty() {
                    self.open(Some(branches[under.index(branches.len())]), limits);
                }
            }
            Op::Close { account } => self.close(account),
            Op::Ask { account, class, expected, own, deciding } => self.ask(account, class, expected, own, deciding),
            Op::HandedOver { turn } => {
                let Some(at) = self.turn(turn, model::Turn::is_going) else { return };
                self.ledger.handed_over(self.model.turns[at].ticket, now);
                self.model.turns[at].prompts = self.model.turns[at].prompts.max(1);
            }
            Op::Another { turn } => {
                let Some(at) = self.turn(turn, model::Turn::is_going) else { return };
                let said = self.ledger.another(self.model.turns[at].ticket, now);
                self.model.turns[at].prompts = self.model.turns[at].prompts.max(1);
                let none_left = self.model.up(self.model.turns[at].account).into_iter().any(|level| {
                    let taken = self.model.handed_over(level) + self.model.promised(level);
                    let limit = self.model.accounts[level].limits.turns;
                    !self.model.over(level).is_empty() || limit.is_some_and(|most| taken >= most)
                });
                assert_eq!(said.is_err(), none_left);
                self.model.turns[at].prompts += u32::from(said.is_ok());
            }
            Op::Report { turn, late, dollars, tokens } => {
                let Some(at) = self.turn(turn, |turn| late || turn.is_going()) else { return };
                let so_far = usage(dollars, tokens);
                if self.is_remembered(at) {
                    self.model.report(at, amount(&so_far));
                }
                self.ledger.report(self.model.turns[at].ticket, &so_far, now);
                if self.model.turns[at].is_going() {
                    self.model.enlarge(at);
                }
            }
            Op::Pause { turn } => {
                let Some(at) = self.turn(turn, model::Turn::is_going) else { return };
                self.ledger.pause(self.model.turns[at].ticket, now);
                if let State::Going { occasions } = &mut self.model.turns[at].state {
                    *occasions += 1;
                }
            }
            Op::Unpause { turn } => {
                let Some(at) = self.turn(turn, model::Turn::is_going) else { return };
                self.ledger.unpause(self.model.turns[at].ticket, now);
                if let State::Going { occasions } = &mut self.model.turns[at].state {
                    *occasions = occasions.saturating_sub(1);
                }
            }
            Op::Settle { turn, late, total, whole } => {
                let Some(at) = self.turn(turn, |turn| late || turn.is_going()) else { return };
                self.settle(at, total, whole);
            }
            Op::Cancel { turn } => {
                let Some(at) = self.turn(turn, |turn| turn.state != State::Over) else { return };
                self.ledger.cancel(self.model.turns[at].ticket, now);
                self.end(at, false);
            }
        }
    }

    fn close(&mut self, account: Index) {
        let branches = self.branches();
        // The root ends with the run.
        if branches.len() < 2 {
            return;
        }
        let at = branches[1..][account.index(branches.len() - 1)];
        let spent = self.ledger.close(self.model.accounts[at].id.unwrap());
        assert_eq!(amount(&spent), self.model.spent(at));
        let account = &mut self.model.accounts[at];
        account.closed = true;
        account.deadline = account.deadline.filter(|deadline| *deadline <= self.model.now);
    }

    fn ask(&mut self, account: Index, class: usize, expected: Option<f64>, own: Option<Limits>, deciding: bool) {
        // Those that have ended may be asked in by mistake.
        let branches: Vec<usize> =
            (0..self.model.accounts.len()).filter(|at| self.model.accounts[*at].id.is_some()).collect();
        let line = branches[account.index(branches.len())];
        let ask = Ask {
            account: self.model.accounts[line].id.unwrap(),
            class: self.classes[class],
            expected: expected.map(Usd::from_dollars),
            own,
            deciding,
        };
        let ticket = self.ledger.ask(ask, self.model.now);
        let line = if self.model.accounts[line].closed { self.nowhere() } else { line };
        let own = own.filter(|own| !own.is_none()).map(|limits| {
            let parent = Some(line);
            let own = model::Account { id: None, parent, limits, deadline: None, closed: true, overrun: [0, 0] };
            self.model.accounts.push(own);
            self.model.accounts.len() - 1
        });
        self.model.turns.push(model::Turn {
            ticket,
            account: own.unwrap_or(line),
            line,
            class,
            expected: Usd::from_dollars(expected.unwrap_or(0.0)).0.into(),
            deciding,
            state: State::Waiting,
            told: false,
            cut: false,
            prompts: 0,
            reported: [0, 0],
            first: [0, 0],
            reserved: [0, 0],
        });
    }

    /// An account of a branch that is not there.
    fn nowhere(&mut self) -> usize {
        let limits = Limits::default();
        self.model.accounts.push(model::Account {
            id: None,
            parent: None,
            limits,
            deadline: None,
            closed: true,
            overrun: [0, 0],
        });
        self.model.accounts.len() - 1
    }

    fn settle(&mut self, at: usize, total: Option<(f64, u64)>, whole: bool) {
        let said = total.map(|(dollars, tokens)| usage(dollars, tokens));
        let ended = if whole { Ended::Whole } else { Ended::Short };
        if let Some(said) = said.as_ref().filter(|_| self.is_remembered(at)) {
            self.model.report(at, amount(said));
        }
        self.ledger.settle(self.model.turns[at].ticket, said.as_ref(), ended, self.model.now);
        self.end(at, whole);
    }

    /// Whether a report of a turn still counts. Of one that is not over it does.
    fn is_remembered(&self, at: usize) -> bool {
        let turn = &self.model.turns[at];
        let remembered = self.ledger.turns.find(turn.ticket.0).is_some();
        assert!(remembered || turn.state == State::Over);
        remembered
    }

    fn end(&mut self, at: usize, whole: bool) {
        if self.model.turns[at].is_going() {
            self.model.settle(at, whole);
        } else {
            self.model.turns[at].state = State::Over;
        }
    }

    /// Whatever happened: what is decided is right, and all sums are.
    fn after(&mut self) {
        // Those that are to be turned away go first; then the slow one starts who can.
        let decided = self.ledger.decide(self.model.now);
        for (ticket, decision) in &decided {
            if let Decision::Refuse(Refusal::Spent(spent)) = decision {
                self.refused(*ticket, spent);
            } else if *decision == Decision::Gone {
                let at = self.waits(*ticket);
                assert!(self.model.accounts[self.model.turns[at].line].closed);
                self.model.turns[at].state = State::Over;
            }
        }
        let starts: Vec<Ticket> =
            decided.iter().filter(|(_, decision)| *decision == Decision::Start).map(|(ticket, _)| *ticket).collect();
        if self.exact {
            let expected: Vec<Ticket> = self.model.starts().into_iter().map(|at| self.model.turns[at].ticket).collect();
            assert_eq!(starts, expected, "who starts");
            for ticket in starts {
                let turn = self.model.turns.iter_mut().find(|turn| turn.ticket == ticket).unwrap();
                assert!(!std::mem::replace(&mut turn.told, true));
            }
        } else {
            for ticket in starts {
                self.starts(ticket);
            }
        }
        for (ticket, decision) in &decided {
            if let Decision::Cut(spent) = decision {
                let at = self.model.turns.iter().position(|turn| turn.ticket == *ticket).unwrap();
                let turn = &mut self.model.turns[at];
                assert!(turn.is_going() && !std::mem::replace(&mut turn.cut, true), "$3: cut once");
                assert_ne!(spent.limit, Limit::Turns);
            }
        }
        self.agree();
    }

    /// The turn of a ticket that has heard nothing so far.
    fn waits(&mut self, ticket: Ticket) -> usize {
        let at = self.model.turns.iter().position(|turn| turn.ticket == ticket).unwrap();
        let turn = &mut self.model.turns[at];
        assert_eq!(turn.state, State::Waiting);
        assert!(!std::mem::replace(&mut turn.told, true), "each decision comes once");
        at
    }

    fn refused(&mut self, ticket: Ticket, spent: &SpentLimit) {
        let at = self.waits(ticket);
        let turn = &self.model.turns[at];
        let says = |level: usize| {
            let own = self.model.accounts[level].id.is_none();
            spent.whose == if own { turn.line } else { level }.to_string()
        };
        let is_so = |level: usize| {
            let limits = &self.model.accounts[level].limits;
            let taken = self.model.handed_over(level) + self.model.promised(level);
            // $2: "fails with budget when none could make room".
            let none_can = limits.turns.is_some_and(|most| taken >= most) && self.model.going(level) == 0;
            self.model.over(level).contains(&spent.limit) || spent.limit == Limit::Turns && none_can
        };
        assert!(self.model.up(turn.account).into_iter().any(|level| says(level) && is_so(level)), "{spent:?} is spent");
        self.model.turns[at].state = State::Over;
    }

    fn starts(&mut self, ticket: Ticket) {
        let at = self.waits(ticket);
        let turn = self.model.turns[at].clone();
        for level in self.model.up(turn.account) {
            let idle = self.model.going(level) == 0;
            assert!(idle || self.model.fits(level, &turn), "$2: it fits at every level");
            let taken = self.model.handed_over(level) + self.model.promised(level);
            assert!(self.model.accounts[level].limits.turns.is_none_or(|most| taken < most), "$2: turns are exact");
        }
        assert!(!self.model.is_full(), "S2: the cap holds");
        assert!(!self.model.is_metered(turn.account) || !self.model.class_is_full(turn.class), "$2: it widens slowly");
        let line = self.model.waiting().into_iter().find(|first| self.model.turns[*first].line == turn.line);
        assert_eq!(line, Some(at), "$2: in order");
        self.model.start(at);
    }

    /// The ledger and the slow one say the same.
    fn agree(&self) {
        let (ledger, model) = (&self.ledger, &self.model);
        let waiting = model.waiting();
        assert_eq!(ledger.waiting(), waiting.len());
        assert_eq!(ledger.in_flight(), model.going_in_all());
        assert_eq!(ledger.paused(), model.turns.iter().filter(|turn| turn.is_paused()).count());
        for (at, account) in model.accounts.iter().enumerate() {
            self.agree_on(at, account);
        }
        for turn in &model.turns {
            let levels = model.up(turn.account);
            if turn.is_going() {
                let ours = ledger.turns.find(turn.ticket.0).map(|slot| &ledger.turns[slot]).unwrap();
                assert_eq!(ours.reserved.map(u128::from), turn.reserved);
                assert_eq!(ours.held.map(u128::from), turn.held());
                assert_eq!(turn.cut, levels.iter().any(|level| model.cuts(*level)), "$3: cut where it is to be");
            }
            if turn.state == State::Waiting {
                let over =
                    levels.iter().any(|level| model.accounts[*level].id.is_some() && !model.over(*level).is_empty());
                assert!(!over, "$3: nobody waits under a spent limit");
                assert!(ledger.why_waiting(turn.ticket).is_some());
                assert!(!turn.told);
            }
        }
        self.nobody_waits_in_vain();
    }

    fn agree_on(&self, at: usize, account: &model::Account) {
        let (ledger, model) = (&self.ledger, &self.model);
        let (limit, spent) = (model.limit(at), model.spent(at));
        for measure in 0..2 {
            if let Some(limit) = limit[measure] {
                let bound = limit + account.overrun[measure];
                assert!(spent[measure] <= bound, "$2: spent is within the limit and what was not reserved");
            }
        }
        if let Some(most) = account.limits.turns {
            assert!(model.handed_over(at) + model.promised(at) <= most, "$2: turns are exact");
        }
        let Some(id) = account.id.filter(|_| !account.closed) else { return };
        let said = ledger.spent(id);
        assert_eq!(amount(&said), spent, "$1: counted once");
        assert_eq!(said.turns, model.handed_over(at));
        let up = model.up(at);
        let over = up.iter().any(|level| !model.over(*level).is_empty());
        assert_eq!(ledger.check(id, model.now).is_err(), over, "$3: spent is spent");
        let left = ledger.remaining(id, model.now);
        assert_eq!([left.cost.map(|cost| cost.0.into()), left.output_tokens.map(u128::from)], model.left(at));
        let index = ledger.accounts.find(id).unwrap();
        let ours: &Account = &ledger.accounts[index];
        assert_eq!(ours.going as usize, model.going(at));
        assert_eq!(ours.promised, model.promised(at));
        let (held, paused) = (ours.held(), model.held(at));
        for measure in (0..2).filter(|measure| limit[*measure].is_some()) {
            assert_eq!(u128::from(held.0[measure]), paused.0[measure]);
            assert_eq!(u128::from(held.1[measure]), paused.1[measure]);
        }
    }

    /// Whoever waits does so at a gate that is shut because of a turn that is going: so it never waits for itself.
    fn nobody_waits_in_vain(&self) {
        let (ledger, model) = (&self.ledger, &self.model);
        let first = |parked: &std::collections::BTreeSet<_>| {
            let (rank, line) = parked.first().copied()?;
            let slot: u32 = *ledger.accounts[line].line.get(&rank).expect("the first of its line");
            Some(&ledger.turns[slot])
        };
        let still_waits =
            |turn: &turn::Turn| assert!(matches!(ledger.admit(turn), Answer::Wait(_)), "it was overlooked");
        if let Some(turn) = first(&ledger.parked_at_once) {
            assert!(model.is_full());
            still_waits(turn);
        }
        for (at, class) in ledger.classes.iter().enumerate() {
            if let Some(turn) = first(&class.parked) {
                assert!(model.class_is_full(at));
                still_waits(turn);
            }
        }
        for (at, account) in model.accounts.iter().enumerate() {
            let Some(index) = account.id.and_then(|id| ledger.accounts.find(id)) else { continue };
            let ours = &ledger.accounts[index];
            if !ours.parked.is_empty() {
                assert!(model.going(at) > 0, "S10: nobody waits where nothing is in flight");
            }
            let head = ours.line.first_key_value();
            assert_eq!(head.is_some(), ours.gate.is_some());
            if let (Some((rank, _)), Some(gate)) = (head, ours.gate) {
                let parked = match gate {
                    Gate::Account(index) => &ledger.accounts[index].parked,
                    Gate::Class(class) => &ledger.classes[class as usize].parked,
                    Gate::AtOnce => &ledger.parked_at_once,
                };
                assert!(parked.contains(&(*rank, index)), "the first of a line stands at its gate");
            }
        }
        assert!(ledger.ready.is_empty() && ledger.tripped.is_empty());
    }

    /// All that is in flight settles, over and over: then nobody is left waiting and nothing is held.
    fn run_out(&mut self) {
        for _ in 0..=self.model.turns.len() {
            let going: Vec<usize> = (0..self.model.turns.len()).filter(|at| self.model.turns[*at].is_going()).collect();
            for at in going {
                self.settle(at, None, true);
                self.after();
            }
        }
        assert_eq!(
            (self.ledger.waiting(), self.ledger.in_flight(), self.ledger.paused()),
            (0, 0, 0),
            "nobody is starved"
        );
        for turn in &self.model.turns {
            assert_eq!(turn.state, State::Over);
        }
        for account in self.model.accounts.iter().filter_map(|account| account.id) {
            if let Some(index) = self.ledger.accounts.find(account) {
                let ours = &self.ledger.accounts[index];
                assert_eq!((ours.held(), ours.running.len()), (([0, 0], [0, 0]), 0), "nothing is held for nobody");
            }
        }
    }
}

fn usage(dollars_: f64, output_tokens: u64) -> Usage {
    Usage { output_tokens, ..dollars(dollars_) }
}

fn amount(usage: &Usage) -> model::Pair {
    [usage.cost.0.into(), usage.output_tokens.into()]
}

fn hold(mut pair: Pair, ops: &[Op]) {
    for op in ops {
        pair.apply(op);
        pair.after();
    }
    pair.run_out();
}

proptest! {
    /// $1, $2, $3, S2, S10: over a tree of accounts with limits at any level.
    #[test]
    fn whatever_happens_over_a_tree_the_rules_hold(
        at_once in prop::option::weighted(0.3, 1..5_u32),
        root in any_limits(),
        ops in ops(CLASSES, any_limits().boxed(), prop::option::weighted(0.15, any_limits()).boxed()),
    ) {
        hold(Pair::new(at_once, root, false), &ops);
    }

    /// $2, S2: with one class and one limit above all, the same turns start at the same moments as where all that wait are gone
    /// through each time.
    #[test]
    fn under_one_limit_the_same_turns_start_as_by_going_through_all_that_wait(
        at_once in prop::option::weighted(0.3, 1..5_u32),
        root in limits((1.0..12.0).prop_map(Some)),
        ops in ops(1, Just(Limits::default()).boxed(), Just(None).boxed()),
    ) {
        hold(Pair::new(at_once, root, true), &ops);
    }
}
