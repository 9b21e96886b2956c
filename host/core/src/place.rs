//! An env as one branch has it: what a flow asks of it is checked against its role, written down (J1) and ended with the branch.

use std::{fmt, future::Future, sync::Arc};

use serde::Serialize;

use crate::{
    branch::Branch,
    env::{Command, Entry, Env, MergeOutcome, Output, WorktreeHead},
    error::{EnvFault, Error, Result},
    job::{CancelOnDrop, Job},
    outcome::{Bytes, Ran, outcome_of},
    record::{Key, Record},
};

/// An env as a person or a flow hands it on.
#[derive(Clone, Debug)]
pub struct EnvGrant {
    /// The directory.
    pub env: Arc<dyn Env>,
    /// What may be used of it.
    pub capabilities: Arc<[String]>,
}

impl EnvGrant {
    /// All that envs can.
    pub fn new(env: Arc<dyn Env>) -> Self {
        Self { env, capabilities: crate::manifest::ENV_CAPABILITIES.map(str::to_owned).into() }
    }
}

/// An env of one branch.
#[derive(Clone)]
pub struct Place {
    role: Arc<str>,
    grant: EnvGrant,
    key: Key,
    branch: Arc<Branch>,
}

impl fmt::Debug for Place {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Place").field("role", &self.role).field("grant", &self.grant).finish_non_exhaustive()
    }
}

impl Place {
    pub(crate) fn new(branch: &Arc<Branch>, role: Arc<str>, grant: EnvGrant) -> Self {
        let key = Key::of(&[&branch.key.0, b"env", role.as_bytes()]);
        Self { role, grant, key, branch: branch.clone() }
    }

    fn derived(&self, env: Arc<dyn Env>, key: Key) -> Self {
        Self { grant: EnvGrant { env, capabilities: self.grant.capabilities.clone() }, key, ..self.clone() }
    }

    /// The role it fills, or that of the one it was made from.
    pub fn role(&self) -> &Arc<str> {
        &self.role
    }

    /// The directory behind it.
    pub fn env(&self) -> &Arc<dyn Env> {
        &self.grant.env
    }

