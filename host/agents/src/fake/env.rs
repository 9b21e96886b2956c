//! An environment in memory: files, and a table of commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use flowhost_core::{
    clock::Clock,
    env::{Child, Command, Entry, EntryKind, Env, EnvKind, Output, Program},
    error::{EnvFault, Error, Result, SessionFault},
};
use globset::GlobBuilder;
use parking_lot::Mutex;

use super::command::Scripted;

/// The status of a command that is not there.
const NOT_FOUND: i32 = 127;

/// An environment in memory: files, and a table of commands. Any other command exits 127. A clone is the same environment; so
/// are its subdirectories.
#[derive(Clone, Debug)]
pub struct FakeEnv {
    shared: Arc<Shared>,
    kind: EnvKind,
    /// Absolute, without a slash at its end.
    directory: String,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    directories: BTreeSet<String>,
    table: Vec<Scripted>,
    commands: Vec<Command>,
    clock: Clock,
    delay: Duration,
}

impl Default for FakeEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeEnv {
    /// One without files and commands, at `/workspace`.
    pub fn new() -> Self {
        Self::at("/workspace")
    }

    /// One without files and commands, at this absolute path.
    pub fn at(directory: &str) -> Self {
        let directory = directory.trim_end_matches('/').to_owned();
        let state = State {
            files: BTreeMap::new(),
            directories: BTreeSet::from([directory.clone()]),
            table: Vec::new(),
            commands: Vec::new(),
            clock: Clock::system(),
            delay: Duration::ZERO,
        };
        let shared = Shared { state: Mutex::new(state) };
        Self { shared: Arc::new(shared), kind: EnvKind::Workspace, directory }
    }

    /// With a file; directories above it are made. A path that leaves is ignored.
    #[must_use]
    pub fn file(self, path: &str, data: impl Into<Vec<u8>>) -> Self {
        if let Ok(path) = self.resolve(path) {
            self.shared.state.lock().put(path, data.into());
        }
        self
    }

    /// With a command. The first that fits counts.
    #[must_use]
    pub fn scripted(self, command: Scripted) -> Self {
        self.shared.state.lock().table.push(command);
        self
    }

    /// With a command: these words, exactly, give this status and output.
    #[must_use]
    pub fn command<W: Into<String>>(
        self,
        argv: impl IntoIterator<Item = W>,
        status: i32,
        stdout: impl Into<Vec<u8>>,
        stderr: impl Into<Vec<u8>>,
    ) -> Self {
        self.scripted(Scripted::argv(argv).status(status).stdout(stdout).stderr(stderr))
    }

    /// How long a command takes on this clock, which is also that of [`Scripted::after`].
    #[must_use]
    pub fn delay(self, clock: &Clock, delay: Duration) -> Self {
        {
            let mut state = self.shared.state.lock();
            (state.clock, state.delay) = (clock.clone(), delay);
        }
        self
    }

    /// The commands that were run, in order; those that are not in the table too.
    pub fn commands(&self) -> Vec<Command> {
        self.shared.state.lock().commands.clone()
    }

    /// The files, by their paths from here.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.shared.state.lock();
        state.files.iter().filter_map(|(path, data)| Some((self.relative(path)?.to_owned(), data.clone()))).collect()
    }

    /// Takes the directory away, as somebody else might.
    pub fn vanish(&self) {
        self.shared.state.lock().remove_below(&self.directory);
    }

    /// The absolute form of a path; `outside` where it leaves.
    fn resolve(&self, path: &str) -> Result<String> {
        let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.directory) };
        let mut parts: Vec<&str> = Vec::new();
        for part in absolute.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                parts.pop();
            } else {
                parts.push(part);
            }
        }
        let resolved: String = parts.iter().flat_map(|part| ["/", part]).collect();
        if self.relative(&resolved).is_none() {
            let message = format!("{resolved} is not inside {}", self.directory);
            return Err(Error::env(EnvFault::Outside, message));
        }
        Ok(resolved)
    }

    /// A path from here; none where it is not inside.
    fn relative<'a>(&self, absolute: &'a str) -> Option<&'a str> {
        let below = absolute.strip_prefix(self.directory.as_str())?;
        if below.is_empty() { Some("") } else { below.strip_prefix('/') }
    }

    fn entry(&self, state: &State, absolute: &str) -> Option<Entry> {
        let path = self.relative(absolute)?.to_owned();
        if let Some(data) = state.files.get(absolute) {
            return Some(Entry { path, kind: EntryKind::File, size: data.len() as u64 });
        }
        state.directories.contains(absolute).then_some(Entry { path, kind: EntryKind::Directory, size: 0 })
    }
}

fn missing(path: &str) -> Error {
    Error::env(EnvFault::NotFound, format!("{path}: no such file or directory"))
}

impl State {
    /// The directories above a path, the nearest first.
    fn above(path: &str) -> impl Iterator<Item = &str> {
        path.char_indices().rev().filter(|(at, each)| *each == '/' && *at > 0).map(|(at, _)| &path[..at])
    }

    /// Fails where something on the way to a path is a file.
    fn check_above(&self, path: &str) -> Result<()> {
        match Self::above(path).find(|above| self.files.contains_key(*above)) {
            Some(file) => Err(Error::env(EnvFault::Other, format!("{file} is not a directory"))),
            None => Ok(()),
        }
    }

    fn put(&mut self, path: String, data: Vec<u8>) {
        self.directories.extend(Self::above(&path).map(str::to_owned));
        self.files.insert(path, data);
    }

    fn remove_below(&mut self, path: &str) {
        let inside = |each: &str| each == path || each.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.files.retain(|each, _| !inside(each));
        self.directories.retain(|each| !inside(each));
    }
}

