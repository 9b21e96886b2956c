//! Sessions: S1 to S6, S8 and S9.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, outcome, unknown};

pub(crate) async fn run(task: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let prompt = |turn: u32| format!("{}{turn}", params.prompt);
    match task {
        // n turns, a session each, so many at once.
        "fan" => {
            let turns = (0..params.n).map(async |turn| {
                let session = agent.spawn()?;
                let run = session.run(prompt(turn));
                match params.expect {
                    Some(dollars) => run.expect_cost(dollars).await,
                    None => run.await,
                }
            });
            Ok(outcome::turns(gather(turns).at_once(params.width).await))
        }
        // n turns, each in a conversation of its own that the host opens.
        "runs" => {
            let turns = (0..params.n).map(|turn| agent.run(prompt(turn)));
            Ok(outcome::turns(gather(turns).at_once(params.width).await))
        }
        // Two turns at once on one session.
        "busy" => {
            let session = agent.spawn()?;
            Ok(outcome::turns(gather([session.run(prompt(0)), session.run(prompt(1))]).await))
        }
        // The same, in a flow that reads past failed turns as `fanout` does.
        "swallow" => {
            let session = agent.spawn()?;
            for said in gather([session.run(prompt(0)), session.run(prompt(1))]).await {
                match said {
                    Ok(answer) => log!("{}", answer.text),
                    Err(Error::Harness(failed)) => log!("failed, {failed}"),
                    Err(other) => return Err(other),
                }
            }
            Ok(Value::Null)
        }
        // n turns at once on one session that queues.
        "queue" => {
            let session = agent.spawn_at(Spawn::new().queue())?;
            Ok(outcome::turns(gather((0..params.n).map(|turn| session.run(prompt(turn)))).await))
        }
        // n sessions that take no turn.
        "idle" => {
            let sessions = agent.spawn_many(params.n, ())?;
            sleep(Duration::from_millis(params.ms)).await;
            Ok(json!({ "sessions": sessions.len() }))
        }
        // A session at a path, and a turn in it.
        "at" => {
            let path = params.path.clone().unwrap_or_default();
            let session = agent.spawn_at(path.as_str())?;
            let directory = session.directory();
            let said = session.run(prompt(0)).await?;
            Ok(json!({ "directory": directory, "id": session.id(), "text": said.text, "turns": session.usage().turns }))
        }
        // A session at a path, and a turn in it once there was time to swap the directory for something else.
        "at-later" => {
            let path = params.path.clone().unwrap_or_default();
            let session = agent.spawn_at(path.as_str())?;
            sleep(Duration::from_millis(params.ms)).await;
            Ok(outcome::turn(session.run(prompt(0)).await))
        }
        // n prompts in one call.
        "batch" => {
            let batch = agent.batch((0..params.n).map(prompt)).at_once(params.width as u32);
            match params.suppress {
                true => Ok(outcome::turns(batch.suppress().await?)),
                false => Ok(outcome::turns(batch.await?.into_iter().map(Ok))),
            }
        }
        // A turn whose answer has a type.
        "typed" => {
            let verdict: Verdict = agent.run(prompt(0)).json().await?;
            Ok(json!({ "good": verdict.good, "why": verdict.why }))
        }
        // Words into a turn that is going, and into none.
        "steer" => {
            let session = agent.spawn()?;
            let idle = session.steer("early", SteerMode::Queued).await;
            let turn = session.start(prompt(0))?;
            sleep(Duration::from_millis(params.ms)).await;
            let steered = session.steer(params.data.as_str(), SteerMode::Interrupting).await;
            Ok(json!({
                "idle": outcome::of(idle),
                "steered": outcome::of(steered),
                "turn": outcome::turn(turn.wait().await),
            }))
        }
        // A fork before the first turn, during one, and after it.
        "fork" => {
            let session = agent.spawn()?;
            let early = session.fork().await.map(|fork| fork.id());
            let turn = session.start(prompt(0))?;
            let during = session.fork().await.map(|fork| fork.id());
            turn.wait().await?;
            let fork = session.fork().await?;
            Ok(json!({
                "early": outcome::of(early),
                "during": outcome::of(during),
                "apart": fork.id() != session.id(),
                "fork": outcome::turn(fork.run(prompt(1)).await),
                "turns": session.usage().turns,
            }))
        }
        // A session that is closed while its turn is going, and then asked for another.
        "close" => {
            let session = agent.spawn()?;
            let closing = async {
                sleep(Duration::from_millis(params.ms)).await;
                session.close();
            };
            let (turn, ()) = join(session.run(prompt(0)), closing).await;
            Ok(json!({ "turn": outcome::turn(turn), "next": outcome::turn(session.run(prompt(1)).await) }))
        }
        // What the agent and a session of it say of themselves.
        "facts" => {
            let session = agent.spawn()?;
            Ok(json!({
                "role": agent.role(), "harness": agent.harness(), "model": agent.model(), "effort": agent.effort(),
                "capabilities": agent.capabilities(), "session": session.id(), "judge": cx.agent_opt("judge")?.is_some(),
                "run": cx.run_id(), "branch": cx.branch_id(), "path": cx.path(), "resumed": cx.resumed(),
            }))
        }
        // An agent of the same harness that may do less.
        "derive" => {
            let settings = Settings::new().model(params.data.as_str());
            let derived = agent.derive(settings)?;
            Ok(json!({ "model": derived.model(), "turn": outcome::turn(derived.run(prompt(0)).await) }))
        }
        // What a flow has that it did not declare.
        "undeclared" => Ok(json!({
            "agent": outcome::of(cx.agent("nobody").map(|agent| agent.role())),
            "env": outcome::of(cx.env("nowhere").map(|env| env.role())),
        })),
        // Turns until the objective is met.
        "pursue" => {
            let said = agent.pursue(prompt(0), params.n).await?;
            Ok(json!({ "text": said.text, "turns": said.usage.turns }))
        }
        _ => Err(unknown(task)),
    }
}

/// An answer with a shape.
#[answer]
struct Verdict {
    /// Whether it may go in.
    good: bool,
    /// In one sentence.
    why: String,
}
