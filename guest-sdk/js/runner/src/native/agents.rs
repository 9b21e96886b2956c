//! Agents: what opens conversations and takes turns.

use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue, object::builtins::JsArray};

use super::{Function, answered, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::{
        agents::{self as host, Agent, Answer, BatchOptions, Permission, TurnOptions, WhenBusy},
        envs::Env,
        types::{Budget, Error, Grace},
    },
    failures::{self, Origin},
    giving,
    handles::Resource as _,
    reading::{self, Options},
    tasks,
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("agentRole", "agent.role", role),
    ("agentHarness", "agent.harness", harness),
    ("agentModel", "agent.model", model),
    ("agentEffort", "agent.effort", effort),
    ("agentCapabilities", "agent.capabilities", capabilities),
    ("agentSpawn", "agent.spawn", spawn),
    ("agentSpawnMany", "agent.spawnMany", spawn_many),
    ("agentRun", "agent.run", run),
    ("agentStart", "agent.start", start),
    ("agentBatch", "agent.batch", batch),
    ("agentPursue", "agent.pursue", pursue),
    ("agentDerive", "agent.derive", derive),
    ("agentWatch", "agent.watch", watch),
];

fn agent(arguments: &[JsValue]) -> JsResult<Rc<Agent>> {
    Agent::from_value(&argument(arguments, 0), "this")
}

fn role(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&agent(arguments)?.role()))
}

fn harness(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&agent(arguments)?.harness()))
}

fn model(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&agent(arguments)?.model()))
}

fn effort(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&agent(arguments)?.effort()))
}

fn capabilities(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(giving::texts(&agent(arguments)?.capabilities(), context))
}

/// Where a conversation is rooted.
struct Place {
    at: Option<Rc<Env>>,
    directory: Option<String>,
    when_busy: WhenBusy,
}

impl Place {
    /// An environment, a directory's path, or both and more by name.
    fn read(value: &JsValue, of: &str, context: &mut Context) -> JsResult<Self> {
        let unsaid = Self { at: None, directory: None, when_busy: WhenBusy::Refuse };
        if let Ok(env) = Env::from_value(value, "at") {
            return Ok(Self { at: Some(env), ..unsaid });
        }
        if value.is_string() {
            return Ok(Self { directory: Some(reading::text(value, "directory")?), ..unsaid });
        }
        let mut options = Options::read(value, of, context)?;
        let at = options.resource("at")?;
        let directory = options.take("directory", reading::text)?;
        let when_busy = options.take("whenBusy", reading::word)?.unwrap_or(unsaid.when_busy);
        options.end()?;
        Ok(Self { at, directory, when_busy })
    }
}

/// Agent, place.
fn spawn(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let Place { at, directory, when_busy } = Place::read(&argument(arguments, 1), "agent.spawn", context)?;
    let session = answered(agent.spawn(at.as_deref(), directory.as_deref(), when_busy), context)?;
    Ok(session.give(context))
}

/// Agent, how many, place.
fn spawn_many(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let count = reading::small_count(&argument(arguments, 1), "how many sessions to open")?;
    let Place { at, directory, when_busy } = Place::read(&argument(arguments, 2), "agent.spawnMany", context)?;
    let sessions = answered(agent.spawn_many(count, at.as_deref(), directory.as_deref(), when_busy), context)?;
    let sessions: Vec<JsValue> = sessions.into_iter().map(|session| session.give(context)).collect();
    Ok(JsArray::from_iter(sessions, context).into())
}

/// Limits to set.
pub(super) fn budget(value: &JsValue, context: &mut Context) -> JsResult<Budget> {
    let mut options = Options::read(value, "a budget", context)?;
    let budget = Budget {
        cost: options.take("cost", reading::amount)?,
        output_tokens: options.take("outputTokens", reading::count)?,
        turns: options.take("turns", reading::small_count)?,
        duration_ms: options.take("durationMs", reading::millis)?,
        grace: options.take("grace", reading::word)?.unwrap_or(Grace::Finish),
    };
    options.end()?;
    Ok(budget)
}

/// How to take a turn. The SDK hands a schema over as JSON, and keeps the signal to itself.
pub(super) fn turn_options(options: &mut Options<'_>, context: &mut Context) -> JsResult<TurnOptions> {
    options.leave("signal");
    Ok(TurnOptions {
        schema: options.take("schema", reading::text)?,
        budget: options.take("budget", |value, _| budget(value, context))?,
        expected_cost: options.take("expectedCost", reading::amount)?,
    })
}

/// What a turn is taken with: prompt, place, options.
struct Turn {
    prompt: String,
    at: Option<Rc<Env>>,
    options: TurnOptions,
}

