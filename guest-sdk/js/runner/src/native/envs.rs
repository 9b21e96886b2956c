//! Working directories, their files, and the commands that run in them.

use std::rc::Rc;

use boa_engine::{Context, JsNativeError, JsResult, JsValue, object::builtins::JsArray};

use super::{Function, answered, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::envs::{Command, Entry, Env, Process, WorktreeHead},
    giving,
    handles::Resource as _,
    reading::{self, Options},
    tasks,
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("envRole", "env.role", role),
    ("envDirectory", "env.directory", directory),
    ("envKind", "env.kind", kind),
    ("envBranchName", "env.branchName", branch_name),
    ("envExec", "env.exec", exec),
    ("envBash", "env.bash", bash),
    ("envStart", "env.start", start),
    ("envRead", "env.read", read),
    ("envReadRange", "env.readRange", read_range),
    ("envWrite", "env.write", write),
    ("envAppend", "env.append", append),
    ("envMakeDir", "env.makeDir", make_dir),
    ("envStat", "env.stat", stat),
    ("envRemove", "env.remove", remove),
    ("envFind", "env.find", find),
    ("envSubdir", "env.subdir", subdir),
    ("envWorktree", "env.worktree", worktree),
    ("envCopy", "env.copy", copy),
    ("envScratch", "env.scratch", scratch),
    ("envSnapshot", "env.snapshot", snapshot),
    ("envRewind", "env.rewind", rewind),
    ("envSnapshots", "env.snapshots", snapshots),
    ("envDiff", "env.diff", diff),
    ("envMerge", "env.merge", merge),
    ("processWait", "process.wait", wait),
    ("processDone", "process.done", done),
    ("processCancel", "process.cancel", cancel),
];

fn env(arguments: &[JsValue]) -> JsResult<Rc<Env>> {
    Env::from_value(&argument(arguments, 0), "this")
}

/// Environment, path.
fn at_path(arguments: &[JsValue]) -> JsResult<(Rc<Env>, String)> {
    Ok((env(arguments)?, reading::text(&argument(arguments, 1), "a path")?))
}

/// Environment, label.
fn labelled(arguments: &[JsValue]) -> JsResult<(Rc<Env>, String)> {
    Ok((env(arguments)?, reading::text(&argument(arguments, 1), "a label")?))
}

fn nothing((): (), _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

fn made(env: Env, context: &mut Context) -> JsResult<JsValue> {
    Ok(env.give(context))
}

fn role(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&env(arguments)?.role()))
}

fn directory(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&env(arguments)?.directory()))
}

fn kind(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&env(arguments)?.kind()))
}

fn branch_name(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::optional(env(arguments)?.branch_name(), |name| giving::text(&name)))
}

/// A command, by its words and its options. The SDK keeps `checked` and the signal to itself.
fn command(arguments: &[JsValue], of: &str, context: &mut Context) -> JsResult<Command> {
    let argv = reading::texts(&argument(arguments, 1), "a command", context)?;
    let mut options = Options::read(&argument(arguments, 2), of, context)?;
    let vars = options.take("vars", |value, _| {
        let entries = reading::entries(value, "vars", context)?;
        entries.into_iter().map(|(name, value)| Ok((name.clone(), reading::text(&value, &name)?))).collect()
    })?;
    let stdin = options.take("stdin", |value, name| reading::bytes(value, name, context))?;
    let timeout_ms = options.take("timeoutMs", reading::millis)?;
    let keep = options.take("keep", reading::count)?;
    let repeatable = options.take("repeatable", reading::flag)?.unwrap_or(false);
    options.leave("checked");
    options.leave("signal");
    options.end()?;
    Ok(Command { argv, vars: vars.unwrap_or_default(), stdin, timeout_ms, keep, repeatable })
}

/// Environment, command, options, canceller.
fn exec(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let command = command(arguments, "env.exec", context)?;
    let call = async move { env.exec(command).await };
    let canceller = canceller_of(&argument(arguments, 3))?;
    tasks::call(canceller, call, |output, context| giving::output(&output, context), context)
}

/// Environment, script, options, canceller.
fn bash(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let script = reading::text(&argument(arguments, 1), "a script")?;
    let mut options = Options::read(&argument(arguments, 2), "env.bash", context)?;
    let timeout = options.take("timeoutMs", reading::millis)?;
    options.leave("checked");
    options.leave("signal");
    options.end()?;
    let call = async move { env.bash(script, timeout).await };
    let canceller = canceller_of(&argument(arguments, 3))?;
    tasks::call(canceller, call, |output, context| giving::output(&output, context), context)
}

/// Environment, command, options.
fn start(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let command = command(arguments, "env.start", context)?;
    let process = answered(env.start(&command), context)?;
    Ok(process.give(context))
}

