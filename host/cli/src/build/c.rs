//! Flows in C: compiled with the SDK by Zig's compiler, linked to a core module, and made a component.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};

use wasmparser::{Parser, Payload};

use super::{component, parent, zig::Zig};
use crate::{escape, exit::Failure, terminal, tool};

/// The SDK's files, and the contract's bindings.
mod sdk {
    include!(concat!(env!("OUT_DIR"), "/c.rs"));

    pub(super) fn files() -> &'static [(&'static str, &'static str)] {
        SOURCES
    }
}

/// That it exports and imports what a flow does.
static TYPE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/flow.type"));
/// How a flow is compiled: small, with warnings, without what nobody calls.
const FLAGS: [&str; 9] = [
    "-target",
    "wasm32-wasi",
    "-mexec-model=reactor",
    "-std=c11",
    "-Oz",
    "-Wall",
    "-Wextra",
    "-ffunction-sections",
    "-Wl,--gc-sections,--strip-all",
];
/// What a program of WASI 0.1 imports that touches files, arguments or the terminal.
const OF_THE_SYSTEM: &str = "wasi_snapshot_preview1";

/// The component. What the compiler complains of is the person's to see.
pub(super) fn build(folder: &Path, files: &[PathBuf], say: &mut dyn FnMut(&str)) -> Result<Vec<u8>, Failure> {
    let zig = Zig::find(say)?;
    let sdk = put_sdk(&zig)?;
    let unwritten = |error: io::Error| Failure::failed(format!("a temporary folder: {error}"));
    let out = tempfile::Builder::new().prefix("flowhost-build-").tempdir().map_err(unwritten)?;
    let module = out.path().join("flow.wasm");
    say("compiling it");
    let mut compiler = zig.cc(folder);
    compiler.args(FLAGS).arg("-I").arg(&sdk).args(files);
    let own = sdk::files().iter().filter(|(path, _)| path.ends_with(".c"));
    compiler.args(own.map(|(path, _)| sdk.join(path))).arg("-o").arg(&module);
    let said = compiler.stdin(Stdio::null()).output();
    let said = said.map_err(|error| {
        Failure::failed(format!("the C compiler did not start: {error}"))
            .hint("What is kept of it in $XDG_CACHE_HOME/flowhost can be removed: it is installed again")
    })?;
    // It quotes the flow and the names of its files, which may be a stranger's.
    let complaints = [said.stderr, said.stdout].concat();
    if !complaints.is_empty() {
        terminal::say(escape::block(&String::from_utf8_lossy(&complaints)).trim_end());
    }
    let shown = folder.display();
    if !said.status.success() {
        return Err(Failure::failed(format!("{shown}: it does not compile; what the compiler says stands above")));
    }
    let module = fs::read(&module).map_err(|error| Failure::failed(format!("{}: {error}", module.display())))?;
    let system = system_calls(&module);
    if !system.is_empty() {
        let message = format!("{shown}: it calls what a flow does not have: {}", system.join(", "));
        return Err(Failure::refused(message)
            .hint("Files, arguments, the clock and stdio are the system's. fh_log says a line, fh_format makes a text, fh_env_read reads a file"));
    }
    component::of_module(module, TYPE).map_err(|why| {
        Failure::refused(format!("{shown}: it makes no component: {why}")).hint("FH_FLOW declares the flow, once")
    })
}

/// Where the SDK lies, by its digest.
fn put_sdk(zig: &Zig) -> Result<PathBuf, Failure> {
    let digest = tool::digest(sdk::files());
    let place = zig.shelf(&format!("c-{}", digest.get(..16).unwrap_or(&digest)));
    if place.is_dir() {
        return Ok(place);
    }
    let unwritten = |error: io::Error| Failure::failed(format!("{}: {error}", place.display()));
    let draft = tempfile::Builder::new().prefix("c-").tempdir_in(parent(&place)).map_err(unwritten)?;
    for (path, text) in sdk::files() {
        let path = draft.path().join("sdk").join(path);
        fs::create_dir_all(parent(&path)).and_then(|()| fs::write(&path, text)).map_err(unwritten)?;
    }
    match fs::rename(draft.path().join("sdk"), &place) {
        // Somebody else was there first, with the same.
        Err(_) if place.is_dir() => Ok(place),
        moved => moved.map(|()| place.clone()).map_err(unwritten),
    }
}

/// What a module imports of the system.
fn system_calls(module: &[u8]) -> Vec<String> {
    let mut calls = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        let Ok(Payload::ImportSection(section)) = payload else { continue };
        let imports = section.into_imports().flatten();
        calls.extend(imports.filter(|import| import.module == OF_THE_SYSTEM).map(|import| import.name.to_owned()));
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sdk_is_compiled_of_is_in_the_program() {
        let paths: Vec<&str> = sdk::files().iter().map(|(path, _)| *path).collect();
        for wanted in ["flowhost.h", "src/internal.h", "src/agents.c", "src/flow.c", "src/flow.h"] {
            assert!(paths.contains(&wanted), "{wanted} is not in {paths:?}");
        }
    }

    #[test]
    fn calls_of_the_system_are_found_by_name() {
        let module = [
            &b"\0asm\x01\0\0\0"[..],
            &[1, 4, 1, 0x60, 0, 0],
            &[2, 35, 1, 22],
            b"wasi_snapshot_preview1",
            &[8],
            b"fd_write",
            &[0, 0],
        ]
        .concat();
        assert_eq!(system_calls(&module), ["fd_write"]);
        assert!(system_calls(b"no module").is_empty());
    }
}
