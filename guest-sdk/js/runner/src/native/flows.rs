//! Flows calling flows.

use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue};

use super::{Function, agents::budget, answered, argument, engine::canceller_of};
use crate::{
    bindings::flowhost::flow::{
        agents::Agent,
        envs::Env,
        flows::{self as host, Branch, Callee, Handover},
        types::Budget,
    },
    giving,
    handles::Resource,
    reading::{self, Options},
    tasks,
};

pub(super) const FUNCTIONS: &[Function] = &[
    ("load", "load", load),
    ("calleeName", "callee.name", name),
    ("calleeManifest", "callee.manifest", manifest),
    ("calleeCall", "callee.call", call),
    ("calleeStart", "callee.start", start),
    ("branchWait", "branch.wait", wait),
    ("branchDone", "branch.done", done),
    ("branchCancel", "branch.cancel", cancel),
];

fn callee(arguments: &[JsValue]) -> JsResult<Rc<Callee>> {
    Callee::from_value(&argument(arguments, 0), "this")
}

fn branch(arguments: &[JsValue]) -> JsResult<Rc<Branch>> {
    Branch::from_value(&argument(arguments, 0), "this")
}

/// Reference.
fn load(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let reference = reading::text(&argument(arguments, 0), "a reference of a flow")?;
    let call = async move { host::load(reference).await };
    tasks::call(None, call, |callee, context| Ok(callee.give(context)), context)
}

fn name(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&callee(arguments)?.name()))
}

/// As JSON.
fn manifest(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(giving::text(&callee(arguments)?.manifest()))
}

/// What is handed over, held for as long as the call takes.
struct Given {
    agents: Vec<(String, Rc<Agent>)>,
    envs: Vec<(String, Rc<Env>)>,
    params: String,
    budget: Option<Budget>,
}

fn by_role<R: Resource>(value: &JsValue, what: &str, context: &mut Context) -> JsResult<Vec<(String, Rc<R>)>> {
    let entries = reading::entries(value, what, context)?;
    entries
        .into_iter()
        .map(|(role, given)| R::from_value(&given, &format!("{what}.{role}")).map(|given| (role, given)))
        .collect()
}

impl Given {
    /// The SDK hands params over as JSON, and keeps the signal to itself.
    fn read(value: &JsValue, of: &str, context: &mut Context) -> JsResult<Self> {
        let mut options = Options::read(value, of, context)?;
        let agents = options.take("agents", |value, what| by_role(value, what, context))?;
        let envs = options.take("envs", |value, what| by_role(value, what, context))?;
        let params = options.take("params", reading::text)?;
        let budget = options.take("budget", |value, _| budget(value, context))?;
        options.leave("signal");
        options.end()?;
        Ok(Self {
            agents: agents.unwrap_or_default(),
            envs: envs.unwrap_or_default(),
            params: params.unwrap_or_else(|| "{}".to_owned()),
            budget,
        })
    }

    fn handover(&self) -> Handover<'_> {
        Handover {
            agents: self.agents.iter().map(|(role, agent)| (role.clone(), &**agent)).collect(),
            envs: self.envs.iter().map(|(role, env)| (role.clone(), &**env)).collect(),
            params: self.params.clone(),
            budget: self.budget,
        }
    }
}

/// Callee, task, what is handed over, canceller. The answer is JSON.
fn call(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callee = callee(arguments)?;
    let task = reading::text(&argument(arguments, 1), "a task")?;
    let given = Given::read(&argument(arguments, 2), "callee.call", context)?;
    let call = async move { callee.call(task, given.handover()).await };
    let canceller = canceller_of(&argument(arguments, 3))?;
    tasks::call(canceller, call, |answer, _| Ok(giving::text(&answer)), context)
}

/// Callee, task, what is handed over.
fn start(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callee = callee(arguments)?;
    let task = reading::text(&argument(arguments, 1), "a task")?;
    let given = Given::read(&argument(arguments, 2), "callee.start", context)?;
    let branch = answered(callee.start(&task, &given.handover()), context)?;
    Ok(branch.give(context))
}

/// Branch, canceller. The answer is JSON.
fn wait(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let branch = branch(arguments)?;
    let call = async move { branch.wait().await };
    let canceller = canceller_of(&argument(arguments, 1))?;
    tasks::call(canceller, call, |answer, _| Ok(giving::text(&answer)), context)
}

fn done(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(branch(arguments)?.done().into())
}

fn cancel(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    branch(arguments)?.cancel();
    Ok(JsValue::undefined())
}
