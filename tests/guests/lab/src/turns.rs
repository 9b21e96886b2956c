//! Turns that were started: S6, S7, and the waiting of languages without async.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, outcome, unknown};

pub(crate) async fn run(task: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let prompt = |turn: u32| format!("{}{turn}", params.prompt);
    let a_while = || sleep(Duration::from_millis(params.ms));
    match task {
        // n turns started and waited for in order.
        "start" => {
            let sessions = agent.spawn_many(params.n, ())?;
            let turns = started(&sessions, prompt)?;
            Ok(outcome::turns(gather(turns.iter().map(Turn::wait)).await))
        }
        // n turns, taken up as they end: the places in the order of ending.
        "wait-any" => {
            let sessions = agent.spawn_many(params.n, ())?;
            let mut turns: Vec<_> = started(&sessions, prompt)?.into_iter().enumerate().collect();
            let mut ended = Vec::new();
            while !turns.is_empty() {
                for ready in wait_any(turns.iter().map(|(_, turn)| turn), None).await.into_iter().rev() {
                    let (place, turn) = turns.remove(ready);
                    turn.wait().await?;
                    ended.push(place);
                }
            }
            Ok(json!(ended))
        }
        // Nothing to wait for, and a turn that takes longer than the wait.
        "wait-any-limit" => {
            let nothing = wait_any(Vec::<&Turn>::new(), None).await;
            let session = agent.spawn()?;
            let turn = session.start(prompt(0))?;
            let late = wait_any([&turn], Some(Duration::from_millis(params.ms))).await;
            turn.cancel();
            Ok(json!({ "nothing": nothing, "late": late, "turn": outcome::turn(turn.wait().await) }))
        }
        // A turn that is cancelled twice, waited for twice, and the next one of its session.
        "cancel" => {
            let session = agent.spawn()?;
            let turn = session.start(prompt(0))?;
            a_while().await;
            turn.cancel();
            turn.cancel();
            let next = session.run(prompt(1)).await;
            Ok(json!({
                "turn": outcome::turn(turn.wait().await),
                "again": outcome::turn(turn.wait().await),
                "done": turn.done(),
                "next": outcome::turn(next),
            }))
        }
        // S7: a turn whose `run` is dropped, and the next one of its session.
        "drop-run" => {
            let session = agent.spawn()?;
            let late = timeout(Duration::from_millis(params.ms), session.run(prompt(0))).await;
            Ok(json!({ "late": late.is_err(), "next": outcome::turn(session.run(prompt(1)).await) }))
        }
        // S7: a wait that is dropped interrupts nothing.
        "drop-wait" => {
            let session = agent.spawn()?;
            let turn = session.start(prompt(0))?;
            let late = timeout(Duration::from_millis(1), turn.wait()).await.is_err();
            Ok(json!({ "late": late, "turn": outcome::turn(turn.wait().await) }))
        }
        // S6: a turn whose handle is dropped while its session is held, until it has ended.
        "forget" => {
            let session = agent.spawn()?;
            drop(session.start(prompt(0))?);
            a_while().await;
            Ok(json!({ "turns": session.usage().turns, "next": outcome::turn(session.run(prompt(1)).await) }))
        }
        // S6: a turn whose handle and session are both dropped.
        "let-go" => {
            {
                let session = agent.spawn()?;
                drop(session.start(prompt(0))?);
            }
            a_while().await;
            Ok(json!({ "turns": cx.spent().turns }))
        }
        // S6: a turn of a session that is dropped while the turn's handle is held.
        "keep-turn" => {
            let turn = agent.spawn()?.start(prompt(0))?;
            Ok(outcome::turn(turn.wait().await))
        }
        // Turns that are left when the flow returns.
        "leave" => {
            let sessions = agent.spawn_many(params.n, ())?;
            std::mem::forget(started(&sessions, prompt)?);
            std::mem::forget(sessions);
            a_while().await;
            Ok(Value::Null)
        }
        // The rest cancelled at the first failure.
        "group" => {
            let turns = (0..params.n).map(async |turn| {
                let session = agent.spawn()?;
                session.run(prompt(turn)).await
            });
            Ok(match group(turns).at_once(params.width).await {
                Ok(answers) => json!({ "answered": answers.len() }),
                Err(failures) => json!({
                    "errors": failures.errors.iter().map(outcome::failure).collect::<Value>(),
                    "answered": failures.answered,
                    "cancelled": failures.cancelled,
                }),
            })
        }
        // n turns one after the other in one session, until one fails.
        "until-spent" => {
            let session = agent.spawn()?;
            let mut answered = 0;
            for turn in 0..params.n {
                if let Err(error) = session.run(prompt(turn)).await {
                    let spent = cx.spent();
                    let error = outcome::failure(&error);
                    return Ok(
                        json!({ "answered": answered, "error": error, "turns": spent.turns, "cost": spent.cost }),
                    );
                }
                answered += 1;
            }
            Ok(json!({ "answered": answered }))
        }
        // What is spent and left, after n turns at once that are each expected to cost something.
        "spend" => {
            let turns = (0..params.n).map(async |turn| {
                let run = agent.run(prompt(turn));
                match params.expect {
                    Some(dollars) => run.expect_cost(dollars).await,
                    None => run.await,
                }
            });
            let outcomes = gather(turns).await;
            let answered = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let error = outcomes.into_iter().find_map(Result::err).map(|error| outcome::failure(&error));
            let (spent, left) = (cx.spent(), cx.remaining());
            Ok(json!({
                "answered": answered, "error": error, "turns": spent.turns, "cost": spent.cost,
                "left": { "cost": left.cost, "turns": left.turns, "duration-ms": left.duration_ms },
            }))
        }
        // Asks on after a stop: says how many calls were answered before the first that was not.
        "go-on" => {
            let session = agent.spawn()?;
            let mut refused = 0;
            loop {
                match session.run(prompt(refused)).await {
                    Ok(_) => {}
                    Err(_) if refused < params.n => refused += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        _ => Err(unknown(task)),
    }
}

fn started(sessions: &[Session], prompt: impl Fn(u32) -> String) -> Result<Vec<Turn>> {
    (0..).zip(sessions).map(|(turn, session)| session.start(prompt(turn))).collect()
}
