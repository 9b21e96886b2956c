//! What the writer needs of a disk, so that tests can break one.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A file that grows at its end.
pub(crate) trait Disk: Send + 'static {
    /// Adds some of `bytes` to the end and says how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns once everything written would outlive the machine's power.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes off what comes after `len` bytes.
    fn cut(&mut self, len: u64) -> io::Result<()>;
}

/// A new file on a real disk. The lock on it is held for as long as this lives.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    /// Directories in which names were made that are not on disk yet.
    made_in: Vec<PathBuf>,
}

impl NewFile {
    pub(crate) fn new(file: File, made_in: Vec<PathBuf>) -> Self {
        Self { file, made_in }
    }
}

impl Disk for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        // A file is found again only where the names on the way to it are on disk too. Left for now because a run that asks
        // for nothing durable need not pay for it.
        while let Some(directory) = self.made_in.last() {
            sync_directory(directory)?;
            self.made_in.pop();
        }
        Ok(())
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some network file systems cannot, and need not.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}
