//! What the tests of a harness stand on: a directory of this machine that starts real processes, and a host that listens.

#![allow(dead_code, unreachable_pub, reason = "each test takes what it needs")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test sets the machine up with its own hands"
)]

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use flowhost_core::{
    env::{Child, Command, Entry, Env, EnvKind, Output, Process, Program},
    error::{EnvFault, Error, Result},
    harness::{Event, Moment, Open, Prompt, Settings, Steer, TurnHost, Verdict},
    id::SessionId,
};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

/// A directory of this machine. Of an environment it can only start programs, which is what scripts need.
#[derive(Debug)]
pub struct Machine {
    pub dir: TempDir,
}

impl Machine {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { dir: tempfile::tempdir().unwrap() })
    }

    /// Writes a program; gives its absolute path.
    pub fn program(&self, name: &str, text: &str) -> String {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn shell(&self, text: &str) -> Vec<String> {
        vec!["/bin/sh".into(), "-c".into(), text.into()]
    }

    pub fn python(&self, text: &str) -> Vec<String> {
        vec!["/usr/bin/env".into(), "python3".into(), "-uc".into(), text.into()]
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join(name)).ok()
    }

    pub fn open(self: &Arc<Self>) -> Open {
        let vars = [("FLOWHOST_RUN", "r1"), ("FLOWHOST_BRANCH", "1.2"), ("FLOWHOST_SESSION", "s7")];
        Open {
            session: SessionId(7),
            env: self.clone(),
            settings: Arc::new(Settings::default()),
            vars: vars.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        }
    }
}

#[async_trait]
impl Env for Machine {
    fn kind(&self) -> EnvKind {
        EnvKind::Workspace
    }
    fn directory(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
    async fn verify(&self) -> Result<()> {
        Ok(())
    }
    async fn spawn(&self, program: Program) -> Result<Child> {
        let mut child = tokio::process::Command::new(&program.argv[0])
            .args(&program.argv[1..])
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(program.vars)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| Error::env(EnvFault::NotStarted, format!("{}: {error}", program.argv[0])))?;
        let group = Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
        Ok(Child {
            stdin: Box::new(child.stdin.take().unwrap()),
            stdout: Box::new(child.stdout.take().unwrap()),
            stderr: Box::new(child.stderr.take().unwrap()),
            process: Box::new(Group { child, group }),
        })
    }
    async fn exec(&self, _: Command) -> Result<Output> {
        Err(self.cannot("exec"))
    }
    async fn read(&self, _: &str, _: Option<(u64, u32)>) -> Result<Vec<u8>> {
        Err(self.cannot("read"))
    }
    async fn write(&self, _: &str, _: Vec<u8>) -> Result<()> {
        Err(self.cannot("write"))
    }
    async fn append(&self, _: &str, _: Vec<u8>) -> Result<()> {
        Err(self.cannot("append"))
    }
    async fn make_dir(&self, _: &str) -> Result<()> {
        Err(self.cannot("make-dir"))
    }
    async fn stat(&self, _: &str) -> Result<Entry> {
        Err(self.cannot("stat"))
    }
    async fn remove(&self, _: &str) -> Result<()> {
        Err(self.cannot("remove"))
    }
    async fn find(&self, _: &str, _: &str) -> Result<Vec<Entry>> {
        Err(self.cannot("find"))
    }
    async fn subdir(&self, _: &str) -> Result<Arc<dyn Env>> {
        Err(self.cannot("subdir"))
    }
}

struct Group {
    child: tokio::process::Child,
    group: Pid,
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

fn status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap())
}

#[async_trait]
impl Process for Group {
    async fn wait(&mut self) -> Result<i32> {
        Ok(status(self.child.wait().await.unwrap()))
    }
    async fn stop(&mut self, grace: Duration) -> Result<i32> {
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = timeout(grace, self.child.wait()).await;
        let _ = kill_process_group(self.group, Signal::KILL);
        Ok(status(self.child.wait().await.unwrap()))
    }
}

/// A host that writes everything down.
pub struct Listener {
    events: Mutex<Vec<Event>>,
    asked: Mutex<Vec<(Moment, Value)>>,
    verdict: Verdict,
    interrupted: watch::Sender<bool>,
    steers: (mpsc::UnboundedSender<Steer>, tokio::sync::Mutex<mpsc::UnboundedReceiver<Steer>>),
}

impl Listener {
    pub fn new() -> Self {
        Self::with_verdict(Verdict::Pass)
    }

    pub fn with_verdict(verdict: Verdict) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            events: Mutex::default(),
            asked: Mutex::default(),
            verdict,
            interrupted: watch::Sender::new(false),
            steers: (sender, tokio::sync::Mutex::new(receiver)),
        }
    }

    pub fn interrupt(&self) {
        self.interrupted.send_replace(true);
    }

    pub fn steer(&self, text: &str, interrupting: bool) {
        self.steers.0.send(Steer { text: text.to_owned(), interrupting }).unwrap();
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.lock().clone()
    }

    pub fn asked(&self) -> Vec<(Moment, Value)> {
        self.asked.lock().clone()
    }

    pub fn texts(&self) -> Vec<String> {
        let events = self.events();
        events
            .into_iter()
            .filter_map(|event| if let Event::Text { text } = event { Some(text) } else { None })
            .collect()
    }

    pub fn notices(&self) -> Vec<String> {
        let events = self.events();
        events
            .into_iter()
            .filter_map(|event| if let Event::Notice { text } = event { Some(text) } else { None })
            .collect()
    }

    /// Returns once an event such as this has happened.
    pub async fn happened(&self, is_it: impl Fn(&Event) -> bool) {
        while !self.events.lock().iter().any(&is_it) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

#[async_trait]
impl TurnHost for Listener {
    fn event(&self, event: Event) {
        self.events.lock().push(event);
    }
    async fn interrupted(&self) {
        let _ = self.interrupted.subscribe().wait_for(|interrupted| *interrupted).await;
    }
    async fn steered(&self) -> Steer {
        self.steers.1.lock().await.recv().await.unwrap()
    }
    async fn occasion(&self, moment: Moment, details: Value) -> Verdict {
        self.asked.lock().push((moment, details));
        self.verdict.clone()
    }
}

pub fn prompt(text: &str) -> Prompt<'_> {
    Prompt { id: "t40", text, schema: None }
}
