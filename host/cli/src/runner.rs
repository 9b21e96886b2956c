//! The components that run source text, one a language.

use std::{fs, io};

use crate::{exit::Failure, project, source::Language};

/// The runner of a language.
pub(crate) fn of(language: Language) -> Result<Vec<u8>, Failure> {
    let missing = || {
        Failure::refused(format!("there is no runner for {language} on this machine"))
            .hint(format!("`flowhost runner install {}` makes it", language.name()))
    };
    let path = project::user_runners().ok_or_else(missing)?.join(language.name()).with_extension("wasm");
    fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(),
        _ => Failure::refused(format!("{}: {error}", path.display())),
    })
}
