//! The record of a run, shown: as lines, as a live tree with a status line, as JSON, and as the tree that it ran as.
//!
//! ```text
//! Run::record ──> Screen (an Observer: puts it in a queue) ──> a thread of its own ──> Lines, Live ──> stderr
//!             └─> Events (an Observer: puts it in a queue) ──> a thread of its own ──> JSON ─────────> stdout
//! ```
//!
//! An observer never waits: a terminal that is slow, or a pipe that nobody reads, does not hold the run up.

pub mod events;
pub mod figures;
pub mod lines;
pub mod live;
pub mod queue;
pub mod region;
#[cfg(test)]
mod sample;
pub mod screen;
pub mod tree;
pub mod view;
