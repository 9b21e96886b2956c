//! The ledger done slowly: every figure is summed anew from a list of turns, whenever it is looked at. It shares no code with
//! the ledger, so that the two can be held against each other.

use std::time::Duration;

use crate::{
    budget::{AccountId, Ticket},
    error::Limit,
    usage::{Grace, Limits},
};

/// Cost in billionths, and output tokens.
pub(super) type Pair = [u128; 2];

const MOST: u128 = u64::MAX as u128;

#[derive(Clone, Debug)]
pub(super) struct Account {
    /// None for the limits of one turn.
    pub(super) id: Option<AccountId>,
    pub(super) parent: Option<usize>,
    pub(super) limits: Limits,
    pub(super) deadline: Option<Duration>,
    pub(super) closed: bool,
    /// What was spent beyond reservations since a turn last started by fitting: how far spent may be over the limit.
    pub(super) overrun: Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Going { occasions: u32 },
    Over,
}

#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) ticket: Ticket,
    pub(super) account: usize,
    pub(super) line: usize,
    pub(super) class: usize,
    pub(super) expected: u128,
    pub(super) deciding: bool,
    pub(super) state: State,
    pub(super) told: bool,
    pub(super) cut: bool,
    pub(super) prompts: u32,
    pub(super) reported: Pair,
    /// What was reserved when it started.
    pub(super) first: Pair,
    /// What is reserved now.
    pub(super) reserved: Pair,
}

impl Turn {
    pub(super) fn is_going(&self) -> bool {
        matches!(self.state, State::Going { .. })
    }

    pub(super) fn is_paused(&self) -> bool {
        matches!(self.state, State::Going { occasions: 1.. })
    }

    pub(super) fn held(&self) -> Pair {
        if self.is_going() { [0, 1].map(|at| self.reserved[at].saturating_sub(self.reported[at])) } else { [0, 0] }
    }
}

#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) at_once: Option<usize>,
    pub(super) accounts: Vec<Account>,
    pub(super) turns: Vec<Turn>,
    /// What the turns of each class came to.
    pub(super) settled: Vec<Vec<Pair>>,
    pub(super) now: Duration,
}

impl Model {
    /// An account and those above it.
    pub(super) fn up(&self, account: usize) -> Vec<usize> {
        std::iter::successors(Some(account), |at| self.accounts[*at].parent).collect()
    }

