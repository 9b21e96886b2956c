//! What agents and commands said in a recorded run, as fakes say it.

use flowhost_core::{
    error::{Error, HarnessFault, Kind},
    measure,
    outcome::Ran,
    record::{Answer, Outcome},
};
use serde_json::Value;
use toml_edit::{Array, InlineTable, Table};

use super::{Call, LONGEST, Turn, millis, without_nulls};
use crate::{outcome::error_document, toml};

/// What a fake says to a prompt of a turn; none where the prompt was never handed over.
pub(super) fn reply(turn: &Turn) -> Option<InlineTable> {
    let mut reply = InlineTable::new();
    let Some((ended, outcome, usage)) = &turn.end else {
        reply.insert("never", true.into());
        return Some(reply);
    };
    if usage.turns == 0 {
        return None;
    }
    match outcome {
        Outcome::Ok(Answer { text, value }) => {
            reply.insert("text", toml::text_value(text));
            if let Some(value) = value {
                let parsed: Value = serde_json::from_str(value.get()).unwrap_or_default();
                match toml::value(&parsed) {
                    Some(value) => reply.insert("value", value),
                    None => reply.insert("json", toml::text_value(value.get())),
                };
            }
        }
        Outcome::Error(Error { kind: Kind::Harness(failure), message })
            if failure.fault != HarnessFault::Interrupted =>
        {
            let document = error_document(&Error::new(Kind::Harness(*failure), message.clone()));
            reply.insert("fail", toml::text_value(message));
            for key in ["fault", "retry-after"] {
                if let Some(word) = document[key].as_str() {
                    reply.insert(key, word.into());
                }
            }
        }
        // The flow, or the host, ended it.
        Outcome::Error(_) => {
            reply.insert("never", true.into());
        }
    }
    let took = millis(ended.saturating_sub(turn.began));
    if !took.is_zero() && !reply.contains_key("never") {
        reply.insert("delay", measure::written(took).into());
    }
    if usage.cost.dollars() > 0.0 {
        reply.insert("cost", usage.cost.dollars().into());
    }
    for (key, tokens) in [("input-tokens", usage.input_tokens), ("output-tokens", usage.output_tokens)] {
        if let Some(tokens) = i64::try_from(tokens).ok().filter(|tokens| *tokens > 0) {
            reply.insert(key, tokens.into());
        }
    }
    if !turn.occasions.is_empty() {
        let each = |(moment, details): &(String, Value)| {
            let mut occasion = InlineTable::new();
            occasion.insert("moment", moment.as_str().into());
            if let Some(details) = toml::value(&without_nulls(details)) {
                occasion.insert("details", details);
            }
            occasion
        };
        reply.insert("occasions", turn.occasions.iter().map(each).collect::<Array>().into());
    }
    Some(reply)
}

/// What a command came to; none where the record of it cannot be read.
pub(super) fn command(call: &Call) -> Option<Table> {
    let mut command = Table::new();
    // A long line is cut in the record, where it ends in `…`.
    match call.label.strip_suffix('…') {
        Some(start) if call.label.len() > 200 => command.insert("run-starts-with", start.into()),
        _ => command.insert("run", toml::text_value(&call.label).into()),
    };
    command.insert("times", 1.into());
    let Some((ended, outcome)) = &call.end else {
        command.insert("never", true.into());
        return Some(command);
    };
    match outcome {
        Outcome::Ok(json) => {
            let Ran { status, stdout, stderr, .. } = serde_json::from_str(json.get()).ok()?;
            if status != 0 {
                command.insert("status", i64::from(status).into());
            }
            for (key, bytes) in [("stdout", stdout), ("stderr", stderr)] {
                if !bytes.0.is_empty() && bytes.0.len() <= LONGEST {
                    command.insert(key, toml::text_value(&String::from_utf8_lossy(&bytes.0)).into());
                }
            }
        }
        Outcome::Error(error @ Error { kind: Kind::Env(_), message }) => {
            let document = error_document(error);
            if document["fault"] == "interrupted" {
                command.insert("never", true.into());
                return Some(command);
            }
            command.insert("fail", toml::text_value(message).into());
            command.insert("fault", document["fault"].as_str().unwrap_or("other").into());
        }
        Outcome::Error(_) => {
            command.insert("never", true.into());
            return Some(command);
        }
    }
    let took = millis(ended.saturating_sub(call.began));
    if !took.is_zero() {
        command.insert("delay", measure::written(took).into());
    }
    Some(command)
}
