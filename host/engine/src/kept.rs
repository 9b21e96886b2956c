//! What is kept for the next process beside the code that wasmtime keeps: one file a digest.

#![allow(clippy::disallowed_methods, reason = "the engine's own cache, beside wasmtime's")]

use std::path::Path;

/// What was kept under this digest.
pub(crate) fn read(directory: &Path, digest: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(format!("{digest}.json"))).ok()
}

/// Keeps it. That it cannot be kept costs time and nothing else.
pub(crate) fn keep(directory: &Path, digest: &str, json: &str) {
    let draft = directory.join(format!("{digest}.{}", std::process::id()));
    let kept = std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&draft, json))
        .and_then(|()| std::fs::rename(&draft, directory.join(format!("{digest}.json"))));
    if kept.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
}
