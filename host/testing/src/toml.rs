//! JSON written as TOML.

use serde_json::Value as Json;
use toml_edit::{Array, InlineTable, Value};

/// A document as a TOML value; none where TOML cannot say it: it has no null, and no number above 2^63.
pub(crate) fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(real)) if number.is_f64() => real.into(),
            _ => return None,
        },
        Json::String(text) => text_value(text),
        Json::Array(list) => Value::Array(list.iter().map(value).collect::<Option<Array>>()?),
        Json::Object(object) => {
            let each = |(key, json): (&String, &Json)| Some((key.clone(), value(json)?));
            Value::InlineTable(object.iter().map(each).collect::<Option<InlineTable>>()?)
        }
    })
}

/// A string, over several lines where it has some.
pub(crate) fn text_value(text: &str) -> Value {
    text.into()
}
