//! A scenario file as a tree of values that know their lines, and how a scenario takes from the base of its file.

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike};

use crate::fields::Problem;

/// A value and the line of its key, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Text(String),
    Whole(i64),
    Real(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
}

/// In the order of the file.
pub(crate) type Table = indexmap::IndexMap<String, Node>;

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Whole(_) => "a whole number",
            Self::Real(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The same as JSON; the line and the reason where JSON cannot say it.
    pub(crate) fn json(&self) -> Result<Value, (usize, String)> {
        Ok(match &self.kind {
            Kind::Text(text) => text.as_str().into(),
            Kind::Whole(number) => (*number).into(),
            Kind::Flag(flag) => (*flag).into(),
            Kind::Real(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => Value::Number(number),
                None => return Err((self.line, format!("{number} is nothing that JSON can say"))),
            },
            Kind::List(list) => Value::Array(list.iter().map(Self::json).collect::<Result<_, _>>()?),
            Kind::Table(table) => {
                let each = |(key, node): (&String, &Self)| Ok((key.clone(), node.json()?));
                Value::Object(table.iter().map(each).collect::<Result<Map<_, _>, _>>()?)
            }
        })
    }
}

/// The tree of a file.
pub(crate) fn parse(text: &str) -> Result<Table, Problem> {
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        let said = error.message().lines().next().unwrap_or("it cannot be read").to_owned();
        Problem::new(line, format!("not TOML: {said}"))
    })?;
    Ok(lines.table(document.as_table(), 1))
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }

    fn table(&self, table: &dyn TableLike, above: usize) -> Table {
        let mut read = Table::new();
        for (key, item) in table.iter() {
            let span = table.key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
            let line = span.map_or(above, |span| self.at(span.start));
            if let Some(kind) = self.item(item, line) {
                read.insert(key.to_owned(), Node { line, kind });
            }
        }
        read
    }

    fn item(&self, item: &Item, line: usize) -> Option<Kind> {
        match item {
            Item::None => None,
            Item::Value(value) => Some(self.value(value, line)),
            Item::Table(table) => Some(Kind::Table(self.table(table, line))),
            Item::ArrayOfTables(tables) => {
                let each = |table: &toml_edit::Table| {
                    let line = table.span().map_or(line, |span| self.at(span.start));
                    Node { line, kind: Kind::Table(self.table(table, line)) }
                };
                Some(Kind::List(tables.iter().map(each).collect()))
            }
        }
    }

    fn value(&self, value: &toml_edit::Value, line: usize) -> Kind {
        use toml_edit::Value;
        match value {
            Value::String(text) => Kind::Text(text.value().clone()),
            Value::Integer(number) => Kind::Whole(*number.value()),
            Value::Float(number) => Kind::Real(*number.value()),
            Value::Boolean(flag) => Kind::Flag(*flag.value()),
            // JSON has no dates: what looks like one is the text of it.
            Value::Datetime(date) => Kind::Text(date.value().to_string()),
            Value::Array(array) => {
                let each = |value: &Value| {
                    let line = value.span().map_or(line, |span| self.at(span.start));
                    Node { line, kind: self.value(value, line) }
                };
                Kind::List(array.iter().map(each).collect())
            }
            Value::InlineTable(table) => Kind::Table(self.table(table, line)),
        }
    }
}

/// Keys of `expect` of which one takes the place of another.
pub(crate) const ENDINGS: [&str; 4] = ["result", "result-json", "result-like", "error"];

/// A scenario on the base of its file: its own keys count. Tables are taken together down to the keys of a role, a file or a
/// param; what stands there, and every list, is replaced whole.
pub(crate) fn on_base(base: &Table, own: &Table) -> Table {
    let mut merged = base.clone();
    for (key, node) in own {
        match (key.as_str(), &node.kind, merged.get_mut(key)) {
            ("expect", Kind::Table(own), Some(Node { kind: Kind::Table(base), .. })) => expect_on_base(base, own),
            _ => lay(&mut merged, key, node, depth(key)),
        }
    }
    merged
}

fn expect_on_base(base: &mut Table, own: &Table) {
    if ENDINGS.iter().any(|ending| own.contains_key(*ending)) {
        base.retain(|key, _| !ENDINGS.contains(&key.as_str()));
    }
    for (key, node) in own {
        lay(base, key, node, depth(key));
    }
}

/// How many levels of a table are taken together.
fn depth(key: &str) -> usize {
    match key {
        // To the files of an env.
        "envs" => 3,
        // To the keys of a role.
        "agents" => 2,
        "params" | "budget" | "limits" | "flows" | "files" | "spending" => 1,
        _ => 0,
    }
}

fn lay(base: &mut Table, key: &str, node: &Node, depth: usize) {
    match (base.get_mut(key), &node.kind) {
        (Some(Node { kind: Kind::Table(below), .. }), Kind::Table(over)) if depth > 0 => {
            for (key, node) in over {
                lay(below, key, node, depth - 1);
            }
        }
        _ => {
            base.insert(key.to_owned(), node.clone());
        }
    }
}