#[async_trait]
impl Env for FakeEnv {
    fn kind(&self) -> EnvKind {
        self.kind
    }

    fn directory(&self) -> &str {
        &self.directory
    }

    async fn verify(&self) -> Result<()> {
        if self.shared.state.lock().directories.contains(&self.directory) {
            return Ok(());
        }
        let message = format!("{}: no directory to open a session in", self.directory);
        Err(Error::session(SessionFault::RefusedDir, message))
    }

    async fn exec(&self, command: Command) -> Result<Output> {
        let (clock, delay, known) = {
            let mut state = self.shared.state.lock();
            state.commands.push(command.clone());
            let known = state.table.iter_mut().find_map(|each| each.take(&command.argv));
            (state.clock.clone(), state.delay, known)
        };
        let program = command.argv.first().map(String::as_str).unwrap_or_default();
        let takes = match &known {
            Some(known) if known.never => None,
            Some(known) => Some(known.after.unwrap_or(delay)),
            None => Some(delay),
        };
        match (takes, command.timeout) {
            (takes, Some(timeout)) if takes.is_none_or(|takes| timeout < takes) => {
                clock.sleep(timeout).await;
                let message = format!("{program} took longer than {} ms", timeout.as_millis());
                return Err(Error::env(EnvFault::TimedOut, message));
            }
            (Some(takes), _) => clock.sleep(takes).await,
            (None, _) => std::future::pending().await,
        }
        let mut output = match known {
            Some(known) => known.result?,
            None => Output {
                status: NOT_FOUND,
                stderr: format!("{program}: command not found\n").into_bytes(),
                ..Output::default()
            },
        };
        if let Some(keep) = command.keep {
            let keep = usize::try_from(keep).unwrap_or(usize::MAX);
            output.truncated = output.stdout.len() > keep || output.stderr.len() > keep;
            output.stdout.truncate(keep);
            output.stderr.truncate(keep);
        }
        Ok(output)
    }

    async fn spawn(&self, program: Program) -> Result<Child> {
        let program = program.argv.first().map(String::as_str).unwrap_or_default();
        Err(Error::env(EnvFault::NotStarted, format!("{program}: an environment in memory starts no programs")))
    }

    async fn read(&self, path: &str, range: Option<(u64, u32)>) -> Result<Vec<u8>> {
        let resolved = self.resolve(path)?;
        let state = self.shared.state.lock();
        let Some(data) = state.files.get(&resolved) else {
            return Err(match state.directories.contains(&resolved) {
                true => Error::env(EnvFault::Other, format!("{path} is a directory")),
                false => missing(path),
            });
        };
        let Some((offset, length)) = range else { return Ok(data.clone()) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
        Ok(data[start..data.len().min(start.saturating_add(length as usize))].to_vec())
    }

    async fn write(&self, path: &str, data: Vec<u8>) -> Result<()> {
        let resolved = self.resolve(path)?;
        let mut state = self.shared.state.lock();
        state.check_above(&resolved)?;
        if state.directories.contains(&resolved) {
            return Err(Error::env(EnvFault::Other, format!("{path} is a directory")));
        }
        state.put(resolved, data);
        Ok(())
    }

    async fn append(&self, path: &str, data: Vec<u8>) -> Result<()> {
        let resolved = self.resolve(path)?;
        if let Some(file) = self.shared.state.lock().files.get_mut(&resolved) {
            file.extend(data);
            return Ok(());
        }
        self.write(path, data).await
    }

    async fn make_dir(&self, path: &str) -> Result<()> {
        let resolved = self.resolve(path)?;
        let mut state = self.shared.state.lock();
        state.check_above(&resolved)?;
        if state.files.contains_key(&resolved) {
            return Err(Error::env(EnvFault::Conflict, format!("{path} is a file")));
        }
        let above: Vec<_> = State::above(&resolved).map(str::to_owned).collect();
        state.directories.extend(above);
        state.directories.insert(resolved);
        Ok(())
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        let resolved = self.resolve(path)?;
        self.entry(&self.shared.state.lock(), &resolved).ok_or_else(|| missing(path))
    }

    async fn remove(&self, path: &str) -> Result<()> {
        let resolved = self.resolve(path)?;
        if resolved == self.directory {
            return Err(Error::env(EnvFault::Denied, format!("{path}: the environment itself is not removed")));
        }
        let mut state = self.shared.state.lock();
        if self.entry(&state, &resolved).is_none() {
            return Err(missing(path));
        }
        state.remove_below(&resolved);
        Ok(())
    }

    async fn find(&self, path: &str, glob: &str) -> Result<Vec<Entry>> {
        let below = self.resolve(path)?;
        let matcher = GlobBuilder::new(glob).literal_separator(true).build();
        let matcher = matcher.map_err(|error| Error::env(EnvFault::Other, error.to_string()))?.compile_matcher();
        let state = self.shared.state.lock();
        if !state.directories.contains(&below) {
            return Err(missing(path));
        }
        let prefix = format!("{below}/");
        let all: BTreeSet<&String> = state.files.keys().chain(&state.directories).collect();
        let found =
            all.into_iter().filter(|each| each.strip_prefix(&prefix).is_some_and(|rest| matcher.is_match(rest)));
        Ok(found.filter_map(|each| self.entry(&state, each)).collect())
    }

    async fn subdir(&self, path: &str) -> Result<Arc<dyn Env>> {
        // S5: in these words.
        let directory = self.resolve(path).map_err(|error| {
            let message = format!("{}, which is the workspace this agent's turns land in", error.message);
            Error::session(SessionFault::RefusedDir, message)
        })?;
        let subdir = Self { shared: self.shared.clone(), kind: EnvKind::Subdir, directory };
        subdir.verify().await?;
        Ok(Arc::new(subdir))
    }
}
