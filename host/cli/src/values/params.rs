//! `-p KEY=VALUE`: a flow's params, read as its schema wants them and held against it before anything starts.
//!
//! A value is JSON where it is JSON of a type that the schema wants at its place, and a plain string otherwise. Keys with
//! dots nest. Defaults are the flow's own business.

use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::near;
use crate::exit::Failure;

/// What `-p` gave: `budget.…` is the host's, the rest the flow's.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Keys without `budget.`, and their values.
    pub budget: Vec<(String, String)>,
    /// Keys and values of the flow's own.
    pub params: Vec<(String, String)>,
}

impl Written {
    /// Splits each `KEY=VALUE`.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, Failure> {
        let mut written = Self::default();
        for text in texts {
            let (key, value) = match text.split_once('=') {
                Some((key, value)) if !key.split('.').any(str::is_empty) => (key, value),
                _ => {
                    return Err(Failure::refused(format!("-p {text}: not of the form KEY=VALUE"))
                        .hint("Such as -p count=3 or -p review.strict=true"));
                }
            };
            match key.strip_prefix("budget.") {
                Some(limit) => written.budget.push((limit.into(), value.into())),
                None => written.params.push((key.into(), value.into())),
            }
        }
        Ok(written)
    }
}

/// The params of `flow` as one JSON object that its schema allows.
pub fn build(flow: &str, schema: Option<&Value>, written: &[(String, String)]) -> Result<Value, Failure> {
    let Some(schema) = schema else {
        return match written.first() {
            Some((key, _)) => {
                Err(Failure::refused(format!("{flow}: no param is called {key:?}")).hint("It takes no params"))
            }
            None => Ok(Value::Object(Map::new())),
        };
    };
    let schema = Schema { flow, root: schema };
    let mut params = Map::new();
    for (key, value) in written {
        schema.put(&mut params, key, value)?;
    }
    let params = Value::Object(params);
    schema.check(&params)?;
    Ok(params)
}

/// One param, for lists.
#[derive(Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its types in words, `|` between them.
    pub types: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it is where it is not given, as JSON.
    pub default: Option<String>,
    /// What it is for.
    pub description: String,
}

/// The params that a schema names, in its order.
pub fn list(schema: &Value) -> Vec<Param> {
    let schema = Schema { flow: "", root: schema };
    let root = schema.resolve(schema.root);
    let required: Vec<&str> =
        root.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = root.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Param {
            name: name.clone(),
            types: schema.wanted(property).to_string(),
            required: required.contains(&name.as_str()),
            default: property.get("default").filter(|default| !default.is_null()).map(Value::to_string),
            description: property.get("description").and_then(Value::as_str).unwrap_or_default().into(),
        })
        .collect()
}

struct Schema<'a> {
    flow: &'a str,
    root: &'a Value,
}

/// How many references are followed before a schema is taken to lead nowhere.
const DEEPEST: usize = 16;

