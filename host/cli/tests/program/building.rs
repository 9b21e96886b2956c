//! `flowhost build`, with what a person has.

use std::process::{Command, Stdio};

use super::{Done, Place, skipped};

/// A build with what a person has: a home, a Rust, an index of packages. What it compiles is kept from one test to the next.
pub fn build(place: &Place, words: &[&str]) -> Done {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowhost"));
    command.arg("build").args(words).current_dir(place.path()).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/rust"));
    // Cargo sets them for what it runs, and a person does not have them.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env_remove(name);
    }
    Done::of(command.output().unwrap())
}

/// Whether there is a C compiler for flows, or can be. Those who come together wait for one another inside.
pub fn c_is_there(done: &Done) -> bool {
    if done.exit == 1 && done.stderr.contains("python3 is not on PATH") {
        return skipped("python3");
    }
    if done.exit == 1 && done.stderr.contains("was not installed") {
        eprintln!("{}", done.stderr);
        return skipped("ziglang");
    }
    assert_eq!(done.exit, 0, "{}", done.stderr);
    true
}
