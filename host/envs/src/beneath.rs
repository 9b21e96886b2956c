//! W1: a path from a flow is resolved beneath a directory, one handle after another.
//!
//! A path without `..` and without links is resolved by the kernel in one step (`openat2`, beneath and without links).
//! Any other is walked here: each name is opened from the handle of the directory before it and never followed where
//! it is a link; links are read and their targets walked in turn. So each name that a path comes to mean is seen, which is
//! what keeps the host's own directory out of reach through any link, and nothing depends on what the names meant a
//! moment ago. `..` is opened too, and must lead to the very directory that the walk came from.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, fstat, mkdirat, openat, readlinkat},
    io::Errno,
};

use crate::ground::{Ground, Identity, SEARCH};

/// As many links as one path may lead through; the kernel's own number.
const LINKS: u32 = 40;
/// Bytes of a path; the kernel's own number.
const LENGTH: usize = 4096;

/// Why a path was refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is no path: empty, too long, with a NUL.
    Invalid(&'static str),
    /// It leaves; where to, as far as its words say.
    Outside(PathBuf),
    /// It leads into what no environment reaches.
    Hidden,
    /// What it leads through is no directory.
    NotDirectory,
    /// It leads through too many links.
    Links,
    /// A directory that it leads through was moved meanwhile.
    Moved,
    /// The system says so.
    Os(Errno),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOTDIR => Self::NotDirectory,
            errno => Self::Os(errno),
        }
    }
}

/// What a path that ends in a link means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// What the link leads to.
    Follow,
    /// The link.
    Keep,
}

/// What becomes of directories that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are made.
    Make,
    /// The path is refused.
    Refuse,
}

/// What a path means.
#[derive(Debug)]
pub(crate) enum Spot<'a> {
    /// The ground itself.
    Ground,
    /// A name in a directory; it need not be there. With [`Last::Follow`] it was no link when it was looked at.
    Name(Name<'a>),
}

/// A name in a directory that is held.
#[derive(Debug)]
pub(crate) struct Name<'a> {
    pub(crate) parent: Handle<'a>,
    pub(crate) name: OsString,
    /// From the ground to it, without links.
    pub(crate) path: PathBuf,
}

/// The handle of the ground or of a directory in it.
#[derive(Debug)]
pub(crate) enum Handle<'a> {
    Ground(BorrowedFd<'a>),
    Opened(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Ground(handle) => *handle,
            Self::Opened(handle) => handle.as_fd(),
        }
    }
}

#[derive(Clone, Debug)]
enum Part {
    Up,
    Down(OsString),
}

/// Resolves what a flow wrote.
pub(crate) fn resolve<'a>(ground: &'a Ground, path: &str, last: Last, missing: Missing) -> Result<Spot<'a>, Refusal> {
    let inside = strip(ground, path)?;
    let parts = parts(inside);
    if parts.is_empty() {
        return Ok(Spot::Ground);
    }
    match straight(ground, &parts, last)? {
        Some(name) => Ok(Spot::Name(name)),
        None => Walk::new(ground, last, missing).through(parts),
    }
}

/// The path from the ground on: an absolute one is inside where it begins as the ground is spelled. That only picks
/// where the walk begins; where it ends is up to the handles.
fn strip<'p>(ground: &Ground, path: &'p str) -> Result<&'p Path, Refusal> {
    if path.is_empty() {
        return Err(Refusal::Invalid("an empty path names nothing"));
    }
    if path.contains('\0') {
        return Err(Refusal::Invalid("a path with a NUL byte names nothing"));
    }
    if path.len() > LENGTH {
        return Err(Refusal::Invalid("a path of more than 4096 bytes names nothing"));
    }
    from_ground(ground, Path::new(path)).ok_or_else(|| Refusal::Outside(lexical(Path::new(path))))
}

fn from_ground<'p>(ground: &Ground, path: &'p Path) -> Option<&'p Path> {
    if path.is_relative() {
        return Some(path);
    }
    ground.spellings().iter().find_map(|spelling| path.strip_prefix(spelling).ok())
}

fn parts(path: &Path) -> Vec<Part> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(Part::Down(name.to_owned())),
            Component::ParentDir => Some(Part::Up),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// The quick way, where every part is a plain name and none but perhaps the last is a link; none where it is not so.
