//! A recorded run as a scenario: what agents and commands said is what fakes say, and the flow's answer is what is expected.
//!
//! The record keeps of a read file what was in it and a key of its path ([`Key`]), not the path. A path is known again where it
//! stands somewhere else in the record: in a list of files, in a command's output, in a prompt. What stays unknown is said in a
//! comment.

mod fakes;
mod files;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    env::{Entry, EntryKind},
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    measure,
    outcome::Bytes,
    record::{Answer, Json, Key, Outcome, Record},
    usage::{Grace, Limits, Usage},
};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table};

use self::fakes::{command, reply};
use crate::{outcome::error_document, toml};

/// Bytes of a file, or of output, that a scenario keeps of a run.
const LONGEST: usize = 1 << 20;
/// The text of the scenario that these records, with their times since the run began, were.
///
/// # Errors
/// Where the run did not come to its end.
pub fn scenario(records: impl IntoIterator<Item = (Duration, Record)>) -> Result<String, String> {
    let mut seen = Seen::default();
    for (at, record) in records {
        seen.record(at, record);
    }
    seen.scenario()
}

#[derive(Default)]
struct Seen {
    run: Option<RunId>,
    reference: Arc<str>,
    at_once: Option<u32>,
    agents: Vec<(Arc<str>, Arc<str>)>,
    envs: Vec<(Arc<str>, Arc<str>)>,
    branches: Vec<(BranchId, Key)>,
    root: Option<Root>,
    end: Option<Outcome<Json>>,
    /// Session to role and agent.
    sessions: HashMap<SessionId, (Arc<str>, Arc<str>)>,
    turns: Vec<Turn>,
    calls: Vec<Call>,
    /// Keys of reads, and what they gave.
    reads: Vec<(BranchId, Key, Bytes)>,
    /// What lists of files and the like name.
    entries: Vec<Entry>,
    log: Vec<Arc<str>>,
    stopped: Option<Duration>,
    /// Whether it asked for what no scenario repeats.
    asked_time: bool,
    repaired: bool,
}

struct Root {
    task: Arc<str>,
    params: Json,
    limits: Limits,
}

struct Turn {
    id: TurnId,
    session: SessionId,
    prompt: Arc<str>,
    began: Duration,
    occasions: Vec<(String, Value)>,
    end: Option<(Duration, Outcome<Answer>, Usage)>,
}

struct Call {
    id: CallId,
    label: Arc<str>,
    began: Duration,
    end: Option<(Duration, Outcome<Json>)>,
}

impl Seen {
    fn record(&mut self, at: Duration, record: Record) {
        match record {
            Record::Run { run, reference, agents, envs, at_once, .. } => {
                (self.run, self.reference, self.agents, self.envs) = (Some(run), reference, agents, envs);
                self.at_once = at_once;
            }
            Record::Branch { branch, parent, key, task, params, limits, .. } => {
                if parent.is_none() {
                    self.root = Some(Root { task, params, limits });
                }
                self.branches.push((branch, key));
            }
            Record::BranchEnd { branch, outcome, .. } if branch == BranchId::root() => self.end = Some(outcome),
            Record::Session { session, role, agent, .. } => {
                self.sessions.insert(session, (role, agent));
            }
            Record::Turn { turn, session, prompt, .. } => {
                let occasions = Vec::new();
                self.turns.push(Turn { id: turn, session, prompt, began: at, occasions, end: None });
            }
            Record::Again { .. } => self.repaired = true,
            Record::Occasion { turn, moment, details, .. } => {
                if let Some(turn) = self.turns.iter_mut().rev().find(|each| each.id == turn) {
                    turn.occasions.push((moment.name().to_owned(), details));
                }
            }
            Record::TurnEnd { turn, outcome, usage } => {
                if let Some(turn) = self.turns.iter_mut().rev().find(|each| each.id == turn) {
                    turn.end = Some((at, outcome, usage));
                }
            }
            Record::Call { call, function, label, .. } if matches!(&*function, "env.exec" | "env.bash") => {
                self.calls.push(Call { id: call, label, began: at, end: None });
            }
            Record::Call { label, .. } => {
                self.entries.push(Entry { path: label.to_string(), kind: EntryKind::Other, size: 0 })
            }
            Record::CallEnd { call, outcome } => {
                if let Some(call) = self.calls.iter_mut().rev().find(|each| each.id == call) {
                    call.end = Some((at, outcome));
                }
            }
            Record::Value { branch, function, key, outcome: Outcome::Ok(json) } => {
                self.value(branch, &function, key, &json)
            }
            Record::Log { line, .. } => self.log.push(line),
            Record::Stop { .. } => self.stopped = Some(at),
            _ => {}
        }
    }

