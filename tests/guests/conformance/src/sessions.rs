//! Conversations, and turns in them.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{ms, ok, said, unknown};

pub(crate) async fn run(case: &str, cx: &Context) -> Result<Value> {
    let agent = cx.agent("worker")?;
    match case {
        "facts" => {
            let session = agent.spawn()?;
            session.run("one").await?;
            Ok(json!({ "id": session.id(), "directory": session.directory(), "turns": session.usage().turns }))
        }
        "run" => {
            let session = agent.spawn()?;
            Ok(json!([session.run("one").await?.text, session.run("two").await?.text]))
        }
        "schema" => {
            let schema =
                json!({ "type": "object", "properties": { "good": { "type": "boolean" } }, "required": ["good"] });
            Ok(agent.spawn()?.run("is it?").schema(&schema).await?.value.unwrap_or_default())
        }
        "turn-budget" => {
            let budget = Budget::new().with_duration(ms(1)).cut();
            Ok(json!(said(agent.spawn()?.run("one").budget(budget).await)))
        }
        "busy" => {
            let session = agent.spawn()?;
            let first = session.start("later")?;
            let second = said(session.run("second").await);
            Ok(json!({ "second": second, "first": said(first.wait().await) }))
        }
        "queue" => {
            let session = agent.spawn_at(Spawn::new().queue())?;
            let all = gather((0..4).map(|turn| session.run(format!("t{turn}")))).await;
            Ok(all.into_iter().map(said).collect())
        }
        "close" => {
            let session = agent.spawn()?;
            let turn = session.start("slow")?;
            sleep(ms(5)).await;
            session.close();
            Ok(json!(said(turn.wait().await)))
        }
        "closed" => {
            let session = agent.spawn()?;
            session.close();
            Ok(json!(said(session.run("next").await)))
        }
        "steer" => {
            let session = agent.spawn()?;
            let turn = session.start("later")?;
            sleep(ms(5)).await;
            session.steer("left", SteerMode::Queued).await?;
            session.steer("right", SteerMode::Interrupting).await?;
            Ok(json!(said(turn.wait().await)))
        }
        "idle" => Ok(json!(ok(agent.spawn()?.steer("left", SteerMode::Queued).await))),
        "fork" => {
            let session = agent.spawn()?;
            session.run("one").await?;
            let fork = session.fork().await?;
            Ok(json!({ "fork": said(fork.run("two").await), "apart": fork.id() != session.id() }))
        }
        "never-ran" => Ok(json!(ok(agent.spawn()?.fork().await))),
        "refused-dir" => Ok(json!({
            "nowhere": ok(agent.spawn_at("nowhere")),
            "above": ok(agent.spawn_at("../elsewhere")),
        })),
        "place" => {
            let env = cx.env("workspace")?;
            Ok(json!({
                "env": agent.spawn_at(&env)?.directory(),
                "directory": agent.spawn_at((&env, "src"))?.directory(),
            }))
        }
        "let-go" => {
            let turn = agent.spawn()?.start("later")?;
            Ok(json!(said(turn.wait().await)))
        }
        "keep" => {
            let session = agent.spawn()?;
            drop(session.start("later")?);
            sleep(ms(100)).await;
            Ok(json!(session.usage().turns))
        }
        "leave" => {
            let sessions = agent.spawn_many(2, ())?;
            for session in &sessions {
                std::mem::forget(session.start("slow")?);
            }
            std::mem::forget(sessions);
            sleep(ms(5)).await;
            Ok(json!("left"))
        }
        _ => Err(unknown(case)),
    }
}
