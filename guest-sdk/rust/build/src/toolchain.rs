//! The compiler that guests are compiled with.

use std::path::Path;
use std::process::Command;

use crate::{Error, TARGET};

/// Adds the target's standard library where it is missing and rustup can.
pub(crate) fn ensure_target() -> Result<(), Error> {
    if has_target()? {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).output();
    let why = match added {
        Ok(output) if output.status.success() && has_target()? => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("rustup did not start: {error}"),
    };
    Err(format!(
        "flows are compiled for {TARGET}, and this Rust has no standard library for it ({why}). \
         Run `rustup target add {TARGET}`, or install it from where this Rust comes from."
    )
    .into())
}

/// Whether the compiler has it. `rustc` names the folder also where it is not there.
fn has_target() -> Result<bool, Error> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let output = output.map_err(|error| format!("rustc did not start: {error}"))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(folder.trim()).is_dir())
}

/// Takes out of a nested cargo what the outer one set for this machine: flags, wrappers such as clippy's, a default target.
pub(crate) fn forget_the_outer_build(cargo: &mut Command) {
    for name in [
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTFLAGS",
    ] {
        cargo.env_remove(name);
    }
}
