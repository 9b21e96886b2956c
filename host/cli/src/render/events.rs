//! `--json`: what happens in a run as JSON, one object a line on stdout, the result last.
//!
//! Each object has `at-us`, microseconds since the run began, and a `type`. The objects are the records of the journal, as they
//! stand there, without those that only a resume needs (`value`, `delivered`); `budget` follows each turn in a branch that is
//! limited; `result` takes the place of the journal's `end`. `host/cli/schema/events.schema.json` describes them all.

use std::{
    collections::HashMap,
    io::{self, Write},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use flowhost_core::{
    error::Error,
    id::{BranchId, RunId},
    record::{Json, Observer, Record},
    usage::{Allowance, Limits, Usage},
};
use parking_lot::Mutex;
use serde::Serialize;

use super::queue::Queue;
use crate::{
    escape,
    exit::{Exit, Failure},
};

/// What is written together.
const FRAME: Duration = Duration::from_millis(5);

/// An observer that writes JSON to stdout.
#[derive(Debug)]
pub struct Events {
    queue: Arc<Queue<(Duration, Record)>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Events {
    /// Starts to write.
    pub fn start() -> io::Result<Arc<Self>> {
        let queue = Arc::new(Queue::default());
        let taker = queue.clone();
        let thread = std::thread::Builder::new().name("events".into()).spawn(move || write_all(&taker))?;
        Ok(Arc::new(Self { queue, thread: Mutex::new(Some(thread)) }))
    }

    /// Writes what is left and returns.
    pub fn finish(&self) {
        self.queue.close();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

impl Observer for Events {
    fn record(&self, at: Duration, record: &Record) {
        match record {
            Record::Value { .. } | Record::Delivered { .. } | Record::End { .. } => {}
            _ => self.queue.push((at, record.clone())),
        }
    }
}

fn write_all(queue: &Queue<(Duration, Record)>) {
    let mut budgets = Budgets::default();
    let mut readable = true;
    loop {
        let batch = queue.take(None);
        let mut text = String::new();
        for (at, record) in &batch.items {
            let mut bytes = Vec::new();
            // A record has nothing that JSON cannot say.
            if flowhost_journal::line(*at, record, &mut bytes).is_ok() {
                text.push_str(&escape::json(&String::from_utf8_lossy(&bytes)));
                text.push('\n');
            }
            budgets.take(*at, record, &mut text);
        }
        // A reader that is gone does not end the run.
        readable = readable && put(&text).is_ok();
        if batch.closed {
            return;
        }
        queue.rest(FRAME);
    }
}

fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// One object, and its line end.
fn line(at: Duration, what: &impl Serialize) -> String {
    let object = serde_json::to_string(what).unwrap_or_default();
    let object = escape::json(object.strip_prefix('{').unwrap_or(&object));
    format!("{{\"at-us\":{},{object}\n", at.as_micros())
}

/// What is spent and left in each branch that is limited.
#[derive(Default)]
struct Budgets {
    branches: HashMap<BranchId, Budget>,
    turns: HashMap<u32, BranchId>,
}

struct Budget {
    parent: Option<BranchId>,
    limits: Limits,
    began: Duration,
    spent: Usage,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "budget")]
struct BudgetLine<'a> {
    branch: &'a BranchId,
    spent: &'a Usage,
    left: Allowance,
}

impl Budgets {
    fn take(&mut self, at: Duration, record: &Record, out: &mut String) {
        match record {
            Record::Branch { branch, parent, limits, .. } => {
                let new = Budget { parent: parent.clone(), limits: *limits, began: at, spent: Usage::default() };
                self.branches.insert(branch.clone(), new);
            }
            Record::BranchEnd { branch, .. } => {
                self.branches.remove(branch);
            }
            Record::Turn { turn, branch, .. } => {
                self.turns.insert(turn.0, branch.clone());
            }
            Record::TurnEnd { turn, usage, .. } => {
                let mut next = self.turns.remove(&turn.0);
                let mut up = Vec::new();
                while let Some(branch) = next {
                    let Some(budget) = self.branches.get_mut(&branch) else { break };
                    budget.spent.add(usage);
                    next = budget.parent.clone();
                    up.push(branch);
                }
                // $1: what is left to a branch is the tighter of its own and what is left above it.
                let mut left = Allowance::default();
                let mut lines = Vec::new();
                for branch in up.iter().rev() {
                    let Some(budget) = self.branches.get(branch) else { return };
                    left = tighter(left, budget.left(at));
                    if !budget.limits.is_none() {
                        lines.push(line(at, &BudgetLine { branch, spent: &budget.spent, left }));
                    }
                }
                out.extend(lines.into_iter().rev());
            }
            _ => {}
        }
    }
}

impl Budget {
    fn left(&self, at: Duration) -> Allowance {
        let Limits { cost, output_tokens, turns, duration, .. } = self.limits;
        Allowance {
            cost: cost.map(|limit| limit.less(self.spent.cost)),
            output_tokens: output_tokens.map(|limit| limit.saturating_sub(self.spent.output_tokens)),
            turns: turns.map(|limit| limit.saturating_sub(self.spent.turns)),
            duration: duration.map(|limit| limit.saturating_sub(at.saturating_sub(self.began))),
        }
    }
}

fn tighter(one: Allowance, other: Allowance) -> Allowance {
    fn less<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
        [one, other].into_iter().flatten().min()
    }
    Allowance {
        cost: less(one.cost, other.cost),
        output_tokens: less(one.output_tokens, other.output_tokens),
        turns: less(one.turns, other.turns),
        duration: less(one.duration, other.duration),
    }
}

/// The last object of a run, or the only one where nothing started.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "result")]
pub struct RunResult<'a> {
    /// The run; none where nothing started.
    run: Option<&'a RunId>,
    /// The answer, or the error.
    outcome: Ending<'a>,
    /// The exit code.
    exit: u8,
    /// What was spent.
    usage: Usage,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ending<'a> {
    Ok(&'a Json),
    Error(Fault<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Fault<'a> {
    Core(&'a Error),
    Refused {
        kind: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a str>,
    },
}

impl<'a> RunResult<'a> {
    /// Of a run that has ended.
    pub fn of(run: &'a RunId, outcome: Result<&'a Json, &'a Error>, exit: Exit, usage: Usage) -> Self {
        let outcome = match outcome {
            Ok(answer) => Ending::Ok(answer),
            Err(error) => Ending::Error(Fault::Core(error)),
        };
        Self { run: Some(run), outcome, exit: exit.code(), usage }
    }

    /// Of what was refused before it started, or broke down outside of the flow.
    pub fn refused(failure: &'a Failure) -> Self {
        let kind = if failure.exit == Exit::Refused { "refused" } else { "program" };
        let fault = Fault::Refused { kind, message: &failure.message, hint: failure.hint.as_deref() };
        Self { run: None, outcome: Ending::Error(fault), exit: failure.exit.code(), usage: Usage::default() }
    }

    /// Writes it to stdout. A reader that is gone is no reason to fail.
    pub fn write(&self, at: Duration) -> io::Result<()> {
        put(&line(at, self))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::render::sample::{Sample, fanout, json, usage};

    fn budgets(sample: &Sample) -> String {
        let (mut budgets, mut out) = (Budgets::default(), String::new());
        sample.records.iter().for_each(|(at, record)| budgets.take(*at, record, &mut out));
        out
    }

    #[test]
    fn what_is_left_is_said_after_each_turn_in_a_branch_that_is_limited() {
        let said = budgets(&fanout());
        assert_eq!(said.lines().count(), 3);
        assert_snapshot!(said.lines().last().unwrap(), @r#"
        {"at-us":7104000,"type":"budget","branch":"1","spent":{"turns":3,"input-tokens":12,"output-tokens":532,"cache-read-tokens":91600,"cache-write-tokens":8200,"cost":0.04,"cost-source":"reported","duration-ms":0},"left":{"cost":0.96}}
        "#);
    }

    #[test]
    fn a_nested_turn_counts_in_every_limited_branch_above() {
        let mut sample = Sample::of("parts");
        sample.branch("1.1", "fanout", None).branch("1.1.1", "lines", Some(0.01));
        sample.session("1.1.1", 1, 1, "demo").turn("1.1.1", 1, 1).answered(1);
        let said = budgets(&sample);
        let branches: Vec<_> = said
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["branch"].clone())
            .collect();
        assert_eq!(branches, ["1.1.1", "1"]);
        assert!(said.lines().next().unwrap().contains(r#""left":{"cost":0.0}"#));
    }

    #[test]
    fn the_result_is_the_answer_or_the_error_with_the_exit() {
        let run = RunId::new("20260101-000000", 0xab);
        let (answer, error) = (json(r#"{"a.py":"x\u202ey"}"#), Error::stopped());
        let answered = RunResult::of(&run, Ok(&answer), Exit::Answered, usage(1));
        assert_snapshot!(line(Duration::from_millis(6), &answered), @r#"
        {"at-us":6000,"type":"result","run":"20260101-000000-00ab","outcome":{"ok":{"a.py":"x\u202ey"}},"exit":0,"usage":{"turns":1,"input-tokens":6,"output-tokens":266,"cache-read-tokens":45800,"cache-write-tokens":4100,"cost":0.02,"cost-source":"reported","duration-ms":0}}
        "#);
        let stopped = RunResult::of(&run, Err(&error), Exit::Stopped, Usage::default());
        assert_snapshot!(line(Duration::ZERO, &stopped), @r#"
        {"at-us":0,"type":"result","run":"20260101-000000-00ab","outcome":{"error":{"kind":"stopped","message":"the run was stopped"}},"exit":130,"usage":{"turns":0,"input-tokens":0,"output-tokens":0,"cache-read-tokens":0,"cache-write-tokens":0,"cost":0.0,"cost-source":"unknown","duration-ms":0}}
        "#);
        let refused = Failure::refused("fanuot: no such flow").hint("Did you mean fanout?");
        assert_snapshot!(line(Duration::ZERO, &RunResult::refused(&refused)), @r#"
        {"at-us":0,"type":"result","run":null,"outcome":{"error":{"kind":"refused","message":"fanuot: no such flow","hint":"Did you mean fanout?"}},"exit":2,"usage":{"turns":0,"input-tokens":0,"output-tokens":0,"cache-read-tokens":0,"cache-write-tokens":0,"cost":0.0,"cost-source":"unknown","duration-ms":0}}
        "#);
    }
}
