//! Flows that call flows.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};
use flowhost::{
    BudgetError, EnvError, EnvFault, FlowError, FlowFault, HarnessError, HarnessFault, SessionError, SessionFault,
};

use crate::{Params, ms, ok, unknown};

/// The errors that a flow is made to raise, in the order of the contract's kinds; then faults that
/// nothing else comes to.
const RAISED: [&str; 10] = [
    "session",
    "harness",
    "env",
    "requirement",
    "not-granted",
    "flow",
    "failed",
    "other",
    "session-other",
    "flow-other",
];

pub(crate) async fn run(case: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let itself = load("itself").await?;
    match case {
        "facts" => {
            let manifest = itself.manifest()?;
            let roles: Vec<_> = manifest["agents"].as_array().into_iter().flatten().map(|role| &role["name"]).collect();
            Ok(json!({ "name": itself.name(), "roles": roles }))
        }
        "call" => {
            let callee = load(params.way.as_str()).await?;
            let env = cx.env("workspace")?;
            callee.call("flows/called").agent("worker", &agent).env("workspace", &env).params(&json!({ "n": 9 })).await
        }
        // What `call` calls.
        "called" => Ok(json!({
            "path": cx.path(),
            "n": params.n,
            "turn": agent.run("the word").await?.text,
            "read": cx.env("workspace")?.read_text("a.txt").await?,
        })),
        "raised" => {
            let mut all = Vec::new();
            for kind in RAISED {
                let call = itself.call("flows/raise").agent("worker", &agent).params(&json!({ "way": kind }));
                all.push(ok(call.await));
            }
            Ok(json!(all))
        }
        "raise" => Err(error(&params.way)),
        "branch" => {
            let sleeps = |n: u32| itself.call("flows/sleep").agent("worker", &agent).params(&json!({ "n": n })).start();
            let (slept, cancelled) = (sleeps(10)?, sleeps(60_000)?);
            let before = slept.done();
            let slept = slept.wait().await?;
            cancelled.cancel();
            let end = ok(cancelled.wait().await);
            Ok(json!({ "before": before, "slept": slept, "cancelled": end, "after": cancelled.done() }))
        }
        "sleep" => {
            sleep(ms(u64::from(params.n))).await;
            Ok(json!("slept"))
        }
        "budget" => {
            let budget = Budget::new().with_turns(1);
            let called = itself.call("flows/spend").agent("worker", &agent).budget(budget).await;
            let whose = matches!(&called, Err(Error::Budget(BudgetError { whose, .. })) if *whose == format!("{}.1", cx.branch_id()));
            Ok(json!({ "called": ok(called), "whose": whose }))
        }
        "spend" => {
            for _ in 0..2 {
                agent.run("t").await?;
            }
            Ok(Value::Null)
        }
        "missing" => Ok(json!({ "nowhere": ok(load("nowhere").await), "undeclared": ok(load("undeclared").await) })),
        "unmet" => Ok(json!(ok(itself.call("flows/sleep").await))),
        "trapped" => Ok(json!(ok(load("other").await?.call("errors/trap").agent("worker", &agent).await))),
        // Calls itself until it cannot, and gives how deep that was.
        "deep" => match itself.call("flows/deep").agent("worker", &agent).await {
            Err(Error::Flow(FlowError { fault: FlowFault::TooDeep, .. })) => {
                Ok(json!(format!("{} flow too-deep", cx.path().len())))
            }
            other => other,
        },
        "exceeded" => Ok(json!(ok(agent.spawn_many(1000, ())))),
        _ => Err(unknown(case)),
    }
}

/// An error of this kind, of the flow's own making.
fn error(kind: &str) -> Error {
    let message = "made here".to_owned();
    match kind {
        "session" => Error::Session(SessionError { fault: SessionFault::Busy, message }),
        "harness" => {
            let retry_after = Some(ms(1500));
            Error::Harness(HarnessError { fault: HarnessFault::Throttled, retry_after, message })
        }
        "env" => Error::Env(EnvError { fault: EnvFault::Denied, message }),
        "requirement" => Error::Requirement(message),
        "not-granted" => Error::NotGranted(message),
        "flow" => Error::Flow(FlowError { fault: FlowFault::BadRef, message }),
        "failed" => Error::Failed(message),
        "other" => Error::Other(message),
        "session-other" => Error::Session(SessionError { fault: SessionFault::Other, message }),
        "flow-other" => Error::Flow(FlowError { fault: FlowFault::Other, message }),
        _ => unknown(kind),
    }
}
