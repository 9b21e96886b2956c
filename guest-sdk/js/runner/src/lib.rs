//! Runs a flow that is a JavaScript file: a component that reads the file and what it imports through `source`, and steers what it
//! is given as the file says.
//!
//! ```text
//! lib.rs        describe and run, as the contract asks for them
//! machine.rs    the engine with the author's module loaded in it
//! tasks.rs      what goes on at once: promises of JavaScript on calls of the contract
//! modules.rs    where `import` finds its modules: the SDK, the author's files
//! using.rs      what the engine reads and does not do
//! failures.rs   errors, both ways, and what a person reads of one that nobody caught
//! native/       the contract as plain functions, which the SDK in `../sdk` gives its shape
//! reading.rs    what JavaScript hands over, held to the contract's types before it reaches the border
//! giving.rs     what the contract gives, as values of JavaScript
//! handles.rs    resources of the contract as objects
//! words.rs      the contract's enums as the words they are
//! ```
//!
//! One call of a component is one task: [`machine::Machine::settle`] runs the engine's jobs until none is left, waits for the next call
//! that ends, hands its answer to JavaScript, and so on until the flow's own promise is settled.

mod bindings;
mod failures;
mod giving;
mod handles;
mod machine;
mod modules;
mod native;
mod reading;
mod tasks;
mod using;
mod words;

use bindings::{Guest, flowhost::flow::types};
use machine::Machine;

struct Runner;

impl Guest for Runner {
    fn describe() -> String {
        // A description has no error to return: the host of a runner takes one as `error`.
        Machine::manifest().unwrap_or_else(|error| serde_json::json!({ "error": error }).to_string())
    }

    async fn run(task: String) -> Result<String, types::Error> {
        Machine::start()?.run(&task).await
    }
}