    pub(super) fn under(&self, account: usize) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(move |turn| self.up(turn.account).contains(&account))
    }

    pub(super) fn spent(&self, account: usize) -> Pair {
        [0, 1].map(|at| self.under(account).map(|turn| turn.reported[at]).sum::<u128>().min(MOST))
    }

    pub(super) fn handed_over(&self, account: usize) -> u32 {
        self.under(account).map(|turn| turn.prompts).sum()
    }

    pub(super) fn promised(&self, account: usize) -> u32 {
        self.under(account).filter(|turn| turn.is_going() && turn.prompts == 0).count() as u32
    }

    /// Turns in flight that are not paused.
    pub(super) fn going(&self, account: usize) -> usize {
        self.under(account).filter(|turn| turn.is_going() && !turn.is_paused()).count()
    }

    pub(super) fn going_in_all(&self) -> usize {
        self.turns.iter().filter(|turn| turn.is_going() && !turn.is_paused()).count()
    }

    pub(super) fn limit(&self, account: usize) -> [Option<u128>; 2] {
        let limits = &self.accounts[account].limits;
        [limits.cost.map(|cost| cost.0.into()), limits.output_tokens.map(u128::from)]
    }

    pub(super) fn is_metered(&self, account: usize) -> bool {
        self.up(account).iter().any(|at| self.limit(*at) != [None, None])
    }

    /// What turns in flight hold, all and paused ones.
    pub(super) fn held(&self, account: usize) -> (Pair, Pair) {
        let sum = |paused: bool, at: usize| {
            self.under(account).filter(|turn| !paused || turn.is_paused()).map(|turn| turn.held()[at]).sum()
        };
        ([0, 1].map(|at| sum(false, at)), [0, 1].map(|at| sum(true, at)))
    }

    /// The tightest of what is left here and above.
    pub(super) fn left(&self, account: usize) -> [Option<u128>; 2] {
        [0, 1].map(|at| {
            let levels = self.up(account);
            levels.iter().filter_map(|level| Some(self.limit(*level)[at]?.saturating_sub(self.spent(*level)[at]))).min()
        })
    }

    /// The tightest of what is free here and above; a turn does not mind what it holds itself.
    fn free(&self, account: usize, own: Pair) -> [Option<u128>; 2] {
        [0, 1].map(|at| {
            let free = |level: usize| {
                let left = self.limit(level)[at]?.saturating_sub(self.spent(level)[at]);
                Some(left.saturating_sub(self.held(level).0[at] - own[at]))
            };
            self.up(account).into_iter().filter_map(free).min()
        })
    }

    /// Which limits of an account are spent.
    pub(super) fn over(&self, account: usize) -> Vec<Limit> {
        let at = &self.accounts[account];
        let (limit, spent) = (self.limit(account), self.spent(account));
        let reached = [
            (Limit::Cost, limit[0].is_some_and(|limit| spent[0] >= limit)),
            (Limit::OutputTokens, limit[1].is_some_and(|limit| spent[1] >= limit)),
            (Limit::Turns, at.limits.turns.is_some_and(|limit| self.handed_over(account) >= limit)),
            (Limit::Duration, at.deadline.is_some_and(|deadline| deadline <= self.now)),
        ];
        reached.into_iter().filter(|(_, reached)| *reached).map(|(limit, _)| limit).collect()
    }

    /// Whether a limit that is spent here interrupts.
    pub(super) fn cuts(&self, account: usize) -> bool {
        let cut = self.accounts[account].limits.grace == Grace::Cut;
        cut && self.over(account).iter().any(|limit| *limit != Limit::Turns)
    }

    pub(super) fn estimate(&self, class: usize) -> Option<Pair> {
        let last: Vec<Pair> = self.settled[class].iter().rev().take(20).copied().collect();
        let percentile = |at: usize| {
            let mut sorted: Vec<u128> = last.iter().map(|amount| amount[at]).collect();
            sorted.sort_unstable();
            // The smallest that at least nine in ten do not exceed.
            sorted.iter().copied().find(|most| 10 * sorted.iter().filter(|at| *at <= most).count() >= 9 * sorted.len())
        };
        Some([percentile(0)?, percentile(1)?])
    }

    /// What a turn would reserve: the smaller of what it is expected to cost and of what is left.
    pub(super) fn want(&self, turn: &Turn) -> Pair {
        let (left, estimate) = (self.left(turn.account), self.estimate(turn.class));
        [0, 1].map(|at| {
            let Some(left) = left[at] else { return 0 };
            let estimate = estimate.map_or(left.div_ceil(2), |estimate| estimate[at]);
            estimate.max(if at == 0 { turn.expected } else { 0 }).min(left)
        })
    }

    /// Whether a turn fits in what is free at a level.
    pub(super) fn fits(&self, level: usize, turn: &Turn) -> bool {
        let (want, limit, spent) = (self.want(turn), self.limit(level), self.spent(level));
        let (all, paused) = self.held(level);
        (0..2).all(|at| {
            let held = if turn.deciding { all[at] - paused[at] } else { all[at] };
            limit[at].is_none_or(|limit| want[at] <= limit.saturating_sub(spent[at]).saturating_sub(held))
        })
    }

    /// What is there to reserve for a turn that starts now.
    pub(super) fn reserves(&self, turn: &Turn) -> Pair {
        let (want, free) = (self.want(turn), self.free(turn.account, [0, 0]));
        [0, 1].map(|at| want[at].min(free[at].unwrap_or(0)))
    }

    pub(super) fn class_is_full(&self, class: usize) -> bool {
        let settled = self.settled[class].len();
        let going =
            |turn: &&Turn| turn.class == class && turn.is_going() && !turn.is_paused() && self.is_metered(turn.account);
        settled < 20 && self.turns.iter().filter(going).count() >= 2.max(2 * settled)
    }

    pub(super) fn is_full(&self) -> bool {
        self.at_once.is_some_and(|cap| self.going_in_all() >= cap)
    }

    /// The turns that wait, those that decide first, then as they asked.
    pub(super) fn waiting(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> =
            (0..self.turns.len()).filter(|at| self.turns[*at].state == State::Waiting).collect();
        waiting.sort_by_key(|at| (!self.turns[*at].deciding, *at));
        waiting
    }

    /// Counts a report. A turn that has not started has spent nothing.
    pub(super) fn report(&mut self, turn: usize, total: Pair) {
        if self.turns[turn].state == State::Waiting {
            return;
        }
        let before = self.turns[turn].clone();
        let now = [0, 1].map(|at| before.reported[at].max(total[at]));
        let (first, going) = (before.first, before.is_going());
        for level in self.up(before.account) {
            for at in 0..2 {
                // What is spent out of a reservation is no overrun; of a turn that holds none any more, or yet, all is.
                let covered = if going { before.reported[at].max(first[at]) } else { before.reported[at] };
                self.accounts[level].overrun[at] += now[at].saturating_sub(covered);
            }
        }
        let spends = now != before.reported;
        let turn = &mut self.turns[turn];
        turn.reported = now;
        if going && spends && turn.prompts == 0 {
            turn.prompts = 1;
        }
    }

    /// A turn in flight that has passed its reservation takes as much again, as far as it is free.
    pub(super) fn enlarge(&mut self, turn: usize) {
        let before = self.turns[turn].clone();
        // What it held before this report no longer counts: it has spent more than that.
        let free = self.free(before.account, before.held());
        for (at, free) in free.into_iter().enumerate() {
            if let Some(free) = free
                && before.reported[at] > before.reserved[at]
            {
                self.turns[turn].reserved[at] = (before.reported[at] + before.reported[at].min(free)).min(MOST);
            }
        }
    }

    pub(super) fn settle(&mut self, turn: usize, whole: bool) {
        let turn = &mut self.turns[turn];
        turn.state = State::Over;
        if whole && turn.prompts == 0 {
            turn.prompts = 1;
        }
        let (class, amount) = (turn.class, turn.reported);
        match self.estimate(class) {
            _ if whole => self.settled[class].push(amount),
            Some(estimate) if (0..2).any(|at| amount[at] > estimate[at]) => {
                self.settled[class].push([0, 1].map(|at| amount[at].max(estimate[at])));
            }
            _ => {}
        }
    }

    /// Who starts now, in order, by going through all that wait: a turn is in the way of those after it where it waits.
    pub(super) fn starts(&mut self) -> Vec<usize> {
        let (mut lines, mut accounts, mut classes, mut full) = (vec![], vec![], vec![], false);
        let mut started = Vec::new();
        for at in self.waiting() {
            let turn = self.turns[at].clone();
            if lines.contains(&turn.line) {
                continue;
            }
            let shut = self.up(turn.account).into_iter().find(|level| {
                let no_turn_left = self.accounts[*level]
                    .limits
                    .turns
                    .is_some_and(|most| self.handed_over(*level) + self.promised(*level) >= most);
                let idle = self.going(*level) == 0;
                no_turn_left || accounts.contains(level) || !idle && !self.fits(*level, &turn)
            });
            if let Some(level) = shut {
                accounts.push(level);
                lines.push(turn.line);
            } else if self.is_metered(turn.account) && (classes.contains(&turn.class) || self.class_is_full(turn.class))
            {
                classes.push(turn.class);
                lines.push(turn.line);
            } else if full || self.is_full() {
                full = true;
                lines.push(turn.line);
            } else {
                self.start(at);
                started.push(at);
            }
        }
        started
    }

    /// Starts a turn, and holds it to what a start is: it fits at each level, or adds nothing to what is reserved there.
    pub(super) fn start(&mut self, at: usize) {
        let turn = self.turns[at].clone();
        let reserved = self.reserves(&turn);
        for level in self.up(turn.account) {
            assert_eq!(self.over(level), [], "$3: nothing starts under a spent limit");
            let (limit, spent) = (self.limit(level), self.spent(level));
            for measure in 0..2 {
                let Some(limit) = limit[measure] else { continue };
                let to_come: u128 = self
                    .under(level)
                    .filter(|turn| turn.is_going())
                    .map(|turn| turn.first[measure].saturating_sub(turn.reported[measure]))
                    .sum();
                if spent[measure] + to_come + reserved[measure] <= limit {
                    self.accounts[level].overrun[measure] = 0;
                } else {
                    assert_eq!(reserved[measure], 0, "$2: no more is reserved than there is");
                }
            }
        }
        if let Some(duration) = self.accounts[turn.account].limits.duration
            && turn.account != turn.line
        {
            self.accounts[turn.account].deadline = Some(self.now + duration);
        }
        let turn = &mut self.turns[at];
        (turn.state, turn.first, turn.reserved) = (State::Going { occasions: 0 }, reserved, reserved);
    }
}
