//! Compiles the flows that are part of the program: each folder of `flows/`.

use std::process::ExitCode;

use flowhost_sdk_build::{Guests, run, table, write_output};

fn main() -> ExitCode {
    run(|| {
        let flows = Guests::of_workspace("../..")?.below("flows")?.compile()?;
        write_output("flows.rs", &table("BUILT_IN", "The flows of this program, in order of name.", &flows))
    })
}
