//! Files of an environment: each call resolves its path by handles (W1) and then works on one name in one directory.

use std::{
    ffi::OsString,
    fs::File,
    io::{ErrorKind, Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::FileExt,
    },
    sync::atomic::{AtomicU64, Ordering},
};

use flowhost_core::{
    env::{Entry, EntryKind},
    error::{EnvFault, Error, Result},
};
use rustix::{
    fs::{
        Access, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, accessat, fchmod, fchown, fstat, mkdirat, openat,
        renameat, statat, unlinkat,
    },
    io::Errno,
};

use crate::{
    beneath::{Last, Missing, Name, Spot, resolve},
    descent::Removal,
    fault::{failed, failed_io, refused},
    ground::Ground,
};

/// How often a name is looked up anew that turns into something else between the look and the use.
const ATTEMPTS: u32 = 16;

/// The bytes of a file, or at most `range.1` of them from `range.0`.
pub(crate) fn read(ground: &Ground, path: &str, range: Option<(u64, u32)>, most: u64) -> Result<Vec<u8>> {
    let (file, size) = open_regular(ground, path, OFlags::RDONLY)?;
    let too_large = |bytes: u64| {
        let message = format!("{path}: {bytes} bytes, and one read carries at most {most}; read it in ranges");
        Error::env(EnvFault::TooLarge, message)
    };
    let failed = |error| failed_io(ground, path, &error);
    match range {
        None => {
            if size > most {
                return Err(too_large(size));
            }
            let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
            // It may grow while it is read.
            file.take(most.saturating_add(1)).read_to_end(&mut data).map_err(failed)?;
            match data.len() as u64 {
                read if read > most => Err(too_large(read)),
                _ => Ok(data),
            }
        }
        Some((offset, length)) => {
            let wanted = u64::from(length).min(size.saturating_sub(offset));
            if wanted > most {
                return Err(too_large(wanted));
            }
            let mut data = vec![0; usize::try_from(wanted).unwrap_or(0)];
            let mut filled = 0;
            while filled < data.len() {
                match file.read_at(&mut data[filled..], offset + filled as u64) {
                    Ok(0) => break,
                    Ok(read) => filled += read,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(failed(error)),
                }
            }
            data.truncate(filled);
            Ok(data)
        }
    }
}

/// Makes or replaces a file: it is written beside and then renamed, so that whoever reads sees the old one or the new one.
///
/// A link is followed as far as it stays inside, and stays a link. An existing file keeps its mode (but for set-user-id
/// and the like, as with any write) and, where the system permits, its owner. One that may not be written is refused.
pub(crate) fn write(ground: &Ground, path: &str, data: &[u8]) -> Result<()> {
    let failed = |errno| failed(ground, path, errno);
    let (name, existing) = look_up(ground, path, Missing::Make)?;
    if existing.is_some() {
        accessat(&name.parent, &name.name, Access::WRITE_OK, AtFlags::empty()).map_err(failed)?;
    }
    let temporary = Temporary::make(&name, if existing.is_some() { 0o600 } else { 0o666 }).map_err(failed)?;
    (&temporary.file).write_all(data).map_err(|error| failed_io(ground, path, &error))?;
    if let Some(stat) = existing {
        let made = fstat(&temporary.file).map_err(failed)?;
        if (made.st_uid, made.st_gid) != (stat.st_uid, stat.st_gid) {
            // Only root may, and where it may not, the file is the writer's: as with any editor that replaces files.
            let _ = fchown(&temporary.file, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
        }
        fchmod(&temporary.file, Mode::from_raw_mode(stat.st_mode) & Mode::from_raw_mode(0o777)).map_err(failed)?;
    }
    temporary.put_in_place(&name).map_err(failed)
}

/// Adds to the end of a file; makes it, and the directories above it, where it is not there.
pub(crate) fn append(ground: &Ground, path: &str, data: &[u8]) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let (name, _) = look_up(ground, path, Missing::Make)?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | WITHOUT_SURPRISES;
        match openat(&name.parent, &name.name, flags, Mode::from_raw_mode(0o666)) {
            Ok(handle) => {
                regular(ground, path, &fstat(&handle).map_err(|errno| failed(ground, path, errno))?)?;
                return File::from(handle).write_all(data).map_err(|error| failed_io(ground, path, &error));
            }
            Err(Errno::LOOP) => {}
            Err(errno) => return Err(failed(ground, path, errno)),
        }
    }
    Err(restless(path))
}

/// Makes a directory, and those above it. One that is there is left as it is.
pub(crate) fn make_dir(ground: &Ground, path: &str) -> Result<()> {
    match resolve(ground, path, Last::Follow, Missing::Make).map_err(|refusal| refused(ground, path, refusal))? {
        Spot::Ground => Ok(()),
        Spot::Name(name) => match mkdirat(&name.parent, &name.name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) if look(&name).is_ok_and(|stat| kind(&stat) == EntryKind::Directory) => Ok(()),
            Err(errno) => Err(failed(ground, path, errno)),
        },
    }
}

/// What a path is. A link is not followed.
pub(crate) fn stat(ground: &Ground, path: &str) -> Result<Entry> {
    match resolve(ground, path, Last::Keep, Missing::Refuse).map_err(|refusal| refused(ground, path, refusal))? {
        Spot::Ground => fstat(ground).map(|stat| entry(".".to_owned(), &stat)),
        Spot::Name(name) => look(&name).map(|stat| entry(name.path.to_string_lossy().into_owned(), &stat)),
    }
    .map_err(|errno| failed(ground, path, errno))
}

