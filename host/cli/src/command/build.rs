//! `flowhost build [PATH]`: turns a flow into a component, and shows what it is.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context as _;
use flowhost_core::run::Flow as _;
use flowhost_engine::{Component, Engine, Limits, Options};
use serde_json::json;

use super::describe;
use crate::{
    args::Build,
    build::{Project, Workshop},
    catalog::{self, Loaded},
    escape,
    exit::{Exit, Failure},
    project,
    refs::Origin,
    render::figures,
    terminal,
};

/// The name of a file of a flow that is a folder: what is called so is found before what it was built from.
const IN_FOLDER: &str = "flow";

/// What it is goes to stdout, how it is made to stderr.
pub(super) fn run(args: &Build) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let flow = Project::at(path)?;
    args.out.as_deref().map_or(Ok(()), writable)?;
    let runtime = super::runtime()?;
    let _guard = runtime.enter();
    let options = Options { cache: project::cache(), limits: Limits::default() };
    let engine = Engine::new(options).map_err(|error| Failure::refused(error.to_string()))?;
    let mut say = |what: &str| terminal::say(&format!("{what} …"));
    let bytes = flow.build(&mut Workshop { engine: &engine, runtime: &runtime, say: &mut say })?;
    let size = bytes.len() as u64;
    let loaded = runtime.block_on(engine.load(bytes.clone()));
    let component = loaded.map_err(|error| catalog::unusable(&path.display().to_string(), &error))?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => flow.folder().join(file_name(&component, flow.folder())),
    };
    write(&out, &bytes)?;
    show(args, &out, size, component)?;
    if !args.json {
        let took = figures::time(began.elapsed());
        terminal::say(&format!(
            "\n{} · {} · built in {took}",
            shown(&out),
            format_args!("{} bytes", figures::count(size))
        ));
    }
    Ok(Exit::Answered)
}

/// `NAME.wasm`, by the name that the flow declares.
fn file_name(component: &Component, folder: &Path) -> String {
    let name = &component.manifest().name;
    let folder = fs::canonicalize(folder).ok().and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
    match folder {
        // In a folder, `flow.wasm` would be found before the source from then on.
        Some(folder) if name == IN_FOLDER && folder != IN_FOLDER => format!("{folder}.wasm"),
        _ => format!("{name}.wasm"),
    }
}

/// Refuses what is not to be replaced by a component: nothing else ends as they do.
fn writable(out: &Path) -> Result<(), Failure> {
    let shown = out.display();
    if out.extension().is_none_or(|ends| ends != "wasm") {
        return Err(Failure::refused(format!("--out {shown}: a component's file ends in .wasm"))
            .hint(format!("--out {}", out.with_extension("wasm").display())));
    }
    match fs::symlink_metadata(out) {
        Ok(found) if !found.is_file() => {
            Err(Failure::refused(format!("--out {shown}: there is something that is no file"))
                .hint("Name a file that is to be written, or replaced"))
        }
        _ => Ok(()),
    }
}

/// Whole or not at all: who runs it meanwhile has the old one.
fn write(out: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let unwritten = |error: std::io::Error| {
        Failure::failed(format!("{}: {error}", out.display())).hint("--out FILE says where else it is to be written")
    };
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new().prefix(".flowhost-build-").tempfile_in(folder).map_err(unwritten)?;
    draft.write_all(bytes).map_err(unwritten)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    draft.as_file().set_permissions(mode).map_err(unwritten)?;
    draft.persist(out).map_err(|error| unwritten(error.error))?;
    Ok(())
}

fn show(args: &Build, out: &Path, size: u64, component: std::sync::Arc<Component>) -> anyhow::Result<()> {
    let text = if args.json {
        let object = json!({
            "path": out,
            "name": component.manifest().name,
            "size": size,
            "digest": &**component.digest(),
            "imports": component.imports(),
            "manifest": component.manifest(),
        });
        escape::json(&object.to_string()) + "\n"
    } else {
        let origin = Origin::Path(PathBuf::from(shown(out)));
        describe::flow(&Loaded { component, origin, shadows: false })
    };
    terminal::print(&text).context("stdout")
}

/// As a person writes it who means the file: a bare name would be that of a flow.
fn shown(out: &Path) -> String {
    let text = out.display().to_string();
    if text.contains('/') { text } else { format!("./{text}") }
}
