//! Errors, both ways: what the contract fails with becomes an object of the SDK's classes, and what nobody caught becomes an error
//! of the contract, with the author's own files and lines in it.

use boa_engine::{Context, JsError, JsNativeError, JsResult, JsValue, js_string, object::JsObject};

use crate::{
    bindings::flowhost::flow::types::{Error, ErrorKind, HarnessFailure, SpentLimit},
    giving, modules, reading,
    tasks::tasks,
    words::Word,
};

/// Frames that are kept of where a call was made.
const FRAMES: usize = 8;

/// Where in the author's files a call of the contract was made. When it fails later, nothing else knows any more.
pub(crate) struct Origin(Vec<String>);

impl Origin {
    pub(crate) fn here(context: &Context) -> Self {
        let frames = context.stack_trace().filter_map(|frame| {
            let frame = frame.position();
            let path = frame.path.to_string();
            if modules::is_ours(&path) {
                return None;
            }
            let name = frame.function_name.to_std_string_lossy();
            let name = if name.is_empty() { "<main>" } else { &name };
            let place = frame.position.map(|at| format!(":{}:{}", at.line_number(), at.column_number()));
            Some(format!("    at {name} ({path}{})\n", place.unwrap_or_default()))
        });
        Self(frames.take(FRAMES).collect())
    }

    /// As the engine writes it.
    fn stack(&self) -> String {
        self.0.concat()
    }
}

/// What a call that does not wait failed with.
pub(crate) fn raised(error: Error, context: &mut Context) -> JsError {
    let origin = Origin::here(context);
    raise(error, &origin, context)
}

/// What the contract failed with, as an error of the SDK's classes.
pub(crate) fn raise(error: Error, origin: &Origin, context: &mut Context) -> JsError {
    let Error { kind, message } = error;
    let mut facts = [JsValue::undefined(), JsValue::undefined(), JsValue::undefined()];
    let kind = match kind {
        ErrorKind::Session(fault) => {
            facts[0] = giving::text(fault.word());
            "session"
        }
        ErrorKind::Harness(HarnessFailure { fault, retry_after_ms }) => {
            facts[0] = giving::text(fault.word());
            facts[1] = giving::optional(retry_after_ms, giving::count);
            "harness"
        }
        ErrorKind::Env(fault) => {
            facts[0] = giving::text(fault.word());
            "env"
        }
        ErrorKind::Budget(SpentLimit { limit, whose }) => {
            facts[1] = giving::text(limit.word());
            facts[2] = giving::text(&whose);
            "budget"
        }
        ErrorKind::Flow(fault) => {
            facts[0] = giving::text(fault.word());
            "flow"
        }
        ErrorKind::Requirement => "requirement",
        ErrorKind::NotGranted => "not-granted",
        ErrorKind::Failed => "failed",
        ErrorKind::Stopped => "stopped",
        ErrorKind::Other => "other",
    };
    let Some(raise) = tasks(context).function("raise") else {
        return JsNativeError::error().with_message(message).into();
    };
    let [fault, second, third] = facts;
    let arguments = [giving::text(kind), giving::text(&message), giving::text(&origin.stack()), fault, second, third];
    match raise.call(&JsValue::undefined(), &arguments, context) {
        Ok(error) => JsError::from_opaque(error),
        Err(error) => error,
    }
}

/// What nobody caught, as the contract carries it: an error of the SDK's classes as it was raised (B4), anything else as `failed`, with
/// where it happened.
pub(crate) fn lower(error: JsError, context: &mut Context) -> Error {
    let shown = theirs(&error.to_string());
    let lowered = error.into_opaque(context).and_then(|error| lowered(&error, context));
    // A limit of the engine, which no code of JavaScript may see, or one that was met while the error was looked at.
    lowered.unwrap_or(Error { kind: ErrorKind::Failed, message: shown })
}

/// What the engine says of an error, with the places that are the author's; of a long way down its end.
fn theirs(shown: &str) -> String {
    let ours =
        |line: &&str| line.trim_start().starts_with("at ") && (line.contains("(flowhost:") || line.contains("(native"));
    let lines: Vec<&str> = shown.lines().filter(|line| !ours(line)).take(1 + FRAMES).collect();
    lines.join("\n")
}

/// A failure of the flow itself, in these words.
pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error { kind: ErrorKind::Failed, message: message.into() }
}

fn lowered(error: &JsValue, context: &mut Context) -> JsResult<Error> {
    let lower = tasks(context).function("lower").ok_or_else(JsNativeError::error)?;
    let lowered = lower.call(&JsValue::undefined(), std::slice::from_ref(error), context)?;
    let lowered = lowered.as_object().ok_or_else(JsNativeError::error)?;
    let message = reading::text(&lowered.get(js_string!("message"), context)?, "message")?;
    Ok(Error { kind: kind(&lowered, context)?, message })
}

fn kind(lowered: &JsObject, context: &mut Context) -> JsResult<ErrorKind> {
    let name = reading::text(&lowered.get(js_string!("kind"), context)?, "kind")?;
    let fault = lowered.get(js_string!("fault"), context)?;
    Ok(match name.as_str() {
        "session" => ErrorKind::Session(reading::word(&fault, "fault")?),
        "harness" => {
            let retry = lowered.get(js_string!("retryAfterMs"), context)?;
            let retry = (!reading::is_absent(&retry)).then(|| reading::millis(&retry, "retryAfterMs")).transpose()?;
            ErrorKind::Harness(HarnessFailure { fault: reading::word(&fault, "fault")?, retry_after_ms: retry })
        }
        "env" => ErrorKind::Env(reading::word(&fault, "fault")?),
        "budget" => ErrorKind::Budget(SpentLimit {
            limit: reading::word(&lowered.get(js_string!("limit"), context)?, "limit")?,
            whose: reading::text(&lowered.get(js_string!("whose"), context)?, "whose")?,
        }),
        "requirement" => ErrorKind::Requirement,
        "not-granted" => ErrorKind::NotGranted,
        "flow" => ErrorKind::Flow(reading::word(&fault, "fault")?),
        "stopped" => ErrorKind::Stopped,
        "other" => ErrorKind::Other,
        _ => ErrorKind::Failed,
    })
}
