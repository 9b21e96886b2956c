//! `flowhost demo`: makes a small repository, runs `fanout` on it, and shows what came of it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use clap::Parser as _;
use flowhost_core::env::Env;
use flowhost_envs::{Limits, Local};

use super::{demo_repository, exec};
use crate::{
    args::{Args, Command, Demo, Exec},
    escape,
    exit::Exit,
    render::tree::{self, Keeper},
    terminal::{self, BAD, BOLD, DIM, GOOD, styled},
};

const TASK: &str = "Add a one-line module docstring to this file. Change nothing else.";

/// The answer on stdout, everything else on stderr.
pub(super) fn run(args: &Demo) -> anyhow::Result<Exit> {
    let folder = tempfile::Builder::new().prefix("flowhost-demo-").tempdir().context("a folder for the demo")?;
    // It stays: the person is to look at it.
    let folder = folder.keep();
    super::runtime()?.block_on(show(args, &folder))
}

async fn show(args: &Demo, folder: &PathBuf) -> anyhow::Result<Exit> {
    let guardian = super::guardian()?;
    let env = Local::open(folder, guardian.clone(), Limits::default())?;
    if let Err(error) = demo_repository::make(folder, &*env).await {
        // Nothing in it is worth keeping.
        let _ = std::fs::remove_dir_all(folder);
        return Err(error);
    }
    let at = folder.display();
    terminal::say(&format!("A small repository with {} Python files is in {at}", demo_repository::python_files()));
    terminal::say("The flow `fanout` now gives each of them a conversation of its own, two at a time. Its agent is");
    terminal::say("`demo`, which is built in and needs no account and no network:\n");
    let command = ["exec", "-f", "fanout", "-a", "agent=demo", "--budget", "cost=1"];
    terminal::say(&styled(DIM, &format!("  cd {at}\n  flowhost {} \"{TASK}\"\n", command.join(" "))));

    let exec = exec_args(&command, args)?;
    let keeper = Arc::new(Keeper::default());
    let ended = exec::run_at(&exec, folder, vec![keeper.clone()]).await?;
    let failed = ended.result.is_err();
    if !failed {
        show_diff(&*env).await?;
    }
    guardian.close().await;
    terminal::say(&styled(BOLD, "\nHow it ran"));
    for line in tree::lines(&keeper.tree(), terminal::columns()) {
        terminal::say(&line);
    }
    if !failed {
        next(folder);
        terminal::say(&styled(BOLD, "\nWhat it answered"));
    }
    exec::say(&ended, false)
}

fn exec_args(command: &[&str], args: &Demo) -> anyhow::Result<Exec> {
    let speed = args.demo_speed.to_string();
    let last = ["--demo-speed", &speed, TASK];
    let words = ["flowhost"].iter().chain(command).chain(&last);
    match Args::try_parse_from(words)?.command {
        Command::Exec(exec) => Ok(exec),
        _ => anyhow::bail!("the demo's own command line is not `exec`"),
    }
}

async fn show_diff(env: &dyn Env) -> anyhow::Result<()> {
    terminal::say(&styled(BOLD, "\nWhat it changed"));
    for line in demo_repository::diff(env).await?.lines() {
        let text = escape::block(line);
        let style = match line.as_bytes() {
            [b'd', b'i', b'f', b'f', ..] => Some(BOLD),
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', ..] | [b'i', b'n', b'd', ..] => Some(DIM),
            [b'+', ..] => Some(GOOD),
            [b'-', ..] => Some(BAD),
            _ => None,
        };
        terminal::say(&style.map_or(text.clone(), |style| styled(style, &text)));
    }
    Ok(())
}

fn next(folder: &Path) {
    let at = folder.display();
    terminal::say(&styled(BOLD, "\nWhat to try next"));
    for (what, command) in [
        ("all flows that there are", "flowhost flows list".to_owned()),
        (
            "the same on a repository of yours",
            format!("flowhost exec -f fanout -a agent=demo --budget cost=1 \"{TASK}\""),
        ),
        ("any program as the agent", "flowhost exec -f fanout -a agent=script:./agent.sh \"…\"".to_owned()),
        ("be done with this one", format!("rm -r {at}")),
    ] {
        terminal::say(&format!("  {command}\n      {}", styled(DIM, what)));
    }
}
