//! Handles, waiting, and cancelling.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{ms, said, unknown, words};

pub(crate) async fn run(case: &str, cx: &Context) -> Result<Value> {
    let agent = cx.agent("worker")?;
    match case {
        "turn" => {
            let turn = agent.run("later").start()?;
            let before = turn.done();
            let wait = said(turn.wait().await);
            Ok(json!({ "before": before, "wait": wait, "after": turn.done(), "again": said(turn.wait().await) }))
        }
        "cancel" => {
            let session = agent.spawn()?;
            let turn = session.start("slow")?;
            sleep(ms(10)).await;
            turn.cancel();
            turn.cancel();
            let next = said(session.run("next").await);
            Ok(json!({ "turn": said(turn.wait().await), "again": said(turn.wait().await), "next": next }))
        }
        "any" => {
            let turns = [agent.run("later").start()?, agent.run("soon").start()?];
            let mut left: Vec<usize> = vec![0, 1];
            let mut ended = Vec::new();
            while !left.is_empty() {
                for place in wait_any(left.iter().map(|at| &turns[*at]), None).await.into_iter().rev() {
                    ended.push(left.remove(place));
                }
            }
            Ok(json!(ended))
        }
        "any-timeout" => {
            let nothing = wait_any(Vec::<&Turn>::new(), None).await;
            let turn = agent.run("slow").start()?;
            Ok(json!({ "nothing": nothing, "late": wait_any([&turn], Some(ms(20))).await }))
        }
        "any-mixed" => mixed(cx, &agent).await,
        "cancel-task" | "timeout" => {
            let session = agent.spawn()?;
            let late = timeout(ms(10), session.run("slow")).await.is_err();
            let name = if case == "timeout" { "late" } else { "stopped" };
            Ok(json!({ name: late, "next": said(session.run("next").await) }))
        }
        "race" => {
            let winner = timeout(ms(10), agent.run("slow")).await;
            Ok(json!(winner.map_or_else(|_| "clock".into(), said)))
        }
        "group" => {
            let turns = ["slow", "bad", "slow"].map(|prompt| agent.run(prompt));
            match group(turns).await {
                Ok(_) => Ok(Value::Null),
                Err(failures) => Ok(json!({ "error": words(&failures.errors[0]), "cancelled": failures.cancelled })),
            }
        }
        "gather" => {
            let turns = ["t0", "bad", "t2", "t3"].map(|prompt| agent.run(prompt));
            Ok(gather(turns).at_once(2).await.into_iter().map(said).collect())
        }
        "drop-wait" => {
            let turn = agent.run("later").start()?;
            drop(timeout(ms(1), turn.wait()).await);
            Ok(json!(said(turn.wait().await)))
        }
        _ => Err(unknown(case)),
    }
}

/// A branch that sleeps 10 ms, a turn of 50 ms, a process of a second, and a watch that nothing comes of: by three waits, the first of them
/// for all, each after it without what was ready.
async fn mixed(cx: &Context, agent: &Agent) -> Result<Value> {
    let env = cx.env("workspace")?;
    let watch = agent.watch([Moment::PreToolUse]).open()?;
    let turn = agent.run("later").start()?;
    let process = env.exec(["sleep", "1"]).start()?;
    let branch = load("itself").await?.call("flows/sleep").agent("worker", agent).start()?;
    let first = wait_any([Awaited::Turn(&turn), (&process).into(), (&branch).into(), (&watch).into()], None).await;
    let second = wait_any([Awaited::Turn(&turn), (&process).into(), (&watch).into()], None).await;
    let third = wait_any([Awaited::Watch(&watch), (&process).into()], None).await;
    Ok(json!({ "first": first, "second": second, "third": third }))
}
