//! JSON Schemas of flows: of params, of answers, of what a tool takes.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

/// A JSON Schema that values can be checked against. Read once, since that takes far longer than a check.
#[derive(Clone, Debug)]
pub struct Shape {
    value: Value,
    validator: jsonschema::Validator,
}

impl Shape {
    /// Reads one. Fails, with what is wrong, where it is not a JSON Schema, or refers to one that is not in it.
    pub fn read(value: Value) -> Result<Self, String> {
        let validator = jsonschema::validator_for(&value).map_err(|error| error.to_string())?;
        Ok(Self { value, validator })
    }

    /// The document.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether `value` meets it; else what is wrong, for a person or an agent: the first few faults, each after its place.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let faults = self.validator.iter_errors(value).take(5).map(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() { error.to_string() } else { format!("{}: {error}", place.trim_start_matches('/')) }
        });
        Err(faults.collect::<Vec<_>>().join("; "))
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Self::read(value).map_err(|wrong| D::Error::custom(format_args!("not a JSON Schema: {wrong}")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let shape = Shape::read(json!({"type": "object", "properties": {"n": {"type": "integer"}}})).unwrap();
        assert_eq!(shape.check(&json!({"n": 1})), Ok(()));
        assert_eq!(shape.check(&json!({"n": "x"})).unwrap_err(), r#"n: "x" is not of type "integer""#);
    }

    #[test]
    fn what_is_no_schema_is_refused_when_it_is_read() {
        for wrong in [json!({"type": "nothing"}), json!({"$ref": "#/nowhere"}), json!({"$ref": "http://example.com/"})]
        {
            Shape::read(wrong.clone()).expect_err(&wrong.to_string());
            assert!(serde_json::from_value::<Shape>(wrong).unwrap_err().to_string().starts_with("not a JSON Schema: "));
        }
    }
}
