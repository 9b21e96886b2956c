//! Two agents at the same time on one task: an actor and a reviewer.

use flowhost::prelude::*;

const REVIEW: &str = "Another agent is working on the following task at this moment. Change nothing yourself. Say what a reviewer of \
                      its work should look at, and what could go wrong.";

/// What each of them said last.
#[answer]
struct Said {
    actor: String,
    reviewer: String,
}

/// An actor works on the task while a reviewer says what to look at in its work.
#[flow(agents(actor, reviewer), envs(workspace))]
async fn pair(task: String, cx: Context) -> Result<Said> {
    let (actor, reviewer) = (cx.agent("actor")?, cx.agent("reviewer")?);
    let (acting, reviewing) = (actor.spawn()?, reviewer.spawn()?);
    let review = format!("{REVIEW}\n\n{task}");
    let (acted, reviewed) = join(acting.run(task), reviewing.run(review)).await;
    Ok(Said { actor: acted?.text, reviewer: reviewed?.text })
}
