//! Reading the tables of a scenario file: each key is asked for by name, what nobody asked for is refused, and every refusal says
//! its line.

use std::{cell::RefCell, time::Duration};

use flowhost_core::{measure, usage::Usd};
use serde_json::Value;

use crate::tree::{Kind, Node, Table};

/// What is wrong with a scenario file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {message}")]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// Which key, and what of it. It may quote the file.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// The result of reading a part of a scenario file.
pub(crate) type Read<T> = Result<T, Problem>;

/// A value with the path of its key, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) path: String,
    pub(crate) node: &'a Node,
}

impl<'a> Field<'a> {
    /// The refusal of this value.
    pub(crate) fn wrong(&self, why: impl std::fmt::Display) -> Problem {
        Problem::new(self.node.line, format!("{}: {why}", self.path))
    }

    fn expected(&self, what: &str) -> Problem {
        self.wrong(format!("it is {}, and {what} is wanted", self.node.kind.name()))
    }

    pub(crate) fn text(&self) -> Read<&'a str> {
        match &self.node.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    pub(crate) fn flag(&self) -> Read<bool> {
        match self.node.kind {
            Kind::Flag(flag) => Ok(flag),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A whole number, or one as people write it: `50`, `"200k"`.
    pub(crate) fn count(&self) -> Read<u64> {
        match &self.node.kind {
            Kind::Whole(number) => {
                u64::try_from(*number).map_err(|_| self.wrong(format!("{number} is less than nothing")))
            }
            Kind::Text(text) => measure::count(text).map_err(|error| self.wrong(error)),
            _ => Err(self.expected("a whole number")),
        }
    }

    /// As [`Field::count`], for numbers that are small.
    pub(crate) fn small(&self) -> Read<u32> {
        let count = self.count()?;
        u32::try_from(count).map_err(|_| self.wrong(format!("{count} is too many")))
    }

    /// A time as people write it: `"10ms"`, `"1h30m"`.
    pub(crate) fn time(&self) -> Read<Duration> {
        match &self.node.kind {
            Kind::Text(text) => measure::duration(text).map_err(|error| self.wrong(error)),
            Kind::Whole(number) => {
                Err(self.wrong(format!("a time has a unit, such as \"{number}s\" or \"{number}ms\"")))
            }
            _ => Err(self.expected("a time such as \"30s\"")),
        }
    }

    /// Bytes as people write them: `4096`, `"64MiB"`.
    pub(crate) fn bytes(&self) -> Read<u64> {
        match &self.node.kind {
            Kind::Text(text) => measure::bytes(text).map_err(|error| self.wrong(error)),
            _ => self.count(),
        }
    }

    /// US dollars: `0.6`, `"$5"`.
    pub(crate) fn usd(&self) -> Read<Usd> {
        match &self.node.kind {
            Kind::Text(text) => measure::usd(text).map_err(|error| self.wrong(error)),
            Kind::Whole(number) if *number >= 0 => Ok(Usd::from_dollars(*number as f64)),
            Kind::Real(number) if number.is_finite() && *number >= 0.0 => Ok(Usd::from_dollars(*number)),
            Kind::Whole(_) | Kind::Real(_) => Err(self.wrong("not an amount of US dollars")),
            _ => Err(self.expected("an amount of US dollars")),
        }
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> Read<Value> {
        self.node.json().map_err(|(line, why)| Problem::new(line, format!("{}: {why}", self.path)))
    }

    /// A string that holds a JSON document: for what TOML cannot say.
    pub(crate) fn json_text(&self) -> Read<Value> {
        serde_json::from_str(self.text()?).map_err(|error| self.wrong(format!("not JSON: {error}")))
    }

    pub(crate) fn list(&self) -> Read<Vec<Field<'a>>> {
        let Kind::List(list) = &self.node.kind else { return Err(self.expected("a list")) };
        let each = |(at, node)| Field { path: format!("{}[{at}]", self.path), node };
        Ok(list.iter().enumerate().map(each).collect())
    }

    /// The strings of a list.
    pub(crate) fn texts(&self) -> Read<Vec<&'a str>> {
        self.list()?.iter().map(Field::text).collect()
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.node.kind, Kind::Table(_))
    }

    /// A table whose keys are known.
    pub(crate) fn fields(&self) -> Read<Fields<'a>> {
        match &self.node.kind {
            Kind::Table(table) => Ok(Fields::new(&self.path, self.node.line, table)),
            _ => Err(self.expected("a table")),
        }
    }

    /// A table whose keys are names that the author chose.
    pub(crate) fn named(&self) -> Read<Vec<(&'a str, Field<'a>)>> {
        let Kind::Table(table) = &self.node.kind else { return Err(self.expected("a table")) };
        let each = |(name, node): (&'a String, &'a Node)| (name.as_str(), Field { path: join(&self.path, name), node });
        Ok(table.iter().map(each).collect())
    }
}

/// A table whose keys are asked for one by one.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    path: String,
    pub(crate) line: usize,
    table: &'a Table,
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(path: &str, line: usize, table: &'a Table) -> Self {
        Self { path: path.to_owned(), line, table, asked: RefCell::default() }
    }

    /// The refusal of this table.
    pub(crate) fn wrong(&self, why: impl std::fmt::Display) -> Problem {
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        Problem::new(self.line, format!("{path}{why}"))
    }

    pub(crate) fn get(&self, key: &'static str) -> Option<Field<'a>> {
        self.asked.borrow_mut().push(key);
        let node = self.table.get(key)?;
        Some(Field { path: join(&self.path, key), node })
    }

    /// Reads a key where it is there.
    pub(crate) fn maybe<T>(&self, key: &'static str, read: impl FnOnce(&Field<'a>) -> Read<T>) -> Read<Option<T>> {
        self.get(key).map(|field| read(&field)).transpose()
    }

    /// The one of these that is there. Refuses two.
    pub(crate) fn one_of(&self, keys: &[&'static str]) -> Read<Option<(&'static str, Field<'a>)>> {
        let mut there = keys.iter().filter_map(|key| Some((*key, self.get(key)?)));
        let first = there.next();
        match (&first, there.next()) {
            (Some((one, _)), Some((other, field))) => {
                Err(Problem::new(field.node.line, format!("{}: {one} and {other} do not go together", self.path))
                    .hint("Leave one out"))
            }
            _ => Ok(first),
        }
    }

    /// Refuses what nobody asked for.
    pub(crate) fn end(&self) -> Read<()> {
        let asked = self.asked.borrow();
        let Some((key, node)) = self.table.iter().find(|(key, _)| !asked.contains(&key.as_str())) else {
            return Ok(());
        };
        Err(Problem::new(node.line, format!("{}: there is no such key", join(&self.path, key)))
            .hint(did_you_mean("keys", key, &asked)))
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `Did you mean NAME?`, or what there is to choose from.
pub(crate) fn did_you_mean(what: &str, written: &str, names: &[&str]) -> String {
    let near = names.iter().map(|name| (strsim::osa_distance(&written.replace('_', "-"), name), name));
    let near = near.filter(|(distance, _)| *distance <= (written.chars().count() / 3).clamp(1, 3));
    match near.min_by_key(|(distance, _)| *distance) {
        Some((_, name)) if written.len() <= 64 => format!("Did you mean {name}?"),
        _ => format!("The {what} are {}", names.join(", ")),
    }
}
