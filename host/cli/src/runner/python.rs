//! Makes Python's runner: a virtual environment in a temporary folder, componentize-py in it, and the sources that this program carries.

use std::{fs, io, process::Command};

use crate::{
    exit::Failure,
    tool::{self, Run as _},
    venv,
};

include!(concat!(env!("OUT_DIR"), "/python.rs"));

/// In `build.py`, which knows how componentize-py is called, and so of which version.
const VERSION: &str = "\nVERSION = \"";

/// The digest of all that the runner is made of, in hexadecimal digits.
pub(crate) fn digest() -> String {
    tool::digest(SOURCES)
}

/// Builds it. `say` is told what begins, which takes up to a minute.
///
/// # Errors
/// Where Python, its `venv`, the package index or componentize-py fail: with their own last lines and what to do.
pub(crate) fn build(say: &mut dyn FnMut(&str)) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::Builder::new().prefix("flowhost-runner-").tempdir();
    let folder = folder.map_err(|error| Failure::failed(format!("a temporary folder: {error}")))?;
    let unwritten = |error: io::Error| Failure::failed(format!("{}: {error}", folder.path().display()));
    for (path, text) in SOURCES {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(unwritten)?;
        fs::write(path, text).map_err(unwritten)?;
    }
    let environment = folder.path().join("venv");
    let package = format!("componentize-py=={}", version());
    let otherwise = "a runner that was built elsewhere needs neither: flowhost runner install python --from FILE";
    let python = venv::make(&environment, &package, otherwise, say)?;

    say("building the component");
    let built = folder.path().join("runner.wasm");
    let mut build = Command::new(&python);
    build.arg("build.py").arg(&built).arg("wit").current_dir(folder.path());
    // It would take the site-packages of an environment that the person is in for its own.
    build.env_remove("VIRTUAL_ENV").env("PYTHONDONTWRITEBYTECODE", "1");
    build.run().map_err(|failed| {
        Failure::failed(format!("componentize-py failed:\n{failed}"))
            .hint("These are its own words; with another python3 first on PATH it may do")
    })?;
    fs::read(&built).map_err(|error| Failure::failed(format!("componentize-py wrote no component: {error}")))
}

fn version() -> &'static str {
    let build = SOURCES.iter().find(|(path, _)| *path == "build.py").map_or("", |(_, text)| text);
    build.split_once(VERSION).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(version, _)| version)
}

/// What a runner is asked to describe, to see that it is one: the name of a flow, and its file.
pub(crate) const TRIAL: (&str, &str) =
    ("trial", "from flowhost import flow\n\n\n@flow\nasync def trial(task, cx):\n    return task\n");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_all_that_build_py_reads() {
        let paths: Vec<&str> = SOURCES.iter().map(|(path, _)| *path).collect();
        for wanted in ["build.py", "flowhost/__init__.py", "runner/flowhost_runner.py", "wit/world.wit"] {
            assert!(paths.contains(&wanted), "{wanted} is not in {paths:?}");
        }
        assert!(!paths.iter().any(|path| path.contains("__pycache__")), "{paths:?}");
        assert!(version().starts_with("0."), "{}", version());
        assert_eq!(digest().len(), 64);
    }
}
