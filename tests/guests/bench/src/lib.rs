//! A flow for the measures of a host: the task is a word that says what it does, `n` how often. It answers how many were done.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

#[params]
struct Params {
    /// How many.
    #[default(10_000)]
    n: u32,
    /// Milliseconds that `idle` holds what it opened.
    #[default(0)]
    ms: u64,
}

/// Does what the task says n times, for the measures of a host.
#[flow(agents(worker?), envs(workspace?), loads("bench"), hidden)]
async fn bench(task: String, cx: Context, params: Params) -> Result<Value> {
    let Params { n, ms } = params;
    let worker = || cx.agent("worker");
    let done = match task.as_str() {
        "noop" => 0,
        // n sessions, one turn each, all at once: as a flow writes it.
        "sessions" => {
            let worker = worker()?;
            let turns = (0..n).map(async |turn| {
                let session = worker.spawn()?;
                session.run(format!("t{turn}")).await
            });
            answered(gather(turns).await)?
        }
        // The same, each turn started and then waited for: as a language without cancellation does it.
        "sessions-wait" => {
            let worker = worker()?;
            let turns = (0..n).map(async |turn| worker.spawn()?.start(format!("t{turn}"))?.wait().await);
            answered(gather(turns).await)?
        }
        // The same, started all and then waited for one after the other.
        "sessions-start" => {
            let sessions = worker()?.spawn_many(n, ())?;
            let turns = (0..n).zip(&sessions).map(|(turn, session)| session.start(format!("t{turn}")));
            let turns = turns.collect::<Result<Vec<_>>>()?;
            for turn in &turns {
                turn.wait().await?;
            }
            turns.len()
        }
        // n turns, each in a conversation that the host opens and closes.
        "runs" => {
            let worker = worker()?;
            answered(gather((0..n).map(|turn| worker.run(format!("t{turn}")))).await)?
        }
        // n turns by one call.
        "batch" => worker()?.batch((0..n).map(|turn| format!("t{turn}"))).await?.len(),
        // n turns one after the other in one session.
        "row" => {
            let session = worker()?.spawn()?;
            for turn in 0..n {
                session.run(format!("t{turn}")).await?;
            }
            n as usize
        }
        // n sessions that take no turn, held for a while.
        "idle" => {
            let sessions = worker()?.spawn_many(n, ())?;
            sleep(Duration::from_millis(ms)).await;
            sessions.len()
        }
        // n calls of a flow that does nothing, all at once.
        "calls" => {
            let callee = load("bench").await?;
            let calls = gather((0..n).map(|_| callee.call("noop"))).await;
            calls.into_iter().collect::<Result<Vec<_>>>()?.len()
        }
        // n calls of a flow that lasts for a while, all at once.
        "calls-held" => {
            let callee = load("bench").await?;
            let brief = json!({ "n": 1, "ms": ms });
            let calls = gather((0..n).map(|_| callee.call("sleeps").params(&brief))).await;
            calls.into_iter().collect::<Result<Vec<_>>>()?.len()
        }
        // A chain of n flows, this one the first.
        "chain" if n <= 1 => 1,
        "chain" => {
            let deeper = json!({ "n": n - 1 });
            let below = load("bench").await?.call("chain").params(&deeper).await?;
            1 + below["done"].as_u64().unwrap_or_default() as usize
        }
        // n sleeps, all at once.
        "sleeps" => gather((0..n).map(|_| sleep(Duration::from_millis(ms)))).await.len(),
        other => return Err(Error::failed(format!("bench knows no task {other:?}"))),
    };
    Ok(json!({ "done": done }))
}

fn answered(said: Vec<Result<Answer>>) -> Result<usize> {
    Ok(said.into_iter().collect::<Result<Vec<_>>>()?.len())
}
