//! The lines that a run writes as it goes.
//!
//! ```text
//! ● agent is working
//! ● Read(calc.py)
//! ● I added the docstring at the top of `calc.py`.
//! ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · claude-sonnet-5-5 · agent
//! ✻ Worked for 6s · agent
//! ```
//!
//! A line is labelled with the role, with `conversation 2 of 5` once its agent holds several (5 being those that there are by
//! now), and with the branch unless it is the root.

use std::{collections::HashMap, sync::Arc, time::Duration};

use flowhost_core::{
    error::Error,
    harness::Event,
    id::{BranchId, TurnId},
    record::{LogSource, Outcome, Record},
    usage::Usage,
};

use super::{
    figures,
    view::{Session, View, is_interrupted},
};
use crate::{
    escape,
    terminal::{BAD, BOLD, DIM, GOOD, NOTE, styled},
};

/// Foreign text gets at least this many columns, however long our own label is.
const LEAST: usize = 16;
/// A line of a flow's log gets at most this many.
const LOG_LINE: usize = 2000;

/// Makes lines of records.
#[derive(Debug)]
pub struct Lines {
    /// What is going on: kept here, since every line needs it.
    pub view: View,
    columns: usize,
    /// The model by `harness/model:effort`, where the harness knows one from the other.
    models: HashMap<Arc<str>, Arc<str>>,
}

impl Lines {
    /// Lines of at most `columns` columns.
    pub fn new(columns: usize, models: HashMap<Arc<str>, Arc<str>>) -> Self {
        Self { view: View::default(), columns, models }
    }

