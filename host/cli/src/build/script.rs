//! Flows of source text: their runner with the source inside.

use std::path::Path;

use flowhost_core::run::Flow as _;

use super::{Workshop, bind, files};
use crate::{
    catalog,
    exit::Failure,
    runner,
    source::{self, Language},
};

/// The component. It declares what the file declares, and imports what lay beside it when it was built.
pub(super) fn build(main: &Path, language: Language, workshop: &mut Workshop<'_>) -> Result<Vec<u8>, Failure> {
    let shown = main.display().to_string();
    let source = source::read(main, language).map_err(|error| Failure::refused(format!("{shown}: {error}")))?;
    let runner = runner::of(language).map_err(|failure| failure.about(&shown))?;
    // As a file first: what is wrong with it is said in the words of its language, with its line.
    (workshop.say)("reading what it declares");
    let engine = workshop.engine;
    let source = workshop.runtime.block_on(runner::plain(engine, language, source));
    let source = source.map_err(|error| catalog::unusable(&shown, &error))?;
    let described = workshop.runtime.block_on(engine.load_source(&runner, source.clone()));
    let described = described.map_err(|error| catalog::unusable(&shown, &error))?;
    (workshop.say)("putting its files into the runner");
    let unmade = |why: String| Failure::failed(format!("{shown}: {why}"));
    let bytes = runner.bytes().map_err(|error| catalog::unusable(&shown, &error))?;
    let component = bind::bind(&bytes, &files::component_of(&source.as_read())?).map_err(unmade)?;
    (workshop.say)("compiling it");
    let bound = workshop.runtime.block_on(engine.load(component.clone()));
    let bound = bound.map_err(|error| unmade(format!("the component cannot be used: {error}")))?;
    if bound.manifest() != described.manifest() {
        return Err(unmade("the component declares something else than the file; this is a bug of flowhost".into()));
    }
    Ok(component)
}
