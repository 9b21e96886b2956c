//! Errors as a flow sees them, and those that it causes.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};
use flowhost::{BudgetError, EnvError, HarnessError};

use crate::{unknown, word, words};

pub(crate) async fn run(case: &str, cx: &Context) -> Result<Value> {
    let agent = cx.agent_opt("worker")?;
    let agent = || agent.as_ref().ok_or_else(|| Error::failed("there is no worker"));
    match case {
        "turn" => match agent()?.run("t0").await {
            Err(Error::Harness(HarnessError { fault, message, .. })) => {
                Ok(json!({ "kind": "harness", "fault": word(&fault), "message": message }))
            }
            other => Ok(json!(crate::said(other))),
        },
        "exec" => match cx.env("workspace")?.exec(["run"]).await {
            Err(Error::Env(EnvError { fault, message })) => {
                Ok(json!({ "kind": "env", "fault": word(&fault), "message": message }))
            }
            other => Ok(json!(crate::ok(other))),
        },
        "retry-after" => match agent()?.run("t0").await {
            Err(Error::Harness(HarnessError { retry_after: Some(time), .. })) => Ok(json!(time.as_millis() as u64)),
            other => Ok(json!(crate::said(other))),
        },
        // Turn after turn, until one is not taken.
        "spend" => {
            let session = agent()?.spawn()?;
            loop {
                if let Err(error) = session.run("t").await {
                    let whose = matches!(&error, Error::Budget(BudgetError { whose, .. }) if *whose == cx.branch_id());
                    return Ok(json!({ "error": words(&error), "whose": whose }));
                }
            }
        }
        // Asks on after a stop.
        "go-on" => {
            let session = agent()?.spawn()?;
            while session.run("t").await.is_err() {}
            Ok(json!("went on"))
        }
        "claims-stopped" => Err(Error::Stopped("it was stopped".into())),
        "uncaught-turn" => Ok(json!(agent()?.run("t0").await?.text)),
        #[allow(clippy::panic, reason = "what becomes of it is tested")]
        "bug" | "trap" => panic!("a bug"),
        "recursion" => Ok(json!(down(1))),
        "spin" => loop {
            std::hint::black_box(());
        },
        "hoard" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                all.push(std::hint::black_box(vec![1; 16 << 20]));
            }
        }
        _ => Err(unknown(case)),
    }
}

#[allow(unconditional_recursion, reason = "what becomes of it is tested")]
fn down(depth: u64) -> u64 {
    std::hint::black_box(down(std::hint::black_box(depth + 1))) + 1
}
