//! What an environment is to the rest of the host: a directory on a machine, behind one trait.
//!
//! Paths in these calls are relative to the environment, or absolute inside it, as the machine spells them. An
//! implementation resolves them by handles, never by comparing strings (W1), and answers with [`Kind::Env`] errors.
//!
//! [`Kind::Env`]: crate::error::Kind::Env

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::{EnvFault, Error, Result};

/// A working directory on a machine.
///
/// A session is rooted at one of these; it holds a handle of the directory, not a name that could come to mean another.
#[async_trait]
pub trait Env: Send + Sync + fmt::Debug + 'static {
    /// What it is.
    fn kind(&self) -> EnvKind;

    /// The directory, as the machine it is on spells it.
    fn directory(&self) -> &str;

    /// The git branch that it has checked out, where there is one.
    fn branch_name(&self) -> Option<String> {
        None
    }

    /// Fails, in the words of S5, where the directory is no longer the one that was opened: gone, or another one put in
    /// its place. Called before a turn lands.
    async fn verify(&self) -> Result<()>;

    /// Runs a command to its end. A status that is not 0 is no error. Dropping the future ends its whole process tree.
    async fn exec(&self, command: Command) -> Result<Output>;

    /// Returns once nothing is left of the process trees here and below whose `exec` or process was dropped (B5).
    async fn swept(&self) {}

    /// Starts a program with pipes, in this directory, by its handle.
    async fn spawn(&self, program: Program) -> Result<Child>;

    /// The bytes of a file, or at most `range.1` of them from `range.0`; more than one call carries is `too-large`.
    async fn read(&self, path: &str, range: Option<(u64, u32)>) -> Result<Vec<u8>>;

    /// Makes or replaces a file, whole or not at all, and the directories above it; an existing file keeps its mode.
    async fn write(&self, path: &str, data: Vec<u8>) -> Result<()>;

    /// Adds to the end of a file, which is made where it is not there.
    async fn append(&self, path: &str, data: Vec<u8>) -> Result<()>;

    /// Makes a directory, and those above it.
    async fn make_dir(&self, path: &str) -> Result<()>;

    /// What a path is. A link is not followed.
    async fn stat(&self, path: &str) -> Result<Entry>;

    /// Removes a file, or a directory with all in it. The environment itself is refused.
    async fn remove(&self, path: &str) -> Result<()>;

    /// Entries below `path` that match a glob (`*` stays within a directory, `**` crosses), in order of path.
    async fn find(&self, path: &str, glob: &str) -> Result<Vec<Entry>>;

    /// A directory inside this one. Refused in the words of S5.
    async fn subdir(&self, path: &str) -> Result<Arc<dyn Env>>;

    /// A git worktree, at a commit or where this one is.
    async fn worktree(&self, label: &str, at: Option<&str>, head: WorktreeHead) -> Result<Arc<dyn Env>> {
        let _ = (label, at, head);
        Err(self.cannot("worktree"))
    }

    /// A copy of this directory.
    async fn copy(&self, label: &str) -> Result<Arc<dyn Env>> {
        let _ = label;
        Err(self.cannot("copy"))
    }

    /// An empty directory.
    async fn scratch(&self, label: &str) -> Result<Arc<dyn Env>> {
        let _ = label;
        Err(self.cannot("scratch"))
    }

    /// Keeps its files as they are now; gives the snapshot's name.
    async fn snapshot(&self, name: Option<&str>) -> Result<String> {
        let _ = name;
        Err(self.cannot("snapshot"))
    }

    /// Puts them back.
    async fn rewind(&self, snapshot: &str) -> Result<()> {
        let _ = snapshot;
        Err(self.cannot("rewind"))
    }

    /// The snapshots kept, the oldest first.
    async fn snapshots(&self) -> Result<Vec<String>> {
        Err(self.cannot("snapshots"))
    }

    /// What it has changed since it was made, as a patch.
    async fn diff(&self) -> Result<Vec<u8>> {
        Err(self.cannot("diff"))
    }

    /// Brings a derived environment's changes into this one.
    async fn merge(&self, other: &dyn Env) -> Result<MergeOutcome> {
        let _ = other;
        Err(self.cannot("merge"))
    }

    /// The error of an operation that this kind of environment does not have.
    fn cannot(&self, operation: &str) -> Error {
        let (kind, directory) = (self.kind().name(), self.directory());
        Error::env(EnvFault::Unavailable, format!("{operation}: the {kind} {directory} does not offer it"))
    }
}

/// What an environment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvKind {
    /// The directory that the person gave.
    Workspace,
    /// A git worktree made by the host.
    Worktree,
    /// A copy of a directory.
    Copy,
    /// An empty directory made by the host.
    Scratch,
    /// A directory inside another environment.
    Subdir,
    /// A container.
    Container,
    /// A directory on another machine.
    Ssh,
}

impl EnvKind {
    /// As the contract names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Worktree => "worktree",
            Self::Copy => "copy",
            Self::Scratch => "scratch",
            Self::Subdir => "subdir",
            Self::Container => "container",
            Self::Ssh => "ssh",
        }
    }
}

/// What a worktree has checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorktreeHead {
    /// A branch that the host names after run, branch and label.
    ByHost,
    /// A branch of this name, made if it is not there.
    Branch(String),
    /// No branch.
    Detached,
}

/// What a merge came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeOutcome {
    /// Whether the changes are in.
    pub merged: bool,
    /// Paths that both changed; nothing is changed where there is one.
    pub conflicts: Vec<String>,
}

/// A command to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Added to a clean environment.
    pub vars: Vec<(String, String)>,
    /// What it reads; none for nothing.
    pub stdin: Option<Vec<u8>>,
    /// None for as long as it takes.
    pub timeout: Option<Duration>,
    /// Bytes kept of each of stdout and stderr; none for the host's limit.
    pub keep: Option<u64>,
    /// Whether it may be run again where a run that was cut off is taken up (J2).
    pub repeatable: bool,
}

/// What a command left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; 128 and the signal's number where one killed it.
    pub status: i32,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: Vec<u8>,
    /// Whether either was cut.
    pub truncated: bool,
}

/// A program to start with pipes: a harness.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Program and arguments. The program is an absolute path, found before anything ran: never in a session's directory.
    pub argv: Vec<String>,
    /// Added to a clean environment.
    pub vars: Vec<(String, String)>,
}

/// A program that was started. Dropping `process` ends its whole tree.
pub struct Child {
    /// Its standard input; dropping it closes it.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// Its standard output.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// Its standard error.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    /// The process tree.
    pub process: Box<dyn Process>,
}

impl fmt::Debug for Child {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Child").finish_non_exhaustive()
    }
}

/// The process tree of a program that was started. Dropping it ends the tree, at once.
#[async_trait]
pub trait Process: Send + Sync {
    /// Waits for its end: the exit status, 128 and the signal's number where one killed it. May be asked again.
    async fn wait(&mut self) -> Result<i32>;

    /// Tells the whole tree to stop and, where it has not within `grace`, makes it. Gives the exit status of the root, once nothing
    /// of the tree is left.
    async fn stop(&mut self, grace: Duration) -> Result<i32>;
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, not followed.
    Link,
    /// Anything else.
    Other,
}

/// What `find` and `stat` find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative to the environment.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes.
    pub size: u64,
}
