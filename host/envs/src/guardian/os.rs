//! What has no safe form anywhere: forking, signals and what a child does between fork and exec. The only unsafe code of
//! the host.

#![allow(unsafe_code)]

use std::{
    io,
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
};

use rustix::process::{Pid, Resource, Rlimit, Signal};

/// Takes the socket that a guardian is started with on its stdin, and puts `/dev/null` there.
pub(super) fn take_stdin() -> io::Result<OwnedFd> {
    let taken = io::stdin().as_fd().try_clone_to_owned()?;
    let null = std::fs::File::open("/dev/null")?;
    // SAFETY: dup2 closes and replaces descriptor 0 as one step; nobody holds it as something owned.
    if unsafe { libc::dup2(null.as_raw_fd(), libc::STDIN_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(taken)
}

/// From here on nothing that is meant for the host stops this process, and the end of a child is read from the
/// descriptor that this gives.
pub(super) fn only_children() -> io::Result<OwnedFd> {
    // SAFETY: plain system calls on a set that lives here. Ignoring a signal runs no code of ours.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // Ignored, it would have children vanish without a status.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let handle = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if handle < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(handle))
    }
}

/// Forks. None in the child.
///
/// The caller has one thread, which [`super::serve`] made sure of: so whatever lock there is, the child finds it free.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: with one thread the child is a whole copy of the process, which may go on with anything.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Has a command start in a session of its own, in the directory of a handle (W1), with signals as a program expects them,
/// with `files` descriptors allowed at once and none but 0, 1 and 2 open, and end when its parent does.
pub(super) fn in_its_own_session(command: &mut Command, directory: OwnedFd, files: Rlimit) {
    let parent = rustix::process::getpid();
    let prepare = move || {
        rustix::process::setsid()?;
        rustix::process::fchdir(&directory)?;
        rustix::process::setrlimit(Resource::Nofile, files)?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // SAFETY: plain system calls on a set that lives here.
        unsafe {
            for signal in 1..=64 {
                // Those that cannot be set are as they should be.
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut set = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&mut set);
            libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
            // Ours are closed by exec anyway; these are what whoever started the host left open. Old kernels lack it.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls and nothing else: no allocation, no lock.
    unsafe { command.pre_exec(prepare) };
}
