//! `envs.ROLE` of a scenario file: files, and a table of commands.

use std::{path::Path, sync::Arc, time::Duration};

use flowhost_agents::fake::{FakeEnv, Scripted};
use flowhost_core::error::{EnvFault, Error};

use crate::{
    disk,
    fields::{Field, Read, did_you_mean},
    scenario::MakeEnv,
};

/// Why a command does not run, or not to its end, as it is written.
const FAULTS: [&str; 10] = [
    "not-found",
    "denied",
    "outside",
    "timed-out",
    "not-started",
    "conflict",
    "too-large",
    "unavailable",
    "interrupted",
    "other",
];

/// What fills an environment's role; paths are from the scenario's file.
pub(crate) fn read(role: &str, field: &Field<'_>, file: &Path) -> Read<MakeEnv> {
    let fields = field.fields()?;
    let directory = match fields.get("directory") {
        Some(directory) if !directory.text()?.starts_with('/') => {
            return Err(directory.wrong("not an absolute path"));
        }
        Some(directory) => directory.text()?.to_owned(),
        None => format!("/{role}"),
    };
    let mut files = match fields.get("folder") {
        Some(folder) => {
            let path = disk::beside(file, folder.text()?);
            disk::folder(&path).map_err(|error| folder.wrong(format!("{}: {error}", path.display())))?
        }
        None => Vec::new(),
    };
    for (path, text) in fields.maybe("files", Field::named)?.unwrap_or_default() {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(text.wrong("a file's path is from its environment, and stays in it"));
        }
        files.push((path.to_owned(), text.text()?.into()));
    }
    let delay = fields.maybe("delay", Field::time)?.unwrap_or(Duration::ZERO);
    let commands = fields.maybe("commands", Field::list)?.unwrap_or_default();
    let commands = commands.iter().map(command).collect::<Read<Vec<_>>>()?;
    fields.end()?;
    Ok(Arc::new(move |clock| {
        let env = FakeEnv::at(&directory).delay(clock, delay);
        let env = files.iter().fold(env, |env, (path, data)| env.file(path, data.clone()));
        commands.iter().fold(env, |env, command| env.scripted(command.clone()))
    }))
}

fn command(field: &Field<'_>) -> Read<Scripted> {
    let fields = field.fields()?;
    let command = match fields.one_of(&["argv", "run", "run-starts-with"])? {
        Some(("argv", argv)) => Scripted::argv(argv.texts()?),
        Some(("run", line)) => Scripted::line(line.text()?),
        Some((_, start)) => Scripted::line_start(start.text()?),
        None => {
            return Err(field
                .wrong("it says no command")
                .hint("argv = [\"git\", \"status\"], or run = \"git status\""));
        }
    };
    let status = fields
        .maybe("status", |status| i32::try_from(status.count()?).map_err(|_| status.wrong("not an exit status")))?;
    let stdout = fields.maybe("stdout", Field::text)?;
    let stderr = fields.maybe("stderr", Field::text)?;
    let says = status.is_some() || stdout.is_some() || stderr.is_some();
    let fault = fields.maybe("fault", fault)?;
    let fail = fields.maybe("fail", Field::text)?;
    let never = fields.maybe("never", Field::flag)?.unwrap_or_default();
    let mut command = match (fail, never) {
        (None, true) if !says => command.never(),
        (Some(message), false) if !says => command.fails(Error::env(fault.unwrap_or(EnvFault::Other), message)),
        (None, false) if fault.is_none() => {
            command.status(status.unwrap_or(0)).stdout(stdout.unwrap_or_default()).stderr(stderr.unwrap_or_default())
        }
        _ => {
            return Err(field
                .wrong("it says more than one end")
                .hint("A command has status, stdout and stderr; or fail, with a fault; or never = true"));
        }
    };
    if let Some(delay) = fields.maybe("delay", Field::time)? {
        command = command.after(delay);
    }
    if let Some(times) = fields.maybe("times", Field::small)? {
        command = command.times(times);
    }
    fields.end()?;
    Ok(command)
}

fn fault(field: &Field<'_>) -> Read<EnvFault> {
    let name = field.text()?;
    serde_json::from_value(name.into())
        .map_err(|_| field.wrong(format!("{name:?} is no fault")).hint(did_you_mean("faults", name, &FAULTS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_list_is_one() {
        for name in FAULTS {
            assert!(serde_json::from_value::<EnvFault>(name.into()).is_ok(), "{name}");
        }
    }
}
