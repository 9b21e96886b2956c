//! A directory on this machine as an environment.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use flowhost_core::{
    env::{Child, Command, Entry, Env, EnvKind, Output, Program},
    error::{EnvFault, Error, Result, SessionFault},
};
use parking_lot::Mutex;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, openat, statat},
    io::Errno,
};

use crate::{
    Guardian, Limits,
    beneath::{Last, Missing, Refusal, Spot, resolve},
    environment::Environment,
    exec, fault, files, find, git,
    ground::{Ground, Identity, SEARCH},
    guardian::Abandoned,
};

/// Names that no environment reaches unless it is opened otherwise: where a project keeps the host's own state.
pub const HIDDEN: &[&str] = &[".flowhost"];

/// A directory of this machine, or one inside it.
///
/// It holds a handle of the directory: renamed, it stays the same; another one put in its place is not it. Paths are relative to it,
/// or absolute and spelled as it was opened or without links. What looks at one name only (`verify`, `subdir`) is done
/// where it is called; all else on threads that may block.
#[derive(Debug)]
pub struct Local {
    ground: Arc<Ground>,
    kind: EnvKind,
    root: Arc<Root>,
}

/// What the environments inside one that was opened share.
#[derive(Debug)]
pub(crate) struct Root {
    /// The directory that was opened.
    pub(crate) path: PathBuf,
    pub(crate) guardian: Guardian,
    pub(crate) limits: Limits,
    pub(crate) environment: Environment,
    pub(crate) abandoned: Arc<Abandoned>,
    /// Repositories of another user that git may work in, since the person asked for this directory.
    pub(crate) safe: Vec<PathBuf>,
    /// Thousands of sessions may be rooted at one directory; they share its handle.
    subdirs: Mutex<HashMap<(Identity, PathBuf), Weak<Local>>>,
}

impl Local {
    /// Opens a directory. It is refused in the words of S5, as `session(refused-dir)`, where there is none. [`HIDDEN`] is out
    /// of reach in it.
    pub fn open(path: &Path, guardian: Guardian, limits: Limits) -> Result<Arc<dyn Env>> {
        Self::open_hiding(path, guardian, limits, HIDDEN)
    }

    /// The same, with these names out of reach, wherever in it they are: every operation on them, or through
    /// them, is `denied`, and `find` does not show them.
    pub fn open_hiding(path: &Path, guardian: Guardian, limits: Limits, hidden: &[&str]) -> Result<Arc<dyn Env>> {
        let spelled = std::path::absolute(path).map_err(|_| no_directory(path))?;
        let hidden = hidden.iter().map(|&name| name.to_owned()).collect();
        let ground = Ground::open(&spelled, hidden).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL | Errno::LOOP => no_directory(&spelled),
            errno => {
                let message = format!("{}: {}", spelled.display(), std::io::Error::from(errno));
                Error::env(EnvFault::Denied, message)
            }
        })?;
        let root = Root {
            path: ground.path().to_owned(),
            guardian,
            limits,
            environment: Environment::of_host(),
            abandoned: Arc::default(),
            safe: git::of_other_users(ground.path()),
            subdirs: Mutex::default(),
        };
        Ok(Arc::new(Self { ground: Arc::new(ground), kind: EnvKind::Workspace, root: Arc::new(root) }))
    }

    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Does what may block. It is told when the caller is gone.
    async fn blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Ground, &Limits, &dyn Fn() -> bool) -> Result<T> + Send + 'static,
    {
        let (ground, root) = (self.ground.clone(), self.root.clone());
        let cancelled = Arc::new(AtomicBool::new(false));
        let caller = Caller(cancelled.clone());
        let done =
            tokio::task::spawn_blocking(move || work(&ground, &root.limits, &|| cancelled.load(Ordering::Relaxed)));
        let result = done.await;
        drop(caller);
        // A panic in there is a bug of ours, and the program's to end with.
        result.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::env(EnvFault::Interrupted, "the program ends")),
        })
    }

    /// S5, in its own words.
    fn not_inside(&self, path: &Path) -> Error {
        let root = &self.root.path;
        // A subdir's parent is inside the workspace, and yet not inside the subdir.
        let workspace = if path.starts_with(root) { self.ground.path() } else { root };
        let (path, workspace) = (path.display(), workspace.display());
        let message = format!("{path} is not inside {workspace}, which is the workspace this agent's turns land in");
        Error::session(SessionFault::RefusedDir, message)
    }

    fn open_subdir(&self, path: &str) -> Result<Option<Arc<Self>>> {
        let ground = &self.ground;
        let spelled = || ground.path().join(path);
        let spot = resolve(ground, path, Last::Follow, Missing::Refuse).map_err(|refusal| match refusal {
            Refusal::Outside(target) if target.is_dir() => self.not_inside(&target),
            Refusal::Outside(target) => no_directory(&target),
            Refusal::Invalid(_) | Refusal::Hidden => fault::refused(ground, path, refusal),
            Refusal::Os(Errno::ACCESS | Errno::PERM) => fault::refused(ground, path, refusal),
            Refusal::NotDirectory | Refusal::Links | Refusal::Moved | Refusal::Os(_) => no_directory(&spelled()),
        })?;
        let Spot::Name(name) = spot else { return Ok(None) };
        let opened = openat(&name.parent, &name.name, SEARCH | OFlags::NOFOLLOW, Mode::empty());
        let handle = opened.map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM => fault::failed(ground, path, errno),
            _ => no_directory(&ground.path().join(&name.path)),
        })?;
        let inside = ground.inside(handle, &name.path).map_err(|errno| fault::failed(ground, path, errno))?;
        let key = (inside.identity(), inside.path().to_owned());
        let mut subdirs = self.root.subdirs.lock();
        if let Some(known) = subdirs.get(&key).and_then(Weak::upgrade) {
            return Ok(Some(known));
        }
        if subdirs.len() == subdirs.capacity() {
            subdirs.retain(|_, each| each.strong_count() > 0);
        }
        let subdir = Arc::new(Self { ground: Arc::new(inside), kind: EnvKind::Subdir, root: self.root.clone() });
        subdirs.insert(key, Arc::downgrade(&subdir));
        Ok(Some(subdir))
    }
}