impl Turn {
    fn read(arguments: &[JsValue], of: &str, context: &mut Context) -> JsResult<Self> {
        let prompt = reading::text(&argument(arguments, 1), "a prompt")?;
        let mut options = Options::read(&argument(arguments, 2), of, context)?;
        let at = options.resource("at")?;
        let turn = turn_options(&mut options, context)?;
        options.end()?;
        Ok(Self { prompt, at, options: turn })
    }
}

/// Agent, prompt, options, canceller.
fn run(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let Turn { prompt, at, options } = Turn::read(arguments, "agent.run", context)?;
    let call = async move { agent.run(prompt, at.as_deref(), options).await };
    let canceller = canceller_of(&argument(arguments, 3))?;
    tasks::call(canceller, call, |answer, context| giving::answer(&answer, context), context)
}

/// Agent, prompt, options.
fn start(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let Turn { prompt, at, options } = Turn::read(arguments, "agent.start", context)?;
    // The turn goes on while its handle is held, its session or not.
    let session = answered(agent.spawn(at.as_deref(), None, WhenBusy::Refuse), context)?;
    let turn = answered(session.start(&prompt, &options), context)?;
    Ok(turn.give(context))
}

/// Agent, prompts, options, canceller. The answers, or the failures in their places.
fn batch(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let prompts = reading::texts(&argument(arguments, 1), "prompts", context)?;
    let mut options = Options::read(&argument(arguments, 2), "agent.batch", context)?;
    let at: Option<Rc<Env>> = options.resource("at")?;
    let at_once = options.take("atOnce", reading::small_count)?;
    let suppress = options.take("suppress", reading::flag)?.unwrap_or(false);
    let turn = turn_options(&mut options, context)?;
    options.end()?;
    let options = BatchOptions { at_once, suppress, turn };
    let call = async move { agent.batch(prompts, at.as_deref(), options).await };
    let origin = Origin::here(context);
    let lift = move |answers: Vec<Result<Answer, Error>>, context: &mut Context| {
        let mut lifted = Vec::with_capacity(answers.len());
        for answer in answers {
            lifted.push(match answer {
                Ok(answer) => giving::answer(&answer, context)?,
                Err(error) => failures::raise(error, &origin, context).into_opaque(context)?,
            });
        }
        Ok(JsArray::from_iter(lifted, context).into())
    };
    tasks::call(canceller_of(&argument(arguments, 3))?, call, lift, context)
}

/// Agent, objective, rounds, options.
fn pursue(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let objective = reading::text(&argument(arguments, 1), "an objective")?;
    let rounds = reading::small_count(&argument(arguments, 2), "how many rounds there are at most")?;
    let mut options = Options::read(&argument(arguments, 3), "agent.pursue", context)?;
    let at: Option<Rc<Env>> = options.resource("at")?;
    let turn = turn_options(&mut options, context)?;
    options.end()?;
    let turn = answered(agent.pursue(&objective, at.as_deref(), rounds, &turn), context)?;
    Ok(turn.give(context))
}

fn permission(value: &JsValue, context: &mut Context) -> JsResult<Permission> {
    let mut options = Options::read(value, "a permission", context)?;
    let permission = Permission {
        workdir: options.take("workdir", reading::word)?.unwrap_or(host::Access::None),
        home: options.take("home", reading::word)?.unwrap_or(host::Access::None),
        system: options.take("system", reading::word)?.unwrap_or(host::Access::None),
        network: options.take("network", reading::flag)?.unwrap_or(false),
    };
    options.end()?;
    Ok(permission)
}

/// Agent, what to change.
fn derive(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let mut options = Options::read(&argument(arguments, 1), "agent.derive", context)?;
    let permission = options.take("permission", |value, _| permission(value, context))?;
    let model = options.take("model", reading::text)?;
    let effort = options.take("effort", reading::text)?;
    options.end()?;
    let derived = answered(agent.derive(permission, model.as_deref(), effort.as_deref()), context)?;
    Ok(derived.give(context))
}

/// Agent, moments, options.
fn watch(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let agent = agent(arguments)?;
    let moments = reading::items(&argument(arguments, 1), "moments", context)?;
    let moments = moments.iter().map(|moment| reading::word(moment, "a moment")).collect::<JsResult<Vec<_>>>()?;
    let mut options = Options::read(&argument(arguments, 2), "agent.watch", context)?;
    let patience = options.take("patienceMs", reading::millis)?;
    let unanswered = options.take("unanswered", reading::word)?.unwrap_or(host::Unanswered::Pass);
    options.end()?;
    let watch = answered(agent.watch(&moments, patience, unanswered), context)?;
    Ok(watch.give(context))
}