    /// How wide a line may be from now on.
    pub fn set_columns(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Takes a record in, and adds its lines to `out`.
    pub fn take(&mut self, at: Duration, record: &Record, out: &mut Vec<String>) {
        // What has ended is gone from the view afterwards, and what begins is not there before.
        let ends = matches!(record, Record::TurnEnd { .. } | Record::BranchEnd { .. } | Record::Event { .. });
        if ends {
            self.write(at, record, out);
        }
        self.view.take(at, record);
        if !ends {
            self.write(at, record, out);
        }
    }

    fn write(&self, at: Duration, record: &Record, out: &mut Vec<String>) {
        match record {
            Record::Branch { branch, flow, parent: Some(_), .. } => {
                let flow = escape::line(flow, LEAST * 2);
                out.push(format!("{} {flow} is called {}", styled(GOOD, "●"), dim(&format!("· branch {branch}"))));
            }
            Record::BranchEnd { branch, outcome, usage } if *branch != BranchId::root() => {
                self.branch_end(at, branch, outcome, usage, out);
            }
            Record::Turn { turn, .. } => self.begins(*turn, out),
            Record::Event { turn, event } => self.event(*turn, event, out),
            // Of many that wait one says so; the status line counts them.
            Record::Waiting { why: Some(why), .. } if self.view.waiting.len() == 1 => {
                let why = escape::line(why, self.columns.saturating_sub(24));
                out.push(format!("{} a turn waits: {why}", styled(NOTE, "◌")));
            }
            Record::Again { turn, why, .. } => self.foreign(*turn, &styled(NOTE, "↻"), why, out),
            Record::Steer { turn, prompt, .. } => self.foreign(*turn, &styled(NOTE, "›"), prompt, out),
            Record::TurnEnd { turn, outcome, usage } => {
                let error = match outcome {
                    Outcome::Ok(_) => None,
                    Outcome::Error(error) => Some(error),
                };
                self.turn_end(at, *turn, error, usage, out);
            }
            Record::Log { branch, line, from } => self.log(branch, line, *from, out),
            Record::Stop { why } => {
                let why = escape::line(why, self.columns.saturating_sub(16));
                out.push(format!("{} stopping: {why}", styled(NOTE, "■")));
            }
            Record::End { outcome, usage, .. } => out.push(self.end(at, matches!(outcome, Outcome::Ok(_)), usage)),
            _ => {}
        }
    }

    /// `✻ fanout answered after 13s · 2 turns · input 12 · … · $0.05 · run 20260101-000000-00ab`.
    fn end(&self, at: Duration, answered: bool, usage: &Usage) -> String {
        let flow = escape::line(&self.view.flow, LEAST * 2);
        let (mark, how) = if answered { (GOOD, "answered") } else { (BAD, "ended") };
        let turns = if usage.turns == 0 { "no turns".into() } else { figures::counted(usage.turns.into(), "turn") };
        let spent = figures::usage(usage);
        let spent = if spent.is_empty() { spent } else { format!(" · {spent}") };
        let run = styled(DIM, &format!("· run {}", escape::line(&self.view.run, LEAST * 2)));
        format!("{} {flow} {how} after {} · {turns}{spent} {run}", styled(mark, "✻"), figures::time(at))
    }

    fn begins(&self, turn: TurnId, out: &mut Vec<String>) {
        let Some((_, session)) = self.view.session_of(turn) else { return };
        let role = escape::line(&session.role, LEAST * 2);
        let branch = if session.branch == BranchId::root() { String::new() } else { format!(" · {}", session.branch) };
        out.push(format!("{} {role} is working{}", styled(GOOD, "●"), dim(&branch)));
    }

    fn event(&self, turn: TurnId, event: &Event, out: &mut Vec<String>) {
        match event {
            Event::Text { text } => self.foreign(turn, &styled(GOOD, "●"), text, out),
            Event::ToolStart { label, .. } => self.foreign(turn, &styled(GOOD, "●"), label, out),
            Event::ToolEnd { tool, ok: false } => {
                let named = self.view.turns.get(&turn.0).and_then(|turn| turn.tools.iter().find(|(id, _)| id == tool));
                let label = named.map_or(tool.as_str(), |(_, label)| label);
                self.foreign(turn, &styled(BAD, "✗"), label, out);
            }
            Event::Notice { text } => self.foreign(turn, &styled(DIM, "·"), text, out),
            Event::ToolEnd { ok: true, .. } | Event::Thinking { .. } | Event::Usage { .. } => {}
        }
    }

    fn turn_end(&self, at: Duration, turn: TurnId, error: Option<&Error>, usage: &Usage, out: &mut Vec<String>) {
        let Some((turn, session)) = self.view.session_of(turn) else { return };
        let label = self.label(session);
        if let Some(error) = error {
            let (mark, said) = if is_interrupted(&error.kind) {
                (styled(NOTE, "■"), "interrupted".into())
            } else {
                (styled(BAD, "✗"), format!("failed, {}", error.message))
            };
            self.put(&mark, &said, &label, out);
        }
        let figures = figures::usage(usage);
        if !figures.is_empty() {
            let model = escape::line(self.model(session), LEAST * 3);
            out.push(format!("{} {figures} · {model}{label}", styled(GOOD, "✻")));
        }
        // One that was let go of while it waited has done no work.
        if error.is_none() || usage.turns > 0 {
            let worked = figures::time(at.saturating_sub(turn.began));
            out.push(format!("{} Worked for {worked}{label}", styled(GOOD, "✻")));
        }
    }

    fn branch_end<T>(
        &self,
        at: Duration,
        branch: &BranchId,
        outcome: &Outcome<T>,
        usage: &Usage,
        out: &mut Vec<String>,
    ) {
        let Some(ended) = self.view.branches.get(&super::view::place(branch)) else { return };
        let flow = escape::line(&ended.flow, LEAST * 2);
        let label = dim(&format!(" · branch {branch}"));
        if let Outcome::Error(error) = outcome {
            let (mark, said) = if is_interrupted(&error.kind) {
                (styled(NOTE, "■"), format!("{flow} was interrupted"))
            } else {
                (styled(BAD, "✗"), format!("{flow} failed, {}", error.message))
            };
            return self.put(&mark, &said, &label, out);
        }
        let figures = figures::usage(usage);
        let figures = if figures.is_empty() { figures } else { format!(" · {figures}") };
        let time = figures::time(at.saturating_sub(ended.began));
        out.push(format!("{} {flow} answered after {time}{figures}{label}", styled(GOOD, "✻")));
    }

    fn log(&self, branch: &BranchId, line: &str, from: LogSource, out: &mut Vec<String>) {
        let label = if *branch == BranchId::root() { String::new() } else { dim(&format!(" · {branch}")) };
        let mark = match from {
            LogSource::Log | LogSource::Stdout => styled(BOLD, "│"),
            LogSource::Stderr => styled(BAD, "│"),
            LogSource::Host => styled(NOTE, "│"),
        };
        // What a flow says is for the person and is not cut at the edge. Only its lines are held apart from ours.
        for each in line.lines() {
            out.push(format!("{mark} {}{label}", escape::line(each, LOG_LINE)));
        }
    }

    /// A line of what somebody else said in a turn.
    fn foreign(&self, turn: TurnId, mark: &str, text: &str, out: &mut Vec<String>) {
        let Some((_, session)) = self.view.session_of(turn) else { return };
        // The one conversation of a run needs no label.
        let label = if self.view.sessions_seen > 1 { self.label(session) } else { String::new() };
        self.put(mark, text, &label, out);
    }

    fn put(&self, mark: &str, text: &str, label: &str, out: &mut Vec<String>) {
        let label_columns = escape::columns(&anstream::adapter::strip_str(label).to_string());
        let room = self.columns.saturating_sub(2 + label_columns).max(LEAST);
        let text = escape::line(text, room);
        if !text.is_empty() {
            out.push(format!("{mark} {text}{label}"));
        }
    }

    /// ` · agent · conversation 2 of 5 · 1.2`.
    fn label(&self, session: &Session) -> String {
        let mut label = format!(" · {}", escape::line(&session.role, LEAST * 2));
        let total = self.view.total(session);
        if total > 1 {
            label.push_str(&format!(" · conversation {} of {total}", session.nth));
        }
        if session.branch != BranchId::root() {
            label.push_str(&format!(" · {}", session.branch));
        }
        dim(&label)
    }

    fn model<'a>(&'a self, session: &'a Session) -> &'a str {
        match self.models.get(&session.agent) {
            Some(model) => model,
            // Without a model of its own the harness is all there is to say.
            None => session.agent.split_once('/').map_or(&session.agent, |(_, model)| model),
        }
    }
}

fn dim(text: &str) -> String {
    if text.is_empty() { String::new() } else { styled(DIM, text) }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::render::sample::{Sample, died, fanout, json, plain};

    fn shown(sample: &Sample, columns: usize) -> String {
        let models = HashMap::from([("claude/sonnet-5-5:high".into(), "sonnet-5-5".into())]);
        let (mut lines, mut out) = (Lines::new(columns, models), Vec::new());
        for (at, record) in &sample.records {
            lines.take(*at, record, &mut out);
        }
        plain(&out)
    }

    #[test]
    fn a_fan_out_reads_as_its_turns_interleave() {
        assert_snapshot!(shown(&fanout(), 100), @r#"
        ● agent is working
        ● agent is working
        ● Read(/srv/calc/calc.py) · agent · conversation 1 of 2
        ● Read(/srv/calc/check.py) · agent · conversation 2 of 2
        ✗ Read(/srv/calc/check.py) · agent · conversation 2 of 2
        ✗ failed, the CLI died mid-turn · agent · conversation 2 of 2
        ✻ Worked for 2s · agent · conversation 2 of 2
        ● agent is working
        ● Edit(/srv/calc/calc.py) · agent · conversation 1 of 3
        ● I added the one-line docstring `"""Simple calculator functions."""`… · agent · conversation 1 of 3
        ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · sonnet-5-5 · agent · conversation 1 of 3
        ✻ Worked for 6s · agent · conversation 1 of 3
        ● Done. · agent · conversation 3 of 3
        ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · sonnet-5-5 · agent · conversation 3 of 3
        ✻ Worked for 5s · agent · conversation 3 of 3
        │ check.py: failed, the CLI died mid-turn
        ✻ fanout answered after 7s · 3 turns · input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · run 20260101-000000-00ab
        "#);
    }

    #[test]
    fn one_conversation_alone_needs_no_label() {
        let mut sample = Sample::of("ralph");
        sample.session("1", 1, 1, "demo").turn("1", 1, 1).after(100).text(1, "Done.").answered(1);
        assert_snapshot!(shown(&sample, 100), @"
        ● agent is working
        ● Done.
        ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · demo · agent
        ✻ Worked for 0.1s · agent
        ");
    }

    #[test]
    fn a_called_flow_has_its_place_in_every_line() {
        let mut sample = Sample::of("parts");
        sample.branch("1.1", "fanout", None).session("1.1", 1, 1, "demo").turn("1.1", 1, 1).after(2_000).answered(1);
        sample.log("1.1", "b.py: failed, the CLI died mid-turn");
        sample.branch_end("1.1", Outcome::Ok(json("{}")));
        sample.branch("1.2", "fanout", None).branch_end("1.2", Outcome::Error(died()));
        assert_snapshot!(shown(&sample, 100), @"
        ● fanout is called · branch 1.1
        ● agent is working · 1.1
        ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · demo · agent · 1.1
        ✻ Worked for 2s · agent · 1.1
        │ b.py: failed, the CLI died mid-turn · 1.1
        ✻ fanout answered after 2s · input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · branch 1.1
        ● fanout is called · branch 1.2
        ✗ fanout failed, the CLI died mid-turn · branch 1.2
        ");
    }

    #[test]
    fn of_turns_that_wait_one_says_why_and_each_works_when_it_begins() {
        let mut sample = Sample::of("lines");
        sample.waiting(1, Some("2 turns at once at most")).waiting(2, Some("2 turns at once at most"));
        sample.after(5_000).waiting(1, None).session("1", 1, 1, "demo").turn("1", 1, 1);
        sample.after(1_000).put(Record::Stop { why: "ctrl-c".into() }).answered(1);
        sample.waiting(2, None).session("1", 2, 2, "demo").turn("1", 2, 2).failed(2, Error::stopped());
        assert_snapshot!(shown(&sample, 100), @"
        ◌ a turn waits: 2 turns at once at most
        ● agent is working
        ■ stopping: ctrl-c
        ✻ input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02 · demo · agent
        ✻ Worked for 1s · agent
        ● agent is working
        ■ interrupted · agent · conversation 2 of 2
        ✻ Worked for 0s · agent · conversation 2 of 2
        ");
    }

    #[test]
    fn what_others_say_stays_one_harmless_line_of_the_width_there_is() {
        let mut sample = Sample::of("fanout\u{1b}[2J");
        sample.session("1", 1, 1, "demo").turn("1", 1, 1);
        sample.text(1, "one\n✻ Worked for 0s · agent\r\u{1b}]0;title\u{7}\u{202e}").tool(1, "t", "Read(\u{1b}[31m)");
        sample.text(1, &"a very long text ".repeat(20)).log("1", "two\nlines\u{1b}[A");
        let shown = shown(&sample, 60);
        assert!(shown.lines().all(|line| escape::columns(line) <= 60), "{shown}");
        assert_snapshot!(shown, @r"
        ● agent is working
        ● one ✻ Worked for 0s · agent␍␛]0;title␇\u{202e}
        ● Read(␛[31m)
        ● a very long text a very long text a very long text a very…
        │ two
        │ lines␛[A
        ");
    }
}
