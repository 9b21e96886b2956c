//! Work that was started and can be waited for, asked after and cancelled: what stands behind a turn, a process, a branch.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
};

use futures::FutureExt;
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::error::{Error, Result};

/// A result that comes once and is then the same for all who ask.
#[derive(Debug)]
pub struct Ending<T> {
    result: OnceLock<Result<T>>,
    ended: Notify,
}

impl<T> Default for Ending<T> {
    fn default() -> Self {
        Self { result: OnceLock::new(), ended: Notify::new() }
    }
}

impl<T: Clone> Ending<T> {
    /// Publishes the result. Only the first counts.
    pub fn publish(&self, result: Result<T>) {
        if self.result.set(result).is_ok() {
            self.ended.notify_waiters();
        }
    }

    /// The result, where it is there.
    pub fn get(&self) -> Option<&Result<T>> {
        self.result.get()
    }

    /// Waits for the result. May be asked by several and again; all get the same.
    pub async fn wait(&self) -> Result<T> {
        if let Some(result) = self.result.get() {
            return result.clone();
        }
        let mut ended = std::pin::pin!(self.ended.notified());
        ended.as_mut().enable();
        match self.result.get() {
            Some(result) => result.clone(),
            None => {
                ended.await;
                self.result.get().cloned().unwrap_or_else(|| Err(Error::other("the work ended without a result")))
            }
        }
    }
}

/// Work in a task of its own. Cancelling it drops what it does; its tracker knows when it is over.
#[derive(Debug)]
pub struct Job<T> {
    ending: Ending<T>,
    cancel: CancellationToken,
}

impl<T: Clone + Send + Sync + 'static> Job<T> {
    /// Starts `work`. Where `cancel` comes first, `work` is dropped, `after` still runs, and the result is `cancelled`.
    pub fn spawn<W, A>(
        tracker: &TaskTracker,
        cancel: CancellationToken,
        cancelled: Error,
        work: W,
        after: A,
    ) -> Arc<Self>
    where
        W: Future<Output = Result<T>> + Send + 'static,
        A: Future<Output = ()> + Send + 'static,
    {
        let cancelling = cancel.clone();
        Self::spawn_with(tracker, cancel, async move {
            let result = tokio::select! {
                biased;
                () = cancelling.cancelled() => Err(cancelled),
                result = caught(work) => result,
            };
            after.await;
            result
        })
    }

    /// Starts `work` that looks at `cancel` itself, and is never dropped for it.
    pub fn spawn_guarded<W>(tracker: &TaskTracker, cancel: CancellationToken, work: W) -> Arc<Self>
    where
        W: Future<Output = Result<T>> + Send + 'static,
    {
        Self::spawn_with(tracker, cancel, caught(work))
    }

    fn spawn_with(
        tracker: &TaskTracker,
        cancel: CancellationToken,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Arc<Self> {
        let job = Arc::new(Self { ending: Ending::default(), cancel });
        let this = job.clone();
        tracker.spawn(async move { this.ending.publish(work.await) });
        job
    }

    /// Waits for its end. May be asked again and by several; all get the same.
    pub async fn wait(&self) -> Result<T> {
        self.ending.wait().await
    }

    /// Whether it has ended.
    pub fn done(&self) -> bool {
        self.ending.get().is_some()
    }

    /// Interrupts it and returns at once. Twice, or after its end, is nothing.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// Work that nobody can ask after once this is gone.
#[derive(Debug)]
pub struct CancelOnDrop<T: Clone + Send + Sync + 'static>(pub Arc<Job<T>>);

impl<T: Clone + Send + Sync + 'static> Drop for CancelOnDrop<T> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A panic of the host's own code in one call is that call's error, and takes nothing else down.
async fn caught<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let bug = |_| Err(Error::other("the host broke down in this call; this is a bug of the host"));
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(bug)
}
