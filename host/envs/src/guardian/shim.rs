//! A shim: holds one tree of processes, from its root's start until nothing of it is left.

use std::{
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::Timespec,
    io::Errno,
    net::RecvFlags,
    process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getrlimit, kill_process_group,
        set_child_subreaper, wait,
    },
};

use super::{
    os, processes,
    wire::{self, Assignment, Program, Report},
};

/// What a root leaves running gets this long to end by itself: the other end of a pipe that is about to read its end.
const LINGER: Duration = Duration::from_millis(100);
/// Then it is told to stop, and gets this long until it is made to.
const GRACE: Duration = Duration::from_millis(500);
/// In each round its children are killed for this long, and those that become its children meanwhile.
const BURST: Duration = Duration::from_millis(200);
/// Between two rounds of making it; doubled each time, up to [`SLOWEST_ROUND`].
const FIRST_ROUND: Duration = Duration::from_millis(2);
const SLOWEST_ROUND: Duration = Duration::from_millis(100);
/// What this user may not send signals to (it has become another user's) is given up after as many rounds.
const HOPELESS_ROUNDS: u32 = 20;

/// Status of a root that nobody can end.
const NEVER_ENDED: i32 = 128 + 9;

/// Holds a tree. Gives the exit status of the shim: 0 where nothing is left.
pub(super) fn run(assignment: Assignment) -> i32 {
    match Shim::start(assignment) {
        Ok(Some(shim)) => shim.hold(),
        // What did not start has left nothing.
        Ok(None) => 0,
        Err(_) => 1,
    }
}

/// How far the end of the tree has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The root goes.
    Going,
    /// The root has ended, and something is left.
    Lingering,
    /// All were told to stop.
    Stopping,
    /// All are made to.
    Killing,
}

struct Shim {
    control: OwnedFd,
    children: OwnedFd,
    root: Pid,
    status: Option<i32>,
    phase: Phase,
    /// When the phase goes on.
    until: Option<Instant>,
    round: Duration,
    hopeless: u32,
    /// The host's end is closed: there is nobody to report to.
    is_alone: bool,
}

impl Shim {
    fn start(assignment: Assignment) -> std::io::Result<Option<Self>> {
        let Assignment { control, program, directory, stdio } = assignment;
        let _ = rustix::thread::set_name(c"flowhost-shim");
        set_child_subreaper(Some(getpid()))?;
        let children = os::only_children()?;
        // Where the host is gone by now, the poll says so too.
        let _ = Report::Here { shim: getpid().as_raw_nonzero().get() }.send(&control);
        match start(program, directory, stdio) {
            Ok(root) => {
                let _ = Report::Started.send(&control);
                let (status, until, round, hopeless) = (None, None, FIRST_ROUND, 0);
                let phase = Phase::Going;
                Ok(Some(Self { control, children, root, status, phase, until, round, hopeless, is_alone: false }))
            }
            Err(error) => {
                let errno = Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
                let _ = Report::NotStarted(errno).send(&control);
                Ok(None)
            }
        }
    }

    fn hold(mut self) -> i32 {
        while self.reap() {
            self.go_on();
            self.listen();
            if self.hopeless >= HOPELESS_ROUNDS {
                break;
            }
        }
        let _ = Report::Ended(self.status.unwrap_or(NEVER_ENDED)).send(&self.control);
        0
    }

