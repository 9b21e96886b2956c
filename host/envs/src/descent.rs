//! Down into a tree of directories and up again, by handles, with one of them open at a time however deep it goes.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, fstat, openat, statat, unlinkat},
    io::Errno,
};

use crate::ground::Identity;

const READ: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A place in a tree of directories.
pub(crate) struct Descent {
    here: OwnedFd,
    /// The directories above, from where the descent began.
    above: Vec<Identity>,
}

impl Descent {
    /// Begins in a directory. A link is not followed.
    pub(crate) fn begin(parent: impl AsFd, name: &OsStr) -> Result<Self, Errno> {
        Ok(Self { here: openat(parent, name, READ, Mode::empty())?, above: Vec::new() })
    }

    /// Goes into a directory. A link is not followed.
    pub(crate) fn enter(&mut self, name: &OsStr) -> Result<(), Errno> {
        let below = openat(&self.here, name, READ, Mode::empty())?;
        self.above.push(Identity::of(&fstat(&self.here)?));
        self.here = below;
        Ok(())
    }

    /// Goes back up. Fails with `ESTALE` where the directory was moved meanwhile, so that up is elsewhere.
    pub(crate) fn leave(&mut self) -> Result<(), Errno> {
        let up = openat(&self.here, "..", READ, Mode::empty())?;
        if self.above.pop() != Some(Identity::of(&fstat(&up)?)) {
            return Err(Errno::STALE);
        }
        self.here = up;
        Ok(())
    }

    /// What is in the directory, in the order of the names' bytes.
    pub(crate) fn names(&self) -> Result<Vec<(OsString, FileType)>, Errno> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.here)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some disks do not say.
                FileType::Unknown => match statat(&self.here, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno),
                },
                kind => kind,
            };
            names.push((OsString::from_vec(name.to_vec()), kind));
        }
        names.sort_unstable_by(|one, two| one.0.as_bytes().cmp(two.0.as_bytes()));
        Ok(names)
    }
}

impl AsFd for Descent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.here.as_fd()
    }
}

/// How a tree is removed.
pub(crate) struct Removal<'a> {
    /// Names that stay, with what is in them.
    pub(crate) spared: &'a dyn Fn(&OsStr) -> bool,
    /// Asked now and then whether to give up.
    pub(crate) cancelled: &'a dyn Fn() -> bool,
    /// Whether directories are first changed to permit it. Only where nobody else works in the tree any more.
    pub(crate) force: bool,
}

impl Removal<'_> {
    /// Removes a directory with all in it; no link is followed. Gives whether something was spared, so that it is still there.
    pub(crate) fn remove(&self, parent: impl AsFd, name: &OsStr) -> Result<bool, Errno> {
        let mut spared = false;
        self.permit(&parent, name);
        let mut descent = Descent::begin(&parent, name)?;
        // For each directory on the way down its name and what is left to remove in it.
        let mut way = vec![(name.to_owned(), descent.names()?)];
        while let Some((_, left)) = way.last_mut() {
            if (self.cancelled)() {
                return Err(Errno::CANCELED);
            }
            let Some((name, kind)) = left.pop() else {
                let Some((done, _)) = way.pop() else { break };
                if way.is_empty() {
                    break;
                }
                descent.leave()?;
                match unlinkat(&descent, &done, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(Errno::NOTEMPTY) if spared => {}
                    Err(errno) => return Err(errno),
                }
                continue;
            };
            if (self.spared)(&name) {
                spared = true;
                continue;
            }
            if kind != FileType::Directory {
                match unlinkat(&descent, &name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => continue,
                    // A directory came in its place.
                    Err(Errno::ISDIR | Errno::PERM) => {}
                    Err(errno) => return Err(errno),
                }
            }
            self.permit(&descent, &name);
            match descent.enter(&name) {
                Ok(()) => {
                    let names = descent.names()?;
                    way.push((name, names));
                }
                Err(Errno::NOENT) => {}
                // It is no directory any more.
                Err(Errno::NOTDIR | Errno::LOOP) => match unlinkat(&descent, &name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno),
                },
                Err(errno) => return Err(errno),
            }
        }
        match unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(false),
            Err(Errno::NOTEMPTY) if spared => Ok(true),
            Err(errno) => Err(errno),
        }
    }

    fn permit(&self, parent: impl AsFd, name: &OsStr) {
        if self.force {
            // Where it cannot be, what follows fails and says so.
            let _ = chmodat(parent, name, Mode::RWXU, AtFlags::empty());
        }
    }
}
