//! A recorded run as a scenario: what agents and commands said is what fakes say, and the flow's answer is what is expected.
//!
//! The record keeps of a read file what was in it and a key of its path ([`Key`]), not the path. A path is known again where it
//! stands somewhere else in the record: in a list of files, in a command's output, in a prompt. What stays unknown is said in a
//! comment.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    env::{Entry, EntryKind},
    error::{Error, HarnessFault, Kind},
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    measure,
    outcome::{Bytes, Ran},
    record::{Answer, Json, Key, Outcome, Record},
    usage::{Grace, Limits, Usage},
};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table};

use crate::{outcome::error_document, toml};

/// Bytes of a file, or of output, that a scenario keeps of a run.
const LONGEST: usize = 1 << 20;
/// How many texts are tried as paths.
const PATHS: usize = 50_000;
/// How often one path may have been read.
const TIMES: u32 = 16;

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

    /// The files that were read or listed, and how many reads are of files that nobody names.
    fn files(&self) -> (BTreeMap<String, String>, usize) {
        let mut files = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.kind == EntryKind::File) {
            files.insert(entry.path.clone(), String::new());
        }
        let mut wanted: HashMap<Key, &Bytes> = self.reads.iter().map(|(_, key, bytes)| (*key, bytes)).collect();
        for path in self.paths() {
            if wanted.is_empty() {
                break;
            }
            for ((_, branch), (role, _)) in
                self.branches.iter().flat_map(|branch| self.envs.iter().map(move |env| (branch, env)))
            {
                let env = Key::of(&[&branch.0, b"env", role.as_bytes()]);
                let key = Key::of(&[&branch.0, &env.0, b"env.read", path.as_bytes(), b""]);
                for nth in 0..TIMES {
                    let Some(bytes) = wanted.remove(&key.occurrence(nth)) else { break };
                    if nth == 0 && bytes.0.len() <= LONGEST {
                        files.insert(path.to_owned(), String::from_utf8_lossy(&bytes.0).into_owned());
                    }
                }
            }
        }
        (files, wanted.len())
    }

    /// What may be paths of files.
    fn paths(&self) -> BTreeSet<&str> {
        let texts = self.turns.iter().map(|turn| &*turn.prompt).chain(self.log.iter().map(|line| &**line));
        let texts = texts.chain(self.root.iter().flat_map(|root| [&*root.task, root.params.get()]));
        let outputs = self.calls.iter().filter_map(|call| match &call.end {
            Some((_, Outcome::Ok(json))) => Some(json.get()),
            _ => None,
        });
        let mut paths: BTreeSet<&str> = self.entries.iter().map(|entry| entry.path.as_str()).collect();
        for text in texts {
            paths.extend(words(text));
        }
        for output in outputs {
            // Lines of a JSON string are parted by the two characters of `\n`.
            paths.extend(output.split(['"', '\\']).map(|line| line.strip_prefix('n').unwrap_or(line)));
        }
        paths.into_iter().filter(|path| !path.is_empty()).take(PATHS).collect()
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

/// The words of a text without what stands around them, and again without the point that may end a sentence.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let around = |each: char| each.is_whitespace() || "\"'`()[]{}<>,;:".contains(each);
    text.split(around).flat_map(|word| [word, word.trim_end_matches(['.', '!', '?'])])
}

/// What a fake says to a prompt of a turn; none where the prompt was never handed over.
fn reply(turn: &Turn) -> Option<InlineTable> {
    let mut reply = InlineTable::new();
    let Some((ended, outcome, usage)) = &turn.end else {
        reply.insert("never", true.into());
        return Some(reply);
    };
    if usage.turns == 0 {
        return None;
    }
    match outcome {
        Outcome::Ok(Answer { text, value }) => {
            reply.insert("text", toml::text_value(text));
            if let Some(value) = value {
                let parsed: Value = serde_json::from_str(value.get()).unwrap_or_default();
                match toml::value(&parsed) {
                    Some(value) => reply.insert("value", value),
                    None => reply.insert("json", toml::text_value(value.get())),
                };
            }
        }
        Outcome::Error(Error { kind: Kind::Harness(failure), message })
            if failure.fault != HarnessFault::Interrupted =>
        {
            let document = error_document(&Error::new(Kind::Harness(*failure), message.clone()));
            reply.insert("fail", toml::text_value(message));
            for key in ["fault", "retry-after"] {
                if let Some(word) = document[key].as_str() {
                    reply.insert(key, word.into());
                }
            }
        }
        // The flow, or the host, ended it.
        Outcome::Error(_) => {
            reply.insert("never", true.into());
        }
    }
    let took = millis(ended.saturating_sub(turn.began));
    if !took.is_zero() && !reply.contains_key("never") {
        reply.insert("delay", measure::written(took).into());
    }
    if usage.cost.dollars() > 0.0 {
        reply.insert("cost", usage.cost.dollars().into());
    }
    for (key, tokens) in [("input-tokens", usage.input_tokens), ("output-tokens", usage.output_tokens)] {
        if let Some(tokens) = i64::try_from(tokens).ok().filter(|tokens| *tokens > 0) {
            reply.insert(key, tokens.into());
        }
    }
    if !turn.occasions.is_empty() {
        let each = |(moment, details): &(String, Value)| {
            let mut occasion = InlineTable::new();
            occasion.insert("moment", moment.as_str().into());
            if let Some(details) = toml::value(&without_nulls(details)) {
                occasion.insert("details", details);
            }
            occasion
        };
        reply.insert("occasions", turn.occasions.iter().map(each).collect::<Array>().into());
    }
    Some(reply)
}

fn command(call: &Call) -> Option<Table> {
    let mut command = Table::new();
    // A long line is cut in the record, where it ends in `…`.
    match call.label.strip_suffix('…') {
        Some(start) if call.label.len() > 200 => command.insert("run-starts-with", start.into()),
        _ => command.insert("run", toml::text_value(&call.label).into()),
    };
    command.insert("times", 1.into());
    let Some((ended, outcome)) = &call.end else {
        command.insert("never", true.into());
        return Some(command);
    };
    match outcome {
        Outcome::Ok(json) => {
            let Ran { status, stdout, stderr, .. } = serde_json::from_str(json.get()).ok()?;
            if status != 0 {
                command.insert("status", i64::from(status).into());
            }
            for (key, bytes) in [("stdout", stdout), ("stderr", stderr)] {
                if !bytes.0.is_empty() && bytes.0.len() <= LONGEST {
                    command.insert(key, toml::text_value(&String::from_utf8_lossy(&bytes.0)).into());
                }
            }
        }
        Outcome::Error(error @ Error { kind: Kind::Env(_), message }) => {
            let document = error_document(error);
            if document["fault"] == "interrupted" {
                command.insert("never", true.into());
                return Some(command);
            }
            command.insert("fail", toml::text_value(message).into());
            command.insert("fault", document["fault"].as_str().unwrap_or("other").into());
        }
        Outcome::Error(_) => {
            command.insert("never", true.into());
            return Some(command);
        }
    }
    let took = millis(ended.saturating_sub(call.began));
    if !took.is_zero() {
        command.insert("delay", measure::written(took).into());
    }
    Some(command)
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
