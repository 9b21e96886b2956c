//! `--from-run`: a recorded run as a scenario.

use std::path::{Path, PathBuf};

use flowhost_testing::recorded;

use crate::{exit::Failure, project};

/// The text of the scenario that a run was: one of the project's by its name, or the folder of its record.
pub(super) fn scenario(standing: &Path, run: &str) -> anyhow::Result<String> {
    let folder = folder(standing, run)?;
    let reader = flowhost_journal::read(&folder.join(flowhost_journal::FILE_NAME)).map_err(|error| {
        Failure::refused(error.to_string()).hint("RUN is as in .flowhost/runs, or a path to its folder")
    })?;
    let records = reader.collect::<Result<Vec<_>, _>>().map_err(|error| Failure::refused(error.to_string()))?;
    let text = recorded::scenario(records);
    Ok(text.map_err(|why| Failure::refused(format!("{run}: {why}")))?)
}

fn folder(standing: &Path, run: &str) -> Result<PathBuf, Failure> {
    let runs = project::root(standing).join(project::STATE).join("runs");
    if run.contains('/') {
        return Ok(standing.join(run));
    }
    let known =
        flowhost_journal::runs(&runs).map_err(|error| Failure::refused(format!("{}: {error}", runs.display())))?;
    let known: Vec<_> = known.take(1000).collect();
    if let Some(found) = known.iter().find(|each| &*each.run.0 == run) {
        return Ok(found.folder.clone());
    }
    let hint = match known.first() {
        Some(newest) => format!("The newest is {}", newest.run),
        None => format!("There are no runs in {}", runs.display()),
    };
    Err(Failure::refused(format!("--from-run {run}: this project has no such run")).hint(hint))
}
