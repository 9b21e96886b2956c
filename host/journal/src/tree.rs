//! A run read back as the tree that it ran as (J3).

use std::{collections::HashMap, sync::Arc, time::Duration};

use flowhost_core::{
    harness::Event,
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    record::{Answer, Json, LogSource, Outcome, Record},
    usage::Usage,
};

/// A run as plain data. Things refer to each other by their places in the lists, which are in the order in which they
/// began; however deep a journal says that a run went, nothing here is recursive.
#[derive(Debug, Default)]
pub struct Tree {
    /// Its name.
    pub run: Option<RunId>,
    /// The flow, as it was referred to.
    pub reference: Option<Arc<str>>,
    /// When it began, in milliseconds since the epoch.
    pub started_ms: Option<u64>,
    /// The calls of flows. The first is the root.
    pub branches: Vec<Branch>,
    /// The sessions that took a turn.
    pub sessions: Vec<Session>,
    /// Their turns.
    pub turns: Vec<Turn>,
    /// Why it was stopped, where it was.
    pub stopped: Option<Arc<str>>,
    /// Its outcome and exit code; none where it was cut off, or has not ended yet.
    pub end: Option<(Outcome<Json>, i32)>,
    /// What it spent.
    pub usage: Usage,
    /// The time of its last record.
    pub last: Duration,
}

/// When something began and ended, since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub began: Duration,
    /// When it ended; none where it did not.
    pub ended: Option<Duration>,
}

/// A call of a flow.
#[derive(Debug)]
pub struct Branch {
    /// Its name.
    pub id: BranchId,
    /// The branch that called it, by its place.
    pub parent: Option<usize>,
    /// The branches that it called.
    pub branches: Vec<usize>,
    /// The sessions that it opened and used.
    pub sessions: Vec<usize>,
    /// The commands and other effects that it had.
    pub calls: Vec<Call>,
    /// What it said.
    pub log: Vec<(Duration, LogSource, Arc<str>)>,
    /// The flow's name.
    pub flow: Arc<str>,
    /// What it was asked.
    pub task: Arc<str>,
    /// When.
    pub span: Span,
    /// Its answer or error.
    pub outcome: Option<Outcome<Json>>,
    /// What it spent, with all that it called.
    pub usage: Usage,
}

/// An effect of a branch, such as a command.
#[derive(Debug)]
pub struct Call {
    /// Its name.
    pub id: CallId,
    /// `env.exec`.
    pub function: Arc<str>,
    /// For a person.
    pub label: Arc<str>,
    /// When.
    pub span: Span,
    /// What it gave.
    pub outcome: Option<Outcome<Json>>,
}

/// A conversation.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// The branch that opened it, by its place; none where the journal does not say.
    pub branch: Option<usize>,
    /// Its turns.
    pub turns: Vec<usize>,
    /// Its agent's role.
    pub role: Arc<str>,
    /// `harness/model:effort`.
    pub agent: Arc<str>,
    /// Its directory.
    pub directory: Arc<str>,
    /// Which conversation of its agent it is, from 1.
    pub nth: u32,
    /// The session that it branched off.
    pub fork_of: Option<SessionId>,
    /// The harness's own id for it.
    pub native: Option<Arc<str>>,
    /// From its first turn to its close.
    pub span: Span,
    /// What its turns spent.
    pub usage: Usage,
}

/// A turn.
#[derive(Debug)]
pub struct Turn {
    /// Its name.
    pub id: TurnId,
    /// What was asked.
    pub prompt: Arc<str>,
    /// Prompts that followed within it: repairs, retries, rounds; why, and the prompt.
    pub again: Vec<(Arc<str>, Arc<str>)>,
    /// The tools that were used.
    pub tools: Vec<Tool>,
    /// How long it waited for budget or a cap.
    pub waited: Duration,
    /// When.
    pub span: Span,
    /// Its answer or error; none where it was cut off, or is going.
    pub outcome: Option<Outcome<Answer>>,
    /// What it spent.
    pub usage: Usage,
}

