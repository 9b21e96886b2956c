//! Texts and documents that need not be given word for word.

use flowhost_agents::fake::Pattern;
use serde_json::Value;

use crate::fields::{Field, Fields, Problem, Read};

/// How a pattern is written: the key, which says how, and the text.
const WAYS: [&str; 5] = ["is", "contains", "starts-with", "ends-with", "matches"];

/// A text, or what it must be like.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pattern: Pattern,
    /// As it is shown: the text itself, or `contains "…"`.
    shown: String,
    exact: bool,
}

impl Text {
    /// This text.
    pub(crate) fn exactly(text: &str) -> Self {
        Self { pattern: Pattern::is(text), shown: text.to_owned(), exact: true }
    }

    /// Texts with this in them.
    pub(crate) fn containing(part: &str) -> Self {
        Self { pattern: Pattern::contains(part), shown: format!("contains {part:?}"), exact: false }
    }

    /// A string, which is the text; or a table with one way.
    pub(crate) fn read(field: &Field<'_>) -> Read<Self> {
        if !field.is_table() {
            return Ok(Self::exactly(field.text()?));
        }
        let fields = field.fields()?;
        let way = fields.one_of(&WAYS)?;
        fields.end()?;
        let (way, text) = way.ok_or_else(|| fields.wrong(format!("one of {} is wanted", WAYS.join(", "))))?;
        let shown = format!("{way} {:?}", text.text()?);
        Ok(Self { pattern: made(way, &text)?, shown, exact: way == "is" })
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        self.pattern.fits(text)
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }
}

fn made(way: &str, text: &Field<'_>) -> Read<Pattern> {
    let words = text.text()?;
    Ok(match way {
        "is" => Pattern::is(words),
        "contains" => Pattern::contains(words),
        "starts-with" => Pattern::starts_with(words),
        "ends-with" => Pattern::ends_with(words),
        _ => Pattern::matches(words).map_err(|error| {
            let why = error.to_string();
            text.wrong(format!("not a regular expression: {}", why.lines().last().unwrap_or_default().trim()))
        })?,
    })
}

/// The pattern among the keys of a table, which fits always where there is none.
pub(crate) fn among(fields: &Fields<'_>) -> Read<Pattern> {
    match fields.one_of(&WAYS)? {
        Some((way, text)) => made(way, &text),
        None => Ok(Pattern::any()),
    }
}

/// What a document must be like: of a table the named keys, of a list all elements.
#[derive(Clone, Debug)]
pub(crate) enum Like {
    Any,
    Text(Text),
    Exactly(Value),
    List(Vec<Like>),
    Table(Vec<(String, Like)>),
}

impl Like {
    /// As JSON, where a table with the one key `$any`, `$is`, `$contains`, `$starts-with`, `$ends-with` or `$matches` says more.
    pub(crate) fn read(field: &Field<'_>) -> Read<Self> {
        if let Ok(list) = field.list() {
            return Ok(Self::List(list.iter().map(Self::read).collect::<Read<_>>()?));
        }
        let Ok(named) = field.named() else { return Ok(Self::Exactly(field.json()?)) };
        if let [(key, inner)] = &named[..]
            && let Some(way) = key.strip_prefix('$')
        {
            return match WAYS.iter().find(|each| **each == way) {
                Some(known) => {
                    let pattern = made(known, inner)?;
                    let shown = format!("{known} {:?}", inner.text()?);
                    Ok(Self::Text(Text { pattern, shown, exact: false }))
                }
                None if way == "any" && inner.flag()? => Ok(Self::Any),
                None => Err(Problem::new(inner.node.line, format!("{}: there is no such pattern", inner.path)).hint(
                    format!("The patterns are $any = true and {}", WAYS.map(|way| format!("${way}")).join(", ")),
                )),
            };
        }
        let each = |(key, field): &(&str, Field<'_>)| Ok(((*key).to_owned(), Self::read(field)?));
        Ok(Self::Table(named.iter().map(each).collect::<Read<_>>()?))
    }

    /// The first thing in `value` that is not so, with its place.
    pub(crate) fn mismatch(&self, value: &Value) -> Option<String> {
        self.mismatch_at("", value)
    }

    fn mismatch_at(&self, path: &str, value: &Value) -> Option<String> {
        let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
        match self {
            Self::Any => None,
            Self::Exactly(wanted) => {
                (!same(wanted, value)).then(|| format!("{at}{wanted} is wanted, and it is {value}"))
            }
            Self::Text(text) => match value.as_str() {
                Some(said) if text.fits(said) => None,
                _ => Some(format!("{at}what {} is wanted, and it is {value}", text.shown())),
            },
            Self::List(wanted) => match value.as_array() {
                Some(list) if list.len() == wanted.len() => {
                    let mut pairs = wanted.iter().zip(list).enumerate();
                    pairs.find_map(|(nth, (wanted, value))| wanted.mismatch_at(&format!("{path}[{nth}]"), value))
                }
                Some(list) => Some(format!("{at}{} elements are wanted, and there are {}", wanted.len(), list.len())),
                None => Some(format!("{at}a list is wanted, and it is {value}")),
            },
            Self::Table(wanted) => match value.as_object() {
                Some(object) => wanted.iter().find_map(|(key, wanted)| {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    match object.get(key) {
                        Some(value) => wanted.mismatch_at(&path, value),
                        None => Some(format!("{path}: it is not there")),
                    }
                }),
                None => Some(format!("{at}an object is wanted, and it is {value}")),
            },
        }
    }
}

/// Whether two documents say the same: `1` is `1.0`, and the order of keys says nothing.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tree::{Kind, Node, parse};

    fn like(toml: &str) -> Read<Like> {
        let node = Node { line: 1, kind: Kind::Table(parse(toml).unwrap()) };
        Like::read(&Field { path: "like".into(), node: &node })
    }

    #[test]
    fn a_document_is_like_its_pattern_or_what_is_not_is_said_with_its_place() {
        let pattern =
            like("done = true\nsaid = { \"$matches\" = \"^ok\" }\nlist = [1, { a = { \"$any\" = true } }]").unwrap();
        let good = json!({"done": true, "said": "ok then", "list": [1.0, {"a": null, "b": 2}], "more": 1});
        assert_eq!(pattern.mismatch(&good), None);
        for (pointer, wrong, said) in [
            ("/done", json!(1), "done: true is wanted, and it is 1"),
            ("/said", json!("no"), "said: what matches \"^ok\" is wanted, and it is \"no\""),
            ("/list", json!([1]), "list: 2 elements are wanted, and there are 1"),
            ("/list/1", json!({}), "list[1].a: it is not there"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = wrong;
            assert_eq!(pattern.mismatch(&bad).as_deref(), Some(said));
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let refused = like("a = 1\nb = { \"$like\" = \"x\" }").unwrap_err();
        assert_eq!((refused.line, refused.message.as_str()), (2, "like.b.$like: there is no such pattern"));
        let refused = like("a = { \"$matches\" = \"(\" }").unwrap_err();
        assert!(refused.message.contains("not a regular expression: error: unclosed group"), "{refused}");
    }
}
