//! Where there are no subreapers, no process is started: it could outlive the host (B5).

use std::{
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use flowhost_core::{
    env::Process,
    error::{EnvFault, Error, Result},
};
use rustix::io::Errno;

/// Starts programs; on this system it refuses to.
#[derive(Clone, Debug)]
pub struct Guardian(());

pub(crate) enum Opening {}

pub(crate) struct Launch {
    pub(crate) file: PathBuf,
    pub(crate) argv: Vec<String>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) directory: OwnedFd,
    pub(crate) stdio: [OwnedFd; 3],
}

pub(crate) enum LaunchError {
    #[allow(dead_code)]
    Refused(Errno),
    Failed(Error),
}

/// Refuses.
pub fn serve() -> ExitCode {
    ExitCode::FAILURE
}

impl Guardian {
    /// One that refuses.
    pub fn new(_: &Path, _: &[OsString]) -> Self {
        Self(())
    }

    /// Fails with `env(unavailable)`.
    pub fn start(_: &Path, _: &[OsString]) -> Result<Self> {
        Err(unavailable())
    }

    /// Nothing is there to end.
    pub async fn close(&self) {}

    pub(crate) fn scratch(&self) -> &Path {
        Path::new("/tmp")
    }

    pub(crate) async fn opening(&self) -> Result<Opening> {
        Err(unavailable())
    }

    pub(crate) async fn launch(&self, _: Opening, launch: Launch, _: Arc<Abandoned>) -> Result<Tree, LaunchError> {
        let Launch { file: _, argv: _, variables: _, directory: _, stdio: _ } = launch;
        Err(LaunchError::Failed(unavailable()))
    }
}

/// Never one of them is there.
#[derive(Debug)]
pub(crate) enum Tree {}

impl Tree {
    pub(crate) async fn ended(&self) -> Result<i32> {
        match *self {}
    }

    pub(crate) async fn stopped(&self, _: Duration) -> Result<i32> {
        match *self {}
    }
}

#[async_trait]
impl Process for Tree {
    async fn wait(&mut self) -> Result<i32> {
        match *self {}
    }

    async fn stop(&mut self, _: Duration) -> Result<i32> {
        match *self {}
    }
}

#[derive(Debug, Default)]
pub(crate) struct Abandoned(());

impl Abandoned {
    pub(crate) async fn gone(&self) {}
}

pub(crate) fn memory_file(_: &[u8]) -> std::io::Result<OwnedFd> {
    Err(std::io::ErrorKind::Unsupported.into())
}

fn unavailable() -> Error {
    Error::env(EnvFault::Unavailable, "no program can be started: on this system nothing ends it for sure; use Linux")
}
