//! Which runs there are.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use flowhost_core::{id::RunId, record::Record, usage::Usage};

use crate::{
    FILE_NAME, folder,
    line::{LONGEST_LINE, is_whole, parse},
    read::{self, JournalError},
};

/// A run of a project.
#[derive(Debug)]
pub struct RunSummary {
    /// Its name.
    pub run: RunId,
    /// Its folder.
    pub folder: PathBuf,
    /// How it is.
    pub state: RunState,
    /// The flow, as it was referred to; none where its journal does not get that far.
    pub reference: Option<Arc<str>>,
    /// When it began, in milliseconds since the epoch.
    pub started_ms: Option<u64>,
}

/// How a run is.
#[derive(Debug)]
pub enum RunState {
    /// A host is at it.
    Running,
    /// It ended.
    Ended {
        /// With this exit code.
        exit: i32,
        /// Having spent this.
        usage: Usage,
    },
    /// Its host was cut off: it did not come to its end.
    CutOff,
    /// Its journal cannot be read.
    Unreadable(JournalError),
}

/// The runs in a folder of runs, the newest first. Each is looked at when it is asked for, at the first lines and the last
/// one of its journal, so that taking a few costs little however many there are. No folder is no runs.
///
/// # Errors
/// Where the folder is there and cannot be read.
pub fn runs(folder: &Path) -> io::Result<impl Iterator<Item = RunSummary> + use<>> {
    let mut names = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if let Some(name) = entry.file_name().to_str()
                    && folder::is_run_name(name)
                    && entry.file_type()?.is_dir()
                {
                    names.push(name.to_owned());
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // A name begins with the time.
    names.sort_unstable();
    let folder = folder.to_owned();
    Ok(names.into_iter().rev().map(move |name| look_at(folder.join(&name), RunId(name.into()))))
}

fn look_at(folder: PathBuf, run: RunId) -> RunSummary {
    let path = folder.join(FILE_NAME);
    let (mut reference, mut started_ms) = (None, None);
    let state = state(&path, &mut |record| {
        if let Record::Run { reference: flow, started_ms: began, .. } = record {
            (reference, started_ms) = (Some(flow), Some(began));
        }
    });
    let state = state.unwrap_or_else(RunState::Unreadable);
    RunSummary { run, folder, state, reference, started_ms }
}

fn state(path: &Path, first: &mut impl FnMut(Record)) -> Result<RunState, JournalError> {
    if let Some(record) = read::read(path)?.next() {
        first(record?.1);
    }
    let failed = |source| JournalError::Io { path: path.to_owned(), source };
    let mut file = read::open(path).map_err(failed)?;
    if folder::is_held(&file) {
        return Ok(RunState::Running);
    }
    let last = last_line(&mut file).map_err(failed)?;
    Ok(match last.filter(|line| is_whole(line)).map(|line| parse(&line)) {
        Some(Ok((_, Record::End { exit, usage, .. }))) => RunState::Ended { exit, usage },
        _ => RunState::CutOff,
    })
}

/// The last line of a file, without its line end; none where what is last has none or is too long.
fn last_line(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    const PIECE: u64 = 4 << 10;
    let end = file.seek(SeekFrom::End(0))?;
    let mut pieces = Vec::new();
    let mut start = end;
    while start > 0 && end - start < LONGEST_LINE as u64 {
        let from = start.saturating_sub(PIECE << (2 * pieces.len()).min(12));
        let mut piece = vec![0; usize::try_from(start - from).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut piece)?;
        if pieces.is_empty() && piece.pop() != Some(b'\n') {
            return Ok(None);
        }
        let before = piece.iter().rposition(|byte| *byte == b'\n');
        if let Some(before) = before {
            piece.drain(..=before);
        }
        pieces.push(piece);
        if before.is_some() {
            return Ok(Some(pieces.into_iter().rev().flatten().collect()));
        }
        start = from;
    }
    Ok(None)
}