/// Whoever waits for what blocks.
struct Caller(Arc<AtomicBool>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// S5, in its own words.
fn no_directory(path: &Path) -> Error {
    let message = format!("{}: no directory to open a session in", path.display());
    Error::session(SessionFault::RefusedDir, message)
}

#[async_trait]
impl Env for Local {
    fn kind(&self) -> EnvKind {
        self.kind
    }

    fn directory(&self) -> &str {
        self.ground.directory()
    }

    fn branch_name(&self) -> Option<String> {
        git::branch(&*self.ground)
    }

    async fn verify(&self) -> Result<()> {
        let path = self.ground.path();
        if statat(CWD, path, AtFlags::empty()).is_ok_and(|stat| Identity::of(&stat) == self.ground.identity()) {
            return Ok(());
        }
        match Ground::open(path, Arc::default()) {
            // S5: another one was put in its place, by a link.
            Ok(now) if self.kind == EnvKind::Subdir && !now.path().starts_with(&self.root.path) => {
                Err(self.not_inside(now.path()))
            }
            _ => Err(no_directory(path)),
        }
    }

    async fn exec(&self, command: Command) -> Result<Output> {
        exec::exec(self, command).await
    }

    async fn spawn(&self, program: Program) -> Result<Child> {
        exec::spawn(self, program).await
    }

    async fn swept(&self) {
        self.root.abandoned.gone().await;
    }

    async fn read(&self, path: &str, range: Option<(u64, u32)>) -> Result<Vec<u8>> {
        let path = path.to_owned();
        self.blocking(move |ground, limits, _| files::read(ground, &path, range, limits.read)).await
    }

    async fn write(&self, path: &str, data: Vec<u8>) -> Result<()> {
        let path = path.to_owned();
        self.blocking(move |ground, _, _| files::write(ground, &path, &data)).await
    }

    async fn append(&self, path: &str, data: Vec<u8>) -> Result<()> {
        let path = path.to_owned();
        self.blocking(move |ground, _, _| files::append(ground, &path, &data)).await
    }

    async fn make_dir(&self, path: &str) -> Result<()> {
        let path = path.to_owned();
        self.blocking(move |ground, _, _| files::make_dir(ground, &path)).await
    }

    async fn stat(&self, path: &str) -> Result<Entry> {
        let path = path.to_owned();
        self.blocking(move |ground, _, _| files::stat(ground, &path)).await
    }

    async fn remove(&self, path: &str) -> Result<()> {
        let path = path.to_owned();
        self.blocking(move |ground, _, cancelled| files::remove(ground, &path, cancelled)).await
    }

    async fn find(&self, path: &str, glob: &str) -> Result<Vec<Entry>> {
        let (path, glob) = (path.to_owned(), glob.to_owned());
        self.blocking(move |ground, limits, cancelled| find::find(ground, &path, &glob, limits, cancelled)).await
    }

    async fn subdir(&self, path: &str) -> Result<Arc<dyn Env>> {
        match self.open_subdir(path)? {
            Some(subdir) => Ok(subdir),
            None => Ok(Arc::new(Self { ground: self.ground.clone(), kind: self.kind, root: self.root.clone() })),
        }
    }
}
