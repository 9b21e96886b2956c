//! Commands and files of an environment.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{ms, ok, unknown, word, words};

pub(crate) async fn run(case: &str, cx: &Context) -> Result<Value> {
    let env = cx.env("workspace")?;
    match case {
        "facts" => Ok(json!({
            "role": env.role(),
            "directory": env.directory(),
            "kind": env.kind(),
            "branch": env.branch_name().unwrap_or_else(|| "none".into()),
        })),
        "roles" => {
            let unknown = cx.env("stranger").map_or_else(|error| words(&error), |env| env.role());
            Ok(json!({ "given": cx.env_opt("workspace")?.map(|env| env.role()), "unknown": unknown }))
        }
        "exec" => {
            let output = env.exec(["printf", "hi"]).var("A", "b").stdin("in").keep(100).await?;
            let Output { status, stdout, stderr, truncated, .. } = output;
            Ok(json!({ "status": status, "stdout": stdout, "stderr": stderr, "truncated": truncated }))
        }
        "unknown" => Ok(json!(env.exec(["nonsense"]).await?.status)),
        "timeout" => Ok(json!(ok(env.exec(["sleep", "60"]).timeout(ms(20)).await))),
        "bash" => Ok(json!(env.bash("echo hi").await?.stdout)),
        "process" => {
            let process = env.exec(["sleep", "60"]).start()?;
            let before = process.done();
            sleep(ms(5)).await;
            process.cancel();
            let wait = ok(process.wait().await);
            let short = env.exec(["printf", "hi"]).start()?.wait().await?;
            Ok(json!({ "before": before, "wait": wait, "after": process.done(), "short": short.status }))
        }
        "read" => {
            let range = env.read_range("a.txt", 2, 4).await?;
            Ok(json!({ "text": env.read_text("a.txt").await?, "range": String::from_utf8_lossy(&range) }))
        }
        "write" => {
            env.write("new/c.txt", "one").await?;
            env.append("new/c.txt", " two").await?;
            env.write("raw", [99, 233, 0]).await?;
            Ok(json!(env.read("raw").await?))
        }
        "find" => {
            let stat = env.stat("a.txt").await?;
            let mut found: Vec<_> = env.find(".", "**/*.txt").await?.into_iter().map(|entry| entry.path).collect();
            found.sort();
            Ok(json!({ "stat": format!("{} {}", word(&stat.kind), stat.size), "found": found }))
        }
        "remove" => {
            env.make_dir("made").await?;
            let made = word(&env.stat("made").await?.kind);
            env.remove("a.txt").await?;
            Ok(json!({ "made": made, "gone": ok(env.stat("a.txt").await) }))
        }
        "subdir" => {
            let below = env.subdir("src").await?;
            let read = below.read_text("b.txt").await?;
            Ok(json!({ "kind": below.kind(), "directory": below.directory(), "read": read }))
        }
        "faults" => Ok(json!({
            "missing": ok(env.read("nowhere.txt").await),
            "above": ok(env.read("../a.txt").await),
        })),
        "derived" => Ok(json!({
            "worktree": ok(env.worktree("w").await),
            "copy": ok(env.copy("c").await),
            "scratch": ok(env.scratch("s").await),
            "snapshot": ok(env.snapshot(None).await),
            "rewind": ok(env.rewind("nothing").await),
            "snapshots": ok(env.snapshots().await),
            "diff": ok(env.diff().await),
            "merge": ok(env.merge(&env).await),
        })),
        _ => Err(unknown(case)),
    }
}
