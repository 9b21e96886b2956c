//! What is going on in a run, kept from its record: branches, conversations, the turns under way, and sums of the rest.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    error::{HarnessFailure, HarnessFault, Kind},
    harness::Event,
    id::{BranchId, SessionId, TurnId},
    record::{Outcome, Record},
    usage::{Limits, Usage},
};

/// What is going on.
#[derive(Debug, Default)]
pub struct View {
    /// The run's name.
    pub run: String,
    /// The root's flow.
    pub flow: String,
    /// Branches that have not ended, in order of calls.
    pub branches: BTreeMap<Vec<u32>, Branch>,
    /// Conversations that are not closed.
    pub sessions: HashMap<SessionId, Session>,
    /// Conversations that there ever were.
    pub sessions_seen: u32,
    /// Turns that have not ended.
    pub turns: BTreeMap<u32, Turn>,
    /// Turns that answered.
    pub done: u64,
    /// Turns that failed.
    pub failed: u64,
    /// Turns that were interrupted.
    pub interrupted: u64,
    /// Turns that wait to begin, or for the budget to let them go on, and why. They are under way only once they begin.
    pub waiting: HashMap<TurnId, Arc<str>>,
    /// What has been spent, as far as it has been said.
    pub settled: Usage,
    /// What limits the run.
    pub limits: Limits,
    conversations: HashMap<(BranchId, Arc<str>), u32>,
}

/// A branch that has not ended.
#[derive(Debug)]
pub struct Branch {
    /// Its place.
    pub id: BranchId,
    /// Its flow.
    pub flow: Arc<str>,
    /// Turns of its own that answered.
    pub done: u64,
    /// Turns of its own that failed or were interrupted.
    pub failed: u64,
    /// When it began.
    pub began: Duration,
}

/// A conversation.
#[derive(Debug)]
pub struct Session {
    /// Whose.
    pub branch: BranchId,
    /// Its agent's role.
    pub role: Arc<str>,
    /// `harness/model:effort`.
    pub agent: Arc<str>,
    /// Which of its agent, from 1.
    pub nth: u32,
}

/// A turn under way.
#[derive(Debug)]
pub struct Turn {
    /// Its conversation.
    pub session: SessionId,
    /// Its branch.
    pub branch: BranchId,
    /// When it began.
    pub began: Duration,
    /// What it has spent so far.
    pub usage: Usage,
    /// Its tools that have not ended: id and label.
    pub tools: Vec<(String, String)>,
}

/// A place such as `1.3.2` as numbers, so that `1.10` comes after `1.9`.
pub fn place(branch: &BranchId) -> Vec<u32> {
    branch.0.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

/// How many tools of one turn are kept by name; a turn that starts more and ends none is not remembered whole.
const TOOLS: usize = 64;

impl View {
    /// Takes a record in. What it says of the end of something must be asked before.
    pub fn take(&mut self, at: Duration, record: &Record) {
        match record {
            Record::Run { run, .. } => self.run = run.to_string(),
            Record::Branch { branch, flow, limits, parent, .. } => {
                if parent.is_none() {
                    self.limits = *limits;
                    self.flow = flow.to_string();
                }
                let new = Branch { id: branch.clone(), flow: flow.clone(), done: 0, failed: 0, began: at };
                self.branches.insert(place(branch), new);
            }
            Record::BranchEnd { branch, .. } => {
                self.branches.remove(&place(branch));
            }
            Record::Session { session, branch, role, agent, nth, .. } => {
                self.sessions_seen += 1;
                let total = self.conversations.entry((branch.clone(), role.clone())).or_default();
                *total = (*total).max(*nth);
                let new = Session { branch: branch.clone(), role: role.clone(), agent: agent.clone(), nth: *nth };
                self.sessions.insert(*session, new);
            }
            Record::SessionEnd { session } => {
                self.sessions.remove(session);
            }
            Record::Turn { turn, session, branch, .. } => {
                let new = Turn {
                    session: *session,
                    branch: branch.clone(),
                    began: at,
                    usage: Usage::default(),
                    tools: Vec::new(),
                };
                self.turns.insert(turn.0, new);
            }
            Record::Waiting { turn, why: Some(why) } => {
                self.waiting.insert(*turn, why.clone());
            }
            Record::Waiting { turn, why: None } => {
                self.waiting.remove(turn);
            }
            Record::Event { turn, event } => {
                let Some(turn) = self.turns.get_mut(&turn.0) else { return };
                match event {
                    Event::Usage { usage } => turn.usage = *usage,
                    Event::ToolStart { tool, label, .. } if turn.tools.len() < TOOLS => {
                        turn.tools.push((tool.clone(), label.clone()));
                    }
                    Event::ToolEnd { tool, .. } => turn.tools.retain(|(id, _)| id != tool),
                    _ => {}
                }
            }
            Record::TurnEnd { turn, outcome, usage } => {
                self.settled.add(usage);
                let ended = self.turns.remove(&turn.0);
                let branch = ended.and_then(|turn| self.branches.get_mut(&place(&turn.branch)));
                match outcome {
                    Outcome::Ok(_) => self.done += 1,
                    Outcome::Error(error) if is_interrupted(&error.kind) => self.interrupted += 1,
                    Outcome::Error(_) => self.failed += 1,
                }
                if let Some(branch) = branch {
                    match outcome {
                        Outcome::Ok(_) => branch.done += 1,
                        Outcome::Error(_) => branch.failed += 1,
                    }
                }
            }
            _ => {}
        }
    }

    /// What has been spent, with what the turns under way have said so far.
    pub fn spent(&self) -> Usage {
        let mut sum = self.settled;
        for turn in self.turns.values() {
            sum.add(&turn.usage);
        }
        sum
    }

    /// The conversation of a turn under way.
    pub fn session_of(&self, turn: TurnId) -> Option<(&Turn, &Session)> {
        let turn = self.turns.get(&turn.0)?;
        Some((turn, self.sessions.get(&turn.session)?))
    }

    /// How many conversations the agent of this one holds in its branch, as far as they have come.
    pub fn total(&self, session: &Session) -> u32 {
        self.conversations.get(&(session.branch.clone(), session.role.clone())).copied().unwrap_or(session.nth)
    }
}

/// Whether this is how a turn ends that was told to.
pub fn is_interrupted(kind: &Kind) -> bool {
    let fault = |fault: &HarnessFailure| fault.fault == HarnessFault::Interrupted;
    match kind {
        Kind::Stopped => true,
        Kind::Harness(failure) => fault(failure),
        _ => false,
    }
}
