//! Flows in Rust: a package of cargo's that makes one component.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;
use toml_edit::DocumentMut;

use super::parent;
use crate::exit::Failure;

/// The SDK's files, by their paths.
mod sdk {
    include!(concat!(env!("OUT_DIR"), "/rust.rs"));

    pub(super) fn files() -> &'static [(&'static str, &'static str)] {
        SOURCES
    }
}

/// The SDK's crates and all that they need, as `Cargo.lock` has them.
pub(crate) static LOCKED: &str = include_str!(concat!(env!("OUT_DIR"), "/sdk.lock"));
/// What flows are compiled for.
const TARGET: &str = "wasm32-wasip2";
/// Where the SDK is put in a package that looks for it there.
const SDK: &str = "target/flowhost-sdk";
/// The crate of it that flows depend on.
const CRATE: &str = "guest-sdk/rust";
/// The digest of the files, in their folder: which SDK it is.
const STAMP: &str = "digest";

/// Runs cargo; its own progress and errors are the person's to see.
pub(super) fn build(manifest: &Path, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>, Failure> {
    let shown = manifest.display();
    let manifest = fs::canonicalize(manifest).map_err(|error| Failure::refused(format!("{shown}: {error}")))?;
    let folder = parent(&manifest);
    put_sdk(&manifest, folder)?;
    ensure_target(folder, say)?;

    let mut cargo = Command::new("cargo");
    cargo.args([
        "build",
        "--release",
        "--target",
        TARGET,
        "--message-format=json-render-diagnostics",
        "--manifest-path",
    ]);
    cargo.arg(&manifest).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = cargo.spawn().map_err(|error| no_cargo(&error))?;
    let mut components = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        let line = line.map_err(|error| Failure::failed(format!("cargo: {error}")))?;
        // Other lines than those of artifacts are of no interest, and new kinds may come.
        if let Ok(Message::CompilerArtifact { manifest_path, filenames }) = serde_json::from_str(&line)
            && manifest_path == manifest
        {
            components.extend(filenames.into_iter().filter(|name| name.extension().is_some_and(|ends| ends == "wasm")));
        }
    }
    let status = child.wait().map_err(|error| Failure::failed(format!("cargo: {error}")))?;
    if !status.success() {
        return Err(Failure::failed(format!("{shown}: cargo ended with {status}; what it says stands above")));
    }
    let component = match &components[..] {
        [component] => component,
        [] => {
            return Err(Failure::refused(format!("{shown}: it makes no component"))
                .hint("A flow is a package with `crate-type = [\"cdylib\"]` under [lib]; of a workspace, name the flow's own folder"));
        }
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            return Err(Failure::refused(format!("{shown}: it makes several components: {}", names.join(", ")))
                .hint("A flow is a package with one library and no programs"));
        }
    };
    fs::read(component).map_err(|error| Failure::failed(format!("{}: {error}", component.display())))
}

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact { manifest_path: PathBuf, filenames: Vec<PathBuf> },
}

fn no_cargo(error: &std::io::Error) -> Failure {
    Failure::failed(format!("cargo did not start: {error}")).hint("Rust is installed by rustup: https://rustup.rs")
}

/// Adds the target's standard library where the toolchain of this folder does not have it.
fn ensure_target(folder: &Path, say: &mut dyn FnMut(&str)) -> Result<(), Failure> {
    if has_target(folder)? {
        return Ok(());
    }
    say(&format!("adding the target {TARGET} by rustup"));
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(folder).output();
    let why = match added {
        Ok(output) if output.status.success() && has_target(folder)? => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("rustup did not start: {error}"),
    };
    Err(Failure::failed(format!("this Rust has no standard library for {TARGET}, and it was not added: {why}"))
        .hint(format!("`rustup target add {TARGET}` does it, or the package for it of where this Rust comes from")))
}

