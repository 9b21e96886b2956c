//! The other half of a mutual recursion: it calls `lab`, which calls it.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

#[params]
struct Params {
    /// How many levels deeper.
    #[default(1)]
    n: u32,
}

/// Calls `lab` until it is n levels deep, for the tests of a host.
#[flow(agents(worker: steer + fork + goal + question + pre_tool_use + stop), loads("lab"), hidden)]
async fn lab_two(task: String, cx: Context, params: Params) -> Result<Value> {
    if params.n <= 1 {
        return Ok(json!(cx.path()));
    }
    let worker = cx.agent("worker")?;
    let deeper = json!({ "n": params.n - 1 });
    load("lab").await?.call(task).agent("worker", &worker).params(&deeper).await
}
