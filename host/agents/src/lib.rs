//! Harnesses: the programs behind agents, one module each, all behind [`flowhost_core::harness::Harness`].
//!
//! | harness | what it is |
//! |---|---|
//! | [`demo`] | built in, needs no account, edits small things for real |
//! | [`script`] | any program: `script:PROGRAM` is started once a turn, `script+json:PROGRAM` is held for a session |
//! | [`fake`] | for tests and benchmarks, of flows too; beside it [`fake::FakeEnv`], an environment in memory |
//!
//! [`registry`] reads what `-a ROLE=…` says and builds one of them. Adding a harness is one module and one line in
//! [`registry`]'s list; nothing else changes, since every rule is enforced above the trait.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
// A test sets the machine up with its own hands.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod demo;
pub mod fake;
mod prices;
mod program;
pub mod registry;
pub mod script;
mod spec;

pub use registry::{Refusal, Registry, RegistryOptions, Row, Spec, table};
