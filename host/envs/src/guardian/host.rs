//! The host's end of its guardian.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io::{self, Read},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use flowhost_core::error::{EnvFault, Error, Result};
use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::CWD,
    io::Errno,
    net::{
        RecvFlags,
        sockopt::{Timeout, set_socket_timeout},
    },
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpid, getrlimit, getsid, kill_process, pidfd_open,
        set_child_subreaper, setrlimit, waitpid,
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    processes, shim,
    tree::{Abandoned, Tree},
    wire::{self, Assignment, Order, Program},
};
use crate::descent::Removal;

/// As long as a guardian may take to answer, or to take an order: it does nothing else.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// As long as it may take to end what is left once the host has closed its end.
const FAREWELL: Duration = Duration::from_secs(5);
/// Programs that are being started at once. The descriptors on their way to the guardian count for this user until it
/// takes them, six for each, and the system allows so many.
const STARTING: usize = 16;
/// Descriptors that the host would like to have: four for each process that is going.
const FILES: u64 = 65536;
/// The variable that says whose a process is.
const MARK: &str = "FLOWHOST_PROCESS";

/// Guardians and shims of this process, whichever guardian they belong to: children that the host keeps.
static KEPT: Mutex<Option<HashSet<i32>>> = Mutex::new(None);
/// Whether a guardian was killed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Starts programs, and sees to it that nothing of them outlives the host. Clones are the same one.
///
/// The first program starts the guardian process; where that was killed, the next one starts another. When the last clone
/// is dropped and the last process ended, it ends too.
#[derive(Clone, Debug)]
pub struct Guardian(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Unguessable: what bears it is ours.
    id: String,
    scratch: PathBuf,
    link: Mutex<Option<Link>>,
    started: AtomicU64,
    starting: Arc<Semaphore>,
    /// The host's limit of descriptors before it was raised, for the programs.
    files: Option<u64>,
}

/// A guardian process that is there.
#[derive(Debug)]
struct Link {
    socket: OwnedFd,
    child: Child,
}

/// Leave to start one program.
#[derive(Debug)]
pub(crate) struct Opening(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// A program to start.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The file, absolute or from the directory that it starts in.
    pub(crate) file: PathBuf,
    pub(crate) argv: Vec<String>,
    /// All of its environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) directory: OwnedFd,
    pub(crate) stdio: [OwnedFd; 3],
}

/// Why a program was not started.
#[derive(Debug)]
pub(crate) enum LaunchError {
    /// The system did not.
    Refused(Errno),
    /// There is nobody to start it.
    Failed(Error),
}

impl Guardian {
    /// A guardian that is this program with these arguments, which is to call [`super::serve`]. Nothing is started yet. The
    /// number of descriptors that the host may have is raised as far as it may; programs get what it was.
    pub fn new(program: &Path, arguments: &[OsString]) -> Self {
        let id = unguessable();
        Self(Arc::new(Shared {
            program: program.to_owned(),
            arguments: arguments.to_vec(),
            scratch: std::env::temp_dir().join(format!("flowhost-{id}")),
            id,
            link: Mutex::new(None),
            started: AtomicU64::new(0),
            starting: Arc::new(Semaphore::new(STARTING)),
            files: raise_files(),
        }))
    }

    /// The same, started: it is known to work. Blocks for some milliseconds. Fails with `env(unavailable)`.
    pub fn start(program: &Path, arguments: &[OsString]) -> Result<Self> {
        let guardian = Self::new(program, arguments);
        let mut link = guardian.0.link.lock();
        *link = Some(guardian.0.connect()?);
        drop(link);
        Ok(guardian)
    }

    /// Ends everything that it started, and the guardian process. Programs that are going end as if they were killed. A
    /// guardian that is used again starts anew.
    ///
    /// Whoever does not call this before the end of the program leaves it to the guardian, which then ends it by itself.
    pub async fn close(&self) {
        let shared = self.0.clone();
        // Dropped together with its runtime, it has still closed the socket.
        let _ = tokio::task::spawn_blocking(move || shared.part(FAREWELL)).await;
    }

    /// The directory that holds the HOME and the TMPDIR of what is started: `home` and `tmp` in it. It is there while a
    /// guardian process is.
    pub(crate) fn scratch(&self) -> &Path {
        &self.0.scratch
    }

    /// Waits until a program can be started. What is opened for it is opened after that, so that those that wait hold nothing.
    pub(crate) async fn opening(&self) -> Result<Opening> {
        let permit = self.0.starting.clone().acquire_owned().await;
        permit.map(Opening).map_err(|error| unavailable(&error))
    }

