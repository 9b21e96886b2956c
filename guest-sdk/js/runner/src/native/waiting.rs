//! Waiting for whichever comes first.

use boa_engine::{Context, JsResult, JsValue, object::builtins::JsArray};

use super::{Function, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::waiting::{Awaited, wait_any as host_wait_any},
    handles::Handle,
    reading, tasks,
};

pub(super) const FUNCTIONS: &[Function] = &[("waitAny", "waitAny", wait_any)];

/// Turns, processes, branches and watches, milliseconds or nothing, canceller. The places of all that are ready.
fn wait_any(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let on = reading::items(&argument(arguments, 0), "what is waited for", context)?;
    let on = on.iter().map(waitable).collect::<JsResult<Vec<_>>>()?;
    let limit = argument(arguments, 1);
    let limit = if reading::is_absent(&limit) { None } else { Some(reading::millis(&limit, "the limit")?) };
    let call = async move { host_wait_any(on.iter().filter_map(awaited).collect(), limit).await };
    let lift = |ready: Vec<u32>, context: &mut Context| {
        Ok(JsArray::from_iter(ready.into_iter().map(JsValue::from), context).into())
    };
    tasks::wait(canceller_of(&argument(arguments, 2))?, call, lift, context)
}

fn waitable(value: &JsValue) -> JsResult<Handle> {
    let handle = Handle::inside(value).filter(|handle| awaited(handle).is_some());
    handle.ok_or_else(|| reading::wrong("what is waited for", "a Turn, a Process, a Branch or a Watch", value))
}

fn awaited(handle: &Handle) -> Option<Awaited<'_>> {
    Some(match handle {
        Handle::Turn(turn) => Awaited::Turn(turn),
        Handle::Process(process) => Awaited::Process(process),
        Handle::Branch(branch) => Awaited::Branch(branch),
        Handle::Watch(watch) => Awaited::Watch(watch),
        _ => return None,
    })
}
