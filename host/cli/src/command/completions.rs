//! `flowhost completions SHELL`.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::{
    args::{Args, Completions},
    exit::Exit,
};

/// Writes the script to stdout.
pub(super) fn run(args: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "flowhost", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Exit::Answered)
}
