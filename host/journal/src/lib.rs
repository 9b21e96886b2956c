//! The journal: the append-only record of a run (J1), and what can be read back from it (J2, J3).
//!
//! [`Journal`] writes one; it is the run's [`Recorder`](flowhost_core::record::Recorder). [`read`] gives its records back,
//! [`Tree`] as the tree that the run was, [`runs`] says which runs there are, and [`settled`] remembers what turns cost ($2).
//! `FORMAT.md` beside this crate says what is on disk; `schema/records.schema.json` says what is on a line.
//!
//! Appending is a copy into memory and never waits. Whoever waits for a record writes the buffer out; a thread writes what
//! nobody waits for, and makes it durable only where somebody waits for that: group commit.
//!
//! ```text
//! append ─▶ buffer ─▶ write, by who waits or by the thread ─▶ written(mark) returns      outlives this process
//!                       └──▶ fdatasync, by the thread ─▶ durable(mark) returns           outlives the power
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the record of a run is one of the homes of files"
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod disk;
mod folder;
mod hot;
mod journal;
mod line;
mod read;
mod runs;
pub mod settled;
mod tree;
mod writer;

pub use journal::Journal;
pub use line::{LONGEST_LINE, line};
pub use read::{JournalError, Reader, Torn, read};
pub use runs::{RunState, RunSummary, runs};
pub use tree::{Branch, Call, Session, Span, Tool, Tree, Turn};

/// The journal's name in the folder of its run.
pub const FILE_NAME: &str = "journal.jsonl";