    /// Starts a program.
    pub(crate) async fn launch(
        &self,
        opening: Opening,
        launch: Launch,
        abandoned: Arc<Abandoned>,
    ) -> Result<Tree, LaunchError> {
        let shared = self.0.clone();
        // The start goes on where the caller is dropped, so that what comes of it is ended and waited for too.
        let guardian = self.clone();
        let starting = abandoned.clone().starting(async move {
            let control = tokio::task::spawn_blocking(move || shared.order_start(launch))
                .await
                .map_err(|_| LaunchError::Failed(unavailable("the program ends")))??;
            let begun = Tree::begin(guardian, control, abandoned).await;
            drop(opening);
            begun
        });
        starting.await.unwrap_or_else(|| Err(LaunchError::Failed(unavailable("the program ends"))))
    }

    /// Wakes the guardian where somebody halted it.
    pub(super) fn wake(&self) {
        if let Some(pid) = self.0.link.lock().as_ref().and_then(Link::pid) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Ends a shim that does not answer, or one that was killed, with what was below it. Blocks.
    pub(super) fn end(&self, shim: i32) {
        self.wake();
        // Whoever it has come to, it is nobody's to keep: one that is not yet dead still holds what is below it.
        unkeep(shim);
        self.0.settle(shim);
    }
}

impl Shared {
    /// Has the guardian end a shim and waits until nothing is left of it; does the same for what came to the host.
    fn settle(&self, shim: i32) {
        let pid = self.link.lock().as_ref().and_then(Link::pid);
        if pid.is_some() && !self.is_settled(shim) {
            // It was killed too, perhaps only now. Once it is dead for sure, what it had has come to the host.
            let mut link = self.link.lock();
            if link.as_ref().and_then(Link::pid) == pid
                && let Some(dead) = link.take()
            {
                dead.bury();
            }
        }
        end_strays();
    }

    /// Whether the guardian says that nothing is left of a shim.
    fn is_settled(&self, shim: i32) -> bool {
        let Ok((here, there)) = wire::pair() else { return false };
        let sent = match &*self.link.lock() {
            Some(link) => Order::End { shim, done: there }.send(&link.socket),
            None => return true,
        };
        let answer = sent
            .and_then(|()| set_socket_timeout(&here, Timeout::Recv, Some(FAREWELL)))
            .and_then(|()| wire::receive(&here, RecvFlags::empty()));
        matches!(answer, Ok(Some(_)))
    }

    fn order_start(&self, launch: Launch) -> Result<OwnedFd, LaunchError> {
        let failed = |error: io::Error| LaunchError::Failed(unavailable(&error));
        let Launch { file, argv, mut variables, directory, stdio } = launch;
        let count = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        variables.push((MARK.into(), format!("{}-{count}", self.id).into()));
        let argv = argv.into_iter().map(OsString::from).collect();
        let program = Program { file: file.into(), argv, variables, files: self.files }.write().map_err(failed)?;
        let (here, there) = wire::pair().map_err(failed)?;
        let order = Order::Start(Assignment { control: there, program, directory, stdio });
        let mut link = self.link.lock();
        for _ in 0..2 {
            let connected = match link.take() {
                Some(connected) => connected,
                None => self.connect().map_err(LaunchError::Failed)?,
            };
            match order.send(&connected.socket) {
                Ok(()) => {
                    *link = Some(connected);
                    return Ok(here);
                }
                // It was killed. What it leaves is with its shims, or comes to the host.
                Err(Errno::PIPE | Errno::CONNRESET) => connected.bury(),
                Err(errno) => {
                    *link = Some(connected);
                    return Err(failed(errno.into()));
                }
            }
        }
        Err(LaunchError::Failed(unavailable("the guardian was killed twice")))
    }

