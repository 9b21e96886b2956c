//! Compiles what the tests run: the flows of the program, the crates of `guests/`, and the texts of `wat/` and `frozen/`.
//!
//! Nothing is listed by hand. Each becomes a constant of its module, so that a test that names a guest that is not there does not
//! compile, and each module has a list of all.

#![allow(clippy::disallowed_methods, reason = "a build script works on the files of its build")]

#[path = "build/text.rs"]
mod text;

use std::path::Path;
use std::process::ExitCode;

use flowhost_sdk_build::{Guests, constants, run, variable, watch, write_output};

fn main() -> ExitCode {
    run(|| {
        let compiled = Guests::of_workspace("..")?.below("flows")?.below("tests/guests")?.compile()?;
        let root = variable("CARGO_MANIFEST_DIR")?;
        let root = Path::new(&root);
        let guests = root.join("guests");
        let (guests, flows): (Vec<_>, Vec<_>) =
            compiled.into_iter().partition(|each| guests.join(&each.name).join("Cargo.toml").is_file());
        write_output("flows.rs", &constants(&flows))?;
        write_output("guests.rs", &constants(&guests))?;
        // By a cargo of its own, so that it is the component that is in the program.
        write_output(
            "runners.rs",
            &constants(&Guests::of_workspace("..")?.below("guest-sdk/js")?.prepare("runner", "prepare").compile()?),
        )?;

        let wit = root.join("../wit");
        watch(&wit);
        write_output("wat.rs", &constants(&text::below(&root.join("wat"), Some(&wit))?))?;
        let released = root.join("frozen/0.1.0");
        let mut frozen = text::below(&released, None)?;
        frozen.push(text::everything(&released.join("wit"))?);
        write_output("frozen.rs", &constants(&frozen))
    })
}
