//! Environments on this machine: the local one, and the guardian that holds the processes of all.
//!
//! * [`Local`] is a directory that the person gave, behind [`flowhost_core::env::Env`]. It holds a handle; paths
//!   are resolved beneath it (W1).
//! * [`Guardian`] starts programs and ends whole trees of them, also when the host itself is killed (B5).
//! * [`git`] is how the host itself runs git in a directory that it does not trust (W2).
//! * [`Limits`] says what one call may carry (X2).

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the home of files and processes")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod beneath;
mod descent;
mod environment;
mod exec;
mod fault;
mod files;
mod find;
pub mod git;
mod ground;
#[cfg(target_os = "linux")]
pub mod guardian;
#[cfg(not(target_os = "linux"))]
#[path = "guardian/elsewhere.rs"]
pub mod guardian;
mod limits;
mod local;

pub use guardian::Guardian;
pub use limits::Limits;
pub use local::{HIDDEN, Local};
