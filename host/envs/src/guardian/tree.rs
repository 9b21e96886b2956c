//! The host's end of one tree of processes.

use std::{future::Future, io::ErrorKind, os::fd::OwnedFd, sync::Arc, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    env::Process,
    error::{EnvFault, Error, Result},
};
use parking_lot::Mutex;
use rustix::net::RecvFlags;
use tokio::{
    io::Interest,
    net::UnixStream,
    sync::{oneshot, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Guardian, LaunchError,
    host::{self, ANSWER, unavailable},
    wire::{self, Command, Report},
};

/// As long as a shim may take beyond what it was given, before the guardian ends it.
const PATIENCE: Duration = Duration::from_secs(3);

/// The socket keeps messages apart, and is a stream to the runtime alone.
type Control = UnixStream;
/// None while it goes.
type Ended = Option<Result<i32>>;

/// A tree of processes. Dropping it ends the tree, at once.
#[derive(Debug)]
pub(crate) struct Tree {
    control: Arc<Control>,
    ended: watch::Receiver<Ended>,
    /// Tells the watch that the tree is to end at once.
    kill: CancellationToken,
    abandoned: Arc<Abandoned>,
}

impl Tree {
    /// Waits until a shim says whether it has started its root.
    pub(super) async fn begin(
        guardian: Guardian,
        control: OwnedFd,
        abandoned: Arc<Abandoned>,
    ) -> Result<Self, LaunchError> {
        let failed = |why: &dyn std::fmt::Display| LaunchError::Failed(unavailable(&why.to_string()));
        let control = Arc::new(registered(control).map_err(|error| failed(&error))?);
        let gone = || failed(&"the guardian was killed");
        let shim = match timeout(ANSWER, report(&control)).await {
            Ok(Some(Report::Here { shim })) => shim,
            Ok(Some(Report::NotStarted(errno))) => return Err(LaunchError::Refused(errno)),
            Ok(_) => return Err(gone()),
            Err(_) => {
                let _ = tokio::task::spawn_blocking(move || guardian.wake()).await;
                return Err(failed(&"the guardian does not answer"));
            }
        };
        host::keep(shim);
        let started = timeout(ANSWER, report(&control)).await;
        if !matches!(started, Ok(Some(Report::Started))) {
            let ended = tokio::task::spawn_blocking(move || match started {
                Ok(Some(Report::NotStarted(errno))) => {
                    host::forget(shim);
                    LaunchError::Refused(errno)
                }
                // Killed or halted, it may have started its root.
                Ok(_) | Err(_) => {
                    guardian.end(shim);
                    LaunchError::Failed(killed())
                }
            });
            return Err(ended.await.unwrap_or_else(|_| gone()));
        }
        let (tell, ended) = watch::channel(None);
        let kill = CancellationToken::new();
        let watched = Watch { guardian, control: control.clone(), shim, kill: kill.clone(), tell };
        tokio::spawn(watched.run());
        Ok(Self { control, ended, kill, abandoned })
    }

    /// Waits until nothing is left of it; gives the status of the root.
    pub(crate) async fn ended(&self) -> Result<i32> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_else(|| Err(killed())),
            // The runtime is being taken down, and the watch with it.
            Err(_) => Err(killed()),
        }
    }

    /// Tells it to stop, makes it where it has not within the grace, and waits until nothing is left of it.
    pub(crate) async fn stopped(&self, grace: Duration) -> Result<i32> {
        // Where it has ended meanwhile there is nobody to tell.
        let _ = Command::Stop(grace).send(&*self.control);
        let limit = grace.saturating_add(PATIENCE);
        if let Ok(status) = timeout(limit, self.ended()).await {
            return status;
        }
        self.kill.cancel();
        self.ended().await
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.ended.borrow().is_none() {
            let _ = Command::Kill.send(&*self.control);
            self.kill.cancel();
            self.abandoned.add(self.ended.clone());
        }
    }
}

#[async_trait]
impl Process for Tree {
    async fn wait(&mut self) -> Result<i32> {
        self.ended().await
    }

    async fn stop(&mut self, grace: Duration) -> Result<i32> {
        self.stopped(grace).await
    }
}

