//! Flows in Rust: programs that steer coding agents, compiled to WebAssembly components.
//!
//! A flow is a crate of type `cdylib` with one function under [`#[flow]`](macro@flow). The attribute declares what the flow
//! uses, and the [`Context`] gives exactly that:
//!
//! ```
//! //! Asks one agent to look at each file that git knows, two files at a time.
//! use flowhost::prelude::*;
//!
//! /// The task once a file, two at a time.
//! #[flow(agents(agent), envs(workspace: shell))]
//! async fn survey(task: String, cx: Context) -> Result<Vec<String>> {
//!     let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
//!     let files = workspace.exec(["git", "ls-files"]).checked().await?.stdout;
//!     let turns = files.lines().map(async |path| {
//!         let session = agent.spawn()?;
//!         session.run(format!("{task}\n\nThe file is {path}.")).await
//!     });
//!     let mut said = Vec::new();
//!     for answer in gather(turns).at_once(2).await {
//!         match answer {
//!             Ok(answer) => said.push(answer.text),
//!             Err(Error::Harness(failed)) => log!("failed, {failed}"),
//!             Err(other) => return Err(other),
//!         }
//!     }
//!     Ok(said)
//! }
//! # fn main() {}
//! ```
//!
//! It builds with `cargo build --target wasm32-wasip2`; the `.wasm` is the flow.
//!
//! # Waiting
//!
//! A flow is one task, and what it awaits at once goes at once: [`gather`] waits for many and keeps every answer, [`join`] for two that differ, [`group`]
//! cancels the rest at the first error, [`timeout`] gives up after a while. Nothing needs to be spawned. A future that is
//! dropped stops what it stood for: the turn is interrupted, the command killed, the called flow cancelled.
//! [`sleep`] is the only sleep; `std::thread::sleep` would hold up every call of the flow.
//!
//! # Errors
//!
//! [`Error`] has a variant for each kind of the contract, each with a message for a person. A turn that its harness could not
//! take is [`Error::Harness`]; a flow may read past that one. A spent budget and a stop are for the caller: hand them on.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod agent;
mod batch;
mod budget;
mod callee;
mod command;
mod context;
mod env;
mod error;
mod gather;
mod group;
mod pursue;
mod session;
mod turn;
mod waiting;
mod watch;

#[doc(hidden)]
pub mod export;
pub mod git;
pub mod prelude;
#[doc(hidden)]
pub mod raw;

pub use agent::{Agent, Settings, Spawn};
pub use batch::{Batch, Suppressed};
pub use callee::{Branch, Call, Callee, TypedCall, load};
pub use command::{Exec, Output, Process};
pub use context::{Context, log_line, now};
pub use env::Env;
pub use error::{BudgetError, EnvError, Error, FlowError, HarnessError, Result, SessionError};
pub use flowhost_sdk_macros::{answer, flow, params};
pub use gather::{Gather, gather};
pub use group::{Failures, Group, group};
pub use pursue::Pursue;
pub use raw::flowhost::flow::agents::{Access, Moment, Permission, SteerMode, Unanswered, WhenBusy};
pub use raw::flowhost::flow::envs::{Entry, EntryKind, MergeOutcome, WorktreeHead};
pub use raw::flowhost::flow::types::{
    Allowance, Budget, CostSource, EnvFault, FlowFault, Grace, HarnessFault, Limit, SessionFault, Usage,
};
pub use session::Session;
pub use turn::{Answer, Run, Turn, TypedRun};
pub use waiting::{Awaited, Elapsed, join, sleep, timeout, wait_any};
pub use watch::{Occasion, Watch, Watching};

pub use schemars;
pub use serde;
pub use serde_json;

/// What a builder becomes when it is awaited: the call itself. Dropping it before its end cancels the call.
pub type Pending<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + 'a>>;
