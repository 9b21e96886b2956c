//! A run as the tree that it ran as, for a person (J3).
//!
//! ```text
//! fanout · answered after 2s · output 1.1k · $0.08
//! ├─ git ls-files *.py · 4ms
//! ├─ agent · conversation 1 of 4 · demo
//! │  └─ t1 · Read(calc.py), Edit(calc.py) · 0.9s · output 40 · $0.02
//! ```

use std::{collections::HashMap, time::Duration};

use flowhost_core::record::{Observer, Outcome, Record};
use flowhost_journal::{Branch, Call, Session, Span, Tree, Turn};
use parking_lot::Mutex;

use super::{figures, view::is_interrupted};
use crate::{
    escape,
    terminal::{BAD, BOLD, DIM, NOTE, styled},
};

/// Foreign text gets at least this many columns.
const LEAST: usize = 24;
/// Things that one branch did which are shown; what is more is counted.
const SHOWN: usize = 200;
/// Levels that are shown. No run is deeper (B2), but a journal may say anything.
const DEEPEST: usize = 64;

/// The lines of the tree, each of at most `columns` columns.
pub fn lines(tree: &Tree, columns: usize) -> Vec<String> {
    let mut of: HashMap<(Option<usize>, &str), u32> = HashMap::new();
    for session in &tree.sessions {
        let most = of.entry((session.branch, &session.role)).or_default();
        *most = (*most).max(session.nth);
    }
    let mut drawn = Drawn { tree, of, columns, lines: Vec::new() };
    if let Some(root) = tree.branches.first() {
        drawn.branch(root, "", "", 1);
    }
    drawn.lines
}

struct Drawn<'a> {
    tree: &'a Tree,
    /// Conversations of each role in each branch.
    of: HashMap<(Option<usize>, &'a str), u32>,
    columns: usize,
    lines: Vec<String>,
}