/// A use of a tool.
#[derive(Debug)]
pub struct Tool {
    /// The harness's name for this use.
    pub id: String,
    /// The tool.
    pub name: String,
    /// For a person: `Read(path)`.
    pub label: String,
    /// When.
    pub span: Span,
    /// Whether it did what it was for; none where it did not end.
    pub ok: Option<bool>,
}

impl Tree {
    /// The tree of these records, given in order. What refers to something that is not there is left out.
    pub fn from_records(records: impl IntoIterator<Item = (Duration, Record)>) -> Self {
        let mut growing = Growing::default();
        for (at, record) in records {
            growing.tree.last = growing.tree.last.max(at);
            growing.add(at, record);
        }
        growing.add_up()
    }
}

#[derive(Default)]
struct Growing {
    tree: Tree,
    branches: HashMap<BranchId, usize>,
    sessions: HashMap<SessionId, usize>,
    turns: HashMap<TurnId, usize>,
    /// By branch and place in its calls.
    calls: HashMap<CallId, (usize, usize)>,
    /// Since when turns wait.
    waiting: HashMap<TurnId, Duration>,
}

impl Growing {
    fn branch(&mut self, id: &BranchId) -> Option<&mut Branch> {
        self.tree.branches.get_mut(*self.branches.get(id)?)
    }

    fn session(&mut self, id: SessionId) -> Option<&mut Session> {
        self.tree.sessions.get_mut(*self.sessions.get(&id)?)
    }

    fn turn(&mut self, id: TurnId) -> Option<&mut Turn> {
        self.tree.turns.get_mut(*self.turns.get(&id)?)
    }

    fn add(&mut self, at: Duration, record: Record) {
        let span = Span { began: at, ended: None };
        match record {
            Record::Run { run, reference, started_ms, .. } => {
                self.tree.run = Some(run);
                self.tree.reference = Some(reference);
                self.tree.started_ms = Some(started_ms);
            }
            Record::Branch { branch: id, parent, flow, task, .. } => {
                let place = self.tree.branches.len();
                let parent = parent.and_then(|parent| self.branches.get(&parent).copied());
                if let Some(parent) = parent {
                    self.tree.branches[parent].branches.push(place);
                }
                self.branches.insert(id.clone(), place);
                self.tree.branches.push(Branch {
                    id,
                    parent,
                    branches: Vec::new(),
                    sessions: Vec::new(),
                    calls: Vec::new(),
                    log: Vec::new(),
                    flow,
                    task,
                    span,
                    outcome: None,
                    usage: Usage::default(),
                });
            }
            Record::BranchEnd { branch, outcome, usage } => {
                if let Some(branch) = self.branch(&branch) {
                    branch.span.ended = Some(at);
                    branch.outcome = Some(outcome);
                    branch.usage = usage;
                }
            }
            Record::Session { session: id, branch, role, agent, directory, nth, fork_of } => {
                let place = self.tree.sessions.len();
                let branch = self.branches.get(&branch).copied();
                if let Some(branch) = branch {
                    self.tree.branches[branch].sessions.push(place);
                }
                self.sessions.insert(id, place);
                self.tree.sessions.push(Session {
                    id,
                    branch,
                    turns: Vec::new(),
                    role,
                    agent,
                    directory,
                    nth,
                    fork_of,
                    native: None,
                    span,
                    usage: Usage::default(),
                });
            }
            Record::Native { session, native } => {
                if let Some(session) = self.session(session) {
                    session.native = Some(native);
                }
            }
            Record::SessionEnd { session } => {
                if let Some(session) = self.session(session) {
                    session.span.ended = Some(at);
                }
            }
            Record::Turn { turn: id, session, prompt, .. } => {
                let place = self.tree.turns.len();
                if let Some(session) = self.session(session) {
                    session.turns.push(place);
                }
                self.turns.insert(id, place);
                self.tree.turns.push(Turn {
                    id,
                    prompt,
                    again: Vec::new(),
                    tools: Vec::new(),
                    waited: Duration::ZERO,
                    span,
                    outcome: None,
                    usage: Usage::default(),
                });
            }
            Record::Waiting { turn, why } => match why {
                Some(_) => {
                    self.waiting.entry(turn).or_insert(at);
                }
                None => self.waited(at, turn),
            },
            Record::Again { turn, why, prompt } => {
                if let Some(turn) = self.turn(turn) {
                    turn.again.push((why, prompt));
                }
            }
            Record::Event { turn, event } => {
                if let Some(turn) = self.turn(turn) {
                    turn.event(at, event);
                }
            }
            Record::TurnEnd { turn: id, outcome, usage } => {
                self.waited(at, id);
                if let Some(turn) = self.turn(id) {
                    turn.span.ended = Some(at);
                    turn.outcome = Some(outcome);
                    turn.usage = usage;
                }
            }
            Record::Call { call: id, branch, function, label, .. } => {
                if let Some(place) = self.branches.get(&branch).copied() {
                    let calls = &mut self.tree.branches[place].calls;
                    self.calls.insert(id, (place, calls.len()));
                    calls.push(Call { id, function, label, span, outcome: None });
                }
            }
            Record::CallEnd { call, outcome } => {
                if let Some((branch, place)) = self.calls.get(&call).copied() {
                    let call = &mut self.tree.branches[branch].calls[place];
                    call.span.ended = Some(at);
                    call.outcome = Some(outcome);
                }
            }
            Record::Log { branch, line, from } => {
                if let Some(branch) = self.branch(&branch) {
                    branch.log.push((at, from, line));
                }
            }
            Record::Stop { why } => self.tree.stopped = Some(why),
            Record::End { outcome, usage, exit } => {
                self.tree.end = Some((outcome, exit));
                self.tree.usage = usage;
            }
            // What is said within a turn, and what a resume answers from, have no place in the tree.
            Record::Steer { .. } | Record::Occasion { .. } | Record::Value { .. } | Record::Delivered { .. } => {}
        }
    }

