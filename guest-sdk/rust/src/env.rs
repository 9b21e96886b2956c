//! Environments: working directories on a machine.

use std::time::Duration;

use crate::raw::flowhost::flow::envs as wit;
use crate::{Entry, Error, Exec, MergeOutcome, Output, Result, WorktreeHead};

/// A working directory that the flow was given under a role, or made from one. Paths are relative to it.
///
/// Dropping it lets go of it; what becomes of the directory is the host's rule, and nothing unsaved is lost.
#[derive(Debug)]
pub struct Env(pub(crate) wit::Env);

impl Env {
    /// The role it fills, or that of the one it was made from.
    pub fn role(&self) -> String {
        self.0.role()
    }

    /// Its directory, as the machine it is on spells it.
    pub fn directory(&self) -> String {
        self.0.directory()
    }

    /// `workspace`, `worktree`, `copy`, `scratch`, `subdir`, `container` or `ssh`.
    pub fn kind(&self) -> String {
        self.0.kind()
    }

    /// The git branch it has checked out, where there is one.
    pub fn branch_name(&self) -> Option<String> {
        self.0.branch_name()
    }

    /// Runs a command, for a role that declared `shell`. What it gives is awaited, or first told more: see [`Exec`].
    pub fn exec(&self, argv: impl IntoIterator<Item = impl Into<String>>) -> Exec<'_> {
        Exec::new(self, argv.into_iter().map(Into::into).collect())
    }

    /// Runs a bash script to its end, for a role that declared `bash`.
    pub async fn bash(&self, script: impl Into<String>) -> Result<Output> {
        self.0.bash(script.into(), None).await.map(Output::lift).map_err(Error::lift)
    }

    /// Runs a bash script for at most so long.
    pub async fn bash_within(&self, limit: Duration, script: impl Into<String>) -> Result<Output> {
        let limit = crate::context::millis(limit);
        self.0.bash(script.into(), Some(limit)).await.map(Output::lift).map_err(Error::lift)
    }

    /// The bytes of a file, for a role that declared `files`, as all that follow. More than one call carries is
    /// [`Error::Env`] with the fault `too-large`: read it in ranges.
    pub async fn read(&self, path: impl Into<String>) -> Result<Vec<u8>> {
        self.0.read(path.into()).await.map_err(Error::lift)
    }

    /// The text of a file. A file that is not UTF-8 is [`Error::Failed`].
    pub async fn read_text(&self, path: impl Into<String>) -> Result<String> {
        let path = path.into();
        let bytes = self.read(&path).await?;
        String::from_utf8(bytes).map_err(|_| Error::failed(format!("{path} is not UTF-8 text")))
    }

    /// At most `length` bytes of a file from `offset`.
    pub async fn read_range(&self, path: impl Into<String>, offset: u64, length: u32) -> Result<Vec<u8>> {
        self.0.read_range(path.into(), offset, length).await.map_err(Error::lift)
    }

    /// Makes or replaces a file, whole or not at all, and the directories above it.
    pub async fn write(&self, path: impl Into<String>, data: impl Into<Vec<u8>>) -> Result<()> {
        self.0.write(path.into(), data.into()).await.map_err(Error::lift)
    }

    /// Adds to the end of a file.
    pub async fn append(&self, path: impl Into<String>, data: impl Into<Vec<u8>>) -> Result<()> {
        self.0.append(path.into(), data.into()).await.map_err(Error::lift)
    }

    /// Makes a directory, and those above it.
    pub async fn make_dir(&self, path: impl Into<String>) -> Result<()> {
        self.0.make_dir(path.into()).await.map_err(Error::lift)
    }

    /// What a path is.
    pub async fn stat(&self, path: impl Into<String>) -> Result<Entry> {
        self.0.stat(path.into()).await.map_err(Error::lift)
    }

    /// Removes a file, or a directory with all in it.
    pub async fn remove(&self, path: impl Into<String>) -> Result<()> {
        self.0.remove(path.into()).await.map_err(Error::lift)
    }

    /// Entries below `path` that match a glob such as `**/*.rs`.
    pub async fn find(&self, path: impl Into<String>, glob: impl Into<String>) -> Result<Vec<Entry>> {
        self.0.find(path.into(), glob.into()).await.map_err(Error::lift)
    }

    /// A directory inside this one, as an environment.
    pub async fn subdir(&self, path: impl Into<String>) -> Result<Env> {
        self.0.subdir(path.into()).await.map(Env).map_err(Error::lift)
    }

    /// A git worktree of where this one is, on a branch that the host names, for a role that declared `worktree`. The same
    /// label again in one branch of the run is [`Error::Env`] with the fault `conflict`.
    pub async fn worktree(&self, label: impl Into<String>) -> Result<Env> {
        self.worktree_at(label, None, WorktreeHead::ByHost).await
    }

    /// A git worktree of a commit, or on a branch of a given name.
    pub async fn worktree_at(&self, label: impl Into<String>, at: Option<&str>, head: WorktreeHead) -> Result<Env> {
        self.0.worktree(label.into(), at.map(Into::into), head).await.map(Env).map_err(Error::lift)
    }

    /// A copy of this directory, for a role that declared `copy`.
    pub async fn copy(&self, label: impl Into<String>) -> Result<Env> {
        self.0.copy(label.into()).await.map(Env).map_err(Error::lift)
    }

    /// An empty directory, for a role that declared `scratch`.
    pub async fn scratch(&self, label: impl Into<String>) -> Result<Env> {
        self.0.scratch(label.into()).await.map(Env).map_err(Error::lift)
    }

    /// Keeps its files as they are now, for a role that declared `snapshot`; gives the snapshot's name.
    pub async fn snapshot(&self, name: Option<&str>) -> Result<String> {
        self.0.snapshot(name.map(Into::into)).await.map_err(Error::lift)
    }

    /// Puts the files of a snapshot back.
    pub async fn rewind(&self, snapshot: impl Into<String>) -> Result<()> {
        self.0.rewind(snapshot.into()).await.map_err(Error::lift)
    }

    /// The snapshots kept, the oldest first.
    pub async fn snapshots(&self) -> Result<Vec<String>> {
        self.0.snapshots().await.map_err(Error::lift)
    }

    /// What it has changed since it was made, as a patch. A patch need not be UTF-8.
    pub async fn diff(&self) -> Result<Vec<u8>> {
        self.0.diff().await.map_err(Error::lift)
    }

    /// Brings the changes of an environment that was made from this one into it.
    pub async fn merge(&self, other: &Env) -> Result<MergeOutcome> {
        self.0.merge(&other.0).await.map_err(Error::lift)
    }
}