    /// Takes what has ended. False once there is nothing left: a subreaper without children has no descendants.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.root {
                        self.status = Some(exit_status(status));
                    }
                }
                Ok(None) | Err(Errno::INTR) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Enters the phase whose time has come.
    fn go_on(&mut self) {
        let now = Instant::now();
        if self.phase == Phase::Going && self.status.is_some() {
            (self.phase, self.until) = (Phase::Lingering, Some(now + LINGER));
        }
        if self.until.is_none_or(|until| now < until) {
            return;
        }
        match self.phase {
            Phase::Going => {}
            Phase::Lingering => self.stop(GRACE),
            Phase::Stopping | Phase::Killing => {
                self.phase = Phase::Killing;
                self.kill_children();
                let me = getpid().as_raw_nonzero().get();
                let sent = processes::kill(|seen| seen.parent == me);
                self.hopeless = if sent.alive > 0 && sent.alive == sent.refused { self.hopeless + 1 } else { 0 };
                self.until = Some(Instant::now() + self.round);
                self.round = (self.round * 2).min(SLOWEST_ROUND);
            }
        }
    }

    /// Kills what it is the parent of, again and again for a moment: each that is killed gives its children to this process.
    fn kill_children(&mut self) {
        let until = Instant::now() + BURST;
        while Instant::now() < until && processes::kill_children() > 0 && self.reap() {}
    }

    fn stop(&mut self, grace: Duration) {
        let me = getpid().as_raw_nonzero().get();
        processes::tell_to_stop(&processes::families(&processes::all(), |seen| seen.parent == me));
        (self.phase, self.until) = (Phase::Stopping, Some(Instant::now() + grace));
    }

    fn kill(&mut self) {
        if self.phase == Phase::Killing {
            return;
        }
        let mut now = Instant::now();
        // Most often its group is all there is, and then no scan is needed. While the root is not reaped, the number is its.
        if self.status.is_none() && kill_process_group(self.root, Signal::KILL).is_ok() {
            now += FIRST_ROUND;
        }
        (self.phase, self.until) = (Phase::Killing, Some(now));
    }

    /// Waits until a child ends, the host says something, or the phase goes on.
    fn listen(&mut self) {
        let left = self.until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        let mut sources = [PollFd::new(&self.children, PollFlags::IN), PollFd::new(&self.control, PollFlags::IN)];
        let sources = if self.is_alone { &mut sources[..1] } else { &mut sources[..] };
        if poll(sources, left.as_ref()).is_err() {
            return;
        }
        let [children, control] = [0, 1].map(|nth| sources.get(nth).is_some_and(|source| !source.revents().is_empty()));
        if children {
            forget_signals(&self.children);
        }
        if control {
            match wire::receive(&self.control, RecvFlags::DONTWAIT) {
                Ok(Some((message, _))) => match wire::Command::parse(&message) {
                    wire::Command::Stop(grace) if self.phase != Phase::Killing => self.stop(grace),
                    wire::Command::Stop(_) => {}
                    wire::Command::Kill => self.kill(),
                },
                Err(Errno::AGAIN) => {}
                // B5: the host let go of it, or is gone.
                Ok(None) | Err(_) => {
                    self.is_alone = true;
                    self.kill();
                }
            }
        }
    }
}

fn start(program: OwnedFd, directory: OwnedFd, [stdin, stdout, stderr]: [OwnedFd; 3]) -> std::io::Result<Pid> {
    let program = Program::read(program)?;
    let limit = getrlimit(Resource::Nofile);
    let files = Rlimit { current: program.files.or(limit.current), maximum: limit.maximum };
    let mut command = Command::new(&program.file);
    let mut argv = program.argv.iter();
    if let Some(name) = argv.next() {
        command.arg0(name);
    }
    command.args(argv).env_clear().envs(program.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    os::in_its_own_session(&mut command, directory, files);
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}

/// As a shell counts: 128 and the signal's number where one killed it.
pub(super) fn exit_status(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(status), _) => status,
        (None, Some(signal)) => 128 + signal,
        (None, None) => NEVER_ENDED,
    }
}

/// Empties a descriptor that says that children have ended.
pub(super) fn forget_signals(children: &OwnedFd) {
    let mut buffer = [0_u8; 1024];
    while rustix::io::read(children.as_fd(), &mut buffer).is_ok_and(|read| read > 0) {}
}

/// Never less than the time, so that a wait does not end just before it.
pub(super) fn timespec(time: Duration) -> Timespec {
    let time = time + Duration::from_micros(50);
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}
