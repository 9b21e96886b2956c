//! Where runners are kept: `NAME-SOURCES.wasm`, and beside it `NAME-SOURCES.blake3`, the digest of its bytes.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use rustix::fs::FlockOperation;

use crate::exit::Failure;

/// The runners of one language in a folder.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: PathBuf,
    name: String,
    /// The name of the one that this program wants, without an extension.
    wanted: String,
}

/// A runner that is there.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Its component.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// Whether it is the one that this program wants.
    pub wanted: bool,
}

/// The right to change a shelf: whoever else wants to waits.
#[derive(Debug)]
pub(crate) struct Hold(#[expect(dead_code, reason = "closing it lets go of the lock")] fs::File);

impl Shelf {
    /// Of the language of this name; `sources` is the digest of what its runner is made of, in hexadecimal digits.
    pub(crate) fn new(folder: PathBuf, name: &str, sources: &str) -> Self {
        let digits = sources.get(..16).unwrap_or(sources);
        Self { folder, name: name.to_owned(), wanted: format!("{name}-{digits}") }
    }

    /// Where the runner that this program wants is, or would be.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(&self.wanted).with_extension("wasm")
    }

    /// The digest that was written down when it was installed, none where it is not.
    pub(crate) fn digest(&self) -> Result<Option<String>, Failure> {
        let path = self.path();
        if !path.try_exists().map_err(|error| unusable(&path, &error))? {
            return Ok(None);
        }
        let recorded = path.with_extension("blake3");
        let digest = there(fs::read_to_string(&recorded)).map_err(|error| unusable(&recorded, &error))?;
        let digest = digest.map(|digest| digest.trim().to_owned());
        digest.filter(|digest| digest.len() == 64).map(Some).ok_or_else(|| self.foreign(&path))
    }

    /// It, none where it is not installed. What is not what was installed is refused.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        let path = self.path();
        let Some(digest) = self.digest()? else { return Ok(None) };
        let Some(runner) = there(fs::read(&path)).map_err(|error| unusable(&path, &error))? else { return Ok(None) };
        if digest == blake3::hash(&runner).to_hex().as_str() { Ok(Some(runner)) } else { Err(self.foreign(&path)) }
    }

    fn foreign(&self, path: &Path) -> Failure {
        let message = format!("{}: it is not what was installed there", path.display());
        Failure::refused(message).hint(format!("`flowhost runner install {}` makes it again", self.name))
    }

    /// All that are there.
    pub(crate) fn kept(&self) -> Result<Vec<Kept>, Failure> {
        let listed = there(fs::read_dir(&self.folder)).map_err(|error| unusable(&self.folder, &error))?;
        let mut kept = Vec::new();
        for entry in listed.into_iter().flatten() {
            let path = entry.map_err(|error| unusable(&self.folder, &error))?.path();
            if self.is_mine(&path, "wasm") {
                let size = fs::metadata(&path).map_err(|error| unusable(&path, &error))?.len();
                kept.push(Kept { wanted: path == self.path(), path, size });
            }
        }
        kept.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(kept)
    }

    /// Waits until nobody else installs or removes, and says so before it does. The folder is made where it is not there.
    pub(crate) fn hold(&self, waits: impl FnOnce()) -> Result<Hold, Failure> {
        fs::create_dir_all(&self.folder).map_err(|error| unusable(&self.folder, &error))?;
        let path = self.folder.join(format!("{}.lock", self.name));
        let lock = fs::File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(|error| unusable(&path, &error))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            waits();
            rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| unusable(&path, &error.into()))?;
        }
        Ok(Hold(lock))
    }

    /// Puts it there, whole or not at all.
    pub(crate) fn put(&self, _hold: &Hold, runner: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.path();
        let digest = format!("{}\n", blake3::hash(runner).to_hex());
        // The digest first: a runner without its own is refused, never run.
        for (path, bytes) in [(path.with_extension("blake3"), digest.as_bytes()), (path.clone(), runner)] {
            self.replace(&path, bytes).map_err(|error| unusable(&path, &error))?;
        }
        Ok(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut draft = tempfile::NamedTempFile::new_in(&self.folder)?;
        draft.write_all(bytes)?;
        draft.as_file().sync_all()?;
        draft.persist(path)?;
        Ok(())
    }

    /// Takes away all of them but the one that this program wants, or that too.
    pub(crate) fn clear(&self, _hold: &Hold, also_wanted: bool) -> Result<Vec<Kept>, Failure> {
        let (gone, _): (Vec<_>, Vec<_>) = self.kept()?.into_iter().partition(|kept| also_wanted || !kept.wanted);
        for kept in &gone {
            for path in [kept.path.clone(), kept.path.with_extension("blake3")] {
                there(fs::remove_file(&path)).map_err(|error| unusable(&path, &error))?;
            }
        }
        Ok(gone)
    }

    fn is_mine(&self, path: &Path, extension: &str) -> bool {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.strip_prefix(&self.name));
        path.extension().is_some_and(|its| its == extension) && stem.is_some_and(|rest| rest.starts_with('-'))
    }
}

/// None where there is no such thing.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::refused(format!("{}: {error}", path.display())).hint("XDG_DATA_HOME says where runners are kept")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unasked() {
        panic!("nobody else holds it")
    }

    fn shelf(folder: &Path, sources: char) -> Shelf {
        Shelf::new(folder.join("runners"), "python", &sources.to_string().repeat(64))
    }

    #[test]
    fn what_was_put_there_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(folder.path(), 'a');
        assert_eq!(shelf.read().unwrap(), None);
        let path = shelf.put(&shelf.hold(unasked).unwrap(), b"runner").unwrap();
        assert_eq!(path.file_name().unwrap(), "python-aaaaaaaaaaaaaaaa.wasm");
        assert_eq!(shelf.read().unwrap().unwrap(), b"runner");
        fs::write(&path, "another").unwrap();
        let failure = shelf.read().unwrap_err();
        assert!(failure.message.contains("not what was installed"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("`flowhost runner install python` makes it again"));
        fs::remove_file(path.with_extension("blake3")).unwrap();
        shelf.read().unwrap_err();
    }

    #[test]
    fn another_versions_runner_is_kept_apart_and_can_be_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (shelf(folder.path(), 'a'), shelf(folder.path(), 'b'));
        old.put(&old.hold(unasked).unwrap(), b"old").unwrap();
        assert_eq!(new.read().unwrap(), None);
        let hold = new.hold(unasked).unwrap();
        new.put(&hold, b"new").unwrap();
        let kept: Vec<_> = new.kept().unwrap().iter().map(|kept| (kept.size, kept.wanted)).collect();
        assert_eq!(kept, [(3, false), (3, true)]);
        assert_eq!(new.clear(&hold, false).unwrap().len(), 1);
        assert_eq!(new.read().unwrap().unwrap(), b"new");
        assert_eq!(new.clear(&hold, true).unwrap().len(), 1);
        assert!(new.kept().unwrap().is_empty());
    }

    #[test]
    fn one_at_a_time_changes_a_shelf() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(folder.path(), 'a');
        let hold = shelf.hold(unasked).unwrap();
        let lock = fs::File::open(folder.path().join("runners/python.lock")).unwrap();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap_err();
        drop(hold);
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    }
}
