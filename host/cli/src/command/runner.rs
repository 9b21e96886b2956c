//! `flowhost runner install`, `list` and `remove`: the components that run flows of source text.

use std::{collections::BTreeMap, fs, path::Path, time::Instant};

use flowhost_core::run::Flow as _;
use flowhost_engine::{Engine, Limits, Options, Source};
use serde_json::json;

use super::columns::columns;
use crate::{
    args::{Installable, Runner},
    exit::{Exit, Failure},
    project,
    render::figures,
    runner::{self, Kept, Shelf, python},
    source::Language,
    terminal,
};

/// Says on stderr what it is doing, and writes to stdout what was asked for.
pub(super) fn run(args: &Runner) -> anyhow::Result<Exit> {
    match args {
        Runner::Install { language, from } => install((*language).into(), from.as_deref()),
        Runner::List { json } => list(*json),
        Runner::Remove { language } => remove((*language).into()),
    }
}

fn install(language: Language, from: Option<&Path>) -> anyhow::Result<Exit> {
    let shelf = runner::shelf()?;
    let hold = shelf.hold(waits)?;
    // Somebody else may have made it while this waited. One that is damaged is made again.
    if from.is_none() && matches!(shelf.read(), Ok(Some(_))) {
        terminal::say(&format!("The runner for {language} is installed: {}", shelf.path().display()));
        return Ok(Exit::Answered);
    }
    let began = Instant::now();
    let component = match from {
        Some(file) => fs::read(file).map_err(|error| Failure::refused(format!("{}: {error}", file.display())))?,
        None => python::build(&mut |what| terminal::say(&format!("{what} …")))?,
    };
    terminal::say("compiling and trying it …");
    let source = from.map_or_else(|| "what was built".into(), |file| file.display().to_string());
    try_it(component.clone()).map_err(|failure| failure.about(&source))?;
    let path = shelf.put(&hold, &component)?;
    let gone = shelf.clear(&hold, false)?;
    if !gone.is_empty() {
        terminal::say(&format!("took away {} of other versions", figures::counted(gone.len() as u64, "runner")));
    }
    let took = figures::time(began.elapsed());
    terminal::say(&format!("The runner for {language} is installed after {took}: {}", path.display()));
    Ok(Exit::Answered)
}

fn waits() {
    terminal::say("waiting for another that installs or removes …");
}

/// Compiles a runner, which the first flow is then spared, and has it describe a flow.
fn try_it(component: Vec<u8>) -> Result<(), Failure> {
    let hint = "A runner is built by `flowhost runner install`, of the same version of flowhost";
    if !component.starts_with(b"\0asm") {
        return Err(Failure::refused("these bytes are not WebAssembly at all").hint(hint));
    }
    let unready = |error: std::io::Error| Failure::failed(error.to_string());
    let runtime = super::runtime().map_err(unready)?;
    let _guard = runtime.enter();
    let options = Options { cache: project::cache(), limits: Limits::default() };
    let engine = Engine::new(options).map_err(|error| Failure::refused(error.to_string()))?;
    let (name, text) = python::TRIAL;
    let main = format!("{name}.py");
    let source = Source::new(main.clone(), BTreeMap::from([(main, text.as_bytes().to_vec())]));
    let described = runtime.block_on(engine.load_source(&flowhost_engine::Runner::of(component), source));
    let described =
        described.map_err(|error| Failure::refused(format!("it runs no Python flows: {error}")).hint(hint))?;
    if described.manifest().name == name {
        return Ok(());
    }
    Err(Failure::refused(format!("it describes a flow called {name} as {}", described.manifest().name)).hint(hint))
}

fn list(json: bool) -> anyhow::Result<Exit> {
    let mut rows = vec![["LANGUAGE", "FOR", "SIZE", "WHERE"].map(String::from).to_vec()];
    let mut lines = String::new();
    for installable in <Installable as clap::ValueEnum>::value_variants() {
        let language = Language::from(*installable);
        for Kept { path, size, wanted } in runner::shelf()?.kept()? {
            let object = json!({ "language": language.name(), "current": wanted, "size": size, "path": path });
            lines.push_str(&format!("{object}\n"));
            let whose = if wanted { "this flowhost" } else { "another version" };
            rows.push(vec![
                language.name().into(),
                whose.into(),
                format!("{} MB", size.div_ceil(1_000_000)),
                path.display().to_string(),
            ]);
        }
    }
    if json {
        terminal::print(&lines)?;
    } else if rows.len() == 1 {
        terminal::say("No runner is installed. `flowhost runner install python` makes Python's.");
    } else {
        terminal::print(&columns(&rows))?;
    }
    Ok(Exit::Answered)
}

fn remove(language: Language) -> anyhow::Result<Exit> {
    let shelf: Shelf = runner::shelf()?;
    let gone = shelf.clear(&shelf.hold(waits)?, true)?;
    if gone.is_empty() {
        terminal::say(&format!("There is no runner for {language}."));
    }
    for Kept { path, .. } in gone {
        terminal::say(&format!("took away {}", path.display()));
    }
    Ok(Exit::Answered)
}
