//! Entries below a directory that match a glob, in order of path; no link is followed.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flowhost_core::{
    env::Entry,
    error::{EnvFault, Error, Result},
};
use globset::{GlobBuilder, GlobMatcher};
use rustix::{
    fs::{AtFlags, FileType, statat},
    io::Errno,
};

use crate::{
    beneath::{Last, Missing, Spot, resolve},
    descent::Descent,
    fault::{failed, refused},
    files::entry,
    ground::Ground,
    limits::Limits,
};

/// Bytes of a glob.
const GLOB: usize = 4096;

/// A glob, and what it says about where to look.
struct Pattern {
    matcher: GlobMatcher,
    /// Directories that everything it matches lies in.
    within: Vec<OsString>,
    /// How deep it can match; none for any depth.
    depth: Option<usize>,
}

impl Pattern {
    fn new(glob: &str) -> Result<Self> {
        let wrong = |why: &dyn std::fmt::Display| {
            Error::env(EnvFault::Other, format!("{glob:?}: {why}; a glob is like *.py or src/**/*.rs"))
        };
        if glob.len() > GLOB {
            return Err(Error::env(EnvFault::TooLarge, format!("a glob of {} bytes, and at most {GLOB}", glob.len())));
        }
        let plain = glob.strip_prefix("./").unwrap_or(glob);
        if plain.is_empty() {
            return Err(wrong(&"an empty glob matches nothing"));
        }
        if plain.starts_with('/') {
            return Err(wrong(&"an absolute glob matches nothing below a directory"));
        }
        if plain.split('/').any(|part| part == "..") {
            return Err(wrong(&"a glob with `..` matches nothing below a directory"));
        }
        let matcher = GlobBuilder::new(plain)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| wrong(error.kind()))?
            .compile_matcher();
        // A bracket can hold a slash that is none; then fewer directories are skipped, and never more.
        let special = |part: &&str| part.contains(['*', '?', '[', ']', '{', '}', '\\', ',']);
        let parts: Vec<&str> = plain.split('/').collect();
        let within = match parts.split_last() {
            Some((_, above)) => above.iter().take_while(|part| !special(part)).map(OsString::from).collect(),
            None => Vec::new(),
        };
        let depth = if plain.contains("**") { None } else { Some(parts.len()) };
        Ok(Self { matcher, within, depth })
    }

    /// Whether something below a directory may match that is called `name` and lies `depth` directories below the start.
    fn may_match_below(&self, name: &OsStr, depth: usize) -> bool {
        self.within.get(depth).is_none_or(|within| within == name) && self.depth.is_none_or(|most| depth + 1 < most)
    }
}

/// Finds them.
pub(crate) fn find(
    ground: &Ground,
    path: &str,
    glob: &str,
    limits: &Limits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Entry>> {
    let pattern = Pattern::new(glob)?;
    let spot =
        resolve(ground, path, Last::Follow, Missing::Refuse).map_err(|refusal| refused(ground, path, refusal))?;
    let (began, top) = match spot {
        Spot::Ground => (Descent::begin(ground, OsStr::new(".")), PathBuf::new()),
        Spot::Name(name) => (Descent::begin(&name.parent, &name.name), name.path),
    };
    let descent = began.map_err(|errno| failed(ground, path, errno))?;
    let mut search = Search { ground, pattern, limits, top, found: Vec::new(), listing: 0, visited: 0 };
    search.run(descent, cancelled)?;
    // By whole path: `a.b` comes before `a/b`.
    search.found.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    Ok(search.found)
}

struct Search<'a> {
    ground: &'a Ground,
    pattern: Pattern,
    limits: &'a Limits,
    /// Where it began, from the ground.
    top: PathBuf,
    found: Vec<Entry>,
    listing: u64,
    visited: u64,
}

impl Search<'_> {
    fn run(&mut self, mut descent: Descent, cancelled: &dyn Fn() -> bool) -> Result<()> {
        // From where it began.
        let mut below = PathBuf::new();
        let mut way = vec![self.names(&descent, &below)?];
        while let Some(left) = way.last_mut() {
            if cancelled() {
                return Err(Error::env(EnvFault::Interrupted, "the search was given up"));
            }
            let Some((name, kind)) = left.pop() else {
                way.pop();
                if way.is_empty() {
                    break;
                }
                descent.leave().map_err(|errno| self.failed(&below, errno))?;
                below.pop();
                continue;
            };
            if self.ground.hides(&name) {
                continue;
            }
            self.visited += 1;
            if self.visited > self.limits.visited {
                return Err(self.too_many("entries to look at", self.limits.visited));
            }
            let depth = way.len() - 1;
            below.push(&name);
            if self.pattern.matcher.is_match(&below) {
                self.add(&descent, &name, &below)?;
            }
            if kind == FileType::Directory && self.pattern.may_match_below(&name, depth) {
                match descent.enter(&name) {
                    Ok(()) => {
                        way.push(self.names(&descent, &below)?);
                        continue;
                    }
                    // It is gone, or no directory any more.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    // Nothing is skipped silently: what cannot be read could have matched.
                    Err(errno) => return Err(self.failed(&below, errno)),
                }
            }
            below.pop();
        }
        Ok(())
    }

    /// What is in the directory, the first last.
    fn names(&self, descent: &Descent, below: &Path) -> Result<Vec<(OsString, FileType)>> {
        let mut names = descent.names().map_err(|errno| self.failed(below, errno))?;
        names.reverse();
        Ok(names)
    }

    fn add(&mut self, descent: &Descent, name: &OsStr, below: &Path) -> Result<()> {
        let stat = match statat(descent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(self.failed(below, errno)),
        };
        let path = self.top.join(below).to_string_lossy().into_owned();
        self.listing += path.len() as u64;
        if self.listing > self.limits.listing {
            return Err(self.too_many("bytes of paths", self.limits.listing));
        }
        if self.found.len() as u64 >= self.limits.entries {
            return Err(self.too_many("entries", self.limits.entries));
        }
        self.found.push(entry(path, &stat));
        Ok(())
    }

    fn too_many(&self, what: &str, most: u64) -> Error {
        let directory = self.ground.directory();
        let message =
            format!("more than {most} {what} in {directory}; look in a smaller directory or for a narrower glob");
        Error::env(EnvFault::TooLarge, message)
    }

    fn failed(&self, below: &Path, errno: Errno) -> Error {
        let path = self.top.join(below);
        let path = if path.as_os_str().as_bytes().is_empty() { Path::new(".") } else { &path };
        failed(self.ground, &path.to_string_lossy(), errno)
    }
}
