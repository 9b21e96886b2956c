//! The contract as `wit-bindgen` binds it. The rest of the crate is a coat over it.

#![allow(missing_docs, unsafe_code, unreachable_pub, unused_qualifications, reason = "generated from `wit/`")]
#![allow(clippy::all, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "generated from `wit/`")]

wit_bindgen::generate!({
    path: "../../wit",
    world: "flow",
    additional_derives: [PartialEq],
    additional_derives_ignore: ["handover", "awaited"],
    pub_export_macro: true,
    default_bindings_module: "flowhost::raw",
});