    /// Starts a guardian process and waits until it answers.
    fn connect(&self) -> Result<Link> {
        make_scratch(&self.scratch).map_err(|error| {
            let path = self.scratch.display();
            unavailable(&format!("{path}, for the temporary files of commands, cannot be made: {error}; see TMPDIR"))
        })?;
        let program = self.program.display();
        let failed = |error: io::Error| unavailable(&format!("{program} did not start as guardian: {error}"));
        set_child_subreaper(Some(getpid())).map_err(|errno| failed(errno.into()))?;
        let (socket, there) = wire::pair().map_err(failed)?;
        for side in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&socket, side, Some(ANSWER)).map_err(|errno| failed(errno.into()))?;
        }
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).current_dir("/").stdin(Stdio::from(there));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
        // The command holds the other end as long as it is there.
        drop(command);
        let link = Link { socket, child };
        if let Some(pid) = link.pid() {
            keep(pid.as_raw_nonzero().get());
        }
        let mark = format!("{MARK}={}-", self.id).into_bytes();
        let greeted = wire::receive(&link.socket, RecvFlags::empty()).and_then(|greeting| match greeting {
            Some(_) => Order::Hello { mark, scratch: self.scratch.clone() }.send(&link.socket),
            None => Err(Errno::PIPE),
        });
        match greeted {
            Ok(()) => Ok(link),
            Err(errno) => {
                link.bury();
                Err(failed(errno.into()))
            }
        }
    }

    /// Lets the guardian end everything and waits for it, at most for a time.
    fn part(&self, patience: Duration) {
        let Some(Link { socket, mut child }) = self.link.lock().take() else {
            // What was started was killed, or never came to be.
            return self.remove_scratch();
        };
        drop(socket);
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process(pid, Signal::CONT);
        if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
            let deadline = Instant::now() + patience;
            while let left @ 1.. = deadline.saturating_duration_since(Instant::now()).as_millis() {
                let time = shim::timespec(Duration::from_millis(u64::try_from(left).unwrap_or(0)));
                match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&time)) {
                    Err(Errno::INTR) => {}
                    _ => break,
                }
            }
        }
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            forget(pid.as_raw_nonzero().get());
            self.remove_scratch();
        }
    }

    fn remove_scratch(&self) {
        let removal = Removal { spared: &|_: &OsStr| false, cancelled: &|| false, force: true };
        let _ = removal.remove(CWD, self.scratch.as_os_str());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Most often it has nothing to end. A guardian that has goes on without us.
        self.part(Duration::from_millis(200));
    }
}

impl Link {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Ends a guardian process that does not answer, and takes its status.
    fn bury(mut self) {
        LOST.store(true, Ordering::Relaxed);
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(pid) = self.pid() {
            forget(pid.as_raw_nonzero().get());
        }
    }
}

/// A child that the host keeps, should it come to it.
pub(super) fn keep(pid: i32) {
    KEPT.lock().get_or_insert_default().insert(pid);
}

fn unkeep(pid: i32) {
    KEPT.lock().get_or_insert_default().remove(&pid);
}

/// One that has ended or is about to. Where its guardian was killed, so that it has become the host's own child, its status is
/// taken; that may block for a moment.
pub(super) fn forget(pid: i32) {
    unkeep(pid);
    if has_lost_a_guardian() {
        let _ = Pid::from_raw(pid).map(|pid| waitpid(Some(pid), WaitOptions::empty()));
    }
}

/// Whether shims may have become the host's own children.
pub(super) fn has_lost_a_guardian() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Ends what has come to the host as the last subreaper: what neither a guardian nor a shim holds. A child that the host
/// itself started some other way shares its session; what a guardian started never does.
fn end_strays() {
    let me = getpid().as_raw_nonzero().get();
    let session = getsid(None).map_or(0, |session| session.as_raw_nonzero().get());
    let deadline = Instant::now() + FAREWELL;
    while Instant::now() < deadline {
        let kept = KEPT.lock().clone().unwrap_or_default();
        let is_stray =
            |seen: &processes::Seen| seen.parent == me && seen.session != session && !kept.contains(&seen.pid);
        let sent = processes::kill(is_stray);
        for stray in processes::all().iter().filter(|seen| is_stray(seen)) {
            let _ = Pid::from_raw(stray.pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        }
        if sent.alive == sent.refused {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// An error for everything that keeps programs from being started.
pub(super) fn unavailable(why: &(impl std::fmt::Display + ?Sized)) -> Error {
    Error::env(EnvFault::Unavailable, format!("no program can be started: {why}"))
}

/// Raises the number of descriptors that this process may have, as far as it may; gives what it was.
fn raise_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |most| most.min(FILES));
    // Where another guardian has raised it, this is not what the host was started with; the first is asked then.
    static BEFORE: OnceLock<Option<u64>> = OnceLock::new();
    *BEFORE.get_or_init(|| {
        if limit.current.is_some_and(|current| current < wanted) {
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
        }
        limit.current
    })
}

fn make_scratch(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    // It may be there from a guardian that was killed. The name cannot be guessed, so it is nobody else's.
    for directory in [path, &path.join("home"), &path.join("tmp")] {
        match builder.create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// 128 random bits, as hexadecimal digits.
fn unguessable() -> String {
    let mut bytes = [0_u8; 16];
    let random = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    if random.is_err() {
        // Without the device: as random as the seeds of this process's hash maps.
        use std::hash::{BuildHasher, RandomState};
        let halves = [RandomState::new().hash_one(0), RandomState::new().hash_one(std::process::id())];
        bytes[..8].copy_from_slice(&halves[0].to_le_bytes());
        bytes[8..].copy_from_slice(&halves[1].to_le_bytes());
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
