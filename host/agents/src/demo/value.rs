//! A JSON value that meets a schema, as small as may be and always the same: what a judge answers.

use serde_json::{Map, Value, json};

use super::request::says_it_is_so;

/// How deep a schema is followed.
const DEPTH: u32 = 16;
/// Items of an array that wants many.
const ITEMS: u64 = 64;

/// A value that meets `schema`; text in it is `said` where that fits. A boolean whose name asks whether something is met, done
/// or right is true. None where the schema is beyond this.
pub(super) fn minimal(schema: &Value, said: &str) -> Option<Value> {
    let value = Maker { root: schema, said }.value(schema, "", DEPTH)?;
    jsonschema::is_valid(schema, &value).then_some(value)
}

struct Maker<'a> {
    root: &'a Value,
    said: &'a str,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, name: &str, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let schema = match schema {
            Value::Bool(true) => return Some(Value::Null),
            Value::Object(schema) => schema,
            _ => return None,
        };
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            return self.value(self.root.pointer(pointer.strip_prefix('#')?)?, name, depth);
        }
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        if let Some(all) = schema.get("enum").and_then(Value::as_array) {
            let agrees = |each: &&Value| each.as_str().is_some_and(|word| word == "yes" || says_it_is_so(word));
            return all.iter().find(agrees).or(all.first()).cloned();
        }
        if let Some(usual) = schema.get("default") {
            return Some(usual.clone());
        }
        for either in ["anyOf", "oneOf"] {
            if let Some(ways) = schema.get(either).and_then(Value::as_array) {
                return ways.iter().find_map(|way| self.value(way, name, depth));
            }
        }
        if let Some([only]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            return self.value(only, name, depth);
        }
        let kind = match schema.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => kinds.first()?.as_str()?,
            None if schema.contains_key("properties") => "object",
            None => "string",
            Some(_) => return None,
        };
        match kind {
            "null" => Some(Value::Null),
            "boolean" => Some(json!(name.is_empty() || says_it_is_so(name))),
            "integer" | "number" => number(schema, kind == "integer"),
            "string" => Some(json!(self.text(schema))),
            "array" => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let items = schema.get("items").unwrap_or(&Value::Bool(true));
                (0..least.min(ITEMS))
                    .map(|_| self.value(items, name, depth))
                    .collect::<Option<Vec<_>>>()
                    .map(Value::Array)
            }
            "object" => {
                let required = schema.get("required").and_then(Value::as_array);
                let required: Vec<_> = required.into_iter().flatten().filter_map(Value::as_str).collect();
                let mut object = Map::new();
                for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    match self.value(schema, name, depth) {
                        Some(value) => drop(object.insert(name.clone(), value)),
                        None if required.contains(&name.as_str()) => return None,
                        None => {}
                    }
                }
                for name in required {
                    object.entry(name).or_insert(Value::Null);
                }
                Some(Value::Object(object))
            }
            _ => None,
        }
    }

    fn text(&self, schema: &Map<String, Value>) -> String {
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let most = bound("maxLength").unwrap_or(usize::MAX);
        let least = bound("minLength").unwrap_or(0).min(1 << 16);
        let mut text: String = self.said.chars().take(most).collect();
        let length = text.chars().count();
        text.extend(std::iter::repeat_n('.', least.saturating_sub(length)));
        match schema.get("format").and_then(Value::as_str) {
            Some("date") => "2026-01-01".to_owned(),
            Some("date-time") => "2026-01-01T00:00:00Z".to_owned(),
            _ => text,
        }
    }
}

fn number(schema: &Map<String, Value>, whole: bool) -> Option<Value> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(if whole { 1.0 } else { 0.0 });
    let mut number = 0.0_f64;
    if let Some(least) = bound("minimum") {
        number = number.max(least);
    }
    if let Some(below) = bound("exclusiveMinimum").filter(|below| *below >= number) {
        number = below + if step > 0.0 { step } else { 1.0 };
    }
    for most in ["maximum", "exclusiveMaximum"] {
        if let Some(most_) =
            bound(most).filter(|bound| number > *bound || most == "exclusiveMaximum" && number >= *bound)
        {
            number = if most == "maximum" { most_ } else { most_ - if step > 0.0 { step } else { 1.0 } };
        }
    }
    if step > 0.0 {
        number = (number / step).ceil() * step;
    }
    // Whole numbers are written without a point, as a person would.
    let exact = number.fract() == 0.0 && number.abs() < 9e15;
    if exact { Some(json!(number as i64)) } else { serde_json::Number::from_f64(number).map(Value::Number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: Value) -> Value {
        minimal(&schema, "I did it.").unwrap()
    }

    #[test]
    fn a_judge_says_yes() {
        let schema = json!({
            "type": "object",
            "properties": {"met": {"type": "boolean"}, "blocked": {"type": "boolean"}, "why": {"type": "string"}},
            "required": ["met", "why"],
            "additionalProperties": false
        });
        assert_eq!(of(schema), json!({"met": true, "blocked": false, "why": "I did it."}));
        assert_eq!(of(json!({"type": "boolean"})), json!(true));
        assert_eq!(of(json!({"enum": ["no", "yes"]})), json!("yes"));
        assert_eq!(of(json!({"enum": ["reject", "approved"]})), json!("approved"));
    }

    #[test]
    fn a_value_is_as_small_as_its_schema_lets_it() {
        for (schema, value) in [
            (json!({"type": "integer"}), json!(0)),
            (json!({"type": "integer", "minimum": 3, "maximum": 9}), json!(3)),
            (json!({"type": "number", "exclusiveMinimum": 0.5, "multipleOf": 0.25}), json!(0.75)),
            (json!({"type": "number", "maximum": -2}), json!(-2)),
            (json!({"type": "array", "items": {"type": "string"}}), json!([])),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([0, 0])),
            (json!({"type": "string", "maxLength": 3}), json!("I d")),
            (json!({"type": "string", "minLength": 11}), json!("I did it...")),
            (json!({"type": ["null", "string"]}), json!(null)),
            (json!({"const": 7}), json!(7)),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}), json!(true)),
            (json!({"anyOf": [{"type": "nothing"}, {"type": "integer"}]}), json!(0)),
            (json!(true), json!(null)),
        ] {
            // jsonschema refuses a type that is none; the way that is one is found all the same.
            let made = Maker { root: &schema, said: "I did it." }.value(&schema, "", DEPTH).unwrap();
            assert_eq!(made, value, "{schema}");
        }
    }

    #[test]
    fn what_is_beyond_it_is_left_to_the_host() {
        let endless = json!({"$ref": "#"});
        assert_eq!(minimal(&endless, "x"), None);
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert_eq!(minimal(&tree, "x"), None);
        assert_eq!(minimal(&json!({"type": "string", "pattern": "^[0-9]{4}$"}), "x"), None);
        assert_eq!(minimal(&json!(false), "x"), None);
    }
}
