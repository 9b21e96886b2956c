//! Environments: commands and files.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};
use flowhost::{Entry, Env};

use crate::{Params, outcome, unknown};

pub(crate) async fn run(task: &str, cx: &Context, params: &Params) -> Result<Value> {
    let env = cx.env("workspace")?;
    let path = params.path.clone().unwrap_or_else(|| ".".into());
    let argv = || params.argv.iter();
    match task {
        "exec" => Ok(command(env.exec(argv()).stdin(params.data.as_bytes()).await?)),
        "exec-checked" => Ok(command(env.exec(argv()).checked().await?)),
        "exec-limit" => {
            let limit = Duration::from_millis(params.ms);
            Ok(outcome::of(env.exec(argv()).timeout(limit).await.map(command)))
        }
        "exec-keep" => Ok(command(env.exec(argv()).keep(u64::from(params.n)).await?)),
        "exec-var" => Ok(command(env.exec(argv()).var("LAB", &params.data).await?)),
        // A command that is started, let be for a while, and cancelled.
        "exec-cancel" => {
            let process = env.exec(argv()).start()?;
            sleep(Duration::from_millis(params.ms)).await;
            let done = process.done();
            process.cancel();
            Ok(json!({ "done": done, "outcome": outcome::of(process.wait().await.map(command)) }))
        }
        // A command that is left when the flow returns.
        "exec-leave" => {
            std::mem::forget(env.exec(argv()).start()?);
            sleep(Duration::from_millis(params.ms)).await;
            Ok(Value::Null)
        }
        "bash" => Ok(command(env.bash(params.argv.join("\n")).await?)),
        "read" => Ok(outcome::of(env.read_text(path).await)),
        "read-range" => {
            let bytes = env.read_range(path, params.ms, params.n).await;
            Ok(outcome::of(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
        }
        "write" => Ok(outcome::of(env.write(path, params.data.as_bytes()).await)),
        "append" => Ok(outcome::of(env.append(path, params.data.as_bytes()).await)),
        "make-dir" => Ok(outcome::of(env.make_dir(path).await)),
        "stat" => Ok(outcome::of(env.stat(path).await.map(entry))),
        "remove" => Ok(outcome::of(env.remove(path).await)),
        "find" => {
            let found = env.find(path, params.glob.as_str()).await;
            Ok(outcome::of(found.map(|all| all.into_iter().map(entry).collect::<Value>())))
        }
        "subdir" => {
            let made = match env.subdir(path).await {
                Ok(made) => made,
                Err(error) => return Ok(outcome::failure(&error)),
            };
            Ok(json!({ "facts": facts(&made), "read": outcome::of(made.read_text(params.glob.as_str()).await) }))
        }
        "scratch" => {
            let scratch = env.scratch("lab").await?;
            scratch.write("note", params.data.as_bytes()).await?;
            Ok(json!({ "facts": facts(&scratch), "read": scratch.read_text("note").await? }))
        }
        "worktree" => Ok(outcome::of(env.worktree("lab").await.map(|made| facts(&made)))),
        "facts" => Ok(facts(&env)),
        _ => Err(unknown(task)),
    }
}

fn facts(env: &Env) -> Value {
    json!({ "role": env.role(), "directory": env.directory(), "kind": env.kind(), "branch-name": env.branch_name() })
}

fn command(output: Output) -> Value {
    json!({
        "status": output.status,
        "stdout": output.stdout,
        "stderr": output.stderr,
        "truncated": output.truncated,
    })
}

fn entry(entry: Entry) -> Value {
    let kind = format!("{:?}", entry.kind).to_lowercase().replace("entrykind::", "");
    json!({ "path": entry.path, "kind": kind, "size": entry.size })
}
