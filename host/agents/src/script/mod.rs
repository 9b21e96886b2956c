//! Any program as an agent. `SCRIPT.md` beside this crate says how to write one.
//!
//! `script:PROGRAM` ([`Script`]) is started once a turn in the session's directory: the prompt on its standard input, its
//! answer on its standard output. `script+json:PROGRAM` ([`JsonScript`]) is held for the life of the session and speaks JSON,
//! one object a line.
//!
//! A program is hostile until it ends: what it writes is bounded, it may read or not read, flood its standard error, leave
//! processes behind or never end, and none of this holds the host up.

mod json;
mod lines;
mod plain;
mod protocol;
mod tail;

use std::{sync::Arc, time::Duration};

use flowhost_core::{
    env::{Child, Env, Process, Program},
    error::{EnvFault, Error, HarnessFault, Kind, Result},
    harness::{Harness, TurnHost},
    usage::{CostSource, Usage},
};

pub use json::JsonScript;
pub(crate) use json::ROW as JSON;
pub(crate) use plain::ROW as PLAIN;
pub use plain::Script;

use crate::{
    program,
    registry::{Refusal, RegistryOptions, Spec},
};

/// Most bytes of an answer, and of a line of `script+json`: what a person or a flow would still read.
pub const ANSWER_LIMIT: usize = 8 << 20;

/// How long a program that was told to stop, or whose input was closed, has before it is made to (S7).
///
/// Twice this is less than what the host gives a turn to end in, so that a program that does not know of interruptions is made to
/// end here, in order, and not dropped.
const GRACE: Duration = Duration::from_secs(1);

/// How long what a program wrote may take to arrive once the program itself has ended: a process that it left behind may hold
/// its output open for ever.
const LINGER: Duration = Duration::from_millis(250);

/// The status of a program of which nobody saw the end: something killed what watched it.
const UNSEEN: i32 = 128 + 9;

/// Program and arguments; the program is absolute.
type Argv = Arc<[String]>;

fn build<S: Harness>(
    options: &RegistryOptions,
    spec: &Spec,
    new: fn(Vec<String>) -> S,
) -> Result<Arc<dyn Harness>, Refusal> {
    let argv = program::find(&spec.harness, spec.rest.as_deref().unwrap_or_default(), options)?;
    Ok(Arc::new(new(argv)))
}

/// One program costs what another does not.
fn label(kind: &str, argv: &[String]) -> String {
    format!("{kind}:{}", shell_words::join(argv))
}

/// The program's name without the directories above it, for messages.
fn short(argv: &[String]) -> &str {
    let program = argv.first().map_or("", String::as_str);
    program.rsplit('/').next().unwrap_or(program)
}

/// What a turn has cost that nothing was said of: nothing, and that is known ($4).
fn nothing_spent() -> Usage {
    Usage { cost_source: CostSource::Reported, ..Usage::default() }
}

fn interrupted() -> Error {
    Error::harness(HarnessFault::Interrupted, "the turn was interrupted")
}

/// Starts the program for this turn.
async fn start(
    env: &Arc<dyn Env>,
    argv: &Argv,
    vars: &[(String, String)],
    turn: &str,
    host: &dyn TurnHost,
) -> Result<Child> {
    let mut vars = vars.to_vec();
    vars.push(("FLOWHOST_TURN".to_owned(), turn.to_owned()));
    let program = Program { argv: argv.to_vec(), vars };
    let started = tokio::select! {
        biased;
        () = host.interrupted() => return Err(interrupted()),
        started = env.spawn(program) => started,
    };
    started.map_err(|error| match error.kind {
        // It was there when the run began.
        Kind::Env(EnvFault::NotStarted) => Error::harness(HarnessFault::NotInstalled, error.message),
        _ => error,
    })
}

/// The failure of a program that ended with this status and gave no answer.
fn ended(argv: &[String], status: i32, complaint: &str) -> Error {
    // 128 and the signal's number; shells say the same of what they ran.
    let signal = status - 128;
    let (fault, what) = match signal {
        1..=64 => (HarnessFault::Killed, format!("{} was killed by signal {signal}", short(argv))),
        _ if status == 0 => (HarnessFault::Dropped, format!("{} ended without an answer", short(argv))),
        _ => (HarnessFault::Other, format!("{} ended with status {status}", short(argv))),
    };
    Error::harness(fault, if complaint.is_empty() { what } else { format!("{what}: {complaint}") })
}

/// Tells the program to stop, and makes it; what becomes of that is of no use to anybody.
async fn stop(process: &mut dyn Process, grace: Duration) {
    let _ = process.stop(grace).await;
}
