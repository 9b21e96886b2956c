//! The contract in Rust: the task is `FAMILY/CASE`, and what it answers is what the scenarios beside this crate expect of every language.

mod agents;
mod context;
mod envs;
mod errors;
mod flows;
mod scale;
mod sessions;
mod waiting;
mod watches;

use flowhost::prelude::*;
use flowhost::serde_json::Value;

/// How much of it, and which way.
#[params]
pub(crate) struct Params {
    /// How many.
    #[default(4)]
    n: u32,
    /// Which way, where a case has several.
    #[default(String::new())]
    way: String,
}

/// Does what the task says, a case of the contract each.
#[flow(
    agents(worker: steer + fork + goal + pre_tool_use, judge?),
    envs(workspace?: shell + bash + files + worktree + copy + scratch + snapshot),
    loads("itself", "other", "nowhere"),
    hidden,
)]
async fn conformance(task: String, cx: Context, params: Params) -> Result<Value> {
    let (family, case) = task.split_once('/').unwrap_or(("", &task));
    match family {
        "context" => context::run(case, &cx, &params).await,
        "agents" => agents::run(case, &cx, &params).await,
        "sessions" => sessions::run(case, &cx).await,
        "waiting" => waiting::run(case, &cx).await,
        "watches" => watches::run(case, &cx, &params).await,
        "envs" => envs::run(case, &cx).await,
        "flows" => flows::run(case, &cx, &params).await,
        "errors" => errors::run(case, &cx).await,
        "scale" => scale::run(case, &cx, &params).await,
        _ => Err(unknown(&task)),
    }
}

/// A case that this flow does not have.
pub(crate) fn unknown(case: &str) -> Error {
    Error::failed(format!("there is no case {case:?}"))
}

/// What a turn came to: what was said, or the words of its error.
pub(crate) fn said(outcome: Result<Answer>) -> String {
    outcome.map_or_else(|error| words(&error), |answer| answer.text)
}

/// `ok`, or the words of an error.
pub(crate) fn ok<T>(outcome: Result<T>) -> String {
    outcome.map_or_else(|error| words(&error), |_| "ok".into())
}

/// An error in the contract's words: its kind, its fault where it has one, and when to try again where it is known.
pub(crate) fn words(error: &Error) -> String {
    let kind = error.kind();
    match error {
        Error::Session(error) => format!("{kind} {}", word(&error.fault)),
        Error::Harness(error) => match error.retry_after {
            None => format!("{kind} {}", word(&error.fault)),
            Some(time) => format!("{kind} {} {}", word(&error.fault), time.as_millis()),
        },
        Error::Env(error) => format!("{kind} {}", word(&error.fault)),
        Error::Budget(error) => format!("{kind} {}", word(&error.limit)),
        Error::Flow(error) => format!("{kind} {}", word(&error.fault)),
        _ => kind.to_owned(),
    }
}

/// The contract's word for a case, from how Rust shows it: `too-deep` of `FlowFault::TooDeep`.
pub(crate) fn word(case: &impl std::fmt::Debug) -> String {
    let shown = format!("{case:?}");
    let mut word = String::new();
    for letter in shown.rsplit("::").next().unwrap_or_default().chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// So many milliseconds.
pub(crate) fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}
