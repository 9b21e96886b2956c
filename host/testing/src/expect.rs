//! `expect` of a scenario file.

use std::time::Duration;

use serde_json::Value;

use crate::{
    fields::{Field, Fields, Read, did_you_mean},
    pattern::{Like, Text},
    tree::ENDINGS,
};

/// What is to come of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub(crate) all: Vec<Expectation>,
    /// Whether it says how the flow ends: else it answers, whatever it answers.
    pub(crate) ending: bool,
}

/// One key of it.
#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    /// Where it stands below `expect`.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Where what was seen stands, which may be said in several ways.
    pub(crate) seen: Vec<String>,
    pub(crate) check: Check,
}

#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// This document.
    Exactly(Value),
    /// One that is like this.
    Like(Like),
    /// This text.
    Text(Text),
    /// These, in order.
    Lines(Vec<Text>),
    /// These, in whatever order.
    AnyOrder(Vec<Text>),
    /// Among others something like each of these.
    Among(Vec<Text>),
    /// A number between these.
    Between(Option<f64>, Option<f64>),
    /// A time between these; both the same where it is exact.
    Time(Option<Duration>, Option<Duration>),
    /// Nothing.
    Absent,
}

/// Error kinds, as they are written.
const KINDS: [&str; 10] =
    ["session", "harness", "env", "budget", "requirement", "not-granted", "flow", "failed", "stopped", "other"];

impl Expected {
    pub(crate) fn read(field: &Field<'_>) -> Read<Self> {
        let fields = field.fields()?;
        let mut reader = Reader::default();
        let ending = fields.one_of(&ENDINGS)?;
        if let Some((key, ending)) = &ending {
            match *key {
                "result" => reader.push(key, ending, &["result"], Check::Exactly(ending.json()?)),
                "result-json" => reader.push(key, ending, &["result"], Check::Exactly(ending.json_text()?)),
                "result-like" => reader.push(key, ending, &["result"], Check::Like(Like::read(ending)?)),
                _ => reader.error(ending)?,
            }
        }
        for (key, lines) in [
            ("log", ["log", "log-any-order", "log-contains"]),
            ("prompts", ["prompts", "prompts-any-order", "prompts-contain"]),
        ] {
            reader.lines(&fields, key, lines)?;
        }
        for key in ["sessions", "turns", "peak", "interrupted", "branches"] {
            reader.number(&fields, key, false)?;
        }
        if let Some(spending) = fields.get("spending") {
            reader.below("spending", |reader| {
                let fields = spending.fields()?;
                reader.number(&fields, "cost", true)?;
                for key in ["input-tokens", "output-tokens", "turns"] {
                    reader.number(&fields, key, false)?;
                }
                fields.end()
            })?;
        }
        if let Some(duration) = fields.get("duration") {
            reader.duration(&duration)?;
        }
        reader.workspace(&fields)?;
        for (role, agent) in fields.maybe("agents", Field::named)?.unwrap_or_default() {
            reader.below("agents", |reader| reader.below(role, |reader| reader.agent(&agent.fields()?)))?;
        }
        for (role, env) in fields.maybe("envs", Field::named)?.unwrap_or_default() {
            let read = |reader: &mut Reader| {
                let fields = env.fields()?;
                reader.workspace(&fields)?;
                fields.end()
            };
            reader.below("envs", |reader| reader.below(role, read))?;
        }
        fields.end()?;
        Ok(Self { all: reader.all, ending: ending.is_some() })
    }
}

#[derive(Default)]
struct Reader {
    all: Vec<Expectation>,
    above: Vec<String>,
}

