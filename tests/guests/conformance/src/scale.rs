//! Many, and large.

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, unknown};

const LARGE: usize = 5_000_000;

pub(crate) async fn run(case: &str, cx: &Context, params: &Params) -> Result<Value> {
    let agent = cx.agent("worker")?;
    match case {
        // A session a turn, all at once; how many gave their own answer.
        "turns" => {
            let sessions = agent.spawn_many(params.n, ())?;
            let turns = sessions.iter().enumerate().map(|(turn, session)| session.run(format!("say t{turn}")));
            let all = gather(turns).await.into_iter().enumerate();
            let own = all.filter(|(turn, said)| matches!(said, Ok(answer) if answer.text == format!("t{turn}")));
            Ok(json!(own.count()))
        }
        "unicode" => Ok(json!(agent.run("say naïve👍日本").await?.text)),
        "large" => {
            let answer = agent.run(format!("say {}", "x".repeat(LARGE))).await?.text;
            match answer.len() {
                LARGE => Ok(json!(answer)),
                other => Err(Error::failed(format!("{other} bytes came"))),
            }
        }
        _ => Err(unknown(case)),
    }
}
