//! Flows calling flows: B1 to B5, and budgets below budgets.

use flowhost::Call;
use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, outcome, unknown};

pub(crate) async fn run(task: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    match task {
        // Calls itself until it is n levels deep, and gives the path of the deepest.
        "chain" => {
            if params.n <= 1 {
                return Ok(json!(cx.path()));
            }
            let deeper = Params { n: params.n - 1, ..params.clone() };
            load("lab").await?.call("branches/chain").agent("worker", &agent).params(&deeper).await
        }
        // The same by two components in turns.
        "ping-pong" => {
            if params.n <= 1 {
                return Ok(json!(cx.path()));
            }
            let deeper = json!({ "n": params.n - 1 });
            load("lab-two").await?.call("branches/ping-pong").agent("worker", &agent).params(&deeper).await
        }
        // n calls of a flow at once: what each came to.
        "calls" => {
            let callee = load(params.reference.as_str()).await?;
            let calls = (0..params.n).map(|_| handed(&callee, &agent, params).into_future());
            let outcomes = gather(calls).at_once(params.width).await;
            let spent = cx.spent();
            Ok(json!({
                "outcomes": outcomes.into_iter().map(outcome::of).collect::<Value>(),
                "turns": spent.turns,
                "cost": spent.cost,
            }))
        }
        // One call whose error is handed on as it is.
        "hand-on" => {
            let callee = load(params.reference.as_str()).await?;
            handed(&callee, &agent, params).await
        }
        // A call that is started, let be for a while, and cancelled.
        "cancel" => {
            let branch = handed(&load(params.reference.as_str()).await?, &agent, params).start()?;
            sleep(Duration::from_millis(params.ms)).await;
            branch.cancel();
            Ok(outcome::of(branch.wait().await))
        }
        // A call that is dropped while it is going.
        "drop" => {
            let callee = load(params.reference.as_str()).await?;
            let late = timeout(Duration::from_millis(params.ms), handed(&callee, &agent, params)).await;
            Ok(json!({ "late": late.is_err() }))
        }
        // A call without the agent that the callee declares.
        "bare" => {
            let callee = load(params.reference.as_str()).await?;
            Ok(outcome::of(callee.call(params.call.as_str()).await))
        }
        // A flow that is not there, and one that was not declared.
        "missing" => {
            let found = async |reference: &str| outcome::of(load(reference).await.map(|callee| callee.name()));
            Ok(json!({ "nowhere": found("nowhere").await, "undeclared": found("undeclared").await }))
        }
        // What a flow declares.
        "manifest" => load(params.reference.as_str()).await?.manifest(),
        // Where this call is.
        "where" => Ok(json!({ "branch": cx.branch_id(), "path": cx.path() })),
        _ => Err(unknown(task)),
    }
}

/// A call with what this flow was given: the callee's task, and params that hand the rest on.
fn handed<'a>(callee: &'a Callee, agent: &'a Agent, params: &Params) -> Call<'a> {
    let call = callee.call(params.call.as_str()).agent("worker", agent).params(&below(params));
    match params.cost {
        Some(dollars) => call.budget(Budget::new().with_cost(dollars)),
        None => call,
    }
}

/// The params of a callee that calls no further.
fn below(params: &Params) -> Params {
    Params { call: "noop".into(), cost: None, ..params.clone() }
}
