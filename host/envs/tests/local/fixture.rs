//! A directory to work in, with a neighbor that nobody may reach.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use flowhost_core::{
    env::{Command, Env, Output},
    error::{EnvFault, Kind, Result, SessionFault},
};
use flowhost_envs::{Guardian, Limits, Local};
use tempfile::TempDir;

/// The tests' own program: a guardian and small hosts.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_flowhost-envs-host");

/// `project` is the env; `elsewhere` is not in it and has a `secret` file and a `directory` with another.
pub(crate) struct Place {
    pub(crate) env: Arc<dyn Env>,
    pub(crate) guardian: Guardian,
    pub(crate) root: PathBuf,
    pub(crate) elsewhere: PathBuf,
    // Removed last.
    _outer: TempDir,
}

pub(crate) fn place() -> Place {
    place_with(Limits::default())
}

pub(crate) fn place_with(limits: Limits) -> Place {
    let outer = TempDir::new().unwrap();
    let path = fs::canonicalize(outer.path()).unwrap();
    let (root, elsewhere) = (path.join("project"), path.join("elsewhere"));
    fs::create_dir(&root).unwrap();
    fs::create_dir_all(elsewhere.join("directory")).unwrap();
    fs::write(elsewhere.join("secret"), "secret").unwrap();
    fs::write(elsewhere.join("directory/secret"), "secret").unwrap();
    let guardian = guardian();
    let env = Local::open(&root, guardian.clone(), limits).unwrap();
    Place { env, guardian, root, elsewhere, _outer: outer }
}

pub(crate) fn guardian() -> Guardian {
    Guardian::new(Path::new(PROGRAM), &["guardian".into()])
}

impl Place {
    pub(crate) fn put(&self, path: &str, data: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.root.join(path)).unwrap();
    }

    pub(crate) async fn bash(&self, script: &str) -> Result<Output> {
        self.env.exec(command(&["bash", "-c", script])).await
    }

    /// What a script says, without the last line's end. The script must succeed.
    pub(crate) async fn says(&self, script: &str) -> String {
        let output = self.bash(script).await.unwrap();
        assert_eq!(output.status, 0, "{}", text(&output.stderr));
        text(&output.stdout).trim_end().to_owned()
    }

    /// Processes that have their working directory here, whoever's children they are by now.
    pub(crate) fn inhabitants(&self) -> Vec<i32> {
        inhabitants(self.root.parent().unwrap())
    }
}

pub(crate) fn inhabitants(directory: &Path) -> Vec<i32> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let pid = entry.file_name().to_str()?.parse().ok()?;
            fs::read_link(entry.path().join("cwd")).ok()?.starts_with(directory).then_some(pid)
        })
        .collect()
}

/// Waits for what must come true within a time.
#[track_caller]
pub(crate) fn within(time: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + time;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {time:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The same where a runtime has work to do meanwhile.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "not within 10 s: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn command(argv: &[&str]) -> Command {
    Command { argv: argv.iter().map(|&argument| argument.to_owned()).collect(), ..Command::default() }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub(crate) fn fault<T: std::fmt::Debug>(result: Result<T>) -> EnvFault {
    match result.unwrap_err().kind {
        Kind::Env(fault) => fault,
        other => panic!("{other:?}"),
    }
}

/// The message of a refused directory.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Session(SessionFault::RefusedDir), "{error}");
    error.message
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
