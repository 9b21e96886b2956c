//! What a flow knows of its own call, its log and its clock.

use boa_engine::{Context, JsResult, JsValue};

use super::{Function, answered, argument, engine::ALWAYS};
use crate::{
    bindings::flowhost::flow::{agents, context as host, envs},
    giving,
    handles::Resource as _,
    reading,
    tasks::{self, Stage, tasks},
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("getAgent", "cx.agent", get_agent),
    ("getEnv", "cx.env", get_env),
    ("params", "cx.params", params),
    ("runId", "cx.runId", run_id),
    ("branchId", "cx.branchId", branch_id),
    ("path", "cx.path", path),
    ("remaining", "cx.remaining", remaining),
    ("spent", "cx.spent", spent),
    ("resumed", "cx.resumed", resumed),
    ("log", ALWAYS, log),
    ("nowMs", "nowMs", now_ms),
    ("sleep", "sleep", sleep),
];

fn get_agent(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let role = reading::text(&argument(arguments, 0), "a role")?;
    let found = answered(agents::get_agent(&role), context)?;
    Ok(found.map_or(JsValue::null(), |agent| agent.give(context)))
}

fn get_env(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let role = reading::text(&argument(arguments, 0), "a role")?;
    let found = answered(envs::get_env(&role), context)?;
    Ok(found.map_or(JsValue::null(), |env| env.give(context)))
}

/// As JSON.
fn params(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&host::params()))
}

fn run_id(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&host::run_id()))
}

fn branch_id(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&host::branch_id()))
}

fn path(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(giving::texts(&host::path(), context))
}

fn remaining(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    giving::allowance(&host::remaining(), context)
}

fn spent(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    giving::usage(&host::spent(), context)
}

fn resumed(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(host::resumed().into())
}

/// Says a line; while the flow is described there is nobody to say it to.
fn log(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let line = reading::text(&argument(arguments, 0), "a line of the log")?;
    if tasks(context).stage() != Stage::Described {
        host::log(&line);
    }
    Ok(JsValue::undefined())
}

fn now_ms(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::count(host::now_ms()))
}

/// Milliseconds, canceller.
fn sleep(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let limit = reading::millis(&argument(arguments, 0), "the time to sleep, in milliseconds,")?;
    let canceller = super::engine::canceller_of(&argument(arguments, 1))?;
    tasks::wait(canceller, host::sleep(limit), |(), _| Ok(JsValue::undefined()), context)
}
