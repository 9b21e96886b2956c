//! A flow that is source text, and `source`: what its runner reads of it.

use std::{collections::BTreeMap, sync::Arc};

use flowhost_core::manifest::Manifest;
use serde::Deserialize;
use wasmtime::Result;

use crate::{
    bindings::flowhost::flow::{source, types},
    compile::LoadError,
    host::Answered,
    store::State,
    stripper::Files,
};

/// The interface that only runners may import.
pub(crate) const INTERFACE: &str = "flowhost:flow/source@";

/// The files of a flow that is source text, as they were when they were read: its own, and those beside it that it may import.
/// The flow sees these and no others, so what was consented to is what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    main: String,
    files: BTreeMap<String, Vec<u8>>,
    stripped: Option<Stripped>,
}

/// Files of a flow without their types: what its runner reads in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stripped {
    /// The digest of what took them out.
    pub(crate) by: Arc<str>,
    pub(crate) files: Files,
}

impl Source {
    /// Of these files, by name; `main` is the name of the flow's own.
    pub fn new(main: impl Into<String>, files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { main: main.into(), files, stripped: None }
    }

    /// The name of the flow's own file.
    pub fn main(&self) -> &str {
        &self.main
    }

    /// All files as their author wrote them, each by its name, in order of name.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// The same, where some of its files are read without their types.
    pub(crate) fn stripped(self, stripped: Stripped) -> Self {
        Self { stripped: Some(stripped), ..self }
    }

    /// The files as they are read when it runs, as if their author had written them so. What is wrong with its types is left out.
    #[must_use]
    pub fn as_read(&self) -> Self {
        let mut files = self.files.clone();
        for (name, stripped) in self.stripped.iter().flat_map(|stripped| &stripped.files) {
            match stripped {
                Ok(text) => drop(files.insert(name.clone(), text.clone().into_bytes())),
                Err(_) => drop(files.remove(name)),
            }
        }
        Self { main: self.main.clone(), files, stripped: None }
    }

    /// BLAKE3 of the digests of what runs it and of every file as its author wrote it, in hexadecimal digits.
    pub(crate) fn digest(&self, runner: &str) -> Arc<str> {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            // Each with its length, so that no two lists of parts run into one another.
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(b"flowhost source");
        part(runner.as_bytes());
        part(self.stripped.as_ref().map_or("", |stripped| &stripped.by).as_bytes());
        part(self.main.as_bytes());
        for (name, bytes) in &self.files {
            part(name.as_bytes());
            part(bytes);
        }
        hasher.finalize().to_hex().as_str().into()
    }

    /// Bytes of all files.
    pub(crate) fn size(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Names of its files, its own first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let others = self.files.keys().filter(|name| **name != self.main);
        std::iter::once(&self.main).chain(others).map(String::as_str)
    }
}

/// What a runner gives as manifest where it cannot: why, in the words of its language, with the author's own file and line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unreadable {
    error: String,
}

/// The manifest that a runner gave.
pub(crate) fn manifest(json: &str) -> Result<Manifest, LoadError> {
    match serde_json::from_str(json) {
        Ok(Unreadable { error }) => Err(LoadError::Source(error)),
        Err(_) => Manifest::read(json).map_err(LoadError::Manifest),
    }
}

impl State {
    fn source(&self, call: &str) -> Result<&Source> {
        match &self.source {
            Some(source) => Ok(source),
            None => wasmtime::bail!("{call} is for runners of source text"),
        }
    }
}

impl source::Host for State {
    fn main(&mut self) -> Result<String> {
        Ok(self.source("source.main")?.main.clone())
    }

    fn read(&mut self, path: String) -> Answered<Vec<u8>> {
        let source = self.source("source.read")?;
        if let Some(stripped) = source.stripped.as_ref().and_then(|stripped| stripped.files.get(&path)) {
            let wrong = |message: &String| types::Error { kind: types::ErrorKind::Failed, message: message.clone() };
            return Ok(stripped.as_ref().map(|text| text.clone().into_bytes()).map_err(wrong));
        }
        Ok(source.files.get(&path).cloned().ok_or_else(|| types::Error {
            kind: types::ErrorKind::Env(types::EnvFault::NotFound),
            message: format!("{path}: no such file beside the flow"),
        }))
    }
}
