//! `flowhost completions SHELL`.

use std::io::{self, Write as _};

use crate::{
    args::{self, Completions},
    exit::Exit,
};

/// Writes the script to stdout.
pub(super) fn run(args: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "flowhost", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Exit::Answered)
}
