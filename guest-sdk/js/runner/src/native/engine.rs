//! What the SDK needs of the engine itself.

use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue, js_string, object::JsObject};

use super::{Function, argument};
use crate::{
    giving,
    handles::Resource as _,
    reading,
    tasks::{Canceller, tasks},
};

/// What stands in place of a function's name where it may be called at any time.
pub(super) const ALWAYS: &str = "";

pub(super) const FUNCTIONS: &[Function] = &[
    ("register", ALWAYS, register),
    ("canceller", ALWAYS, canceller),
    ("cancel", ALWAYS, cancel),
    ("encode", ALWAYS, encode),
    ("decode", ALWAYS, decode),
];

/// Takes the SDK's classes, and the functions by which errors cross the border, by name.
fn register(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let tasks = tasks(context);
    for (name, class) in reading::entries(&argument(arguments, 0), "classes", context)? {
        let class = class.as_object().ok_or_else(|| reading::wrong(&name, "a class", &class))?;
        let prototype = class.get(js_string!("prototype"), context)?;
        let prototype = prototype.as_object().ok_or_else(|| reading::wrong(&name, "a class", &prototype))?;
        tasks.set_class(name, prototype.clone());
    }
    for (name, function) in reading::entries(&argument(arguments, 1), "functions", context)? {
        let function = function.as_object().filter(JsObject::is_callable);
        tasks.set_function(name, function.ok_or_else(|| reading::wrong("a function", "one", &argument(arguments, 1)))?);
    }
    Ok(JsValue::undefined())
}

/// What a call is begun with that may be cancelled.
fn canceller(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(Canceller::default().give(context))
}

/// Cancels the call that was begun with it, if it is still going: what it stands for is stopped.
fn cancel(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Canceller::from_value(&argument(arguments, 0), "what is cancelled")?.cancel();
    Ok(JsValue::undefined())
}

/// A string as UTF-8.
fn encode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = reading::text(&argument(arguments, 0), "the text")?;
    giving::bytes(text.as_bytes(), context)
}

/// UTF-8 as a string. What is not UTF-8 is replaced; where the second argument is true, the answer is null instead.
fn decode(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = reading::bytes(&argument(arguments, 0), "the bytes", context)?;
    let strict = reading::flag(&argument(arguments, 1), "strict")?;
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) => giving::text(text),
        Err(_) if strict => JsValue::null(),
        Err(_) => giving::text(&String::from_utf8_lossy(&bytes)),
    })
}

/// The canceller that a call is begun with, where it is begun with one.
pub(super) fn canceller_of(value: &JsValue) -> JsResult<Option<Rc<Canceller>>> {
    if reading::is_absent(value) { Ok(None) } else { Canceller::from_value(value, "what cancels it").map(Some) }
}
