//! Structured answers: a schema that an answer must meet, and the one repair round that a turn gets.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    error::{Error, HarnessFault, Result},
    harness::Reply,
    record::Json,
    shape::Shape,
};

/// A JSON Schema that was read and can be checked against.
#[derive(Debug)]
pub struct Schema {
    /// The document, as the flow gave it.
    pub text: Json,
    /// The same, to check against and for harnesses that ask for it themselves.
    pub shape: Shape,
}

impl Schema {
    /// Reads a schema. Fails with `other` where it is not JSON or not a JSON Schema: the flow's own mistake.
    pub fn read(text: &str) -> Result<Arc<Self>> {
        let wrong =
            |error: &dyn std::fmt::Display| Error::other(format!("the schema of a turn cannot be used: {error}"));
        let json: Box<serde_json::value::RawValue> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let shape = Shape::read(value).map_err(|error| wrong(&error))?;
        Ok(Arc::new(Self { text: json.into(), shape }))
    }

    /// What is added to a prompt for harnesses that cannot ask for a schema themselves.
    pub fn instruction(&self) -> String {
        format!(
            "\n\nAnswer with one JSON document that meets this JSON Schema, and with nothing else:\n{}",
            self.text.get()
        )
    }

    /// The value that a reply holds, where it meets the schema; else what is wrong.
    pub fn value_in(&self, reply: &Reply) -> Result<Value, String> {
        let value = match &reply.value {
            Some(value) => value.clone(),
            None => last_document(&reply.text).ok_or("there is no JSON document in the answer")?,
        };
        self.shape.check(&value).map(|()| value)
    }

    /// The prompt of the repair round.
    pub fn repair(&self, wrong: &str) -> String {
        format!("That answer cannot be used: {wrong}.{}", self.instruction())
    }

    /// The error where the repaired answer is no better.
    pub fn unmet(wrong: &str) -> Error {
        Error::harness(
            HarnessFault::BadOutput,
            format!("the answer does not meet the schema, after one repair: {wrong}"),
        )
    }
}

/// The document that an answer consists of: all of it, or its last fenced block, or what stands between the outermost
/// brackets. Agents wrap JSON in words however often they are told not to.
fn last_document(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let fenced = text.rfind("```").and_then(|end| {
        let start = text[..end].rfind("```")? + 3;
        let block = &text[start..end];
        serde_json::from_str(block.split_once('\n').map_or(block, |(_, body)| body).trim()).ok()
    });
    if fenced.is_some() {
        return fenced;
    }
    [('{', '}'), ('[', ']')].into_iter().find_map(|(open, close)| {
        let (start, end) = (text.find(open)?, text.rfind(close)?);
        text.get(start..=end).and_then(|inner| serde_json::from_str(inner).ok())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(text: &str) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }

    #[test]
    fn a_document_is_found_in_the_words_around_it() {
        for text in
            ["{\"ok\":true}", "Sure:\n```json\n{\"ok\":true}\n```\nDone.", "I say {\"ok\": true}, and that is it."]
        {
            assert_eq!(last_document(text), Some(json!({"ok": true})), "{text}");
        }
        assert_eq!(last_document("no"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let schema =
            Schema::read(r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#).unwrap();
        assert!(schema.value_in(&said("{\"n\":1}")).is_ok());
        let wrong = schema.value_in(&said("{\"n\":\"x\"}")).unwrap_err();
        assert!(wrong.starts_with("n: "), "{wrong}");
        assert!(Schema::read("{\"type\":\"nothing\"}").is_err());
    }
}
