//! The components that run source text, one a language.

use std::{borrow::Cow, fs, io};

use crate::{built_in::runners, exit::Failure, project, source::Language};

/// The runner of a language: JavaScript's is part of the program, Python's is installed.
pub(crate) fn of(language: Language) -> Result<Cow<'static, [u8]>, Failure> {
    match language {
        Language::JavaScript => Ok(Cow::Borrowed(runners::RUNNER)),
        Language::Python => installed(language).map(Cow::Owned),
    }
}

fn installed(language: Language) -> Result<Vec<u8>, Failure> {
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
