//! Watches and occasions: hooks that are pulled, not called back (S10).
//!
//! A turn that comes upon something that is watched for waits for an answer. Waiting and taking are two calls, so that no
//! occasion is lost with a call that is cancelled.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use crate::{
    error::{Error, Result, SessionFault},
    harness::{Moment, Verdict},
    id::SessionId,
};

/// What becomes of an occasion that is let go of or not answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It goes on as if nobody watched.
    Pass,
    /// It is blocked: what a guard asks for.
    Block,
}

/// A queue of occasions.
#[derive(Debug)]
pub struct Watch {
    moments: Vec<Moment>,
    patience: Duration,
    unanswered: Unanswered,
    deciding: Arc<AtomicU32>,
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Occasion>,
    closed: bool,
}

/// Something that waits for an answer. Only the first answer counts; dropping it leaves it unanswered.
#[derive(Debug)]
pub struct Occasion {
    /// What happened.
    pub moment: Moment,
    /// In which session.
    pub session: SessionId,
    /// What the moment carries.
    pub details: Arc<Value>,
    answer: Option<oneshot::Sender<Verdict>>,
    /// While it is taken and not answered, the turns of its branch decide it (S10).
    deciding: Option<Deciding>,
}

/// Counts the occasions that a branch has taken and not answered yet.
#[derive(Debug)]
struct Deciding(Arc<AtomicU32>);

impl Deciding {
    fn new(count: &Arc<AtomicU32>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Deciding {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Occasion {
    /// Answers it. A second answer, and one that comes when the turn no longer waits, fails with `session(idle)`.
    pub fn answer(&mut self, verdict: Verdict) -> Result<()> {
        self.deciding = None;
        let too_late =
            || Error::session(SessionFault::Idle, "the occasion has been answered, or its turn no longer waits");
        self.answer.take().ok_or_else(too_late)?.send(verdict).map_err(|_| too_late())
    }
}

/// An answer that is on its way.
pub(crate) struct Question {
    answer: oneshot::Receiver<Verdict>,
    /// How long to wait for it.
    pub(crate) patience: Duration,
    unanswered: Unanswered,
    moment: Moment,
}

impl Question {
    /// What is said to it; none where the occasion was let go of.
    pub(crate) async fn answered(&mut self) -> Option<Verdict> {
        (&mut self.answer).await.ok()
    }

    /// What becomes of it where nobody answers.
    pub(crate) fn unanswered(&self) -> Verdict {
        match self.unanswered {
            Unanswered::Pass => Verdict::Pass,
            Unanswered::Block => Verdict::Block(format!("nobody answered the {} in time", self.moment.name())),
        }
    }
}

impl Watch {
    /// A watch for these moments; `deciding` counts what of it was taken and not answered.
    pub(crate) fn new(
        moments: Vec<Moment>,
        patience: Duration,
        unanswered: Unanswered,
        deciding: Arc<AtomicU32>,
    ) -> Arc<Self> {
        Arc::new(Self { moments, patience, unanswered, deciding, queue: Mutex::default(), changed: Notify::new() })
    }

    /// Puts an occasion into the queue, where the watch is open and watches for it.
    pub(crate) fn ask(&self, moment: Moment, session: SessionId, details: &Arc<Value>) -> Option<Question> {
        if !self.moments.contains(&moment) {
            return None;
        }
        let (send, answer) = oneshot::channel();
        {
            let mut queue = self.queue.lock();
            if queue.closed {
                return None;
            }
            queue.waiting.push_back(Occasion {
                moment,
                session,
                details: details.clone(),
                answer: Some(send),
                deciding: None,
            });
        }
        self.changed.notify_waiters();
        Some(Question { answer, patience: self.patience, unanswered: self.unanswered, moment })
    }

    /// Waits until there is one to take; false once it is closed. Safe to cancel.
    pub async fn ready(&self) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(ready) = self.is_ready() {
                return ready;
            }
            changed.await;
        }
    }

    fn is_ready(&self) -> Option<bool> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Some(false);
        }
        // One whose turn no longer waits is nobody's concern any more.
        queue.waiting.retain(|each| each.answer.as_ref().is_some_and(|answer| !answer.is_closed()));
        (!queue.waiting.is_empty()).then_some(true)
    }

    /// The next one, or none: it does not wait.
    pub fn take(&self) -> Option<Occasion> {
        let mut queue = self.queue.lock();
        while let Some(mut next) = queue.waiting.pop_front() {
            if next.answer.as_ref().is_some_and(|answer| !answer.is_closed()) {
                next.deciding = Some(Deciding::new(&self.deciding));
                return Some(next);
            }
        }
        None
    }

    /// Whether it was taken down.
    pub fn is_closed(&self) -> bool {
        self.queue.lock().closed
    }

    /// Takes it down: those that wait return, and what nobody has taken is unanswered.
    pub fn close(&self) {
        let unanswered = {
            let mut queue = self.queue.lock();
            queue.closed = true;
            std::mem::take(&mut queue.waiting)
        };
        drop(unanswered);
        self.changed.notify_waiters();
    }
}
