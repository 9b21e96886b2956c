//! Hooks: what a session comes upon waits for the flow's answer.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, ms, ok, said, unknown, word};

pub(crate) async fn run(case: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let watching = agent.watch([Moment::PreToolUse]);
    match case {
        "facts" => {
            let watch = watching.open()?;
            let session = agent.spawn()?;
            let turn = session.start("t0")?;
            let occasion = next(&watch).await?;
            let facts = (word(&occasion.moment()), occasion.session() == session.id(), occasion.details()?);
            occasion.allow()?;
            let text = said(turn.wait().await);
            Ok(json!({ "moment": facts.0, "session": facts.1, "details": facts.2, "text": text }))
        }
        "answer" => {
            let watch = watching.open()?;
            let turn = agent.run("t0").start()?;
            let occasion = next(&watch).await?;
            match params.way.as_str() {
                "allow" => occasion.allow()?,
                "block" => occasion.block("not here")?,
                "reply" => occasion.reply("yes")?,
                _ => occasion.skip()?,
            }
            Ok(json!(said(turn.wait().await)))
        }
        "unanswered" => {
            let watching = watching.patience(ms(20));
            let watch = if params.way == "block" { watching.guard() } else { watching }.open()?;
            let said = said(agent.run("t0").await);
            watch.close();
            Ok(json!(said))
        }
        "late" => {
            let watch = watching.patience(ms(20)).open()?;
            let turn = agent.run("t0").start()?;
            let occasion = next(&watch).await?;
            sleep(ms(50)).await;
            let late = ok(occasion.reply("yes"));
            Ok(json!({ "turn": said(turn.wait().await), "late": late }))
        }
        "close" => {
            let watch = watching.open()?;
            let closing = async {
                sleep(ms(5)).await;
                watch.close();
            };
            let (next, ()) = join(watch.next(), closing).await;
            let word = |occasion: Option<Occasion>| occasion.map_or("none", |_| "some");
            Ok(json!({ "next": word(next), "take": word(watch.take()) }))
        }
        _ => Err(unknown(case)),
    }
}

async fn next(watch: &Watch) -> Result<Occasion> {
    watch.next().await.ok_or_else(|| Error::failed("the watch was closed"))
}