/// Removes a file, a link, or a directory with all in it.
///
/// What the host keeps stays where it is: a directory that holds it is emptied of all else and then `denied`.
pub(crate) fn remove(ground: &Ground, path: &str, cancelled: &dyn Fn() -> bool) -> Result<()> {
    let spot = resolve(ground, path, Last::Keep, Missing::Refuse).map_err(|refusal| refused(ground, path, refusal))?;
    let Spot::Name(name) = spot else {
        return Err(Error::env(EnvFault::Denied, format!("{path}: the env itself, which its flow cannot remove")));
    };
    let failed = |errno| failed(ground, path, errno);
    if kind(&look(&name).map_err(failed)?) != EntryKind::Directory {
        return unlinkat(&name.parent, &name.name, AtFlags::empty()).map_err(failed);
    }
    let removal = Removal { spared: &|name| ground.hides(name), cancelled, force: false };
    if removal.remove(&name.parent, &name.name).map_err(failed)? {
        let message =
            format!("{path}: the host keeps its own state in there, which no env reaches; all else is removed");
        return Err(Error::env(EnvFault::Denied, message));
    }
    Ok(())
}

/// An entry of this path.
// The width of a size differs from system to system.
#[allow(clippy::unnecessary_cast, trivial_numeric_casts)]
pub(crate) fn entry(path: String, stat: &Stat) -> Entry {
    Entry { path, kind: kind(stat), size: stat.st_size as u64 }
}

/// What was looked at.
pub(crate) fn kind(stat: &Stat) -> EntryKind {
    kind_of(FileType::from_raw_mode(stat.st_mode))
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Never follows a link, never waits for the other end of a pipe, never makes a terminal ours.
const WITHOUT_SURPRISES: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn look(name: &Name<'_>) -> Result<Stat, Errno> {
    statat(&name.parent, &name.name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Where a file is or is to be, links followed. What is there and is no file is refused.
fn look_up<'a>(ground: &'a Ground, path: &str, missing: Missing) -> Result<(Name<'a>, Option<Stat>)> {
    for _ in 0..ATTEMPTS {
        let spot = resolve(ground, path, Last::Follow, missing).map_err(|refusal| refused(ground, path, refusal))?;
        let Spot::Name(name) = spot else { return Err(failed(ground, path, Errno::ISDIR)) };
        match look(&name) {
            Ok(stat) if kind(&stat) == EntryKind::Link => {}
            Ok(stat) => {
                regular(ground, path, &stat)?;
                return Ok((name, Some(stat)));
            }
            Err(Errno::NOENT) if missing == Missing::Make => return Ok((name, None)),
            Err(errno) => return Err(failed(ground, path, errno)),
        }
    }
    Err(restless(path))
}

/// Opens a file that is there; gives its size too.
fn open_regular(ground: &Ground, path: &str, flags: OFlags) -> Result<(File, u64)> {
    for _ in 0..ATTEMPTS {
        let (name, _) = look_up(ground, path, Missing::Refuse)?;
        match openat(&name.parent, &name.name, flags | WITHOUT_SURPRISES, Mode::empty()) {
            Ok(handle) => {
                let stat = fstat(&handle).map_err(|errno| failed(ground, path, errno))?;
                regular(ground, path, &stat)?;
                let size = entry(String::new(), &stat).size;
                return Ok((File::from(handle), size));
            }
            Err(Errno::LOOP) => {}
            Err(errno) => return Err(failed(ground, path, errno)),
        }
    }
    Err(restless(path))
}

fn regular(ground: &Ground, path: &str, stat: &Stat) -> Result<()> {
    match kind(stat) {
        EntryKind::File => Ok(()),
        EntryKind::Directory => Err(failed(ground, path, Errno::ISDIR)),
        EntryKind::Link | EntryKind::Other => {
            let directory = ground.directory();
            let message = format!("{path}: a pipe, socket or device and no file, in {directory}");
            Err(Error::env(EnvFault::Denied, message))
        }
    }
}

fn restless(path: &str) -> Error {
    let message = format!("{path}: it turns into something else faster than it can be opened; try again");
    Error::env(EnvFault::Conflict, message)
}

/// A file beside the one that it is to replace. Dropped before, it is removed.
struct Temporary<'a> {
    file: File,
    parent: std::os::fd::BorrowedFd<'a>,
    name: Option<OsString>,
}

impl<'a> Temporary<'a> {
    fn make(beside: &'a Name<'_>, mode: u32) -> Result<Self, Errno> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let parent = beside.parent.as_fd();
        loop {
            let (process, count) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
            let name = OsString::from(format!(".flowhost-{process}-{count}.tmp"));
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | WITHOUT_SURPRISES;
            let made: Result<OwnedFd, Errno> = openat(parent, &name, flags, Mode::from_raw_mode(mode));
            match made {
                Ok(handle) => return Ok(Self { file: File::from(handle), parent, name: Some(name) }),
                // One that was left by a host that was killed.
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn put_in_place(mut self, target: &Name<'_>) -> Result<(), Errno> {
        if let Some(name) = &self.name {
            renameat(self.parent, name, &target.parent, &target.name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.parent, name, AtFlags::empty());
        }
    }
}
