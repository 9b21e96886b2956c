//! Sessions: conversations of one agent, each rooted at one directory.

use crate::raw::flowhost::flow::agents as wit;
use crate::{Env, Error, Result, Run, SteerMode, Turn, Usage};

/// One conversation. It takes one turn at a time: a second one while one is going is [`Error::Session`] with the fault `busy`,
/// unless the session was opened to queue.
///
/// Dropping it closes it, unless a [`Turn`] of it is still held.
#[derive(Debug)]
pub struct Session(pub(crate) wit::Session);

impl Session {
    /// Its name in the record of the run.
    pub fn id(&self) -> String {
        self.0.id()
    }

    /// Where it is rooted.
    pub fn directory(&self) -> String {
        self.0.directory()
    }

    /// What it has spent.
    pub fn usage(&self) -> Usage {
        self.0.usage()
    }

    /// Takes a turn to its end. What it gives is awaited, or first told more: see [`Run`].
    pub fn run(&self, prompt: impl Into<String>) -> Run<'_> {
        Run::within(self, prompt.into())
    }

    /// Starts a turn and returns at once.
    pub fn start(&self, prompt: impl Into<String>) -> Result<Turn> {
        self.run(prompt).start()
    }

    /// Puts words into the turn that is going, for a role that declared `steer`. With no turn going it is
    /// [`Error::Session`] with the fault `idle`.
    pub async fn steer(&self, words: impl Into<String>, mode: SteerMode) -> Result<()> {
        self.0.steer(words.into(), mode).await.map_err(Error::lift)
    }

    /// Branches the conversation, for a role that declared `fork`; the fork works where this one does. Before the first turn
    /// it is [`Error::Session`] with the fault `never-ran`, during one `busy`.
    pub async fn fork(&self) -> Result<Session> {
        self.0.fork(None).await.map(Session).map_err(Error::lift)
    }

    /// Branches the conversation into another environment, where the harness can carry it there.
    pub async fn fork_at(&self, env: &Env) -> Result<Session> {
        self.0.fork(Some(&env.0)).await.map(Session).map_err(Error::lift)
    }

    /// Closes it now: the turn that is going is interrupted, and calls on it return the fault `closed`.
    pub fn close(&self) {
        self.0.close();
    }
}
