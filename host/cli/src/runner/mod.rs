//! The components that run source text, one a language.
//!
//! JavaScript's is part of this program, and so is what makes JavaScript of TypeScript. Python's is 28 MB, so it is not: it is made on the
//! machine once, from sources that are, and kept under the name of their digest. Another version of the program makes its own.

pub(crate) mod python;
mod shelf;

use flowhost_engine::{Engine, LoadError, Runner, Source};

use crate::{built_in::runners, exit::Failure, project, source::Language};
pub(crate) use shelf::{Kept, Shelf};

/// The runner of a language. One that was installed is read where it was not compiled before, and held to the digest that was written down then.
pub(crate) fn of(language: Language) -> Result<Runner, Failure> {
    match language {
        Language::JavaScript | Language::TypeScript => Ok(Runner::of(runners::RUNNER)),
        Language::Python => installed(shelf()?),
    }
}

/// Source as the runner of its language takes it: of one that has types, without them.
pub(crate) async fn plain(engine: &Engine, language: Language, source: Source) -> Result<Source, LoadError> {
    match language {
        Language::TypeScript => engine.strip(&Runner::of(runners::TYPESCRIPT), source).await,
        Language::JavaScript | Language::Python => Ok(source),
    }
}

fn installed(shelf: Shelf) -> Result<Runner, Failure> {
    if let Some(digest) = shelf.digest()? {
        let read = move || match shelf.read() {
            Ok(Some(runner)) => Ok(runner),
            Ok(None) => Err(format!("{}: it was taken away meanwhile", shelf.path().display())),
            Err(failure) => Err(failure.to_string()),
        };
        return Ok(Runner::kept(digest, read));
    }
    let message = if shelf.kept()?.is_empty() {
        "there is no runner for Python on this machine"
    } else {
        "the runner for Python on this machine is another version's"
    };
    Err(Failure::refused(message).hint("`flowhost runner install python` makes it"))
}

/// Where Python's runner is kept.
pub(crate) fn shelf() -> Result<Shelf, Failure> {
    let folder = project::user_runners()
        .ok_or_else(|| Failure::refused("nobody says where runners are kept: neither XDG_DATA_HOME nor HOME is set"))?;
    Ok(Shelf::new(folder, Language::Python.name(), &python::digest()))
}