/// Whether the compiler has it. `rustc` names the folder also where it is not there.
fn has_target(folder: &Path) -> Result<bool, Failure> {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).current_dir(folder).output();
    let output = asked.map_err(|error| no_cargo(&error))?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Puts the SDK into a package that depends on it there, and leaves any other alone.
fn put_sdk(manifest: &Path, folder: &Path) -> Result<(), Failure> {
    let unread = |why: String| Failure::refused(format!("{}: {why}", manifest.display()));
    let text = fs::read_to_string(manifest).map_err(|error| unread(error.to_string()))?;
    let Ok(document) = text.parse::<DocumentMut>() else { return Ok(()) };
    let wanted = document.get("dependencies").and_then(|all| all.get("flowhost-sdk")?.get("path")?.as_str());
    if wanted != Some(&format!("{SDK}/{CRATE}")) {
        return Ok(());
    }
    let place = folder.join(SDK);
    let digest = digest();
    if fs::read_to_string(place.join(STAMP)).is_ok_and(|stamp| stamp == digest) {
        return Ok(());
    }
    let unwritten = |error: std::io::Error| Failure::failed(format!("{}: {error}", place.display()));
    let target = parent(&place);
    fs::create_dir_all(target).map_err(unwritten)?;
    // Whole or not at all: made beside it, then put in its place.
    let draft = tempfile::Builder::new().prefix("flowhost-sdk-").tempdir_in(target).map_err(unwritten)?;
    for (path, text) in sdk::files().iter().copied().chain([(STAMP, digest.as_str())]) {
        let path = draft.path().join(path);
        fs::create_dir_all(parent(&path)).and_then(|()| fs::write(&path, text)).map_err(unwritten)?;
    }
    if place.exists() {
        fs::remove_dir_all(&place).map_err(unwritten)?;
    }
    fs::rename(draft.path(), &place).map_err(unwritten)
}

fn digest() -> String {
    crate::tool::digest(sdk::files())
}

/// What a package that is to find the SDK there depends on.
pub(crate) fn dependency() -> String {
    format!("flowhost-sdk = {{ path = \"{SDK}/{CRATE}\" }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(dependency: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), format!("[dependencies]\n{dependency}\n")).unwrap();
        folder
    }

    #[test]
    fn the_sdk_is_put_where_the_package_looks_for_it_and_nowhere_else() {
        let mine = package(&dependency());
        let put = |folder: &Path| put_sdk(&folder.join("Cargo.toml"), folder).unwrap();
        put(mine.path());
        let sdk = mine.path().join(SDK);
        for file in ["Cargo.toml", "guest-sdk/rust/Cargo.toml", "guest-sdk/rust/macros/src/lib.rs", "wit/world.wit"] {
            assert!(sdk.join(file).is_file(), "{file}");
        }
        let manifest = fs::read_to_string(sdk.join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("host/*") && !manifest.contains("[profile"), "{manifest}");
        assert!(!sdk.join("guest-sdk/rust/build").exists());

        // The same again is left alone, another version's is replaced.
        fs::write(sdk.join("guest-sdk/mark"), "").unwrap();
        put(mine.path());
        assert!(sdk.join("guest-sdk/mark").exists());
        fs::write(sdk.join(STAMP), "another").unwrap();
        put(mine.path());
        assert!(!sdk.join("guest-sdk/mark").exists());
        assert_eq!(fs::read_dir(mine.path().join("target")).unwrap().count(), 1, "nothing is left of the making");

        let other = package("flowhost-sdk = { path = \"../sdk\" }");
        put(other.path());
        assert!(!other.path().join("target").exists());
    }

    #[test]
    fn what_is_locked_is_all_that_the_sdk_needs() {
        assert!(LOCKED.contains("name = \"flowhost-sdk\"") && LOCKED.contains("name = \"wit-bindgen\""));
        assert!(!LOCKED.contains("name = \"wasmtime\"") && !LOCKED.contains("name = \"flowhost-engine\""));
    }
}
