//! The small repository that `flowhost demo` works on.

use std::{fs, path::Path};

use anyhow::Context as _;
use flowhost_core::{
    env::Env,
    error::{EnvFault, Kind},
};
use flowhost_envs::git;

use crate::exit::Failure;

/// Its files: a small program that keeps track of who paid for what.
const FILES: [(&str, &str); 6] = [
    ("README.md", include_str!("../../demo/README.md")),
    ("tally/money.py", include_str!("../../demo/tally/money.py")),
    ("tally/ledger.py", include_str!("../../demo/tally/ledger.py")),
    ("tally/report.py", include_str!("../../demo/tally/report.py")),
    ("tally/cli.py", include_str!("../../demo/tally/cli.py")),
    ("tests/test_ledger.py", include_str!("../../demo/tests/test_ledger.py")),
];

/// How many of its files are Python.
pub(super) fn python_files() -> usize {
    FILES.iter().filter(|(path, _)| path.ends_with(".py")).count()
}

/// Makes it in `env`, which is the empty `directory`, with one commit.
pub(super) async fn make(directory: &Path, env: &dyn Env) -> anyhow::Result<()> {
    run(env, &["init", "--quiet", "--template="], &[]).await?;
    run(env, &["symbolic-ref", "HEAD", "refs/heads/main"], &[]).await?;
    // The commit needs an author, and the person's own settings are not read.
    run(env, &["config", "user.name", "flowhost demo"], &[]).await?;
    run(env, &["config", "user.email", "demo@flowhost.invalid"], &[]).await?;
    for (path, text) in FILES {
        let path = directory.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    run(env, &["add", "--all"], &[]).await?;
    run(env, &["commit", "--quiet", "--message", "Keep track of who paid for what"], &[]).await?;
    Ok(())
}

/// What differs from the commit.
pub(super) async fn diff(env: &dyn Env) -> anyhow::Result<String> {
    run(env, &["diff"], &[]).await
}

async fn run(env: &dyn Env, arguments: &[&str], names: &[&str]) -> anyhow::Result<String> {
    let output = git::git(env, arguments, names).await.map_err(|error| match error.kind {
        Kind::Env(EnvFault::NotStarted) => {
            Failure::refused(error.message).hint("Install git: the demo makes a small repository with it")
        }
        _ => Failure::refused(error.message),
    })?;
    if output.status == 0 {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = complaint.trim().lines().next().unwrap_or("it failed without a word").to_owned();
    let what = arguments.first().copied().unwrap_or_default();
    Err(Failure::failed(format!("git {what} in {}: {complaint}", env.directory())).into())
}
