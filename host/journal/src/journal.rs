//! The journal of one run, to be written.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use async_trait::async_trait;
use flowhost_core::{
    error::{Error, Result},
    id::RunId,
    record::{Mark, Record, Recorder},
};
use parking_lot::Mutex;

use crate::{
    disk::Disk,
    folder,
    read::Header,
    writer::{Shared, Until},
};

/// The journal of one run, held by this process alone.
///
/// Once the disk fails, everything that was not yet written stays unwritten and every wait for it fails with the reason:
/// nothing is lost in silence, and no torn record is left in the middle. Dropping a journal closes it and blocks until it
/// is on disk; [`Journal::close`] does so without blocking and says whether it worked.
pub struct Journal {
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    folder: PathBuf,
}

impl fmt::Debug for Journal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Journal").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Journal {
    /// Makes the folder `runs/RUN` and the journal in it, which only this user can read, and locks it. `runs` is made too,
    /// and the folder that it is in (`.flowhost`, with a `.gitignore`), where they are not there.
    ///
    /// # Errors
    /// `other` where there is such a run already, where `runs` or the folder that it is in is a link (a repository could lead the record
    /// elsewhere), or where the disk refuses.
    pub fn create(runs: &Path, run: &RunId) -> Result<Self> {
        let (folder, file) = folder::create(runs, run)?;
        Self::start(folder, run, file)
    }

    pub(crate) fn start(folder: PathBuf, run: &RunId, disk: impl Disk) -> Result<Self> {
        let name = folder.join(crate::FILE_NAME).display().to_string();
        let shared = Shared::new(name, Header::new(run).line(), disk);
        let writer = thread::Builder::new()
            .name("journal".into())
            .spawn({
                let shared = shared.clone();
                move || shared.run()
            })
            .map_err(|error| Error::other(format!("no thread for the journal: {error}")))?;
        Ok(Self { shared, writer: Mutex::new(Some(writer)), folder })
    }

    /// The folder of the run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes all that was appended durable, closes the file and lets go of its lock. Waits for later records fail.
    ///
    /// # Errors
    /// `other` where the disk failed, now or before.
    pub async fn close(&self) -> Result<()> {
        let durable = self.durable(self.shared.end()).await;
        self.end();
        durable
    }

    fn end(&self) {
        self.shared.close();
        if let Some(writer) = self.writer.lock().take() {
            // A panic in it has been reported where it happened.
            let _ = writer.join();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.end();
    }
}

#[async_trait]
impl Recorder for Journal {
    fn append(&self, at: Duration, record: &Record) -> Mark {
        self.shared.append(at, record)
    }

    fn write_out(&self) {
        self.shared.write_now();
    }

    async fn written(&self, mark: Mark) -> Result<()> {
        self.shared.wait(Until::Written(mark)).await
    }

    async fn durable(&self, mark: Mark) -> Result<()> {
        self.shared.wait(Until::Durable(mark)).await
    }
}
