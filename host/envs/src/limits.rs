//! What one call may carry, keep or visit (X2). Each limit has a default; the program has a flag for those that a person
//! would want to raise.

use std::time::Duration;

/// The limits of a local environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes kept of each of a command's stdout and stderr where the command does not say. 1 MiB.
    pub kept_output: u64,
    /// The most that a command may ask to be kept, in bytes. 16 MiB.
    pub kept_output_most: u64,
    /// Bytes that one read carries. 16 MiB.
    pub read: u64,
    /// Bytes that a command may be given on its stdin. 64 MiB.
    pub stdin: u64,
    /// Bytes of a command's arguments and variables together. 2 MiB: more than that no system takes.
    pub arguments: u64,
    /// Entries that one `find` gives. 100,000.
    pub entries: u64,
    /// Bytes of all paths that one `find` gives. 16 MiB.
    pub listing: u64,
    /// Entries that one `find` looks at, whether they match or not. 2,000,000.
    pub visited: u64,
    /// Time between telling a command that ran out of time to stop and making it. 2 s.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            kept_output: MIB,
            kept_output_most: 16 * MIB,
            read: 16 * MIB,
            stdin: 64 * MIB,
            arguments: 2 * MIB,
            entries: 100_000,
            listing: 16 * MIB,
            visited: 2_000_000,
            grace: Duration::from_secs(2),
        }
    }
}
