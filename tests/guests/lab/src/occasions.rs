//! Hooks: S10, and what becomes of occasions that nobody answers.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, outcome, unknown};

pub(crate) async fn run(task: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    let prompt = format!("{}0", params.prompt);
    let moments = [Moment::Question, Moment::PreToolUse, Moment::Stop];
    match task {
        // A turn that asks is answered by a turn of its own, taken meanwhile.
        "judge" => {
            let watch = agent.watch(moments).open()?;
            let judge = cx.agent("judge")?;
            let judging = async {
                let Some(occasion) = watch.next().await else { return Ok::<_, Error>(Value::Null) };
                let asked = occasion.details()?;
                let said = judge.run(format!("judge {asked}")).await?;
                let moment = format!("{:?}", occasion.moment());
                occasion.reply(&said.text)?;
                Ok(json!({ "moment": moment, "asked": asked, "said": said.text }))
            };
            let session = agent.spawn()?;
            let (turn, judged) = join(session.run(prompt), judging).await;
            Ok(json!({ "turn": outcome::turn(turn), "judged": judged? }))
        }
        // A turn whose occasion is answered as the data say: `allow`, `block`, `reply`, `skip`, or dropped.
        "answer" => {
            let watch = agent.watch(moments).open()?;
            let answering = async {
                let Some(occasion) = watch.next().await else { return Err(Error::failed("closed")) };
                match params.data.as_str() {
                    "allow" => occasion.allow(),
                    "block" => occasion.block("not here"),
                    "reply" => occasion.reply("yes"),
                    "skip" => occasion.skip(),
                    _ => {
                        drop(occasion);
                        Ok(())
                    }
                }
            };
            let session = agent.spawn()?;
            let (turn, answered) = join(session.run(prompt), answering).await;
            Ok(json!({ "turn": outcome::turn(turn), "answered": outcome::of(answered) }))
        }
        // A turn whose occasion nobody takes, under a watch that is a guard where the data say so.
        "unanswered" => {
            let watching = agent.watch(moments).patience(Duration::from_millis(params.ms));
            let watch = if params.data == "guard" { watching.guard() } else { watching }.open()?;
            let session = agent.spawn()?;
            let turn = session.run(prompt).await;
            watch.close();
            Ok(outcome::turn(turn))
        }
        // An answer that comes when the turn no longer waits.
        "late" => {
            let watch = agent.watch(moments).patience(Duration::from_millis(params.ms)).open()?;
            let answering = async {
                let Some(occasion) = watch.next().await else { return Err(Error::failed("closed")) };
                sleep(Duration::from_millis(params.ms * 4)).await;
                occasion.reply("late")
            };
            let session = agent.spawn()?;
            let (turn, answered) = join(session.run(prompt), answering).await;
            Ok(json!({ "turn": outcome::turn(turn), "answered": outcome::of(answered) }))
        }
        // A wait for an occasion that is dropped when there is one: the next wait gets it.
        "drop-ready" => {
            let watch = agent.watch(moments).open()?;
            let session = agent.spawn()?;
            let turn = session.start(prompt)?;
            let late = timeout(Duration::ZERO, watch.next()).await.is_err();
            sleep(Duration::from_millis(params.ms)).await;
            let kept = match watch.next().await {
                Some(occasion) => occasion.reply("kept"),
                None => Err(Error::failed("closed")),
            };
            Ok(json!({ "late": late, "kept": outcome::of(kept), "turn": outcome::turn(turn.wait().await) }))
        }
        // A watch that is closed while somebody waits on it.
        "close" => {
            let watch = agent.watch(moments).open()?;
            let closing = async {
                sleep(Duration::from_millis(params.ms)).await;
                watch.close();
            };
            let (next, ()) = join(watch.next(), closing).await;
            Ok(json!({ "none": next.is_none(), "again": watch.next().await.is_none() }))
        }
        // A watch for a moment that the role did not declare.
        "undeclared" => Ok(outcome::of(agent.watch([Moment::SessionStart]).open().map(|_| "open"))),
        _ => Err(unknown(task)),
    }
}
