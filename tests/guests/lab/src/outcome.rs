//! What a call came to, as JSON.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

/// `{"text": ..}` of an answer, or its error.
pub(crate) fn turn(outcome: Result<Answer>) -> Value {
    match outcome {
        Ok(answer) => json!({ "text": answer.text }),
        Err(error) => failure(&error),
    }
}

/// The texts of many.
pub(crate) fn turns(outcomes: impl IntoIterator<Item = Result<Answer>>) -> Value {
    outcomes.into_iter().map(turn).collect()
}

/// `{"ok": ..}`, or its error.
pub(crate) fn of(outcome: Result<impl Into<Value>>) -> Value {
    match outcome {
        Ok(value) => json!({ "ok": value.into() }),
        Err(error) => failure(&error),
    }
}

/// `{"kind": .., "fault": .., "message": ..}`, by the contract's names.
pub(crate) fn failure(error: &Error) -> Value {
    let fault = match error {
        Error::Session(error) => word(&error.fault),
        Error::Harness(error) => word(&error.fault),
        Error::Env(error) => word(&error.fault),
        Error::Budget(error) => word(&error.limit),
        Error::Flow(error) => word(&error.fault),
        _ => return json!({ "kind": error.kind(), "message": error.message() }),
    };
    json!({ "kind": error.kind(), "fault": fault, "message": error.message() })
}

/// The contract's word for a case, from how Rust shows it: `too-deep` of `FlowFault::TooDeep`.
fn word(case: &impl std::fmt::Debug) -> String {
    let shown = format!("{case:?}");
    let name = shown.rsplit("::").next().unwrap_or_default();
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}
