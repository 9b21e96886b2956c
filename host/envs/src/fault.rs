//! What went wrong, in the contract's words.

use flowhost_core::error::{EnvFault, Error};
use rustix::io::Errno;

use crate::{beneath::Refusal, ground::Ground};

/// A path that was refused.
pub(crate) fn refused(ground: &Ground, path: &str, refusal: Refusal) -> Error {
    let directory = ground.directory();
    let (fault, message) = match refusal {
        Refusal::Invalid(why) => (EnvFault::NotFound, why.to_owned()),
        Refusal::Outside(_) => {
            (EnvFault::Outside, format!("{path}: not inside {directory}, and a flow's paths stay inside their env"))
        }
        Refusal::Hidden => {
            (EnvFault::Denied, format!("{path}: the host keeps its own state there, which no env reaches"))
        }
        Refusal::NotDirectory => {
            (EnvFault::NotFound, format!("{path}: it leads through what is no directory, in {directory}"))
        }
        Refusal::Links => (EnvFault::Other, format!("{path}: it leads through too many links, in {directory}")),
        Refusal::Moved => (
            EnvFault::Conflict,
            format!("{path}: a directory on its way was moved meanwhile, in {directory}; try again"),
        ),
        Refusal::Os(errno) => return failed(ground, path, errno),
    };
    Error::env(fault, message)
}

/// What the system answered for a path.
pub(crate) fn failed(ground: &Ground, path: &str, errno: Errno) -> Error {
    let directory = ground.directory();
    let (fault, message) = match errno {
        Errno::NOENT => (EnvFault::NotFound, format!("{path}: no such path in {directory}")),
        Errno::NOTDIR => (EnvFault::NotFound, format!("{path}: no directory, in {directory}")),
        Errno::NAMETOOLONG => (EnvFault::NotFound, format!("{path}: longer than a name can be, in {directory}")),
        Errno::ACCESS | Errno::PERM => (EnvFault::Denied, format!("{path}: permission denied, in {directory}")),
        Errno::ROFS => (EnvFault::Denied, format!("{path}: {directory} is on a disk that is read-only")),
        Errno::ISDIR => (EnvFault::Conflict, format!("{path}: a directory, in {directory}")),
        Errno::EXIST | Errno::NOTEMPTY | Errno::BUSY => {
            (EnvFault::Conflict, format!("{path}: something else is there or came there meanwhile, in {directory}"))
        }
        Errno::FBIG => (EnvFault::TooLarge, format!("{path}: larger than the disk of {directory} takes")),
        Errno::NOSPC | Errno::DQUOT => (EnvFault::Other, format!("{path}: no space left for it in {directory}")),
        errno => (EnvFault::Other, format!("{path}: {}, in {directory}", std::io::Error::from(errno))),
    };
    Error::env(fault, message)
}

/// What the system answered for a path, where the standard library asked it.
pub(crate) fn failed_io(ground: &Ground, path: &str, error: &std::io::Error) -> Error {
    failed(ground, path, Errno::from_io_error(error).unwrap_or(Errno::IO))
}