fn straight<'a>(ground: &'a Ground, parts: &[Part], last: Last) -> Result<Option<Name<'a>>, Refusal> {
    let mut path = PathBuf::new();
    for part in parts {
        match part {
            Part::Up => return Ok(None),
            Part::Down(name) if ground.hides(name) => return Err(Refusal::Hidden),
            Part::Down(name) => path.push(name),
        }
    }
    let (Some(name), Some(above)) = (path.file_name(), path.parent()) else { return Ok(None) };
    let parent = if above.as_os_str().is_empty() {
        Handle::Ground(ground.as_fd())
    } else {
        let Some(opened) = open_straight(ground, above) else { return Ok(None) };
        Handle::Opened(opened)
    };
    if last == Last::Follow && readlinkat(&parent, name, Vec::new()).is_ok() {
        return Ok(None);
    }
    Ok(Some(Name { parent, name: name.to_owned(), path }))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_straight(ground: &Ground, path: &Path) -> Option<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Whatever it fails for, the walk says it more exactly; and an old kernel does not have it.
    openat2(ground, path, SEARCH, Mode::empty(), how).ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_straight(_: &Ground, _: &Path) -> Option<OwnedFd> {
    None
}

/// A walk from the ground. It holds one handle at a time, however deep it goes.
struct Walk<'a> {
    ground: &'a Ground,
    last: Last,
    missing: Missing,
    here: Handle<'a>,
    /// The directories from the ground to `here`.
    way: Vec<(OsString, Identity)>,
    links: u32,
    /// What is still to be walked, the next one last.
    ahead: Vec<Part>,
}

impl<'a> Walk<'a> {
    fn new(ground: &'a Ground, last: Last, missing: Missing) -> Self {
        let here = Handle::Ground(ground.as_fd());
        Self { ground, last, missing, here, way: Vec::new(), links: 0, ahead: Vec::new() }
    }

    fn through(mut self, parts: Vec<Part>) -> Result<Spot<'a>, Refusal> {
        self.ahead.extend(parts.into_iter().rev());
        while let Some(part) = self.ahead.pop() {
            let name = match part {
                Part::Up => {
                    self.up()?;
                    continue;
                }
                Part::Down(name) => name,
            };
            if self.ground.hides(&name) {
                return Err(Refusal::Hidden);
            }
            let is_last = self.ahead.is_empty();
            if is_last && self.last == Last::Keep {
                return Ok(self.arrived(name));
            }
            match readlinkat(&self.here, &name, Vec::new()) {
                Ok(target) => self.unfold(Path::new(OsStr::from_bytes(target.as_bytes())))?,
                // It is there and no link.
                Err(Errno::INVAL) if is_last => return Ok(self.arrived(name)),
                Err(Errno::INVAL) => self.down(name)?,
                Err(Errno::NOENT) if is_last => return Ok(self.arrived(name)),
                Err(Errno::NOENT) if self.missing == Missing::Make => {
                    match mkdirat(&self.here, &name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => self.down(name)?,
                        Err(errno) => return Err(errno.into()),
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        // It ended in `..`: the directory that we are in is what it means.
        let Some((name, _)) = self.way.last() else { return Ok(Spot::Ground) };
        let name = name.clone();
        self.up()?;
        Ok(self.arrived(name))
    }

    fn arrived(self, name: OsString) -> Spot<'a> {
        let mut path = self.path();
        path.push(&name);
        Spot::Name(Name { parent: self.here, name, path })
    }

    fn path(&self) -> PathBuf {
        self.way.iter().map(|(name, _)| name).collect()
    }

    fn down(&mut self, name: OsString) -> Result<(), Refusal> {
        let opened = openat(&self.here, &name, SEARCH | OFlags::NOFOLLOW, Mode::empty())?;
        let identity = Identity::of(&fstat(&opened)?);
        self.here = Handle::Opened(opened);
        self.way.push((name, identity));
        Ok(())
    }

    fn up(&mut self) -> Result<(), Refusal> {
        if self.way.pop().is_none() {
            return Err(self.outside(Path::new("..")));
        }
        self.here = match self.way.last() {
            None => Handle::Ground(self.ground.as_fd()),
            Some((_, identity)) => {
                let opened = openat(&self.here, "..", SEARCH | OFlags::NOFOLLOW, Mode::empty())?;
                if Identity::of(&fstat(&opened)?) != *identity {
                    return Err(Refusal::Moved);
                }
                Handle::Opened(opened)
            }
        };
        Ok(())
    }

    fn unfold(&mut self, target: &Path) -> Result<(), Refusal> {
        self.links += 1;
        if self.links > LINKS {
            return Err(Refusal::Links);
        }
        let Some(inside) = from_ground(self.ground, target) else {
            return Err(self.outside(target));
        };
        if target.is_absolute() {
            self.here = Handle::Ground(self.ground.as_fd());
            self.way.clear();
        }
        self.ahead.extend(parts(inside).into_iter().rev());
        Ok(())
    }

    /// Where the walk would have gone, in words.
    fn outside(&self, next: &Path) -> Refusal {
        let mut path = self.ground.path().join(self.path());
        path.push(next);
        for part in self.ahead.iter().rev() {
            match part {
                Part::Up => path.push(".."),
                Part::Down(name) => path.push(name),
            }
        }
        Refusal::Outside(lexical(&path))
    }
}

/// Without `.` and `..`, as far as words go.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