enum Did<'a> {
    Branch(&'a Branch),
    Session(&'a Session),
    Call(&'a Call),
}

impl<'a> Drawn<'a> {
    fn branch(&mut self, branch: &'a Branch, first: &str, rest: &str, depth: usize) {
        let flow = escape::line(&branch.flow, LEAST);
        let place = if branch.parent.is_some() { format!("branch {}", branch.id) } else { String::new() };
        let time = took(branch.span);
        let how = match &branch.outcome {
            None => "did not end".into(),
            Some(Outcome::Ok(_)) => format!("answered after {time}"),
            Some(Outcome::Error(error)) if is_interrupted(&error.kind) => format!("interrupted after {time}"),
            Some(Outcome::Error(error)) => format!("failed after {time}, {}", error.message),
        };
        let text = format!("· {}", joined([place, how, figures::brief(&branch.usage)]));
        let text = escape::line(&text, self.room(first, escape::columns(&flow) + 1));
        let text = colored(branch.outcome.as_ref(), &text);
        self.lines.push(format!("{}{} {text}", styled(DIM, first), styled(BOLD, &flow)));

        let did = self.did(branch);
        let shown = if depth < DEEPEST { did.len().min(SHOWN) } else { 0 };
        for (index, each) in did[..shown].iter().enumerate() {
            let (here, below) = if index + 1 == did.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let (first, rest) = (format!("{rest}{here}"), format!("{rest}{below}"));
            match each {
                Did::Branch(branch) => self.branch(branch, &first, &rest, depth + 1),
                Did::Session(session) => self.session(session, &first, &rest),
                Did::Call(call) => self.call(call, &first),
            }
        }
        if shown < did.len() {
            let more = figures::count((did.len() - shown) as u64);
            self.lines.push(styled(DIM, &format!("{rest}└─ … and {more} more")));
        }
    }

    /// What a branch did, in the order in which it began.
    fn did(&self, branch: &'a Branch) -> Vec<Did<'a>> {
        let tree = self.tree;
        let branches = branch.branches.iter().filter_map(|at| tree.branches.get(*at)).map(Did::Branch);
        let sessions = branch.sessions.iter().filter_map(|at| tree.sessions.get(*at)).map(Did::Session);
        let mut did: Vec<_> = branches.chain(sessions).chain(branch.calls.iter().map(Did::Call)).collect();
        did.sort_by_key(|each| match each {
            Did::Branch(branch) => branch.span.began,
            Did::Session(session) => session.span.began,
            Did::Call(call) => call.span.began,
        });
        did
    }

    fn session(&mut self, session: &Session, first: &str, rest: &str) {
        let role = escape::line(&session.role, LEAST);
        let of = self.of.get(&(session.branch, &*session.role)).copied().unwrap_or_default();
        let which = if of > 1 { format!("conversation {} of {of}", session.nth) } else { String::new() };
        let text = format!("· {}", joined([which, session.agent.to_string()]));
        let text = escape::line(&text, self.room(first, escape::columns(&role) + 1));
        self.lines.push(format!("{}{role} {}", styled(DIM, first), styled(DIM, &text)));
        for (index, at) in session.turns.iter().enumerate() {
            let here = if index + 1 == session.turns.len() { "└─ " } else { "├─ " };
            if let Some(turn) = self.tree.turns.get(*at) {
                self.turn(turn, &format!("{rest}{here}"));
            }
        }
    }

    fn turn(&mut self, turn: &Turn, first: &str) {
        let tools = turn.tools.iter().map(|tool| match tool.ok {
            Some(false) => format!("{} failed", tool.label),
            _ => tool.label.clone(),
        });
        let again = match turn.again.len() {
            0 => String::new(),
            more => figures::counted(more as u64, "more prompt"),
        };
        let waited =
            if turn.waited.is_zero() { String::new() } else { format!("waited {}", figures::time(turn.waited)) };
        let parts = [
            turn.id.to_string(),
            tools.collect::<Vec<_>>().join(", "),
            again,
            ended(turn.outcome.as_ref()),
            took(Span { began: turn.span.began + turn.waited, ..turn.span }),
            waited,
            figures::brief(&turn.usage),
        ];
        self.leaf(first, &joined(parts), turn.outcome.as_ref());
    }

    fn call(&mut self, call: &Call, first: &str) {
        let what = if call.label.is_empty() { &call.function } else { &call.label };
        let parts = [what.to_string(), ended(call.outcome.as_ref()), took(call.span)];
        self.leaf(first, &joined(parts), call.outcome.as_ref());
    }

    fn leaf<T>(&mut self, first: &str, text: &str, outcome: Option<&Outcome<T>>) {
        let text = escape::line(text, self.room(first, 0));
        self.lines.push(format!("{}{}", styled(DIM, first), colored(outcome, &text)));
    }

    fn room(&self, first: &str, taken: usize) -> usize {
        self.columns.saturating_sub(escape::columns(first) + taken).max(LEAST)
    }
}

fn took(span: Span) -> String {
    span.ended.map(|ended| figures::time(ended.saturating_sub(span.began))).unwrap_or_default()
}

fn ended<T>(outcome: Option<&Outcome<T>>) -> String {
    match outcome {
        None => "did not end".into(),
        Some(Outcome::Ok(_)) => String::new(),
        Some(Outcome::Error(error)) if is_interrupted(&error.kind) => "interrupted".into(),
        Some(Outcome::Error(error)) => format!("failed, {}", error.message),
    }
}

fn joined<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn colored<T>(outcome: Option<&Outcome<T>>, text: &str) -> String {
    match outcome {
        Some(Outcome::Ok(_)) => text.into(),
        Some(Outcome::Error(error)) if !is_interrupted(&error.kind) => styled(BAD, text),
        _ => styled(NOTE, text),
    }
}

/// An observer that keeps the record for its tree.
#[derive(Debug, Default)]
pub struct Keeper(Mutex<Vec<(Duration, Record)>>);

impl Keeper {
    /// The tree of what happened until now.
    pub fn tree(&self) -> Tree {
        Tree::from_records(std::mem::take(&mut *self.0.lock()))
    }
}

impl Observer for Keeper {
    fn record(&self, at: Duration, record: &Record) {
        self.0.lock().push((at, record.clone()));
    }
}

#[cfg(test)]
mod tests {
    use flowhost_core::error::Error;
    use insta::assert_snapshot;

    use super::*;
    use crate::render::sample::{Sample, fanout, json, plain};

    fn drawn(sample: Sample, columns: usize) -> String {
        plain(&lines(&Tree::from_records(sample.records), columns))
    }

    #[test]
    fn j3_a_run_is_drawn_as_the_tree_that_it_ran_as() {
        let mut sample = fanout();
        sample.branch_end("1", Outcome::Ok(json("{}")));
        assert_snapshot!(drawn(sample, 120), @"
        fanout · answered after 7s · output 266 · $0.02
        ├─ git ls-files *.py · 4ms
        ├─ agent · conversation 1 of 3 · claude/sonnet-5-5:high
        │  └─ t1 · Read(/srv/calc/calc.py), Edit(/srv/calc/calc.py) · 6s · output 266 · $0.02
        ├─ agent · conversation 2 of 3 · claude/sonnet-5-5:high
        │  └─ t2 · Read(/srv/calc/check.py) failed · failed, the CLI died mid-turn · 2s
        └─ agent · conversation 3 of 3 · claude/sonnet-5-5:high
           └─ t3 · 5s · output 266 · $0.02
        ");
    }

    #[test]
    fn j3_called_flows_stand_below_the_one_that_called_them() {
        let mut sample = Sample::of("parts");
        sample.branch("1.1", "fanout", None).session("1.1", 1, 1, "demo").turn("1.1", 1, 1);
        sample.branch("1.2", "fanout", None).after(900).answered(1).branch_end("1.1", Outcome::Ok(json("{}")));
        sample.branch_end("1.2", Outcome::Error(Error::stopped()));
        sample.session("1", 2, 1, "demo").turn("1", 2, 2);
        assert_snapshot!(drawn(sample, 60), @"
        parts · did not end · output 532 · $0.04
        ├─ fanout · branch 1.1 · answered after 0.9s · output 266 ·…
        │  └─ agent · demo
        │     └─ t1 · 0.9s · output 266 · $0.02
        ├─ fanout · branch 1.2 · interrupted after 0.9s · output 26…
        └─ agent · demo
           └─ t2 · did not end
        ");
    }
}
