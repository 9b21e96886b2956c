//! The rules of flowhost: the run tree, sessions, budget, paths, errors. No wasm, no processes, no files.
//!
//! A rule has a name (`S1`, `B2`, `$2`, …), is enforced in one place here and is tested in milliseconds with plain values.
//! The crates beside this one implement its traits: [`harness::Harness`] (agents), [`env::Env`] (envs), [`record::Recorder`]
//! (journal), [`run::Flow`] (engine).
//!
//! A [`run::Run`] owns what its branches share. A [`branch::Branch`] is one call of a flow; it has agents, which open
//! [`session::Session`]s, which take [`turn::Turn`]s, which the [`budget`] lets start.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod agent;
pub mod answer;
pub mod branch;
pub mod budget;
pub mod clock;
pub mod cover;
pub mod env;
pub mod error;
pub mod harness;
pub mod id;
pub mod job;
pub mod manifest;
pub mod measure;
pub mod occasion;
pub mod outcome;
pub mod place;
pub mod record;
pub mod run;
pub mod session;
pub mod shape;
pub mod turn;
pub mod usage;

mod admission;
mod pursue;
