//! The guardian's own loop.

use std::{
    collections::HashSet,
    ffi::OsStr,
    os::fd::OwnedFd,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::CWD,
    io::Errno,
    net::RecvFlags,
    process::{WaitOptions, chdir, getpid, set_child_subreaper, setsid, wait},
};

use super::{
    os, processes, shim,
    wire::{self, Assignment, Order, Report},
};
use crate::descent::Removal;

/// Between two rounds of ending what has come to the guardian.
const ROUND: Duration = Duration::from_millis(5);
/// What this user may not send signals to is given up after as many rounds.
const HOPELESS_ROUNDS: u32 = 200;

/// Is the guardian, until the host that started it is gone and nothing that it started is left.
///
/// The hidden command that [`super::Guardian`] starts the program with calls this before anything else: it takes stdin
/// as its socket to the host, and the process must have one thread (no runtime may have been started). Fails at once
/// where it was not started by a host.
pub fn serve() -> ExitCode {
    match Loop::begin() {
        Ok(mut guardian) => match guardian.run() {
            Left::ByHost => {
                guardian.end_everything();
                ExitCode::SUCCESS
            }
            Left::AsShim(assignment) => {
                // What the guardian has open must not stay open here: the host would not see it end.
                drop(guardian);
                std::process::exit(shim::run(assignment));
            }
        },
        Err(_) => ExitCode::FAILURE,
    }
}

/// Why the loop is left.
enum Left {
    /// The host is gone.
    ByHost,
    /// This is the child of a fork.
    AsShim(Assignment),
}

struct Loop {
    host: OwnedFd,
    children: OwnedFd,
    shims: HashSet<i32>,
    mark: Vec<u8>,
    scratch: Option<PathBuf>,
    /// Something has come to the guardian that no shim holds.
    sweeping: Option<Sweeping>,
    /// Told once nothing is left to sweep.
    waiting: Vec<OwnedFd>,
}

struct Sweeping {
    next: Instant,
    hopeless: u32,
}

impl Sweeping {
    fn now() -> Self {
        Self { next: Instant::now(), hopeless: 0 }
    }
}

impl Loop {
    fn begin() -> std::io::Result<Self> {
        // A fork has one thread only: with more of them it could wait forever for what another one holds.
        if std::fs::read_dir("/proc/self/task")?.count() != 1 {
            return Err(std::io::ErrorKind::Unsupported.into());
        }
        let children = os::only_children()?;
        let host = os::take_stdin()?;
        // A ctrl-c at the terminal is for the host, which orders what is to be stopped.
        setsid()?;
        set_child_subreaper(Some(getpid()))?;
        chdir("/")?;
        let _ = rustix::thread::set_name(c"flowhost-guard");
        wire::send(&host, b"R", &[])?;
        let (shims, mark, waiting) = (HashSet::new(), Vec::new(), Vec::new());
        Ok(Self { host, children, shims, mark, scratch: None, sweeping: None, waiting })
    }

    fn run(&mut self) -> Left {
        loop {
            let left = self
                .sweeping
                .as_ref()
                .map(|sweeping| shim::timespec(sweeping.next.saturating_duration_since(Instant::now())));
            let mut sources = [PollFd::new(&self.children, PollFlags::IN), PollFd::new(&self.host, PollFlags::IN)];
            let polled = poll(&mut sources, left.as_ref());
            let [children, host] = [0, 1].map(|nth: usize| polled.is_ok() && !sources[nth].revents().is_empty());
            if children {
                shim::forget_signals(&self.children);
                self.reap();
            }
            if self.sweeping.as_ref().is_some_and(|sweeping| sweeping.next <= Instant::now()) {
                self.sweep();
            }
            if host {
                match wire::receive(&self.host, RecvFlags::DONTWAIT) {
                    Ok(Some((message, handles))) => {
                        if let Some(Some(assignment)) = Order::parse(&message, handles).map(|order| self.follow(order))
                        {
                            return Left::AsShim(assignment);
                        }
                    }
                    Err(Errno::AGAIN) => {}
                    Ok(None) | Err(_) => return Left::ByHost,
                }
            }
        }
    }

    /// Gives what a shim is to do, in the shim.
    fn follow(&mut self, order: Order) -> Option<Assignment> {
        match order {
            Order::Hello { mark, scratch } => (self.mark, self.scratch) = (mark, Some(scratch)),
            Order::Start(assignment) => match os::fork() {
                Ok(Some(shim)) => {
                    self.shims.insert(shim.as_raw_nonzero().get());
                }
                Ok(None) => return Some(assignment),
                Err(error) => {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
                    let _ = Report::NotStarted(errno).send(&assignment.control);
                }
            },
            Order::End { shim, done } => {
                // From here on it is a stray itself: one that is not yet dead holds what is below it back from the guardian.
                self.shims.remove(&shim);
                self.waiting.push(done);
                self.sweeping = Some(Sweeping::now());
            }
        }
        None
    }

    /// Takes what has ended; gives whether anything is left. A shim that did not end well has left its tree to the guardian.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if self.shims.remove(&pid.as_raw_nonzero().get()) && shim::exit_status(status) != 0 {
                        self.sweeping = Some(Sweeping::now());
                    }
                }
                Ok(None) | Err(Errno::INTR) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Ends, once more, what no shim holds.
    fn sweep(&mut self) {
        let me = getpid().as_raw_nonzero().get();
        let sent = processes::kill(|seen| seen.parent == me && !self.shims.contains(&seen.pid));
        self.reap();
        let Some(sweeping) = &mut self.sweeping else { return };
        sweeping.hopeless = if sent.alive == sent.refused { sweeping.hopeless + 1 } else { 0 };
        sweeping.next = Instant::now() + ROUND;
        if sent.alive == 0 || sweeping.hopeless > HOPELESS_ROUNDS {
            self.sweeping = None;
            for done in self.waiting.drain(..) {
                let _ = wire::send(&done, b"D", &[]);
            }
        }
    }

    /// B5: the host is gone, so nothing that it started may go on: neither what is below, nor what bears its mark.
    fn end_everything(&mut self) {
        let me = getpid().as_raw_nonzero().get();
        let mut hopeless = 0;
        while hopeless <= HOPELESS_ROUNDS {
            let sent = processes::kill(|seen| {
                seen.parent == me || seen.pid != me && !self.mark.is_empty() && seen.bears(&self.mark)
            });
            let has_children = self.reap();
            if sent.alive == 0 && !has_children {
                break;
            }
            hopeless = if sent.alive == sent.refused { hopeless + 1 } else { 0 };
            std::thread::sleep(ROUND);
        }
        if let Some(scratch) = &self.scratch {
            let removal = Removal { spared: &|_: &OsStr| false, cancelled: &|| false, force: true };
            if let (Some(name), Some(above)) = (scratch.file_name(), scratch.parent())
                && let Ok(above) = rustix::fs::openat(CWD, above, crate::ground::SEARCH, rustix::fs::Mode::empty())
            {
                // What cannot be removed is left to whoever cleans the temporary files of this machine.
                let _ = removal.remove(above, name);
            }
        }
    }
}
