//! A flow for the tests of a host: the task is a word that says what it does, the params say how much. It answers JSON that a test
//! can compare.

mod branches;
mod clock;
mod envs;
mod occasions;
mod outcome;
mod sessions;
mod turns;

use flowhost::prelude::*;
use flowhost::serde_json::Value;

/// How much of it. Each task says which of them it reads.
#[params]
pub(crate) struct Params {
    /// How many.
    #[default(4)]
    n: u32,
    /// How many at once.
    #[default(2)]
    width: usize,
    /// What prompts begin with; the number of the turn follows.
    #[default("t".into())]
    prompt: String,
    /// Milliseconds.
    #[default(10)]
    ms: u64,
    /// Keep failures in their places.
    #[default(false)]
    suppress: bool,
    /// A path in the workspace.
    path: Option<String>,
    /// A glob below it.
    #[default("**/*".into())]
    glob: String,
    /// What to write.
    #[default(String::new())]
    data: String,
    /// A command, or a script as its only item.
    #[default(vec![])]
    argv: Vec<String>,
    /// A reference of a flow.
    #[default("lab".into())]
    reference: String,
    /// The task of a called flow.
    #[default("noop".into())]
    call: String,
    /// A budget in US dollars for a called flow.
    cost: Option<f64>,
    /// US dollars that each turn is expected to cost.
    expect: Option<f64>,
}

/// Does what the task says, for the tests of a host.
#[flow(
    agents(
        worker: steer + fork + goal + question + pre_tool_use + stop,
        judge?,
    ),
    envs(workspace?: shell + bash + files + worktree + copy + scratch + snapshot),
    loads("lab", "lab-two", "nowhere", "fanout"),
    hidden,
)]
async fn lab(task: String, cx: Context, params: Params) -> Result<Value> {
    match task.as_str() {
        "noop" => Ok(Value::Null),
        "echo" => Ok(params.data.into()),
        "fail" => Err(Error::failed(params.data)),
        "panic" => bug(&params.data),
        _ => {
            let (family, word) = task.split_once('/').unwrap_or(("", &task));
            match family {
                "sessions" => sessions::run(word, &cx, &params).await,
                "turns" => turns::run(word, &cx, &params).await,
                "branches" => branches::run(word, &cx, &params).await,
                "envs" => envs::run(word, &cx, &params).await,
                "occasions" => occasions::run(word, &cx, &params).await,
                "clock" => clock::run(word, &cx, &params).await,
                _ => Err(unknown(&task)),
            }
        }
    }
}

/// A bug: it traps, and the message is on stderr.
#[allow(clippy::panic, reason = "what a host does about it is tested")]
fn bug(message: &str) -> ! {
    panic!("{message}")
}

/// A task that there is not.
pub(crate) fn unknown(task: &str) -> Error {
    Error::failed(format!("lab knows no task {task:?}"))
}
