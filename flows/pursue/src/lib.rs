//! An objective, judged by a second agent.

use flowhost::prelude::*;

#[params]
struct Params {
    /// How many rounds at most.
    #[default(5)]
    #[schemars(range(min = 1))]
    rounds: u32,
}

/// What the judge finds.
#[answer]
struct Verdict {
    /// What is still missing, and where; empty if nothing is.
    missing: String,
    /// Whether the objective is met.
    met: bool,
}

/// How it ended.
#[answer]
struct Ended {
    /// Whether the objective is met, as the judge sees it.
    met: bool,
    /// How many rounds it took.
    rounds: u32,
    /// What was missing at the last look; empty if nothing was.
    missing: String,
    /// What the worker said last.
    said: String,
}

const JUDGE: &str = "Another agent says that it has met the objective below. Look for yourself, and change nothing. \
                     Do not take its word for what you can check.";

/// One agent works towards an objective until a second one finds that it is met.
#[flow(agents(worker, judge), envs(workspace))]
async fn pursue(objective: String, cx: Context, params: Params) -> Result<Ended> {
    let (worker, judge) = (cx.agent("worker")?, cx.agent("judge")?);
    let session = worker.spawn()?;
    let mut prompt = objective.clone();
    let mut ended = Ended { met: false, rounds: 0, missing: String::new(), said: String::new() };
    while !ended.met && ended.rounds < params.rounds {
        ended.said = session.run(prompt).await?.text;
        let asked = format!("{JUDGE}\n\nThe objective:\n{objective}\n\nWhat the other agent said:\n{}", ended.said);
        let Verdict { missing, met } = judge.run(asked).json().await?;
        log!("round {}: {}", ended.rounds + 1, if met { "met" } else { &missing });
        prompt = format!("The objective is not met yet. What is missing:\n{missing}\n\nThe objective:\n{objective}");
        ended.missing = if met { String::new() } else { missing };
        ended.rounds += 1;
        ended.met = met;
    }
    Ok(ended)
}
