//! Hooks: what an agent's sessions come upon, and what the flow answers.

use std::time::Duration;

use crate::raw::flowhost::flow::agents as wit;
use crate::{Agent, Error, Moment, Result, Unanswered};

/// A watch to open.
#[must_use = "nothing is watched until `open`"]
#[derive(Debug)]
pub struct Watching<'a> {
    agent: &'a Agent,
    moments: Vec<Moment>,
    patience: Option<Duration>,
    unanswered: Unanswered,
}

impl<'a> Watching<'a> {
    pub(crate) fn new(agent: &'a Agent, moments: Vec<Moment>) -> Self {
        Self { agent, moments, patience: None, unanswered: Unanswered::Pass }
    }

    /// How long a turn waits for an answer; the host's limit where it is not said.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// For a guard: what is let go of or not answered in time is blocked, instead of going on as if nobody watched.
    pub fn guard(mut self) -> Self {
        self.unanswered = Unanswered::Block;
        self
    }

    /// Opens the watch. A moment that the role did not declare, or that its harness has not, is [`Error::NotGranted`].
    pub fn open(self) -> Result<Watch> {
        let patience = self.patience.map(crate::context::millis);
        self.agent.0.watch(&self.moments, patience, self.unanswered).map(Watch).map_err(Error::lift)
    }
}

/// A queue of occasions. Dropping it closes it.
///
/// ```no_run
/// # async fn example(agent: &flowhost::Agent) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
/// let watch = agent.watch([Moment::Question]).patience(Duration::from_secs(30)).open()?;
/// while let Some(question) = watch.next().await {
///     question.reply("Choose what changes least.")?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Watch(pub(crate) wit::Watch);

impl Watch {
    /// Waits for the next occasion; none once it is closed. A call that is dropped loses nothing.
    pub async fn next(&self) -> Option<Occasion> {
        while self.0.ready().await {
            // Another call may have taken it first.
            if let Some(occasion) = self.take() {
                return Some(occasion);
            }
        }
        None
    }

    /// The next occasion, or none: it does not wait.
    pub fn take(&self) -> Option<Occasion> {
        self.0.take().map(Occasion)
    }

    /// Takes it down: calls that wait return, and occasions that nobody has taken are unanswered.
    pub fn close(&self) {
        self.0.close();
    }
}

/// Something that waits for the flow's answer. Dropping it leaves it unanswered. An answer that comes when the turn no longer
/// waits is [`Error::Session`] with the fault `idle`.
#[derive(Debug)]
pub struct Occasion(wit::Occasion);

impl Occasion {
    /// What happened.
    pub fn moment(&self) -> Moment {
        self.0.moment()
    }

    /// In which session, by its id.
    pub fn session(&self) -> String {
        self.0.session()
    }

    /// What the moment carries: tool, input, prompt, question, options, said.
    pub fn details(&self) -> Result<serde_json::Value> {
        Ok(serde_json::from_str(&self.0.details())?)
    }

    /// Yes.
    pub fn allow(self) -> Result<()> {
        self.0.allow().map_err(Error::lift)
    }

    /// No, and why.
    pub fn block(self, reason: &str) -> Result<()> {
        self.0.block(reason).map_err(Error::lift)
    }

    /// Adds context, answers a question or an offered tool's call, or goes on with a next prompt.
    pub fn reply(self, text: &str) -> Result<()> {
        self.0.reply(text).map_err(Error::lift)
    }

    /// Lets it go on as if nobody watched.
    pub fn skip(self) -> Result<()> {
        self.0.skip().map_err(Error::lift)
    }
}