    fn value(&mut self, branch: BranchId, function: &str, key: Option<Key>, json: &Json) {
        let text = json.get();
        match function {
            "env.read" => {
                if let (Some(key), Ok(bytes)) = (key, serde_json::from_str(text)) {
                    self.reads.push((branch, key, bytes));
                }
            }
            "env.find" => self.entries.extend(serde_json::from_str::<Vec<Entry>>(text).unwrap_or_default()),
            "env.stat" => self.entries.extend(serde_json::from_str::<Entry>(text)),
            "context.now-ms" | "wall-clock" | "monotonic-clock" | "random" | "insecure-random" => {
                self.asked_time = true
            }
            _ => {}
        }
    }

    fn scenario(self) -> Result<String, String> {
        let (Some(root), Some(end)) = (&self.root, &self.end) else {
            return Err("it did not come to its end, so nobody knows what it would have answered".to_owned());
        };
        let mut document = DocumentMut::new();
        let mut notes = vec![match &self.run {
            Some(run) => format!("# What happened in the run {run}."),
            None => "# What happened in a run.".to_owned(),
        }];
        if self.asked_time {
            notes.push("# Its flow asked for the time, or for random numbers: here those are others.".to_owned());
        }
        document.insert("flow", toml::text_value(&self.reference).into());
        document.insert("task", toml::text_value(&root.task).into());
        if let Some(turns) = self.at_once {
            document.insert("at-once", i64::from(turns).into());
        }
        if let Some(stopped) = self.stopped {
            document.insert("stopped-after", measure::written(millis(stopped)).into());
        }
        let params: Value = serde_json::from_str(root.params.get()).unwrap_or_default();
        if let Some(params) = table(&params) {
            document.insert("params", Item::Table(params));
        }
        if let Some(budget) = budget(&root.limits) {
            document.insert("budget", Item::Table(budget));
        }
        document.insert("agents", Item::Table(self.agents_table()));
        let (envs, unknown) = self.envs_table();
        if unknown > 0 {
            notes.push(format!("# {unknown} of the reads of its flow were of files that the record does not name."));
        }
        if let Some(envs) = envs {
            document.insert("envs", Item::Table(envs));
        }
        document.insert("expect", Item::Table(self.expect(end)));
        Ok(format!("{}\n{document}", notes.join("\n")))
    }

    /// The root's roles behind a session: its own, or, in a callee, those with the same agent.
    fn roles(&self, session: SessionId) -> Vec<Arc<str>> {
        let Some((role, agent)) = self.sessions.get(&session) else { return Vec::new() };
        let label = |written: &str| {
            *written == **agent || agent.starts_with(written.split(['/', '@', ':']).next().unwrap_or(written))
        };
        let own = self.agents.iter().filter(|(name, written)| name == role && label(written));
        let own: Vec<_> = own.map(|(name, _)| name.clone()).collect();
        if !own.is_empty() {
            return own;
        }
        let alike = self.agents.iter().filter(|(_, written)| label(written));
        let alike: Vec<_> = alike.map(|(name, _)| name.clone()).collect();
        if alike.is_empty() { self.agents.iter().map(|(name, _)| name.clone()).collect() } else { alike }
    }

    fn agents_table(&self) -> Table {
        let mut agents = implicit();
        for (role, _) in &self.agents {
            let mut agent = Table::new();
            let mut unasked = InlineTable::new();
            unasked.insert("fail", "the run that this was made of had no such prompt".into());
            agent.insert("reply", Item::Value(unasked.into()));
            let mut whens = ArrayOfTables::new();
            for turn in self.turns.iter().filter(|turn| self.roles(turn.session).contains(role)) {
                let Some(reply) = reply(turn) else { continue };
                let mut when = Table::new();
                when.insert("is", toml::text_value(&turn.prompt).into());
                when.insert("times", 1.into());
                when.insert("reply", Item::Value(reply.into()));
                whens.push(when);
            }
            agent.insert("when", Item::ArrayOfTables(whens));
            agents.insert(role, Item::Table(agent));
        }
        agents
    }

