//! The flows that are part of this program, compiled by its build script from `flows/`, and the runners of `guest-sdk/`.

include!(concat!(env!("OUT_DIR"), "/flows.rs"));

/// Their names and components, in order of name.
pub fn flows() -> &'static [(&'static str, &'static [u8])] {
    BUILT_IN
}

/// What runs flows that are source text.
pub mod runners {
    include!(concat!(env!("OUT_DIR"), "/runners.rs"));
}
