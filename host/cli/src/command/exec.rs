//! `flowhost exec`: runs a flow. The answer alone on stdout, everything else on stderr.

use std::{io::Read as _, path::Path, sync::Arc};

use anyhow::Context as _;
use flowhost_core::{
    clock::Clock,
    record::{Json, Observer},
};

use crate::{
    args::Exec,
    catalog::Catalog,
    escape,
    execution::{self, Ended, Manner},
    exit::{Exit, Failure},
    preflight,
    render::{
        events::{Events, RunResult},
        screen::Screen,
    },
    terminal,
};

/// Runs it and says how it came out.
pub(super) fn run(args: &Exec) -> anyhow::Result<Exit> {
    let standing = std::env::current_dir().context("the directory that you stand in")?;
    let done = super::runtime()?.block_on(run_at(args, &standing, Vec::new()));
    match done {
        Ok(ended) => say(&ended, args.json),
        Err(error) => {
            let failure = Failure::of(&error);
            if args.json {
                let _ = RunResult::refused(&failure).write(std::time::Duration::ZERO);
            }
            Err(failure.into())
        }
    }
}

/// Runs it for somebody who stands at `standing`; `also` see its record too. Fails only where it was refused before it
/// started.
pub(super) async fn run_at(args: &Exec, standing: &Path, also: Vec<Arc<dyn Observer>>) -> anyhow::Result<Ended> {
    let guardian = super::guardian()?;
    let clock = Clock::system();
    let catalog = Arc::new(Catalog::new(standing, preflight::engine_limits(&args.limits)?)?);
    let mut note = |line: String| {
        if !args.json {
            terminal::note(&line);
        }
    };
    let branches = catalog.limits().branches;
    let ready = preflight::check(args, standing, catalog, &guardian, &clock, &mut note).await?;
    let task = task(&args.task)?;

    let mut observers = also;
    let (screen, events) = if args.json {
        (None, Some(Events::start()?))
    } else {
        (Some(Screen::start(execution::models(&ready))?), None)
    };
    observers.extend(screen.clone().map(|screen| screen as Arc<dyn Observer>));
    observers.extend(events.clone().map(|events| events as Arc<dyn Observer>));
    let manner = Manner {
        clock,
        guardian,
        at_once: args.at_once,
        allows_unpriced: args.unpriced.is_some(),
        branches,
        patience: args.patience,
    };
    let ended = execution::execute(ready, task, standing, manner, observers).await;
    screen.inspect(|screen| screen.finish());
    events.inspect(|events| events.finish());
    ended
}

/// What the flow is to do; `-` is read from stdin.
fn task(written: &str) -> anyhow::Result<Arc<str>> {
    if written != "-" {
        return Ok(written.into());
    }
    let mut task = String::new();
    std::io::stdin().lock().read_to_string(&mut task).context("the task, from stdin")?;
    Ok(task.trim_end_matches(['\r', '\n']).into())
}

/// A reader that is gone does not make the run a failure; an answer that could not be written does.
fn unless_gone(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(anyhow::Error::new(error)
            .context("the answer could not be written to stdout; it is in the record of the run")),
        _ => Ok(()),
    }
}

/// The result: the answer on stdout, or the error.
pub(super) fn say(ended: &Ended, json: bool) -> anyhow::Result<Exit> {
    if json {
        unless_gone(RunResult::of(&ended.run, ended.result.as_ref(), ended.exit, ended.usage).write(ended.took))?;
    }
    match &ended.result {
        Ok(answer) => {
            if !json {
                unless_gone(terminal::answer(&shown(answer, terminal::answers_a_person())))?;
            }
            Ok(ended.exit)
        }
        Err(error) => {
            let mut failure = Failure { exit: ended.exit, message: error.message.clone().into(), hint: None };
            if ended.exit != Exit::Refused {
                failure = failure.hint(format!("What happened is recorded in {}", ended.folder.display()));
            }
            Err(failure.into())
        }
    }
}

/// A string bare, null as nothing, anything else as JSON. What a person reads is laid out and harmless; a program gets what the flow said.
fn shown(answer: &Json, person: bool) -> String {
    let text = answer.get();
    let value = serde_json::from_str::<serde_json::Value>(text);
    match value {
        Ok(serde_json::Value::Null) => String::new(),
        Ok(serde_json::Value::String(bare)) if person => escape::block(&bare) + "\n",
        Ok(serde_json::Value::String(bare)) => bare + "\n",
        Ok(value) if person => escape::json(&format!("{value:#}")) + "\n",
        _ => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn json(text: &str) -> Json {
        RawValue::from_string(text.into()).unwrap().into()
    }

    #[test]
    fn a_string_is_bare_null_is_nothing_and_the_rest_is_json() {
        assert_eq!(shown(&json(r#""two\nlines""#), false), "two\nlines\n");
        assert_eq!(shown(&json("null"), false), "");
        assert_eq!(shown(&json(r#"{"b.py":"1","a.py":1.50}"#), false), "{\"b.py\":\"1\",\"a.py\":1.50}\n");
    }

    #[test]
    fn what_a_person_reads_is_harmless() {
        assert_eq!(shown(&json(r#""a\u001b[2J""#), true), "a␛[2J\n");
        assert_eq!(shown(&json(r#"{"a":"\u202e"}"#), true), "{\n  \"a\": \"\\u202e\"\n}\n");
    }
}
