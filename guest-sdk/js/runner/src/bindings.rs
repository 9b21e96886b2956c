//! The contract as `wit-bindgen` binds it, with what only runners have.

#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    unused_qualifications,
    reason = "generated from `wit/`, and an export that the build calls"
)]
#![allow(clippy::all, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "generated from `wit/`")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "runner",
});

use crate::Runner;

export!(Runner with_types_in self);

/// Called by the build alone, by this name, in the core module: see [`crate::machine::prepare`].
#[unsafe(no_mangle)]
extern "C" fn prepare() {
    crate::machine::prepare();
}
