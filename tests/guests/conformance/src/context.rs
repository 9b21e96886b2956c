//! What a flow learns of its call, and what it says.

use std::time::SystemTime;

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, ms, unknown, word};

pub(crate) async fn run(case: &str, cx: &Context, params: &Params) -> Result<Value> {
    match case {
        "facts" => Ok(json!({
            "run": cx.run_id(),
            "branch": cx.branch_id(),
            "path": cx.path(),
            "params": { "n": params.n, "way": params.way },
            "resumed": cx.resumed(),
        })),
        "budget" => {
            cx.agent("worker")?.run("t0").await?;
            let spent = cx.spent();
            Ok(json!({
                "spent": {
                    "turns": spent.turns,
                    "cost": spent.cost,
                    "input-tokens": spent.input_tokens,
                    "output-tokens": spent.output_tokens,
                    "cost-source": word(&spent.cost_source),
                },
                "left": left(cx),
            }))
        }
        "unlimited" => Ok(left(cx)),
        "time" => {
            let begin = millis();
            sleep(ms(3_600_000)).await;
            Ok(json!(millis() - begin))
        }
        "log" => {
            log!("naïve 👍 日本");
            log!("two\nlines");
            Ok(Value::Null)
        }
        #[allow(clippy::print_stdout, clippy::print_stderr, reason = "what becomes of it is tested")]
        "print" => {
            println!("printed 👍");
            eprintln!("and an error");
            Ok(Value::Null)
        }
        _ => Err(unknown(case)),
    }
}

fn left(cx: &Context) -> Value {
    let left = cx.remaining();
    json!({ "turns": left.turns, "cost": left.cost, "output-tokens": left.output_tokens, "duration-ms": left.duration_ms })
}

fn millis() -> u64 {
    now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
