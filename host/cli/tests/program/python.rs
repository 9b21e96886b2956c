//! What runs Python flows: installed once, as a person would.

use std::{
    process::{Command, Stdio},
    sync::OnceLock,
};

use super::{Done, skipped};

/// Where the runner is installed, once for all tests and for as long as its sources stay the same. None where there is no Python, or no
/// package index to take componentize-py from.
pub fn installed() -> Option<&'static str> {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    let data = concat!(env!("CARGO_TARGET_TMPDIR"), "/python");
    let there = INSTALLED.get_or_init(|| {
        let python = Command::new("python3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if python.is_err() {
            return skipped("python3");
        }
        // As a person would, whose settings say where the package index is.
        let mut install = Command::new(env!("CARGO_BIN_EXE_flowhost"));
        install.args(["runner", "install", "python"]);
        install.env("XDG_DATA_HOME", data).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        let done = Done::of(install.output().unwrap());
        if done.exit != 0 && done.stderr.contains("was not installed") {
            eprintln!("{}", done.stderr);
            return skipped("componentize-py");
        }
        assert_eq!(done.exit, 0, "{}", done.stderr);
        true
    });
    there.then_some(data)
}
