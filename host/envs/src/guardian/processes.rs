//! Which processes there are, which of them are below which, and signals to exactly those.

use std::{collections::HashSet, fs, io::Read};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

/// A process as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
    /// When it was started, in the kernel's own units: with `pid` it says which process this is.
    started: u64,
    /// It has ended, and nobody has asked for its status yet.
    is_over: bool,
}

impl Seen {
    fn look(pid: i32) -> Option<Self> {
        let mut stat = [0; 1024];
        let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
        let length = file.read(&mut stat).ok()?;
        Self::parse(pid, &stat[..length])
    }

    /// `proc(5)`: pid, name in parentheses (with anything in it), state, parent, group, session, …, 22nd the start.
    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(15)?.parse().ok()?;
        Some(Self { pid, parent, session, started, is_over: matches!(state, "Z" | "X") })
    }

    /// Whether its environment, as it was started with, has this mark.
    pub(super) fn bears(&self, mark: &[u8]) -> bool {
        fs::read(format!("/proc/{}/environ", self.pid))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark)))
    }

    /// Sends it a signal, and never to another process that has its number by now.
    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Err(Errno::SRCH) };
        let handle = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Err(Errno::SRCH),
            // An old kernel, or a filter that does not know the call: only the moment between the look and the signal is left open.
            Err(_) => return rustix::process::kill_process(pid, signal),
            Ok(handle) => handle,
        };
        match Self::look(self.pid) {
            Some(now) if now.started == self.started => pidfd_send_signal(handle, signal),
            _ => Err(Errno::SRCH),
        }
    }
}

/// All processes, each as it is when it is asked for.
fn each() -> impl Iterator<Item = Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| Seen::look(entry.ok()?.file_name().to_str()?.parse().ok()?))
}

/// All processes.
pub(super) fn all() -> Vec<Seen> {
    each().collect()
}

/// Those that are chosen, and all below them.
pub(super) fn families(all: &[Seen], chosen: impl Fn(&Seen) -> bool) -> Vec<Seen> {
    extended(all, all.iter().filter(|seen| chosen(seen)).map(|seen| seen.pid).collect())
}

/// Those whose numbers are given, and all below them.
fn extended(all: &[Seen], mut members: HashSet<i32>) -> Vec<Seen> {
    loop {
        let before = members.len();
        for seen in all {
            if members.contains(&seen.parent) {
                members.insert(seen.pid);
            }
        }
        if members.len() == before {
            return all.iter().filter(|seen| members.contains(&seen.pid)).copied().collect();
        }
    }
}

/// Kills those that are chosen, and all below them: each as soon as it is seen, where what it is below was seen before, since one
/// that forks and ends all the time is not there any more once all have been looked at.
pub(super) fn kill(chosen: impl Fn(&Seen) -> bool) -> Sent {
    let mut members = HashSet::new();
    let mut all = Vec::new();
    let mut sent = Sent::default();
    for seen in each() {
        if chosen(&seen) || members.contains(&seen.parent) {
            members.insert(seen.pid);
            sent.add(signal(&[seen], Signal::KILL));
        }
        all.push(seen);
    }
    let mut late = extended(&all, members.clone());
    late.retain(|seen| !members.contains(&seen.pid));
    sent.add(signal(&late, Signal::KILL));
    sent
}

/// Kills the children of this process, and gives how many were. Until they are waited for, their numbers are no others'.
///
/// Far faster than going through all processes: one that forks and ends all the time becomes a child of its subreaper with each step,
/// and is met here before the next. None are found where the kernel does not list children.
pub(super) fn kill_children() -> usize {
    let me = rustix::process::getpid().as_raw_nonzero();
    let listed = fs::read_to_string(format!("/proc/{me}/task/{me}/children")).unwrap_or_default();
    let children = listed.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
    children.filter(|pid| rustix::process::kill_process(*pid, Signal::KILL).is_ok()).count()
}

/// What came of signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Processes that had not ended.
    pub(super) alive: usize,
    /// Of these, those that this user may not send signals to.
    pub(super) refused: usize,
}

impl Sent {
    fn add(&mut self, other: Self) {
        self.alive += other.alive;
        self.refused += other.refused;
    }
}

/// Sends each of them a signal.
fn signal(processes: &[Seen], signal: Signal) -> Sent {
    let mut sent = Sent::default();
    for process in processes.iter().filter(|process| !process.is_over) {
        match process.signal(signal) {
            Ok(()) => sent.alive += 1,
            Err(Errno::PERM) => {
                sent.alive += 1;
                sent.refused += 1;
            }
            Err(_) => {}
        }
    }
    sent
}

/// Tells processes to stop, also those that are halted.
pub(super) fn tell_to_stop(processes: &[Seen]) {
    signal(processes, Signal::TERM);
    signal(processes, Signal::CONT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_anything_in_it_is_read_over() {
        let stat = b"42 (a) Z 1 (x)) S 7 42 40 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0\n";
        let seen = Seen { pid: 42, parent: 7, session: 40, started: 12345, is_over: false };
        assert_eq!(Seen::parse(42, stat), Some(seen));
        assert_eq!(Seen::parse(42, b"42 (a"), None);
    }

    #[test]
    fn this_process_is_among_all() {
        let me = all().into_iter().find(|seen| seen.pid == rustix::process::getpid().as_raw_nonzero().get()).unwrap();
        assert_eq!(Some(me.parent), rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get()));
        assert!(!me.is_over && me.started > 0);
    }

    #[test]
    fn a_family_is_found_whatever_the_order_of_numbers() {
        let seen = |pid, parent| Seen { pid, parent, session: 0, started: 0, is_over: false };
        let all = [seen(2, 9), seen(3, 2), seen(9, 5), seen(4, 1), seen(5, 1)];
        let below = families(&all, |process| process.parent == 5);
        assert_eq!(below.iter().map(|process| process.pid).collect::<Vec<_>>(), [2, 3, 9]);
    }
}
