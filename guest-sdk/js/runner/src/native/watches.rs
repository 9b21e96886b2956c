//! Hooks: what an agent's sessions come upon, and what the flow answers.

use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue};

use super::{Function, answered, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::agents::{Occasion, Watch},
    giving,
    handles::Resource as _,
    reading, tasks,
    words::Word as _,
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("watchReady", "watch.next", ready),
    ("watchTake", "watch.take", take),
    ("watchClose", "watch.close", close),
    ("occasionMoment", "occasion.moment", moment),
    ("occasionSession", "occasion.session", session),
    ("occasionDetails", "occasion.details", details),
    ("occasionAllow", "occasion.allow", allow),
    ("occasionBlock", "occasion.block", block),
    ("occasionReply", "occasion.reply", reply),
    ("occasionSkip", "occasion.skip", skip),
];

fn watch(arguments: &[JsValue]) -> JsResult<Rc<Watch>> {
    Watch::from_value(&argument(arguments, 0), "this")
}

fn occasion(arguments: &[JsValue]) -> JsResult<Rc<Occasion>> {
    Occasion::from_value(&argument(arguments, 0), "this")
}

/// Watch, canceller.
fn ready(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let watch = watch(arguments)?;
    let call = async move { watch.ready().await };
    tasks::wait(canceller_of(&argument(arguments, 1))?, call, |ready, _| Ok(ready.into()), context)
}

fn take(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let taken = watch(arguments)?.take();
    Ok(taken.map_or(JsValue::null(), |occasion| occasion.give(context)))
}

fn close(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    watch(arguments)?.close();
    Ok(JsValue::undefined())
}

fn moment(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(occasion(arguments)?.moment().word()))
}

fn session(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&occasion(arguments)?.session()))
}

/// As JSON.
fn details(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&occasion(arguments)?.details()))
}

fn allow(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    answered(occasion(arguments)?.allow(), context)?;
    Ok(JsValue::undefined())
}

/// Occasion, reason.
fn block(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let reason = reading::text(&argument(arguments, 1), "the reason")?;
    answered(occasion(arguments)?.block(&reason), context)?;
    Ok(JsValue::undefined())
}

/// Occasion, text.
fn reply(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = reading::text(&argument(arguments, 1), "the reply")?;
    answered(occasion(arguments)?.reply(&text), context)?;
    Ok(JsValue::undefined())
}

fn skip(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    answered(occasion(arguments)?.skip(), context)?;
    Ok(JsValue::undefined())
}
