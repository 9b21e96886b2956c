//! What the tests of flowhost run: guests of three kinds and the flows of the program, as bytes.
//!
//! | module | from | for |
//! |---|---|---|
//! | [`guests`] | the crates of `guests/` | `lab` does what its task says, `lab-two` recurses with it, `bench` is measured, `hostile` misbehaves |
//! | [`wat`] | the texts of `wat/` | what a compiler would not write |
//! | [`frozen`] | the texts of `frozen/` | components of each released contract, and `everything`, which imports all of it: every later host loads and runs them |
//! | [`runners`] | `guest-sdk/` | what runs flows that are source text |
//! | [`flows`] | `flows/` | the flows of the program |

/// Guests that are crates.
pub mod guests {
    include!(concat!(env!("OUT_DIR"), "/guests.rs"));
}

/// Guests that are texts.
pub mod wat {
    include!(concat!(env!("OUT_DIR"), "/wat.rs"));
}

/// Guests of released contracts.
pub mod frozen {
    /// Of contract 0.1.0.
    pub mod v0_1_0 {
        include!(concat!(env!("OUT_DIR"), "/frozen.rs"));
    }
}

/// The flows of the program.
pub mod flows {
    include!(concat!(env!("OUT_DIR"), "/flows.rs"));
}

/// What runs flows that are source text.
pub mod runners {
    include!(concat!(env!("OUT_DIR"), "/runners.rs"));
}
