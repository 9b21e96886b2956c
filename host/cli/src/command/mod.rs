//! What each command does, one file a command.

mod agents;
mod build;
mod check;
mod columns;
mod completions;
mod demo;
mod demo_repository;
mod describe;
mod exec;
mod flows;
mod man;
mod new;
mod runner;
mod test;

use std::io;

use anyhow::Context as _;
use flowhost_envs::Guardian;
use tokio::runtime::Runtime;

use crate::{
    args::{Args, Command},
    exit::{Exit, Failure},
    terminal,
};

/// Does what was asked and says what went wrong.
pub(crate) fn run(args: Args) -> Exit {
    args.color.choose();
    let done = match args.command {
        Command::Exec(args) => exec::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Flows(args) => flows::run(&args),
        Command::Check(args) => check::run(&args),
        Command::New(args) => new::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Agents(args) => agents::run(&args),
        Command::Runner(args) => runner::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
    };
    done.unwrap_or_else(|error| {
        let failure = Failure::of(&error);
        terminal::complain(&failure);
        failure.exit
    })
}

/// The program runs on all processors: a flow that spins must not hold up the others (X2).
fn runtime() -> io::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async { crate::signal::let_writes_fail() })?;
    Ok(runtime)
}

/// Starts processes, by this program's own helper.
fn guardian() -> anyhow::Result<Guardian> {
    let program = std::env::current_exe().context("this program's own path")?;
    Ok(Guardian::new(&program, &[crate::GUARDIAN.into()]))
}
