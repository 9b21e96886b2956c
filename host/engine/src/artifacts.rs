//! Machine code of runners, kept as files that are mapped instead of read.
//!
//! wasmtime's own cache holds its files compressed, which suits the many components that are flows. A runner brings an engine of its language:
//! unpacking 12 to 60 MB is most of what a flow of source text would wait for. Here its code lies as it runs, one file a runner and engine.
//! What is mapped is trusted as that cache is: this host has written it, in a directory of the person's own.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use wasmtime::component::Component;

/// Files of a folder. The two languages have a runner each; more are those of other versions of this program.
const KEPT: usize = 6;
const EXTENSION: &str = "code";

/// Where they are kept.
pub(crate) struct Artifacts {
    folder: PathBuf,
}

impl Artifacts {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file for the component of this digest, as this engine compiles it.
    fn path(&self, engine: &wasmtime::Engine, digest: &str) -> PathBuf {
        let mut settings = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut settings);
        let digest = digest.get(..32).unwrap_or(digest);
        self.folder.join(format!("{digest}-{:016x}.{EXTENSION}", settings.finish()))
    }

    /// It, where it was compiled before. What cannot be used is as if it were not there.
    #[expect(unsafe_code, reason = "code that was compiled is run; only what this host wrote is")]
    pub(crate) fn open(&self, engine: &wasmtime::Engine, digest: &str) -> Option<Component> {
        let path = self.path(engine, digest);
        if !is_file(&path) {
            return None;
        }
        // SAFETY: only this host writes to the folder, and replaces files there whole. wasmtime itself refuses what another version of it,
        // or one with other settings, has compiled.
        let opened = unsafe { Component::deserialize_file(engine, &path) }.ok()?;
        touch(&path);
        Some(opened)
    }

    /// Keeps what was compiled for the next process. That it cannot be kept costs time and nothing else.
    pub(crate) fn keep(&self, engine: &wasmtime::Engine, digest: &str, code: &[u8]) {
        let path = self.path(engine, digest);
        if write(&self.folder, &path, code).is_ok() {
            let _ = forget_the_oldest(&self.folder);
        }
    }
}

/// Whole or not at all, and on the disk before it has its name: a file that a power failure tore would be run.
#[expect(clippy::disallowed_methods, reason = "the cache of code is the engine's own, beside wasmtime's")]
fn write(folder: &Path, path: &Path, code: &[u8]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let draft = path.with_extension(std::process::id().to_string());
    let written = std::fs::File::create(&draft)
        .and_then(|mut file| {
            file.write_all(code)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// What is none might never be opened.
#[expect(clippy::disallowed_methods, reason = "the cache of code is the engine's own, beside wasmtime's")]
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// It was used now, so it is not the oldest.
#[expect(clippy::disallowed_methods, reason = "the cache of code is the engine's own, beside wasmtime's")]
fn touch(path: &Path) {
    if let Ok(file) = std::fs::File::open(path) {
        let _ = file.set_modified(std::time::SystemTime::now());
    }
}

#[expect(clippy::disallowed_methods, reason = "the cache of code is the engine's own, beside wasmtime's")]
fn forget_the_oldest(folder: &Path) -> io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == EXTENSION) {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    kept.sort();
    let surplus = kept.len().saturating_sub(KEPT);
    for (_, path) in kept.into_iter().take(surplus) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "(component (core module (func (export \"f\"))))";

    fn engine(fuel: bool) -> wasmtime::Engine {
        let mut config = wasmtime::Config::new();
        config.consume_fuel(fuel);
        wasmtime::Engine::new(&config).unwrap()
    }

    fn compiled(engine: &wasmtime::Engine) -> Vec<u8> {
        engine.precompile_component(&wat::parse_str(TEXT).unwrap()).unwrap()
    }

    #[test]
    fn what_was_compiled_is_found_by_its_digest_and_engine() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::new(folder.path().join("runners"));
        let (one, other) = (engine(false), engine(true));
        assert!(artifacts.open(&one, "d1").is_none());
        artifacts.keep(&one, "d1", &compiled(&one));
        assert!(artifacts.open(&one, "d1").is_some());
        assert!(artifacts.open(&one, "d2").is_none());
        assert!(artifacts.open(&other, "d1").is_none(), "it was compiled for another engine");
        artifacts.keep(&other, "d1", &compiled(&other));
        assert!(artifacts.open(&one, "d1").is_some() && artifacts.open(&other, "d1").is_some());
    }

    #[test]
    fn what_is_no_code_is_as_if_it_were_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::new(folder.path().to_owned());
        let engine = engine(false);
        for bytes in [&b""[..], b"words", &compiled(&engine)[..100]] {
            artifacts.keep(&engine, "d1", bytes);
            assert!(artifacts.open(&engine, "d1").is_none());
        }
    }

    #[test]
    fn only_the_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::new(folder.path().to_owned());
        let engine = engine(false);
        let code = compiled(&engine);
        for number in 0..KEPT + 2 {
            artifacts.keep(&engine, &format!("d{number}"), &code);
            assert!(artifacts.open(&engine, "d0").is_some(), "it is used all the time");
        }
        let there = (0..KEPT + 2).filter(|number| artifacts.open(&engine, &format!("d{number}")).is_some()).count();
        assert_eq!(there, KEPT);
        assert!(artifacts.open(&engine, "d1").is_none());
    }
}
