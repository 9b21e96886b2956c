//! Which scenarios there are.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use flowhost_testing::{Case, ScenarioFile};

use super::EXTENSION;
use crate::exit::Failure;

/// Folders that no one keeps scenarios in: what builds and runs leave.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// The files of scenarios in and below these paths, in order, each once. A file that is named may be called what it likes.
pub(super) fn files(standing: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let mut found = Vec::new();
    for path in paths {
        let path = standing.join(path).components().collect::<PathBuf>();
        let failed = |error: io::Error| {
            Failure::refused(format!("{}: {error}", shown(standing, &path)))
                .hint("A path is a file of scenarios, or a folder to look for *.test.toml in")
        };
        if fs::metadata(&path).map_err(failed)?.is_dir() {
            below(&path, &mut found).map_err(failed)?;
        } else {
            found.push(path);
        }
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::refused(format!("{}: there is no *{EXTENSION} here, nor below", places.join(", ")))
            .hint("host/testing/SCENARIO.md says how to write one; --from-run makes one of a recorded run"));
    }
    Ok(found)
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_string_lossy();
        if kind.is_dir() && !name.starts_with('.') && !LEFT_OUT.contains(&&*name) {
            below(&entry.path(), found)?;
        } else if kind.is_file() && name.ends_with(EXTENSION) {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// The scenarios whose name, or whose file's, has the text in it.
pub(super) fn wanted<'a>(
    standing: &Path,
    files: &'a [ScenarioFile],
    filter: Option<&str>,
) -> Result<Vec<(&'a ScenarioFile, &'a Case)>, Failure> {
    let all = files.iter().flat_map(|file| file.cases.iter().map(move |case| (file, case)));
    let Some(filter) = filter else { return Ok(all.collect()) };
    let fits = |(file, case): &(&ScenarioFile, &Case)| {
        case.name.contains(filter) || shown(standing, &file.path).contains(filter)
    };
    let wanted: Vec<_> = all.clone().filter(fits).collect();
    if wanted.is_empty() {
        return Err(Failure::refused(format!("--filter {filter}: none of {} scenarios is called so", all.count()))
            .hint("It is any part of a scenario's name, or of its file's"));
    }
    Ok(wanted)
}

/// A path as a person who stands there would write it.
pub(super) fn shown(standing: &Path, path: &Path) -> String {
    path.strip_prefix(standing).unwrap_or(path).display().to_string()
}