    /// As it is handed on to a callee.
    pub fn grant(&self) -> &EnvGrant {
        &self.grant
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    pub(crate) fn branch(&self) -> &Arc<Branch> {
        &self.branch
    }

    /// Fails unless the role declared `capability`.
    fn offers(&self, capability: &str) -> Result<()> {
        self.branch.check()?;
        if self.grant.capabilities.iter().any(|each| each == capability) {
            return Ok(());
        }
        let message = format!("{capability}: the flow's manifest does not declare it for the env role {}", self.role);
        Err(Error::not_granted(message))
    }

    /// Runs a command to its end. Dropping the future ends its process tree. Needs `shell`.
    pub async fn exec(&self, command: Command) -> Result<Output> {
        let job = CancelOnDrop(self.start(command)?);
        job.0.wait().await
    }

    /// Runs a bash script to its end. Needs `bash`.
    pub async fn bash(&self, script: String, timeout: Option<std::time::Duration>) -> Result<Output> {
        self.offers("bash")?;
        let command = Command { argv: vec!["bash".into(), "-c".into(), script], timeout, ..Command::default() };
        let job = CancelOnDrop(self.launch("env.bash", command));
        job.0.wait().await
    }

    /// Starts a command and returns at once. Needs `shell`.
    pub fn start(&self, command: Command) -> Result<Arc<Job<Output>>> {
        self.offers("shell")?;
        if command.argv.is_empty() {
            return Err(Error::env(
                EnvFault::NotStarted,
                "exec: the command has no program; give at least one argument",
            ));
        }
        Ok(self.launch("env.exec", command))
    }

    fn launch(&self, function: &'static str, command: Command) -> Arc<Job<Output>> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        parts.extend(command.argv.iter().map(|each| each.as_bytes().to_vec()));
        parts.push(format!("{:?}", command.vars).into_bytes());
        parts.push(command.stdin.clone().unwrap_or_default());
        let this = self.clone();
        let cancelled = Error::env(EnvFault::Interrupted, format!("{}: interrupted", label_of(&command.argv)));
        let work = async move {
            let label = label_of(&command.argv);
            let repeatable = command.repeatable;
            let env = this.grant.env.clone();
            let ran = async move { env.exec(command).await.map(Ran::from) };
            this.effect(function, &parts, label, repeatable, ran).await.map(Output::from)
        };
        let branch = self.branch.clone();
        let env = self.grant.env.clone();
        // B5: the job is over when nothing of its process tree is left, also where it was cancelled.
        Job::spawn(&branch.tracker, branch.child_token(), cancelled, work, async move { env.swept().await })
    }

    /// The bytes of a file, or at most `range.1` of them from `range.0`. Needs `files`.
    pub async fn read(&self, path: &str, range: Option<(u64, u32)>) -> Result<Vec<u8>> {
        self.offers("files")?;
        let bytes = async { self.env().read(path, range).await.map(Bytes) };
        let range = range.map(|(offset, length)| format!("{offset}+{length}")).unwrap_or_default();
        Ok(self.value("env.read", &[path.into(), range.into()], bytes).await?.0)
    }

    /// Makes or replaces a file, whole or not at all. Needs `files`.
    pub async fn write(&self, path: &str, data: Vec<u8>) -> Result<()> {
        self.offers("files")?;
        let parts = [path.into(), blake3::hash(&data).as_bytes().to_vec()];
        self.effect("env.write", &parts, path.into(), true, self.env().write(path, data)).await
    }

    /// Adds to the end of a file. Needs `files`.
    pub async fn append(&self, path: &str, data: Vec<u8>) -> Result<()> {
        self.offers("files")?;
        let parts = [path.into(), blake3::hash(&data).as_bytes().to_vec()];
        self.effect("env.append", &parts, path.into(), false, self.env().append(path, data)).await
    }

    /// Makes a directory, and those above it. Needs `files`.
    pub async fn make_dir(&self, path: &str) -> Result<()> {
        self.offers("files")?;
        self.effect("env.make-dir", &[path.into()], path.into(), true, self.env().make_dir(path)).await
    }

    /// Removes a file, or a directory with all in it. Needs `files`.
    pub async fn remove(&self, path: &str) -> Result<()> {
        self.offers("files")?;
        self.effect("env.remove", &[path.into()], path.into(), false, self.env().remove(path)).await
    }

    /// What a path is. Needs `files`.
    pub async fn stat(&self, path: &str) -> Result<Entry> {
        self.offers("files")?;
        self.value("env.stat", &[path.into()], self.env().stat(path)).await
    }

    /// Entries below `path` that match a glob. Needs `files`.
    pub async fn find(&self, path: &str, glob: &str) -> Result<Vec<Entry>> {
        self.offers("files")?;
        self.value("env.find", &[path.into(), glob.into()], self.env().find(path, glob)).await
    }

    /// A directory inside this one, as an environment. Fails in the words of S5.
    pub async fn subdir(&self, path: &str) -> Result<Self> {
        self.branch.check()?;
        let env = self.env().subdir(path).await?;
        Ok(self.derived(env, Key::of(&[&self.key.0, b"subdir", path.as_bytes()])))
    }

    /// A git worktree. The same label again in one branch is `env(conflict)`. Needs `worktree`.
    pub async fn worktree(&self, label: &str, at: Option<&str>, head: WorktreeHead) -> Result<Self> {
        let made = async { self.env().worktree(label, at, head).await };
        self.derive("worktree", label, made).await
    }

    /// A copy of this directory. Needs `copy`.
    pub async fn copy(&self, label: &str) -> Result<Self> {
        self.derive("copy", label, self.env().copy(label)).await
    }

    /// An empty directory. Needs `scratch`.
    pub async fn scratch(&self, label: &str) -> Result<Self> {
        self.derive("scratch", label, self.env().scratch(label)).await
    }

    async fn derive(
        &self,
        kind: &'static str,
        label: &str,
        made: impl Future<Output = Result<Arc<dyn Env>>>,
    ) -> Result<Self> {
        self.offers(kind)?;
        let mut env = None;
        let function = match kind {
            "worktree" => "env.worktree",
            "copy" => "env.copy",
            _ => "env.scratch",
        };
        let making = async {
            let made = made.await?;
            let directory = made.directory().to_owned();
            env = Some(made);
            Ok(directory)
        };
        self.effect(function, &[label.into()], label.into(), true, making).await?;
        let env = env.ok_or_else(|| Error::env(EnvFault::Other, format!("{kind} {label}: it was not made")))?;
        Ok(self.derived(env, Key::of(&[&self.key.0, kind.as_bytes(), label.as_bytes()])))
    }

    /// Keeps its files as they are now; gives the snapshot's name. Needs `snapshot`.
    pub async fn snapshot(&self, name: Option<&str>) -> Result<String> {
        self.offers("snapshot")?;
        let label = name.unwrap_or_default();
        self.effect("env.snapshot", &[label.into()], label.into(), true, self.env().snapshot(name)).await
    }

    /// Puts them back. Needs `snapshot`.
    pub async fn rewind(&self, snapshot: &str) -> Result<()> {
        self.offers("snapshot")?;
        self.effect("env.rewind", &[snapshot.into()], snapshot.into(), true, self.env().rewind(snapshot)).await
    }

    /// The snapshots kept, the oldest first. Needs `snapshot`.
    pub async fn snapshots(&self) -> Result<Vec<String>> {
        self.offers("snapshot")?;
        self.value("env.snapshots", &[], self.env().snapshots()).await
    }

    /// What it has changed since it was made, as a patch.
    pub async fn diff(&self) -> Result<Vec<u8>> {
        self.branch.check()?;
        let bytes = async { self.env().diff().await.map(Bytes) };
        Ok(self.value("env.diff", &[], bytes).await?.0)
    }

    /// Brings a derived environment's changes into this one.
    pub async fn merge(&self, other: &Self) -> Result<MergeOutcome> {
        self.branch.check()?;
        let label = other.env().directory().to_owned();
        self.effect("env.merge", &[other.key.0.to_vec()], label, false, self.env().merge(&**other.env())).await
    }

    /// J1: a call with an effect has two records: `begin`, durable before the effect, and `end`, before the answer.
    async fn effect<T: Serialize>(
        &self,
        function: &'static str,
        parts: &[Vec<u8>],
        label: String,
        repeatable: bool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let run = &self.branch.run;
        let call = run.next_call();
        let key = self.branch.occurrence(self.call_key(function, parts));
        let branch = self.branch.id.clone();
        let begin = Record::Call { call, branch, function: function.into(), key, label: label.into(), repeatable };
        run.durable(run.record(&begin)).await?;
        let result = self.unless_stopped(work).await;
        let mark = run.record(&Record::CallEnd { call, outcome: outcome_of(&result)? });
        run.written(mark).await?;
        result
    }

    /// J1: what a guest could not have computed is in the record before it reaches the guest.
    async fn value<T: Serialize>(
        &self,
        function: &'static str,
        parts: &[Vec<u8>],
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let run = &self.branch.run;
        let key = Some(self.branch.occurrence(self.call_key(function, parts)));
        let result = self.unless_stopped(work).await;
        let outcome = outcome_of(&result)?;
        run.record(&Record::Value { branch: self.branch.id.clone(), function: function.into(), key, outcome });
        result
    }

    fn call_key(&self, function: &str, parts: &[Vec<u8>]) -> Key {
        let mut all: Vec<&[u8]> = vec![&self.branch.key.0, &self.key.0, function.as_bytes()];
        all.extend(parts.iter().map(Vec::as_slice));
        Key::of(&all)
    }

    /// X1: after a stop every call fails the same way, also the one that is under way.
    async fn unless_stopped<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.branch.run.stopped() => Err(Error::stopped()),
            result = work => result,
        }
    }
}

fn label_of(argv: &[String]) -> String {
    let mut label = argv.join(" ");
    if label.len() > 200 {
        let end = (0..=200).rev().find(|at| label.is_char_boundary(*at)).unwrap_or(0);
        label.truncate(end);
        label.push('…');
    }
    label
}
