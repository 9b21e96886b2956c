//! wasmtime: from the bytes of a component to a flow that `core` can run.
//!
//! One [`Engine`] a process; one store a branch, dropped after its end, a trap, a limit or a stop. [`Engine::load`] compiles a
//! component (or takes it from the cache), refuses imports that flowhost does not have, and reads its manifest with nothing granted.
//! [`Engine::load_source`] does the same for source
//! text and the component that runs it; [`Engine::strip`] makes JavaScript of TypeScript before. The result is a [`Component`], which is a [`flowhost_core::run::Flow`]. The host functions of the contract are one file
//! an interface under `host/`, each a thin adapter to `core`.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod artifacts;
mod bindings;
mod code;
mod compile;
mod component;
mod host;
mod instances;
mod kept;
mod limits;
mod runner;
mod source;
mod store;
mod stripper;
mod wasi;

pub use compile::{Engine, LoadError, Options};
pub use component::Component;
pub use limits::{Limits, Unit, UnknownLimit};
pub use runner::Runner;
pub use source::Source;
