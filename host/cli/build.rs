//! Compiles the flows that are part of the program, each folder of `flows/`, and what runs flows that are JavaScript.

use std::process::ExitCode;

use flowhost_sdk_build::{Guests, constants, run, table, write_output};

fn main() -> ExitCode {
    run(|| {
        let flows = Guests::of_workspace("../..")?.below("flows")?.compile()?;
        write_output("flows.rs", &table("BUILT_IN", "The flows of this program, in order of name.", &flows))?;
        // By a cargo of its own, so that it is the same component whatever is compiled beside it.
        let runners = Guests::of_workspace("../..")?.below("guest-sdk/js")?.compile()?;
        write_output("runners.rs", &constants(&runners))
    })
}
