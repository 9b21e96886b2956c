//! The folder of a run: private, never reached through a link, locked for as long as its host lives.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use flowhost_core::{
    error::{Error, Result},
    id::RunId,
};

use crate::{FILE_NAME, disk::NewFile};

/// The state of a project, and what of it git is to leave alone: everything but the flows, this file too, so that a run
/// leaves a clean repository clean.
const STATE: &str = ".flowhost";
const IGNORED: &str = "# Written by flowhost. Flows are there to be committed; what runs leave is not.\n/*\n!/flows/\n";

pub(crate) fn create(runs: &Path, run: &RunId) -> Result<(PathBuf, NewFile)> {
    if !is_run_name(&run.0) {
        return Err(Error::other(format!("{:?}: not a name of a run", run.0)));
    }
    let mut made_in = Vec::new();
    if let Some(state) = runs.parent().filter(|state| !state.as_os_str().is_empty()) {
        directory(state, 0o777, &mut made_in)?;
        if state.file_name().is_some_and(|name| name == STATE) {
            ignore(state)?;
        }
    }
    // Prompts and answers are nobody else's to read.
    directory(runs, 0o700, &mut made_in)?;
    let folder = runs.join(&*run.0);
    match DirBuilder::new().mode(0o700).create(&folder) {
        Ok(()) => made_in.push(runs.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Error::other(format!("{}: there is such a run already", folder.display())));
        }
        Err(error) => return Err(refused(&folder, &error)),
    }
    let path = folder.join(FILE_NAME);
    let open = || {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        // Only somebody who lists runs could hold it, for an instant.
        file.lock()?;
        Ok(file)
    };
    let file = open().map_err(|error| refused(&path, &error))?;
    made_in.push(folder.clone());
    Ok((folder, NewFile::new(file, made_in)))
}

/// Whether a name can be a run's: letters, digits and dashes, so that it can never lead elsewhere.
pub(crate) fn is_run_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether a host holds the journal.
pub(crate) fn is_held(file: &File) -> bool {
    match file.try_lock_shared() {
        // A host that takes the run over must not find it held by one that only looked.
        Ok(()) => file.unlock().is_err(),
        Err(fs::TryLockError::WouldBlock) => true,
        // Where files cannot be locked nobody can hold one.
        Err(fs::TryLockError::Error(_)) => false,
    }
}

fn directory(path: &Path, mode: u32, made_in: &mut Vec<PathBuf>) -> Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Ok(()) => {
            made_in.extend(
                path.parent().map(|parent| if parent.as_os_str().is_empty() { ".".into() } else { parent.to_owned() }),
            );
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path).map_err(|error| refused(path, &error))?;
            if found.is_dir() {
                return Ok(());
            }
            let what =
                if found.is_symlink() { "a link, which could lead the record anywhere" } else { "not a directory" };
            Err(Error::other(format!("{}: {what}; move it away", path.display())))
        }
        Err(error) => Err(refused(path, &error)),
    }
}

fn ignore(state: &Path) -> Result<()> {
    let path = state.join(".gitignore");
    // A new name or nothing: what a person made of it stays, and a link is not followed.
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(IGNORED.as_bytes()).map_err(|error| refused(&path, &error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(refused(&path, &error)),
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "make the directory above it first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "the record of a run is kept there, so it must be writable"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on that disk",
        _ => "the record of a run is kept there",
    };
    Error::other(format!("{}: {error}; {next}", path.display()))
}
