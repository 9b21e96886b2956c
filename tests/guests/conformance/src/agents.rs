//! Agents by role, and the turns that need no session.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};
use flowhost::{Access, Permission};

use crate::{Params, ok, said, unknown, words};

pub(crate) async fn run(case: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let prompts = |number: u32| (0..number).map(|turn| format!("t{turn}"));
    let some = ["t0", "this is bad", "t2"];
    match case {
        "facts" => Ok(json!({
            "role": agent.role(),
            "harness": agent.harness(),
            "model": agent.model(),
            "effort": agent.effort(),
            "steer": agent.can("steer"),
        })),
        "roles" => {
            let role = |given: Result<Agent>| given.map_or_else(|error| words(&error), |agent| agent.role());
            Ok(json!({
                "given": role(cx.agent("worker")),
                "optional": cx.agent_opt("judge")?.map_or_else(|| "none".into(), |agent| agent.role()),
                "empty": role(cx.agent("judge")),
                "unknown": role(cx.agent("stranger")),
            }))
        }
        "spawn-many" => {
            let ids: std::collections::BTreeSet<_> = agent.spawn_many(params.n, ())?.iter().map(Session::id).collect();
            Ok(json!(ids.len()))
        }
        "run" => Ok(json!(agent.run("the word").await?.text)),
        "batch" => {
            let answers = agent.batch(prompts(params.n)).at_once(2).await?;
            Ok(answers.into_iter().map(|answer| answer.text).collect())
        }
        "batch-suppress" => Ok(agent.batch(some).suppress().await?.into_iter().map(said).collect()),
        "batch-fails" => Ok(json!(ok(agent.batch(some).await))),
        "pursue" => Ok(json!({ "turns": agent.pursue("make it good", 5).await?.usage.turns })),
        "derive" => {
            let reads = Permission { workdir: Access::Read, home: Access::None, system: Access::None, network: false };
            Ok(json!({
                "narrower": agent.derive(Settings::new().permission(reads))?.role(),
                "dearer": ok(agent.derive(Settings::new().model("dearest"))),
            }))
        }
        "watch-undeclared" => Ok(json!(ok(agent.watch([Moment::SessionEnd]).open()))),
        _ => Err(unknown(case)),
    }
}
