//! Makes Python's runner: a virtual environment in a temporary folder, componentize-py in it, and the sources that this program carries.

use std::{
    fs, io,
    process::{Command, Stdio},
};

use crate::exit::Failure;

include!(concat!(env!("OUT_DIR"), "/python.rs"));

/// Lines of a program that failed which are shown.
const LAST: usize = 12;
/// In `build.py`, which knows how componentize-py is called, and so of which version.
const VERSION: &str = "\nVERSION = \"";

/// The digest of all that the runner is made of, in hexadecimal digits.
pub(crate) fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, text) in SOURCES {
        for part in [path, text] {
            // Each with its length, so that no two lists of files run into one another.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
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
    let python = environment.join("bin/python");
    let package = format!("componentize-py=={}", version());

    say("making a virtual environment with python3");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).current_dir(folder.path()).run();
    made.map_err(|failed| match failed {
        Failed::NotFound => Failure::failed("python3 is not on PATH").hint(
            "Install Python 3.10 or later, or take a runner that was built elsewhere: flowhost runner install python --from FILE",
        ),
        Failed::Said(said) => Failure::failed(format!("python3 -m venv failed:\n{said}"))
            .hint("On Debian and Ubuntu it is in a package of its own: apt install python3-venv"),
    })?;

    say(&format!("installing {package} from the package index"));
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", &package]);
    pip.current_dir(folder.path()).run().map_err(|failed| {
        Failure::failed(format!("{package} was not installed:\n{failed}")).hint(
            "It wants the network and Python 3.10 or later on Linux or macOS; a runner that was built elsewhere needs neither: \
             flowhost runner install python --from FILE",
        )
    })?;

    say("building the component");
    let built = folder.path().join("runner.wasm");
    let mut build = Command::new(&python);
    build.arg("build.py").arg("runner").arg(&built).arg("wit").current_dir(folder.path());
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

/// Why a program did not do its part.
enum Failed {
    NotFound,
    /// The last that it said.
    Said(String),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Self::NotFound => "there is no such program",
            Self::Said(said) => said,
        })
    }
}

trait Run {
    /// Runs it to its end, silently.
    fn run(&mut self) -> Result<(), Failed>;
}

impl Run for Command {
    fn run(&mut self) -> Result<(), Failed> {
        let output = self.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failed::NotFound,
            _ => Failed::Said(error.to_string()),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST)..].join("\n");
        Err(Failed::Said(if last.is_empty() { output.status.to_string() } else { last }))
    }
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

    #[test]
    fn a_program_that_fails_is_quoted_at_its_end() {
        let Err(Failed::Said(said)) = Command::new("sh").args(["-c", "seq 30; echo why >&2; exit 3"]).run() else {
            panic!("it did not fail")
        };
        assert_eq!(said.lines().count(), LAST);
        assert_eq!(said.lines().last(), Some("why"));
        assert!(matches!(Command::new("no-such-program-of-flowhost").run(), Err(Failed::NotFound)));
    }
}
