//! One agent, round after round on the same task, each time with a fresh mind.

use flowhost::prelude::*;

#[params]
struct Params {
    /// A bash script: the work is done when it exits with 0. Without one it is done when the agent says so.
    until: Option<String>,
    /// How many rounds at most.
    #[default(25)]
    rounds: u32,
}

/// How it ended.
#[answer]
struct Ended {
    /// Whether the work is done.
    done: bool,
    /// How many rounds it took.
    rounds: u32,
    /// What the agent said last.
    said: String,
}

const SAY_SO: &str =
    "Do one thing that is left to do, if there is any. If nothing is left, answer DONE on a line of its own.";

/// One agent on one task, round after round in a new conversation, until it is done or the budget is spent.
#[flow(agents(agent), envs(workspace: bash))]
async fn ralph(task: String, cx: Context, params: Params) -> Result<Ended> {
    let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
    let prompt = if params.until.is_some() { task } else { format!("{task}\n\n{SAY_SO}") };
    let mut ended = Ended { done: false, rounds: 0, said: String::new() };
    while !ended.done && ended.rounds < params.rounds {
        let said = match agent.run(&prompt).await {
            Ok(answer) => answer.text,
            Err(Error::Harness(failed)) => {
                log!("round {}: failed, {failed}", ended.rounds + 1);
                ended.rounds += 1;
                continue;
            }
            Err(Error::Budget(spent)) => {
                log!("{spent}");
                break;
            }
            Err(other) => return Err(other),
        };
        ended.done = match &params.until {
            Some(script) => workspace.bash(script).await?.success(),
            None => said.lines().any(|line| line.trim() == "DONE"),
        };
        ended.said = said;
        ended.rounds += 1;
    }
    Ok(ended)
}