    /// The environments, and how many reads were of files that nobody names.
    fn envs_table(&self) -> (Option<Table>, usize) {
        let (files, unknown) = self.files();
        let mut envs = implicit();
        for (role, written) in &self.envs {
            let mut env = Table::new();
            let directory = written.strip_prefix("local:").filter(|directory| self.says(directory));
            if let Some(directory) = directory {
                env.insert("directory", directory.into());
            }
            let commands: ArrayOfTables = self.calls.iter().filter_map(command).collect();
            let mut table = Table::new();
            for (path, text) in &files {
                table.insert(path, toml::text_value(text).into());
            }
            if !table.is_empty() {
                env.insert("files", Item::Table(table));
            }
            if !commands.is_empty() {
                env.insert("commands", Item::ArrayOfTables(commands));
            }
            if !env.is_empty() {
                envs.insert(role, Item::Table(env));
            }
        }
        ((!envs.is_empty()).then_some(envs), unknown)
    }

    /// Whether a prompt or the answer has this text in it.
    fn says(&self, text: &str) -> bool {
        let answered = matches!(&self.end, Some(Outcome::Ok(answer)) if answer.get().contains(text));
        answered
            || self.turns.iter().any(|turn| turn.prompt.contains(text))
            || self.log.iter().any(|line| line.contains(text))
    }

    fn expect(&self, end: &Outcome<Json>) -> Table {
        let mut expect = Table::new();
        match end {
            Outcome::Ok(answer) => {
                let value: Value = serde_json::from_str(answer.get()).unwrap_or_default();
                match toml::value(&value) {
                    Some(value) => expect.insert("result", Item::Value(value)),
                    None => expect.insert("result-json", toml::text_value(&format!("{value:#}")).into()),
                };
            }
            Outcome::Error(error) => {
                if let Some(error) = toml::value(&error_document(error)) {
                    expect.insert("error", Item::Value(error));
                }
            }
        }
        if !self.log.is_empty() {
            let lines: Array = self.log.iter().map(|line| toml::text_value(line)).collect();
            let key = if self.branches.len() > 1 { "log-any-order" } else { "log" };
            expect.insert(key, Item::Value(lines.into()));
        }
        let was_asked = |turn: &&Turn| turn.end.as_ref().is_none_or(|(.., usage)| usage.turns > 0);
        let asked = || self.turns.iter().filter(was_asked);
        // A repair asks again, and what the agent said first is not in the record.
        if !self.repaired {
            expect.insert("turns", number(asked().count() as u64));
        }
        expect.insert("sessions", number(asked().map(|turn| turn.session).collect::<HashSet<_>>().len() as u64));
        expect
    }
}

fn budget(limits: &Limits) -> Option<Table> {
    if limits.is_none() {
        return None;
    }
    let mut budget = Table::new();
    if let Some(cost) = limits.cost {
        budget.insert("cost", cost.dollars().into());
    }
    if let Some(tokens) = limits.output_tokens {
        budget.insert("output-tokens", number(tokens));
    }
    if let Some(turns) = limits.turns {
        budget.insert("turns", number(turns.into()));
    }
    if let Some(duration) = limits.duration {
        budget.insert("duration", measure::written(duration).into());
    }
    if limits.grace == Grace::Cut {
        budget.insert("grace", "cut".into());
    }
    Some(budget)
}

/// An object as a table; none where there is nothing in it. A key that is null is left out.
fn table(object: &Value) -> Option<Table> {
    let mut table = Table::new();
    for (key, value) in without_nulls(object).as_object()? {
        table.insert(key, Item::Value(toml::value(value)?));
    }
    (!table.is_empty()).then_some(table)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let there = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

/// A table that is there for those in it, and has no header of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

fn number(number: u64) -> Item {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// As far as a scenario is exact.
fn millis(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
