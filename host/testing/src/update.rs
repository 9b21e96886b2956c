//! Writing what came of scenarios back into their file.

use serde_json::Value as Json;
use toml_edit::{Array, Decor, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::{compare::Difference, fields::Problem, toml, tree::ENDINGS};

/// A value of `expect` that is to be another.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which `[[scenario]]` of the file, from 0; none for a file that is one scenario.
    pub(crate) scenario: Option<usize>,
    /// Below `expect`.
    pub(crate) path: Vec<String>,
    pub(crate) value: Json,
}

impl Change {
    /// What would have been right, where the difference is from a value that was given exactly.
    pub fn of(scenario: Option<usize>, difference: &Difference) -> Option<Self> {
        let value = difference.right.clone()?;
        Some(Self { scenario, path: difference.path.clone(), value })
    }
}

/// The text of a scenario file with these changes; everything else of it, comments and order too, stays as it is.
///
/// What the base of the file expects of all scenarios is changed for the one scenario alone: in its own `expect`.
///
/// # Errors
/// Where the text is not TOML.
pub fn update(text: &str, changes: &[Change]) -> Result<String, Problem> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| Problem::new(1, format!("not TOML: {}", error.message())))?;
    for change in changes {
        let table: &mut dyn TableLike = match change.scenario {
            None => document.as_table_mut(),
            Some(nth) => match scenario(&mut document, nth) {
                Some(table) => table,
                None => continue,
            },
        };
        set(table, change);
    }
    Ok(document.to_string())
}

fn scenario(document: &mut DocumentMut, nth: usize) -> Option<&mut dyn TableLike> {
    match document.get_mut("scenario")? {
        Item::ArrayOfTables(tables) => tables.get_mut(nth).map(|table| table as &mut dyn TableLike),
        Item::Value(Value::Array(array)) => {
            array.get_mut(nth)?.as_inline_table_mut().map(|table| table as &mut dyn TableLike)
        }
        _ => None,
    }
}

fn set(table: &mut dyn TableLike, change: &Change) {
    let Some((last, above)) = change.path.split_last() else { return };
    let mut at = table;
    for key in std::iter::once("expect").chain(above.iter().map(String::as_str)) {
        let fresh = || Item::Value(Value::InlineTable(InlineTable::new()));
        let item = at.entry(key).or_insert_with(fresh);
        match item.as_table_like_mut() {
            Some(below) => at = below,
            // A value stands where a table would: nothing that was read so.
            None => return,
        }
    }
    let ending = above.is_empty() && ENDINGS.contains(&last.as_str());
    // TOML has no null.
    let (key, value) = match toml::value(&change.value) {
        Some(value) if last != "result-json" => (last.as_str(), value),
        _ => (if ending { "result-json" } else { last.as_str() }, format!("{:#}", change.value).into()),
    };
    if ending {
        for other in ENDINGS.into_iter().filter(|other| *other != key) {
            at.remove(other);
        }
    }
    match at.get_mut(key) {
        Some(item) => renew(item, value),
        None => {
            at.insert(key, Item::Value(value));
        }
    }
}

/// Puts a value in the place of another, in the form that it has.
fn renew(item: &mut Item, value: Value) {
    match (item, value) {
        (Item::Table(table), Value::InlineTable(new)) => renew_table(table, new),
        (Item::Value(Value::InlineTable(table)), Value::InlineTable(new)) => renew_inline(table, new),
        (Item::Value(old), new) => renew_value(old, new),
        (item, new) => *item = Item::Value(new),
    }
}

fn renew_value(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) => renew_array(old, new),
        (Value::InlineTable(old), Value::InlineTable(new)) => renew_inline(old, new),
        (old, new) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
    }
}

fn renew_table(old: &mut Table, new: InlineTable) {
    old.retain(|key, _| new.contains_key(key));
    for (key, value) in new {
        match old.get_mut(&key) {
            Some(item) => renew(item, value),
            None => {
                old.insert(&key, Item::Value(value));
            }
        }
    }
}

fn renew_inline(old: &mut InlineTable, new: InlineTable) {
    old.retain(|key, _| new.contains_key(key));
    let mut fresh = Vec::new();
    for (key, value) in new {
        match old.get_mut(&key) {
            Some(item) => renew_value(item, value),
            None => fresh.push((key, value)),
        }
    }
    if fresh.is_empty() {
        return;
    }
    // What stands before the closing brace belongs to the last value.
    if let Some((_, last)) = old.iter_mut().last() {
        last.decor_mut().set_suffix("");
    }
    let nth = fresh.len();
    for (at, (key, mut value)) in fresh.into_iter().enumerate() {
        *value.decor_mut() = Decor::new(" ", if at + 1 == nth { " " } else { "" });
        old.insert(&key, value);
    }
}

/// The elements stand as those before them stood: each on a line of its own, where they did.
fn renew_array(old: &mut Array, new: Array) {
    let prefix = old.get(old.len().saturating_sub(1)).and_then(|last| last.decor().prefix()?.as_str());
    let prefix = match prefix.and_then(|prefix| prefix.rfind('\n').map(|line| &prefix[line..])) {
        Some(own_line) => own_line.to_owned(),
        None if old.is_empty() => String::new(),
        None => " ".to_owned(),
    };
    while old.len() > new.len() {
        old.remove(old.len() - 1);
    }
    for (nth, mut value) in new.into_iter().enumerate() {
        match old.get_mut(nth) {
            Some(element) => renew_value(element, value),
            None => {
                let prefix = if prefix.is_empty() && nth > 0 { " " } else { &prefix };
                *value.decor_mut() = Decor::new(prefix, "");
                old.push_formatted(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(scenario: Option<usize>, path: &[&str], value: Json) -> Change {
        Change { scenario, path: path.iter().map(|key| (*key).to_owned()).collect(), value }
    }

    #[test]
    fn comments_and_order_stay() {
        let text = "\
# About this.
flow = \"x\" # which

[expect]
turns = 3
log = [
  \"one\", # the first
  \"two\",
]
result = { b = 1, a = \"x\" }
";
        let changes = [
            change(None, &["turns"], json!(4)),
            change(None, &["log"], json!(["one", "2", "three"])),
            change(None, &["result"], json!({"b": 2, "a": "x", "c": [true]})),
        ];
        let updated = update(text, &changes).unwrap();
        assert_eq!(
            updated,
            "\
# About this.
flow = \"x\" # which

[expect]
turns = 4
log = [
  \"one\", # the first
  \"2\",
  \"three\",
]
result = { b = 2, a = \"x\", c = [true] }
"
        );
        assert_eq!(update(&updated, &changes).unwrap(), updated);
    }

    #[test]
    fn what_the_base_expects_is_changed_for_one_scenario_alone() {
        let text = "[expect]\nturns = 3\n\n[[scenario]]\nname = \"a\"\n\n[[scenario]]\nname = \"b\"\n";
        let updated = update(text, &[change(Some(1), &["turns"], json!(4))]).unwrap();
        assert_eq!(updated, format!("{text}expect = {{ turns = 4 }}\n"));
    }

    #[test]
    fn what_toml_cannot_say_is_written_as_json() {
        let updated = update("[expect]\nresult = 1\n", &[change(None, &["result"], json!({"a": null}))]).unwrap();
        assert_eq!(updated, "[expect]\nresult-json = \"\"\"\n{\n  \"a\": null\n}\"\"\"\n");
    }
}
