//! One prompt a line of the task, a conversation apiece.

use flowhost::prelude::*;

#[params]
struct Params {
    /// How many turns go at once; all where it is not said.
    #[schemars(range(min = 1))]
    at_once: Option<u32>,
    /// Keep failures in their places instead of failing.
    #[default(false)]
    suppress: bool,
}

/// What became of a line.
#[answer]
#[serde(untagged)]
enum Line {
    /// What the agent said.
    Answered(String),
    /// Why it did not.
    Failed { failed: String },
}

/// One prompt a line of the task, answers in the order of the lines.
#[flow(agents(agent), envs(workspace))]
async fn lines(task: String, cx: Context, params: Params) -> Result<Vec<Line>> {
    let agent = cx.agent("agent")?;
    let mut batch = agent.batch(task.lines().filter(|line| !line.trim().is_empty()));
    if let Some(width) = params.at_once {
        batch = batch.at_once(width);
    }
    if !params.suppress {
        return Ok(batch.await?.into_iter().map(|answer| Line::Answered(answer.text)).collect());
    }
    let line = |said: Result<Answer>| match said {
        Ok(answer) => Line::Answered(answer.text),
        Err(error) => Line::Failed { failed: error.to_string() },
    };
    Ok(batch.suppress().await?.into_iter().map(line).collect())
}
