//! The files of scenarios: their texts, the components that they name, and the folders that they bring.
#![allow(clippy::disallowed_methods, reason = "a scenario, and what lies beside it, is the tester's own")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Bytes that a scenario may take from one folder, and a file of its may have: it is kept in memory.
const LARGEST: u64 = 64 << 20;

/// The bytes of a file. What is no regular file might never end, and one of more than [`LARGEST`] bytes is none of these.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    if found.len() > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {} MiB", LARGEST >> 20)));
    }
    fs::read(path)
}

/// The files below a folder by their paths from it, `/` between names, in order. Links are not followed.
///
/// Fails where it is no folder, a name is not UTF-8, or there is more than [`LARGEST`] bytes.
pub(crate) fn folder(folder: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut left = LARGEST;
    let mut todo = vec![(folder.to_owned(), String::new())];
    while let Some((directory, prefix)) = todo.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::other(format!("{}: a name that is not UTF-8", directory.join(name).display()))
            })?;
            let (path, kind) = (format!("{prefix}{name}"), entry.file_type()?);
            if kind.is_dir() {
                todo.push((entry.path(), format!("{path}/")));
            } else if kind.is_file() {
                let size = entry.metadata()?.len();
                left = left.checked_sub(size).ok_or_else(|| {
                    io::Error::other(format!("{}: more than {} MiB", folder.display(), LARGEST >> 20))
                })?;
                found.push((path, fs::read(entry.path())?));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path from a file, where it is not absolute.
pub(crate) fn beside(file: &Path, path: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}
