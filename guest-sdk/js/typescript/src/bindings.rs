//! The world of `stripper.wit` as `wit-bindgen` binds it.

#![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, reason = "generated from `stripper.wit`")]
#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "generated from `stripper.wit`"
)]

wit_bindgen::generate!({
    path: "stripper.wit",
    world: "stripper",
});

use crate::Stripper;

export!(Stripper with_types_in self);
