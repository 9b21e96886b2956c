//! The local env and its guardian, with real files and real processes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests"
)]

mod commands;
mod ending;
mod files;
mod finding;
mod fixture;
mod git;
mod host_killed;
mod paths;
mod programs;
mod rights;
mod subdirs;
mod swaps;