impl<'a> Schema<'a> {
    /// Follows `$ref` within the document.
    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..DEEPEST {
            let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
            match target.and_then(|pointer| self.root.pointer(pointer)) {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }

    /// Where objects are described: the schema itself, and what it is put together from.
    fn objects(&self, schema: &'a Value) -> Vec<&'a Value> {
        let schema = self.resolve(schema);
        let parts = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
        std::iter::once(schema).chain(parts.map(|part| self.resolve(part))).collect()
    }

    fn names(&self, schema: &'a Value) -> Vec<&'a str> {
        let objects = self.objects(schema).into_iter();
        objects
            .filter_map(|object| object.get("properties")?.as_object())
            .flat_map(|properties| properties.keys().map(String::as_str))
            .collect()
    }

    /// The property as the schema spells it, and its schema; no schema where any key will do.
    fn property(&self, schema: &'a Value, written: &str) -> Option<(String, Option<&'a Value>)> {
        let objects = self.objects(schema);
        let same = |name: &str| name == written || name.replace('_', "-") == written.replace('_', "-");
        for object in &objects {
            let properties = object.get("properties").and_then(Value::as_object);
            let exact = properties.and_then(|properties| properties.get_key_value(written));
            let found = exact.or_else(|| properties?.iter().find(|(name, _)| same(name)));
            if let Some((name, property)) = found {
                return Some((name.clone(), Some(property)));
            }
        }
        // A schema that says nothing of other keys would let a slip of the hand through in silence.
        let open = |object: &&Value| {
            object.get("patternProperties").is_some()
                || object.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false))
        };
        let described = objects.iter().any(|object| object.get("properties").is_some());
        if described && !objects.iter().any(open) {
            return None;
        }
        let more = objects.iter().find_map(|object| object.get("additionalProperties")).filter(|more| more.is_object());
        Some((written.into(), more))
    }

    fn put(&self, params: &mut Map<String, Value>, key: &str, value: &str) -> Result<(), Failure> {
        let mut at = params;
        let mut schema = Some(self.root);
        let mut parts = key.split('.').peekable();
        let twice = || {
            Failure::refused(format!("-p {key}={value}: {key} is given twice, or as a part of what is already given"))
                .hint("Give it once")
        };
        while let Some(part) = parts.next() {
            let (name, property) = match schema {
                Some(schema) => self.property(schema, part).ok_or_else(|| self.unknown(key, part, schema))?,
                None => (part.to_owned(), None),
            };
            schema = property;
            if parts.peek().is_none() {
                if at.contains_key(&name) {
                    return Err(twice());
                }
                let wanted = schema.map_or(Types::ANY, |schema| self.wanted(schema));
                at.insert(name, wanted.read(value));
                return Ok(());
            }
            let next = at.entry(name).or_insert_with(|| Value::Object(Map::new()));
            at = next.as_object_mut().ok_or_else(twice)?;
        }
        Ok(())
    }

    fn unknown(&self, key: &str, part: &str, schema: &'a Value) -> Failure {
        let names = self.names(schema);
        Failure::refused(format!("{}: no param is called {key:?}", self.flow)).hint(near::hint(
            &format!("params of {}", self.flow),
            part,
            &names,
        ))
    }

    /// Which types a schema lets through.
    fn wanted(&self, schema: &'a Value) -> Types {
        self.wanted_within(schema, 0)
    }

    fn wanted_within(&self, schema: &'a Value, depth: usize) -> Types {
        if depth > DEEPEST {
            return Types::ANY;
        }
        let schema = self.resolve(schema);
        match schema.get("type") {
            Some(Value::String(name)) => return Types::named(name),
            Some(Value::Array(names)) => {
                return names.iter().filter_map(Value::as_str).map(Types::named).fold(Types::NONE, Types::or);
            }
            _ => {}
        }
        if let Some(value) = schema.get("const") {
            return Types::of(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().map(Types::of).fold(Types::NONE, Types::or);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(parts) = schema.get(key).and_then(Value::as_array) {
                let parts = parts.iter().map(|part| self.wanted_within(part, depth + 1));
                return parts.fold(Types::NONE, Types::or);
            }
        }
        let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        all.map(|part| self.wanted_within(part, depth + 1)).find(|types| *types != Types::ANY).unwrap_or(Types::ANY)
    }

    fn check(&self, params: &Value) -> Result<(), Failure> {
        // The schema is a stranger's: its patterns run on an engine whose time is linear.
        let validator = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(self.root)
            .map_err(|error| Failure::refused(format!("{}: its params have no usable schema: {error}", self.flow)))?;
        let Some(error) = validator.iter_errors(params).next() else { return Ok(()) };
        let place = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
        let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        let message = match error.kind() {
            ValidationErrorKind::Required { property } => {
                format!("{}: the param {:?} is missing", self.flow, within(property.as_str().unwrap_or_default()))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let unexpected = unexpected.first().map(String::as_str).unwrap_or_default();
                format!("{}: no param is called {:?}", self.flow, within(unexpected))
            }
            _ if place.is_empty() => format!("{}: its params do not fit together: {error}", self.flow),
            _ => format!("{}: the param {place:?}: {error}", self.flow),
        };
        Err(Failure::refused(message).hint(self.hint()))
    }

    /// What there is to give.
    fn hint(&self) -> String {
        let params = list(self.root);
        let each = params.iter().map(|Param { name, types, required, default, .. }| match (required, default) {
            (true, _) => format!("{name} ({types}, required)"),
            (false, Some(default)) => format!("{name} ({types}, {default} if unsaid)"),
            (false, None) => format!("{name} ({types})"),
        });
        format!("The params of {} are {}", self.flow, each.collect::<Vec<_>>().join(", "))
    }
}

/// A set of JSON's types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Types(u8);

const TYPES: [&str; 7] = ["integer", "number", "string", "boolean", "array", "object", "null"];

impl Types {
    const NONE: Self = Self(0);
    const ANY: Self = Self(0x7f);

    fn named(name: &str) -> Self {
        TYPES.iter().position(|each| *each == name).map_or(Self::ANY, |bit| Self(1 << bit))
    }

    fn of(value: &Value) -> Self {
        Self::named(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|real| real.fract() != 0.0) => {
                "number"
            }
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        })
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn lets(self, value: &Value) -> bool {
        // Every integer is a number.
        let (given, number) = (Self::of(value), Self::named("number"));
        self.0 & given.0 != 0 || (given == Self::named("integer") && self.0 & number.0 != 0)
    }

    /// The value that is meant by what is written.
    fn read(self, written: &str) -> Value {
        match serde_json::from_str(written) {
            Ok(value) if self.lets(&value) => value,
            _ => Value::String(written.into()),
        }
    }
}

impl std::fmt::Display for Types {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::ANY {
            return to.write_str("anything");
        }
        let names = TYPES.iter().enumerate().filter(|(bit, name)| self.0 & (1 << bit) != 0 && **name != "null");
        to.write_str(&names.map(|(_, name)| *name).collect::<Vec<_>>().join("|"))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "at_once": { "type": ["integer", "null"], "minimum": 1 },
                "suppress": { "type": "boolean", "default": false, "description": "Keep failures in their places." },
                "name": { "type": "string" },
                "mode": { "$ref": "#/$defs/Mode" },
                "review": { "anyOf": [{ "$ref": "#/$defs/Review" }, { "type": "null" }] },
                "paths": { "type": "array", "items": { "type": "string" } },
                "any": true,
            },
            "required": ["name"],
            "$defs": {
                "Mode": { "enum": ["fast", "slow"] },
                "Review": { "type": "object", "properties": { "strict": { "type": "boolean" } }, "additionalProperties": false },
            },
        })
    }

    fn built(written: &[&str]) -> Result<Value, Failure> {
        let written = Written::read(written.iter().copied())?;
        build("lines", Some(&schema()), &written.params)
    }

    fn refusal(written: &[&str]) -> String {
        let failure = built(written).unwrap_err();
        assert_eq!(failure.exit.code(), 2);
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    #[test]
    fn a_value_is_of_the_type_that_the_schema_wants() {
        assert_eq!(
            built(&["name=5", "at-once=2", "suppress=true", "mode=fast", "paths=[\"a\"]", "any=7"]).unwrap(),
            json!({ "name": "5", "at_once": 2, "suppress": true, "mode": "fast", "paths": ["a"], "any": 7 })
        );
        assert_eq!(built(&["name=a=b", "at_once=null"]).unwrap(), json!({ "name": "a=b", "at_once": null }));
        assert_eq!(built(&["name=", "any=not json"]).unwrap(), json!({ "name": "", "any": "not json" }));
    }

    #[test]
    fn dotted_keys_nest_and_a_budget_is_the_hosts() {
        assert_eq!(
            built(&["name=x", "review.strict=true"]).unwrap(),
            json!({ "name": "x", "review": { "strict": true } })
        );
        let written = Written::read(["budget.cost=1", "name=x"]).unwrap();
        assert_eq!(written.budget, [("cost".into(), "1".into())]);
        assert_eq!(written.params, [("name".into(), "x".into())]);
    }

    #[test]
    fn what_the_schema_does_not_allow_is_refused_with_what_there_is() {
        assert_snapshot!(refusal(&["name=x", "at_once=abc"]), @r#"
        error: lines: the param "at_once": "abc" is not of types "null", "integer"
        Hint: The params of lines are at_once (integer), suppress (boolean, false if unsaid), name (string, required), mode (string), review (object), paths (array), any (anything)
        "#);
        assert_snapshot!(refusal(&["name=x", "at_once=0"]), @r#"
        error: lines: the param "at_once": 0 is less than the minimum of 1
        Hint: The params of lines are at_once (integer), suppress (boolean, false if unsaid), name (string, required), mode (string), review (object), paths (array), any (anything)
        "#);
        assert_snapshot!(refusal(&["name=x", "supress=true"]), @r#"
        error: lines: no param is called "supress"
        Hint: Did you mean suppress?
        "#);
        assert_snapshot!(refusal(&["name=x", "mode=medium"]), @r#"
        error: lines: the param "mode": "medium" is not one of "fast" or "slow"
        Hint: The params of lines are at_once (integer), suppress (boolean, false if unsaid), name (string, required), mode (string), review (object), paths (array), any (anything)
        "#);
        assert_snapshot!(refusal(&["name=x", "review.strcit=true"]), @r#"
        error: lines: no param is called "review.strcit"
        Hint: Did you mean strict?
        "#);
        assert_snapshot!(refusal(&["suppress=true"]), @r#"
        error: lines: the param "name" is missing
        Hint: The params of lines are at_once (integer), suppress (boolean, false if unsaid), name (string, required), mode (string), review (object), paths (array), any (anything)
        "#);
        assert_snapshot!(refusal(&["name=x", "name=y"]), @"
        error: -p name=y: name is given twice, or as a part of what is already given
        Hint: Give it once
        ");
        assert_snapshot!(refusal(&["name=x", "name.y=z"]), @"
        error: -p name.y=z: name.y is given twice, or as a part of what is already given
        Hint: Give it once
        ");
        assert_snapshot!(refusal(&["name"]), @"
        error: -p name: not of the form KEY=VALUE
        Hint: Such as -p count=3 or -p review.strict=true
        ");
    }

    #[test]
    fn a_flow_without_params_says_so() {
        assert_eq!(build("fanout", None, &[]).unwrap(), json!({}));
        let failure = build("fanout", None, &[("width".into(), "3".into())]).unwrap_err();
        assert_eq!(failure.hint.unwrap(), "It takes no params");
    }

    #[test]
    fn a_schema_that_leads_in_a_circle_ends() {
        let circle = json!({ "properties": { "a": { "$ref": "#/properties/b" }, "b": { "$ref": "#/properties/a" } } });
        let types = Schema { flow: "f", root: &circle }.wanted(&circle["properties"]["a"]);
        assert_eq!(types, Types::ANY);
    }

    #[test]
    fn params_are_listed_with_what_they_are_for() {
        let params = list(&schema());
        assert_eq!(params[0].types, "integer");
        assert_eq!(params[1].default.as_deref(), Some("false"));
        assert_eq!(params[1].description, "Keep failures in their places.");
        assert!(params[2].required);
    }
}
