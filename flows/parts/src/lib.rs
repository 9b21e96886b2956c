//! A whole flow on several parts of the work at once.

use flowhost::prelude::*;
use flowhost::serde_json::json;

#[params]
struct Params {
    /// How many turns of each part go at once.
    #[default(2)]
    #[schemars(range(min = 1))]
    at_once: usize,
}

/// Runs fanout on each line of the task, all of them at once.
#[flow(agents(agent), envs(workspace: shell), loads("fanout"))]
async fn parts(task: String, cx: Context, params: Params) -> Result<Vec<BTreeMap<String, String>>> {
    let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
    let fanout = load("fanout").await?;
    let given = json!({ "at-once": params.at_once });
    let parts = task
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|part| fanout.call(part).agent("agent", &agent).env("workspace", &workspace).params(&given).json());
    gather(parts).await.into_iter().collect()
}
