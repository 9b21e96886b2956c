//! What the contract gives, as values of JavaScript: a record as an object with the contract's names in camel case, an absent value as
//! `null`, bytes as a `Uint8Array`.

use boa_engine::{
    Context, JsResult, JsString, JsValue, js_string,
    object::{
        JsObject,
        builtins::{AlignedVec, JsArray, JsArrayBuffer, JsUint8Array},
    },
};

use crate::{
    bindings::flowhost::flow::{
        agents::Answer,
        envs::{Entry, MergeOutcome, Output},
        types::{Allowance, Usage},
    },
    words::Word as _,
};

/// An object with these properties.
macro_rules! record {
    ($context:expr, { $($name:literal: $value:expr),* $(,)? }) => {{
        let object = JsObject::with_object_proto($context.intrinsics());
        $(
            let value: JsValue = $value;
            object.create_data_property_or_throw(js_string!($name), value, $context)?;
        )*
        JsValue::from(object)
    }};
}

pub(crate) fn text(text: &str) -> JsValue {
    JsString::from(text).into()
}

/// A whole number. What JavaScript cannot hold exactly comes near it.
#[expect(clippy::cast_precision_loss, reason = "that is what JavaScript has")]
pub(crate) fn count(count: u64) -> JsValue {
    u32::try_from(count).map_or_else(|_| JsValue::from(count as f64), JsValue::from)
}

pub(crate) fn optional<T>(value: Option<T>, give: impl FnOnce(T) -> JsValue) -> JsValue {
    value.map_or(JsValue::null(), give)
}

pub(crate) fn texts<S: AsRef<str>>(texts: &[S], context: &mut Context) -> JsValue {
    JsArray::from_iter(texts.iter().map(|each| text(each.as_ref())), context).into()
}

pub(crate) fn bytes(bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let buffer = JsArrayBuffer::from_byte_block(AlignedVec::from_slice(0, bytes), context)?;
    Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
}

/// The structured answer stays JSON: the SDK reads it.
pub(crate) fn answer(answer: &Answer, context: &mut Context) -> JsResult<JsValue> {
    let usage = usage(&answer.usage, context)?;
    Ok(record!(context, {
        "text": text(&answer.text),
        "value": optional(answer.value.as_deref(), text),
        "usage": usage,
    }))
}

pub(crate) fn usage(usage: &Usage, context: &mut Context) -> JsResult<JsValue> {
    Ok(record!(context, {
        "turns": usage.turns.into(),
        "inputTokens": count(usage.input_tokens),
        "outputTokens": count(usage.output_tokens),
        "cacheReadTokens": count(usage.cache_read_tokens),
        "cacheWriteTokens": count(usage.cache_write_tokens),
        "cost": usage.cost.into(),
        "costSource": text(usage.cost_source.word()),
        "durationMs": count(usage.duration_ms),
    }))
}

pub(crate) fn allowance(left: &Allowance, context: &mut Context) -> JsResult<JsValue> {
    Ok(record!(context, {
        "cost": optional(left.cost, JsValue::from),
        "outputTokens": optional(left.output_tokens, count),
        "turns": optional(left.turns, JsValue::from),
        "durationMs": optional(left.duration_ms, count),
    }))
}

/// Text as far as it is text, and the bytes beside it where that is not all.
pub(crate) fn output(output: &Output, context: &mut Context) -> JsResult<JsValue> {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut raw = |text: &str, is: &[u8]| if text.as_bytes() == is { Ok(JsValue::null()) } else { bytes(is, context) };
    let (raw_stdout, raw_stderr) = (raw(&stdout, &output.stdout)?, raw(&stderr, &output.stderr)?);
    Ok(record!(context, {
        "status": output.status.into(),
        "stdout": text(&stdout),
        "stderr": text(&stderr),
        "truncated": output.truncated.into(),
        "rawStdout": raw_stdout,
        "rawStderr": raw_stderr,
    }))
}

pub(crate) fn entry(entry: &Entry, context: &mut Context) -> JsResult<JsValue> {
    Ok(record!(context, {
        "path": text(&entry.path),
        "kind": text(entry.kind.word()),
        "size": count(entry.size),
    }))
}

pub(crate) fn merge_outcome(outcome: &MergeOutcome, context: &mut Context) -> JsResult<JsValue> {
    let conflicts = texts(&outcome.conflicts, context);
    Ok(record!(context, { "merged": outcome.merged.into(), "conflicts": conflicts }))
}