    fn waited(&mut self, at: Duration, id: TurnId) {
        if let Some(since) = self.waiting.remove(&id)
            && let Some(turn) = self.turn(id)
        {
            turn.waited += at.saturating_sub(since);
        }
    }

    /// Adds up what was spent where no end of a branch or of the run says it. A branch comes after the one that called it.
    fn add_up(mut self) -> Tree {
        let tree = &mut self.tree;
        for session in &mut tree.sessions {
            for turn in &session.turns {
                session.usage.add(&tree.turns[*turn].usage);
            }
        }
        for place in (0..tree.branches.len()).rev() {
            let branch = &tree.branches[place];
            if branch.outcome.is_none() {
                let mut usage = Usage::default();
                branch.sessions.iter().for_each(|session| usage.add(&tree.sessions[*session].usage));
                branch.branches.iter().for_each(|called| usage.add(&tree.branches[*called].usage));
                tree.branches[place].usage = usage;
            }
        }
        if tree.end.is_none()
            && let Some(root) = tree.branches.first()
        {
            tree.usage = root.usage;
        }
        self.tree
    }
}

impl Turn {
    fn event(&mut self, at: Duration, event: Event) {
        match event {
            Event::ToolStart { tool: id, name, label } => {
                self.tools.push(Tool { id, name, label, span: Span { began: at, ended: None }, ok: None });
            }
            Event::ToolEnd { tool: id, ok } => {
                if let Some(tool) = self.tools.iter_mut().rev().find(|tool| tool.id == id && tool.ok.is_none()) {
                    tool.span.ended = Some(at);
                    tool.ok = Some(ok);
                }
            }
            Event::Usage { usage } => self.usage = usage,
            Event::Text { .. } | Event::Thinking { .. } | Event::Notice { .. } => {}
        }
    }
}
