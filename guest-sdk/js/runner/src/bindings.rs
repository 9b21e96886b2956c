//! The contract as `wit-bindgen` binds it, with what only runners have.

#![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, reason = "generated from `wit/`")]
#![allow(clippy::all, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "generated from `wit/`")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "runner",
});

use crate::Runner;

export!(Runner with_types_in self);
