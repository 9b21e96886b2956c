//! Conversations and their turns.

use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue};

use super::{Function, agents::turn_options, answered, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::{
        agents::{Session, SteerMode, Turn, TurnOptions},
        envs::Env,
    },
    giving,
    handles::Resource as _,
    reading::{self, Options},
    tasks,
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("sessionId", "session.id", id),
    ("sessionDirectory", "session.directory", directory),
    ("sessionUsage", "session.usage", usage),
    ("sessionRun", "session.run", run),
    ("sessionStart", "session.start", start),
    ("sessionSteer", "session.steer", steer),
    ("sessionFork", "session.fork", fork),
    ("sessionClose", "session.close", close),
    ("turnWait", "turn.wait", wait),
    ("turnDone", "turn.done", done),
    ("turnCancel", "turn.cancel", cancel),
];

fn session(arguments: &[JsValue]) -> JsResult<Rc<Session>> {
    Session::from_value(&argument(arguments, 0), "this")
}

fn turn(arguments: &[JsValue]) -> JsResult<Rc<Turn>> {
    Turn::from_value(&argument(arguments, 0), "this")
}

fn id(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&session(arguments)?.id()))
}

fn directory(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&session(arguments)?.directory()))
}

fn usage(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    giving::usage(&session(arguments)?.usage(), context)
}

fn options(value: &JsValue, of: &str, context: &mut Context) -> JsResult<TurnOptions> {
    let mut options = Options::read(value, of, context)?;
    let turn = turn_options(&mut options, context)?;
    options.end()?;
    Ok(turn)
}

/// Session, prompt, options, canceller.
fn run(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let session = session(arguments)?;
    let prompt = reading::text(&argument(arguments, 1), "a prompt")?;
    let options = options(&argument(arguments, 2), "session.run", context)?;
    // One call of the contract: dropping it interrupts the turn (S7).
    let call = async move { session.run(prompt, options).await };
    let canceller = canceller_of(&argument(arguments, 3))?;
    tasks::call(canceller, call, |answer, context| giving::answer(&answer, context), context)
}

/// Session, prompt, options.
fn start(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let session = session(arguments)?;
    let prompt = reading::text(&argument(arguments, 1), "a prompt")?;
    let options = options(&argument(arguments, 2), "session.start", context)?;
    let turn = answered(session.start(&prompt, &options), context)?;
    Ok(turn.give(context))
}

/// Session, words, mode.
fn steer(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let session = session(arguments)?;
    let words = reading::text(&argument(arguments, 1), "what to say")?;
    let mode = argument(arguments, 2);
    let mode = if reading::is_absent(&mode) { SteerMode::Queued } else { reading::word(&mode, "the mode")? };
    let call = async move { session.steer(words, mode).await };
    tasks::call(None, call, |(), _| Ok(JsValue::undefined()), context)
}

/// Session, environment.
fn fork(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let session = session(arguments)?;
    let at = argument(arguments, 1);
    let at = if reading::is_absent(&at) { None } else { Some(Env::from_value(&at, "where the fork works")?) };
    let call = async move { session.fork(at.as_deref()).await };
    tasks::call(None, call, |fork, context| Ok(fork.give(context)), context)
}

fn close(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    session(arguments)?.close();
    Ok(JsValue::undefined())
}

/// Turn, canceller.
fn wait(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let turn = turn(arguments)?;
    let call = async move { turn.wait().await };
    let canceller = canceller_of(&argument(arguments, 1))?;
    tasks::call(canceller, call, |answer, context| giving::answer(&answer, context), context)
}

fn done(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(turn(arguments)?.done().into())
}

fn cancel(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    turn(arguments)?.cancel();
    Ok(JsValue::undefined())
}