impl Reader {
    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.above.push(key.to_owned());
        let done = read(self);
        self.above.pop();
        done
    }

    fn push(&mut self, key: &str, field: &Field<'_>, seen: &[&str], check: Check) {
        let path = |keys: &[&str]| self.above.iter().cloned().chain(keys.iter().map(|key| (*key).to_owned())).collect();
        let (path, seen) = (path(&[key]), path(seen));
        self.all.push(Expectation { path, line: field.node.line, seen, check });
    }

    fn error(&mut self, field: &Field<'_>) -> Read<()> {
        if !field.is_table() {
            let kind = error_kind(field)?;
            self.push("error", field, &["error", "kind"], Check::Exactly(kind));
            return Ok(());
        }
        self.below("error", |reader| {
            let fields = field.fields()?;
            if let Some(kind) = fields.get("kind") {
                reader.push("kind", &kind, &["kind"], Check::Exactly(error_kind(&kind)?));
            }
            for key in ["fault", "limit", "retry-after"] {
                if let Some(word) = fields.get(key) {
                    reader.push(key, &word, &[key], Check::Exactly(word.text()?.into()));
                }
            }
            if let Some(message) = fields.get("message") {
                reader.push("message", &message, &["message"], Check::Text(Text::read(&message)?));
            }
            fields.end()?;
            if reader.all.is_empty() {
                return Err(field.wrong("it says nothing of the error").hint("kind = \"failed\", for instance"));
            }
            Ok(())
        })
    }

    /// A list in three ways: in order, in any, among others.
    fn lines(&mut self, fields: &Fields<'_>, seen: &str, keys: [&'static str; 3]) -> Read<()> {
        let [ordered, any_order, among] = keys;
        let whole = fields.one_of(&[ordered, any_order])?;
        if let Some((key, list)) = whole {
            let texts = list.list()?.iter().map(Text::read).collect::<Read<_>>()?;
            let check = if key == ordered { Check::Lines(texts) } else { Check::AnyOrder(texts) };
            self.push(key, &list, &[seen], check);
        }
        if let Some(list) = fields.get(among) {
            let each = |each: &Field<'_>| {
                if each.is_table() { Text::read(each) } else { Ok(Text::containing(each.text()?)) }
            };
            let texts = list.list()?.iter().map(each).collect::<Read<_>>()?;
            self.push(among, &list, &[seen], Check::Among(texts));
        }
        Ok(())
    }

    /// A number, or a table with `at-least` and `at-most`.
    fn number(&mut self, fields: &Fields<'_>, key: &'static str, money: bool) -> Read<()> {
        let Some(field) = fields.get(key) else { return Ok(()) };
        let read = |field: &Field<'_>| if money { Ok(field.usd()?.dollars()) } else { Ok(field.count()? as f64) };
        let check = if field.is_table() {
            let (least, most) = between(&field, read)?;
            Check::Between(least, most)
        } else if money {
            Check::Exactly(field.usd()?.dollars().into())
        } else {
            Check::Exactly(field.count()?.into())
        };
        self.push(key, &field, &[key], check);
        Ok(())
    }

    fn duration(&mut self, field: &Field<'_>) -> Read<()> {
        let (least, most) = if field.is_table() {
            between(field, |field| field.time())?
        } else {
            let time = field.time()?;
            (Some(time), Some(time))
        };
        self.push("duration", field, &["duration"], Check::Time(least, most));
        Ok(())
    }

    /// Files and commands of an environment.
    fn workspace(&mut self, fields: &Fields<'_>) -> Read<()> {
        let files = fields.maybe("files", Field::named)?.unwrap_or_default();
        self.below("files", |reader| {
            for (path, file) in files {
                let check = match file.flag() {
                    Ok(false) => Check::Absent,
                    Ok(true) => {
                        return Err(file
                            .wrong("true says nothing of the file")
                            .hint("Give its text, or false where it must not be there"));
                    }
                    Err(_) => Check::Text(Text::read(&file)?),
                };
                reader.push(path, &file, &[path], check);
            }
            Ok(())
        })?;
        self.lines(fields, "commands", ["commands", "commands-any-order", "commands-contain"])
    }

    fn agent(&mut self, fields: &Fields<'_>) -> Read<()> {
        self.lines(fields, "prompts", ["prompts", "prompts-any-order", "prompts-contain"])?;
        self.lines(fields, "steers", ["steers", "steers-any-order", "steers-contain"])?;
        self.lines(fields, "verdicts", ["verdicts", "verdicts-any-order", "verdicts-contain"])?;
        for key in ["sessions", "turns", "peak", "peak-sessions", "interrupted"] {
            self.number(fields, key, false)?;
        }
        fields.end()
    }
}

fn error_kind(field: &Field<'_>) -> Read<Value> {
    let kind = field.text()?;
    if KINDS.contains(&kind) {
        return Ok(kind.into());
    }
    Err(field.wrong(format!("{kind:?} is no kind of error")).hint(did_you_mean("kinds", kind, &KINDS)))
}

/// `at-least` and `at-most`, at least one of them.
fn between<T>(field: &Field<'_>, read: impl Fn(&Field<'_>) -> Read<T>) -> Read<(Option<T>, Option<T>)> {
    let fields = field.fields()?;
    let (least, most) = (fields.maybe("at-least", &read)?, fields.maybe("at-most", &read)?);
    fields.end()?;
    if least.is_none() && most.is_none() {
        return Err(field.wrong("neither at-least nor at-most"));
    }
    Ok((least, most))
}
