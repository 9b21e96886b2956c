//! ctrl-c, SIGTERM and SIGHUP: the first stops the run, a second one kills it (X1).

use std::io;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::JoinHandle,
};

use crate::exit::Exit;

/// Listens until it is dropped.
#[derive(Debug)]
pub struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Lets a write fail that a limit on the size of files (`ulimit -f`) refuses, where the signal for it would end the process.
///
/// Must be called within a runtime.
pub fn let_writes_fail() -> io::Result<()> {
    // The handler stays when what listens to it is gone.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Calls `stop` with what came, once, and ends the process at once where something comes again.
///
/// Must be called within a runtime.
pub fn listen(stop: impl FnOnce(&'static str) + Send + 'static) -> io::Result<Listening> {
    listen_then(stop, || {
        // What this process started is ended by the guardian, which sees that it is gone.
        std::process::exit(i32::from(Exit::Stopped.code()))
    })
}

fn listen_then(
    stop: impl FnOnce(&'static str) + Send + 'static,
    kill: impl FnOnce() + Send + 'static,
) -> io::Result<Listening> {
    let mut signals = Signals::new()?;
    Ok(Listening(tokio::spawn(async move {
        stop(signals.next().await);
        signals.next().await;
        kill();
    })))
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            Some(()) = self.interrupt.recv() => "ctrl-c",
            Some(()) = self.terminate.recv() => "SIGTERM",
            Some(()) = self.hangup.recv() => "SIGHUP",
            else => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn x1_the_first_signal_stops_and_the_second_kills() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (said, heard) = mpsc::channel();
        let second = said.clone();
        let _guard = runtime.enter();
        let stop = move |why| said.send(why).unwrap();
        let listening = listen_then(stop, move || second.send("killed").unwrap()).unwrap();
        kill_process(getpid(), Signal::HUP).unwrap();
        assert_eq!(heard.recv().unwrap(), "SIGHUP");
        kill_process(getpid(), Signal::TERM).unwrap();
        assert_eq!(heard.recv().unwrap(), "killed");
        drop(listening);
    }
}