/// Listens to the shim until it is done. While this goes, its end of the socket is open; the end of the host closes it.
struct Watch {
    guardian: Guardian,
    control: Arc<Control>,
    shim: i32,
    kill: CancellationToken,
    tell: watch::Sender<Ended>,
}

impl Watch {
    async fn run(self) {
        let ended = self.listen().await;
        let ended = match ended {
            Heard::Status(status) => Ok(status),
            Heard::Nothing => {
                let (guardian, shim) = (self.guardian.clone(), self.shim);
                let _ = tokio::task::spawn_blocking(move || guardian.end(shim)).await;
                Err(killed())
            }
        };
        let shim = self.shim;
        if host::has_lost_a_guardian() {
            let _ = tokio::task::spawn_blocking(move || host::forget(shim)).await;
        } else {
            host::forget(shim);
        }
        self.tell.send_replace(Some(ended));
    }

    async fn listen(&self) -> Heard {
        let mut deadline = None;
        loop {
            let late = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                report = report(&self.control) => return match report {
                    Some(Report::Ended(status)) => Heard::Status(status),
                    // A shim that was killed, or says what it has no reason to.
                    _ => Heard::Nothing,
                },
                () = self.kill.cancelled(), if deadline.is_none() => {
                    let _ = Command::Kill.send(&*self.control);
                    deadline = Some(Instant::now() + PATIENCE);
                }
                () = late => return Heard::Nothing,
            }
        }
    }
}

enum Heard {
    Status(i32),
    /// It is gone without a word, or was told to end its tree and says nothing.
    Nothing,
}

fn registered(control: OwnedFd) -> std::io::Result<Control> {
    let control = std::os::unix::net::UnixStream::from(control);
    control.set_nonblocking(true)?;
    UnixStream::from_std(control)
}

/// The next thing that a shim says; none once it is gone.
async fn report(control: &Control) -> Option<Report> {
    loop {
        control.readable().await.ok()?;
        let receive = || Ok(wire::receive(control, RecvFlags::DONTWAIT)?);
        match control.try_io(Interest::READABLE, receive) {
            Ok(message) => return Report::parse(&message?.0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}

fn killed() -> Error {
    let message =
        "what watched over the command was killed, so all that the command had started was ended; run it again";
    Error::env(EnvFault::Unavailable, message)
}

/// Trees that were dropped and starts whose caller was, until nothing is left of them.
#[derive(Debug, Default)]
pub(crate) struct Abandoned(Mutex<Vec<watch::Receiver<Ended>>>);

impl Abandoned {
    fn add(&self, ended: watch::Receiver<Ended>) {
        let mut all = self.0.lock();
        all.retain(is_left);
        all.push(ended);
    }

    /// Waits until nothing is left of what was abandoned up to now. Many may wait at once, each for all of it.
    pub(crate) async fn gone(&self) {
        let left = {
            let mut all = self.0.lock();
            all.retain(is_left);
            all.clone()
        };
        for mut each in left {
            let _ = each.wait_for(Option::is_some).await;
        }
    }

    /// Does a start to its end, whether or not the caller stays to hear of it. None where there is no runtime any more.
    pub(super) async fn starting<F>(self: Arc<Self>, start: F) -> Option<F::Output>
    where
        F: Future<Output = Result<Tree, LaunchError>> + Send + 'static,
    {
        let (give, given) = oneshot::channel();
        let (ended, end) = watch::channel(None);
        tokio::spawn(async move {
            // Where nobody takes it, it is ended before this start counts as done.
            if let Err(Ok(tree)) = give.send(start.await) {
                tree.kill.cancel();
                let _ = tree.ended().await;
            }
            ended.send_replace(Some(Ok(0)));
        });
        let mut waiting = Waiting { abandoned: &self, end: Some(end) };
        let started = given.await.ok();
        waiting.end = None;
        started
    }
}

fn is_left(tree: &watch::Receiver<Ended>) -> bool {
    tree.has_changed().is_ok() && tree.borrow().is_none()
}

/// Whoever waits for a start. Dropped before, the start is abandoned.
struct Waiting<'a> {
    abandoned: &'a Abandoned,
    end: Option<watch::Receiver<Ended>>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.abandoned.add(end);
        }
    }
}
