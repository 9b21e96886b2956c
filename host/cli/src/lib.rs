//! The `flowhost` program: what is typed, what is shown, and how it all is put together.
//!
//! One file a command under `command/`; what people write is read in [`values`], what happens is shown by [`render`].
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the home of the terminal, and of the program's own files"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::process::ExitCode;

use clap::FromArgMatches as _;

pub mod args;
mod build;
pub mod built_in;
pub mod catalog;
mod command;
pub mod escape;
mod execution;
pub mod exit;
mod misuse;
mod preflight;
pub mod project;
pub mod refs;
pub mod render;
mod runner;
pub mod signal;
pub mod source;
mod template;
pub mod terminal;
mod tool;
pub mod values;
mod venv;

use args::Args;
use exit::Failure;
use render::events::RunResult;

/// How this program starts itself as the helper process that ends what a dead host left behind. No command of the person's.
const GUARDIAN: &str = "guardian";

/// Runs the program.
pub fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([GUARDIAN]) {
        return flowhost_envs::guardian::serve();
    }
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return misused(&error),
    };
    match Args::from_arg_matches(&matches) {
        Ok(args) => command::run(args).code().into(),
        Err(error) => misused(&error),
    }
}

fn misused(error: &clap::Error) -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match misuse::failure(error, &words) {
        None => {
            // Help goes where it was asked for: stdout, or stderr where something is missing.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(2).into()
        }
        Some(failure) => refuse(&failure, asks_for_json(&words)),
    }
}

/// Says a failure, with `--json` also as the result.
fn refuse(failure: &Failure, json: bool) -> ExitCode {
    if json {
        let _ = RunResult::refused(failure).write(std::time::Duration::ZERO);
    }
    terminal::complain(failure);
    failure.exit.code().into()
}

/// Whether a command line that could not be read asks for JSON: whoever reads stdout then still gets its last line.
fn asks_for_json(words: &[String]) -> bool {
    let mut words = words.iter().take_while(|word| *word != "--");
    words.clone().any(|word| word == "exec") && words.any(|word| word == "--json")
}
