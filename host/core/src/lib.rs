//! The rules of flowhost: the run tree, sessions, budget, paths, errors. No wasm, no processes, no files.
//!
//! A rule has a name (`S1`, `B2`, `$2`, …), is enforced in one place here and is tested in milliseconds with plain values.
//! The crates beside this one implement its traits: [`harness::Harness`] (agents), [`env::Env`] (envs), [`record::Recorder`]
//! (journal); the engine drives a [`branch`] on behalf of a component.

pub mod clock;
pub mod env;
pub mod error;
pub mod harness;
pub mod id;
pub mod manifest;
pub mod record;
pub mod usage;
