//! `pursue` (S9): turns in one conversation until an objective is met or the rounds are over.

use std::sync::Arc;

use serde::Deserialize;

use crate::{
    agent::{Agent, CutOnDrop},
    answer::Schema,
    error::{Error, HarnessFault, Result},
    job::Job,
    place::Place,
    session::WhenBusy,
    turn::{Answer, TurnOptions},
    usage::Usage,
};

/// What the agent says of its own work.
#[derive(Deserialize)]
struct Judgement {
    met: bool,
    #[serde(default)]
    next: String,
}

const JUDGEMENT: &str = r#"{"type":"object","properties":{"met":{"type":"boolean"},"next":{"type":"string"}},"required":["met"],"additionalProperties":false}"#;

impl Agent {
    /// Starts turns in a conversation of its own until the objective is met, judged by the agent itself, or `rounds` are over. The job's
    /// answer is the last one, with what all turns have spent. Each turn, also a judging one, is admitted and recorded by itself.
    pub fn pursue(
        self: &Arc<Self>,
        objective: Arc<str>,
        at: Option<&Place>,
        rounds: u32,
        options: TurnOptions,
    ) -> Result<Arc<Job<Answer>>> {
        if rounds == 0 {
            return Err(Error::other("pursue: 0 rounds; give at least one"));
        }
        let session = self.spawn(at, WhenBusy::Refuse)?;
        let judging = TurnOptions { schema: Some(Schema::read(JUDGEMENT)?), limits: options.limits, expected: None };
        let work = async move {
            let session = session.handle();
            let mut usage = Usage::default();
            let mut prompt = objective.clone();
            let mut round = 1;
            loop {
                let turn = CutOnDrop(session.start(prompt, options.clone())?);
                let mut answer = turn.0.wait().await?;
                usage.add(&answer.usage);
                if round < rounds {
                    let ask = format!(
                        "Has this objective been met, completely and as far as you have checked?\n\n{objective}\n\nWhere it has not, say in `next` what to do next."
                    );
                    let turn = CutOnDrop(session.start(ask.into(), judging.clone())?);
                    let judged = turn.0.wait().await?;
                    usage.add(&judged.usage);
                    let judgement =
                        judged.value.as_ref().and_then(|value| serde_json::from_str::<Judgement>(value.get()).ok());
                    let judgement = judgement
                        .ok_or_else(|| Error::harness(HarnessFault::BadOutput, "the judgement cannot be read"))?;
                    if !judgement.met {
                        round += 1;
                        prompt = format!(
                            "The objective has not been met yet. {}\n\nGo on until it is:\n\n{objective}",
                            judgement.next
                        )
                        .into();
                        continue;
                    }
                }
                answer.usage = usage;
                return Ok(answer);
            }
        };
        let cancelled = Error::harness(HarnessFault::Interrupted, "the pursuit was interrupted");
        Ok(Job::spawn(&self.branch.tracker, self.branch.child_token(), cancelled, work, async {}))
    }
}
