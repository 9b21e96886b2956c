//! Processes that never outlive what started them (B5).
//!
//! ```text
//!   host ──── socket ──── guardian            one a host: a re-exec of the program, one thread, a session of its own
//!    │                      │ forks
//!    └─── socket a tree ── shim               one a tree: a fork of the guardian, one thread
//!                           │ forks
//!                          root ── …          the program, in a session of its own, and all that it starts
//! ```
//!
//! Each of the three is *subreaper*: a process whose parent ends becomes the child of the next one of them above it,
//! whatever session, group or environment it has given itself. So the tree of a root is exactly what is below its shim, and a shim
//! without children has nothing left to end: no scan is needed then.
//!
//! * The **shim** starts the root and tells the host about it. When the root has ended, or the host says so, or the
//!   host's end of its socket is closed, it ends all that is below it, and says that it is done only then.
//! * The **guardian** forks shims. Where a shim was killed, what was below it comes to the guardian, which ends it. When the
//!   host is gone, its end of the socket is closed, and the guardian ends everything below it, and everything that bears
//!   the host's mark (`FLOWHOST_PROCESS`) wherever it is; then it removes the scratch directory and ends.
//! * The **host** takes what comes to it where the guardian itself was killed: trees that have their shim go on; what has
//!   none is ended. The next program starts a new guardian.
//!
//! So one killed process of the three loses nothing. What kills or stops all of them and the host within an instant,
//! with the rights of the same user, is not held by this: that takes a sandbox.

mod host;
mod os;
mod processes;
mod serve;
mod shim;
mod tree;
mod wire;

pub use host::Guardian;
pub(crate) use host::{Launch, LaunchError, Opening};
pub use serve::serve;
pub(crate) use tree::{Abandoned, Tree};
pub(crate) use wire::memory_file;
