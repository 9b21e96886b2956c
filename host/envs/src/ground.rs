//! A directory that is held by its handle, whatever becomes of its name.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat},
    io::Errno,
};

/// How a directory is opened that is only a starting point for others: reading it is not asked for.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const SEARCH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// How a directory is opened that is only a starting point for others.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) const SEARCH: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Which directory this is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Of something that was looked at.
    // The widths of these fields differ from system to system.
    #[allow(clippy::unnecessary_cast, trivial_numeric_casts)]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

/// A directory that paths are resolved beneath (W1).
#[derive(Debug)]
pub(crate) struct Ground {
    handle: OwnedFd,
    identity: Identity,
    /// Where it was when it was opened, without links. For messages, and to ask whether it is still there.
    path: PathBuf,
    /// `path` for a person.
    directory: String,
    /// How else it was called: an absolute path that begins with one of these is inside.
    spellings: Vec<PathBuf>,
    hidden: Arc<[String]>,
}

impl Ground {
    /// Opens a directory. `spelled` is absolute. Fails as the system does, with `ENOTDIR` for what is no directory.
    pub(crate) fn open(spelled: &Path, hidden: Arc<[String]>) -> Result<Self, Errno> {
        let path = std::fs::canonicalize(spelled).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let handle = openat(CWD, &path, SEARCH | OFlags::NOFOLLOW, Mode::empty())?;
        Self::new(handle, path.clone(), vec![path, spelled.to_owned()], hidden)
    }

    /// One inside this one, which was found at `path`, relative to this one and without links.
    pub(crate) fn inside(&self, handle: OwnedFd, path: &Path) -> Result<Self, Errno> {
        let spellings = self.spellings.iter().map(|each| each.join(path)).collect();
        Self::new(handle, self.path.join(path), spellings, self.hidden.clone())
    }

    fn new(handle: OwnedFd, path: PathBuf, mut spellings: Vec<PathBuf>, hidden: Arc<[String]>) -> Result<Self, Errno> {
        let stat = fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        spellings.dedup();
        let directory = path.to_string_lossy().into_owned();
        Ok(Self { handle, identity: Identity::of(&stat), path, directory, spellings, hidden })
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    pub(crate) fn spellings(&self) -> &[PathBuf] {
        &self.spellings
    }

    /// Whether a name is the host's own, which no environment reaches. Case does not matter, as it does not on some disks.
    pub(crate) fn hides(&self, name: &OsStr) -> bool {
        self.hidden.iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
    }

    /// Whether the directory itself was removed while it was held.
    pub(crate) fn is_removed(&self) -> bool {
        fstat(&self.handle).is_ok_and(|stat| stat.st_nlink == 0)
    }

    /// Another handle of it.
    pub(crate) fn duplicate(&self) -> std::io::Result<OwnedFd> {
        self.handle.try_clone()
    }
}

impl AsFd for Ground {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
