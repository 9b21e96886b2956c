//! Virtual environments of Python with one package in them.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    exit::Failure,
    tool::{Failed, Run as _},
};

/// Makes one in a folder that is not there yet; gives its Python. `package` is as pip takes it, `otherwise` what can be done where there is
/// no Python and no package index. `say` is told what begins.
///
/// # Errors
/// Where Python, its `venv` or the package index fail: with their own last lines and what to do.
pub(crate) fn make(
    environment: &Path,
    package: &str,
    otherwise: &str,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf, Failure> {
    let folder = environment.parent().unwrap_or(environment);
    let python = environment.join("bin/python");

    say("making a virtual environment with python3");
    let made = Command::new("python3").args(["-m", "venv"]).arg(environment).current_dir(folder).run();
    made.map_err(|failed| match failed {
        Failed::NotFound => Failure::failed("python3 is not on PATH")
            .hint(format!("Install Python 3.10 or later with the package index in reach; {otherwise}")),
        Failed::Said(said) => Failure::failed(format!("python3 -m venv failed:\n{said}"))
            .hint("On Debian and Ubuntu it is in a package of its own: apt install python3-venv"),
    })?;

    say(&format!("installing {package} from the package index"));
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", package]);
    pip.current_dir(folder).run().map_err(|failed| {
        Failure::failed(format!("{package} was not installed:\n{failed}"))
            .hint(format!("It wants the network and Python 3.10 or later on Linux or macOS; {otherwise}"))
    })?;
    Ok(python)
}