fn read(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let call = async move { env.read(path).await };
    tasks::call(None, call, |bytes, context| giving::bytes(&bytes, context), context)
}

/// Environment, path, offset, length.
fn read_range(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let offset = reading::count(&argument(arguments, 2), "the offset")?;
    let length = reading::small_count(&argument(arguments, 3), "the length")?;
    let call = async move { env.read_range(path, offset, length).await };
    tasks::call(None, call, |bytes, context| giving::bytes(&bytes, context), context)
}

/// Environment, path, bytes.
fn write(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let data = reading::bytes(&argument(arguments, 2), "what to write", context)?;
    tasks::call(None, async move { env.write(path, data).await }, nothing, context)
}

/// Environment, path, bytes.
fn append(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let data = reading::bytes(&argument(arguments, 2), "what to write", context)?;
    tasks::call(None, async move { env.append(path, data).await }, nothing, context)
}

fn make_dir(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    tasks::call(None, async move { env.make_dir(path).await }, nothing, context)
}

fn stat(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let call = async move { env.stat(path).await };
    tasks::call(None, call, |entry, context| giving::entry(&entry, context), context)
}

fn remove(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    tasks::call(None, async move { env.remove(path).await }, nothing, context)
}

/// Environment, path, glob.
fn find(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    let glob = reading::text(&argument(arguments, 2), "a glob")?;
    let lift = |entries: Vec<Entry>, context: &mut Context| {
        let entries = entries.iter().map(|each| giving::entry(each, context)).collect::<JsResult<Vec<_>>>()?;
        Ok(JsArray::from_iter(entries, context).into())
    };
    tasks::call(None, async move { env.find(path, glob).await }, lift, context)
}

fn subdir(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, path) = at_path(arguments)?;
    tasks::call(None, async move { env.subdir(path).await }, made, context)
}

/// Environment, label, options: `at` a commit, and on a `branch` of this name, or `detached`.
fn worktree(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, label) = labelled(arguments)?;
    let mut options = Options::read(&argument(arguments, 2), "env.worktree", context)?;
    let at = options.take("at", reading::text)?;
    let branch = options.take("branch", reading::text)?;
    let detached = options.take("detached", reading::flag)?.unwrap_or(false);
    options.end()?;
    let head = match branch {
        Some(_) if detached => {
            let message = "env.worktree: a worktree is on a branch or detached, not both";
            return Err(JsNativeError::typ().with_message(message).into());
        }
        Some(name) => WorktreeHead::Branch(name),
        None if detached => WorktreeHead::Detached,
        None => WorktreeHead::ByHost,
    };
    tasks::call(None, async move { env.worktree(label, at, head).await }, made, context)
}

fn copy(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, label) = labelled(arguments)?;
    tasks::call(None, async move { env.copy(label).await }, made, context)
}

fn scratch(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (env, label) = labelled(arguments)?;
    tasks::call(None, async move { env.scratch(label).await }, made, context)
}

/// Environment, name.
fn snapshot(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let name = argument(arguments, 1);
    let name = if reading::is_absent(&name) { None } else { Some(reading::text(&name, "a snapshot's name")?) };
    tasks::call(None, async move { env.snapshot(name).await }, |name, _| Ok(giving::text(&name)), context)
}

/// Environment, name.
fn rewind(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let name = reading::text(&argument(arguments, 1), "a snapshot's name")?;
    tasks::call(None, async move { env.rewind(name).await }, nothing, context)
}

fn snapshots(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let lift = |names: Vec<String>, context: &mut Context| Ok(giving::texts(&names, context));
    tasks::call(None, async move { env.snapshots().await }, lift, context)
}

fn diff(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let lift = |patch: Vec<u8>, context: &mut Context| giving::bytes(&patch, context);
    tasks::call(None, async move { env.diff().await }, lift, context)
}

/// Environment, the one that was made from it.
fn merge(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let env = env(arguments)?;
    let other = Env::from_value(&argument(arguments, 1), "what is merged")?;
    let call = async move { env.merge(&other).await };
    tasks::call(None, call, |outcome, context| giving::merge_outcome(&outcome, context), context)
}

fn process(arguments: &[JsValue]) -> JsResult<Rc<Process>> {
    Process::from_value(&argument(arguments, 0), "this")
}

/// Process, canceller.
fn wait(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let process = process(arguments)?;
    let call = async move { process.wait().await };
    let canceller = canceller_of(&argument(arguments, 1))?;
    tasks::call(canceller, call, |output, context| giving::output(&output, context), context)
}

fn done(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(process(arguments)?.done().into())
}

fn cancel(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    process(arguments)?.cancel();
    Ok(JsValue::undefined())
}
