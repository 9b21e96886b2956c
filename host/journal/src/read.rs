//! A journal read back.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use flowhost_core::{
    id::RunId,
    record::{FORMAT, Record},
};
use serde::{Deserialize, Serialize};

use crate::line::{LONGEST_LINE, is_whole, parse};

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The format's version.
    #[serde(rename = "flowhost-journal")]
    version: u32,
    pub(crate) run: RunId,
}

impl Header {
    pub(crate) fn new(run: &RunId) -> Self {
        Self { version: FORMAT, run: run.clone() }
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        // Two plain fields.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// Why a journal cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{}: not a journal of flowhost", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer host wrote it.
    #[error("{}: written in format {version} by a newer flowhost; this one reads up to format {FORMAT}: update it", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
    },
    /// A line in the middle is not as a host wrote it; what comes before it was given.
    #[error(
        "{}:{line}: damaged (at byte {offset}); the {} records before it are whole",
        path.display(), line.saturating_sub(2)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Bytes before it.
        offset: u64,
    },
}

/// What was dropped at the end of a journal: a host was cut off while it wrote that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Bytes before it: all that is whole.
    pub offset: u64,
    /// Bytes of it.
    pub bytes: u64,
}

/// Opens a journal to be read from its start; one that is being written is read as far as it is.
///
/// # Errors
/// Where the file cannot be opened, is no journal, or is a newer host's.
pub fn read(path: &Path) -> Result<Reader, JournalError> {
    let failed = |source| JournalError::Io { path: path.to_owned(), source };
    let file = open(path).map_err(failed)?;
    let mut reader = Reader {
        path: path.to_owned(),
        file: BufReader::with_capacity(64 << 10, file),
        run: None,
        buffer: Vec::new(),
        line: 0,
        position: 0,
        offset: 0,
        torn: None,
        skipped: 0,
        ended: false,
    };
    reader.header()?;
    Ok(reader)
}

/// Opens a journal, or says that there is none: a repository may bring a link, a pipe or a device of this name.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"))
    }
}

/// The records of a journal with their times since the run began, in order.
///
/// A torn end is dropped, and [`Reader::torn`] says so afterwards. A record that this host does not know is skipped and
/// counted by [`Reader::skipped`]. Anything else that is not as a host wrote it is an error, after which nothing follows.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    run: Option<RunId>,
    buffer: Vec<u8>,
    /// Lines read, and bytes.
    line: u64,
    position: u64,
    /// Bytes before the end of the last whole line.
    offset: u64,
    torn: Option<Torn>,
    skipped: u64,
    ended: bool,
}

enum Piece {
    Whole,
    /// Without its line end, or too long.
    Broken,
    End,
}

impl Reader {
    /// The run, as the first line names it; none where the host was cut off before that line was whole.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// What was dropped at the end; known once the last record was given.
    pub fn torn(&self) -> Option<Torn> {
        self.torn
    }

    /// How many records this host does not know, so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Bytes before the end of the last record given: its mark.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    fn header(&mut self) -> Result<(), JournalError> {
        let piece = self.piece()?;
        let start = br#"{"flowhost-journal":"#;
        let known = self.buffer.len().min(start.len());
        if self.buffer[..known] != start[..known] {
            return Err(JournalError::NotAJournal { path: self.path.clone() });
        }
        if let Piece::Whole = piece {
            /// Enough to tell a newer one, whatever else its first line has.
            #[derive(Deserialize)]
            struct Version {
                #[serde(rename = "flowhost-journal")]
                version: u32,
            }
            let not_a_journal = |_| JournalError::NotAJournal { path: self.path.clone() };
            let Version { version } = serde_json::from_slice(&self.buffer).map_err(not_a_journal)?;
            if version > FORMAT {
                return Err(JournalError::Newer { path: self.path.clone(), version });
            }
            let header: Header = serde_json::from_slice(&self.buffer).map_err(not_a_journal)?;
            self.run = Some(header.run);
            self.offset = self.position;
        } else {
            self.tear();
        }
        Ok(())
    }

    fn tear(&mut self) {
        self.ended = true;
        let bytes = self.position - self.offset;
        self.torn = (bytes > 0).then_some(Torn { offset: self.offset, bytes });
    }

    /// Reads a line into the buffer, without its line end.
    fn piece(&mut self) -> Result<Piece, JournalError> {
        self.buffer.clear();
        let longest = LONGEST_LINE as u64;
        let read = self.file.by_ref().take(longest).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|source| JournalError::Io { path: self.path.clone(), source })?;
        self.line += u64::from(read > 0);
        self.position += read as u64;
        Ok(match self.buffer.pop_if(|byte| *byte == b'\n') {
            Some(_) => Piece::Whole,
            None if read == 0 => Piece::End,
            None => Piece::Broken,
        })
    }

    /// After a line that is not whole: a torn end, where no whole line follows.
    fn broken(&mut self) -> Result<(), JournalError> {
        let (line, offset) = (self.line, self.offset);
        loop {
            match self.piece()? {
                Piece::End => {
                    self.tear();
                    return Ok(());
                }
                Piece::Whole if is_whole(&self.buffer) => {
                    return Err(JournalError::Damaged { path: self.path.clone(), line, offset });
                }
                Piece::Whole | Piece::Broken => {}
            }
        }
    }
}

impl Iterator for Reader {
    type Item = Result<(Duration, Record), JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let step = self.piece().and_then(|piece| match piece {
                Piece::Whole if is_whole(&self.buffer) => Ok(true),
                Piece::End => {
                    self.ended = true;
                    Ok(false)
                }
                Piece::Whole | Piece::Broken => self.broken().map(|()| false),
            });
            match step {
                Ok(false) => {}
                Ok(true) => {
                    self.offset = self.position;
                    // Its checksum is right, so a host wrote it: one that knows more than this one.
                    match parse(&self.buffer) {
                        Ok(record) => return Some(Ok(record)),
                        Err(_) => self.skipped += 1,
                    }
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
