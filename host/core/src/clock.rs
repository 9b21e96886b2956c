//! Time that rules wait on: the machine's, or one that a test drives.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A clock; clones tell the same time.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    System { start: Instant, epoch: Duration },
    Driven(Mutex<Driven>),
}

#[derive(Debug, Default)]
struct Driven {
    elapsed: Duration,
    counted: u64,
    sleepers: BinaryHeap<Reverse<Sleeper>>,
}

#[derive(Debug)]
struct Sleeper {
    until: Duration,
    order: u64,
    wake: oneshot::Sender<()>,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Sleeper {}
impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.until, self.order).cmp(&(other.until, other.order))
    }
}

/// Where a driven clock's epoch lies: 2026-01-01 00:00:00 UTC.
const DRIVEN_EPOCH: Duration = Duration::from_secs(1_767_225_600);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(Arc::new(Kind::System { start: Instant::now(), epoch }))
    }

    /// A clock that stands still until [`Clock::advance`].
    pub fn driven() -> Self {
        Self(Arc::new(Kind::Driven(Mutex::default())))
    }

    /// Time since this clock was made. It never goes back.
    pub fn elapsed(&self) -> Duration {
        match &*self.0 {
            Kind::System { start, .. } => start.elapsed(),
            Kind::Driven(driven) => driven.lock().elapsed,
        }
    }

    /// Time since the Unix epoch, as far as it was known when the clock was made: it never goes back either.
    pub fn since_epoch(&self) -> Duration {
        match &*self.0 {
            Kind::System { start, epoch } => *epoch + start.elapsed(),
            Kind::Driven(driven) => DRIVEN_EPOCH + driven.lock().elapsed,
        }
    }

    /// Lets `time` pass.
    pub async fn sleep(&self, time: Duration) {
        match &*self.0 {
            Kind::System { .. } => tokio::time::sleep(time).await,
            Kind::Driven(driven) => {
                let woken = {
                    let mut driven = driven.lock();
                    if time.is_zero() {
                        return;
                    }
                    let (wake, woken) = oneshot::channel();
                    driven.counted += 1;
                    let sleeper = Sleeper { until: driven.elapsed + time, order: driven.counted, wake };
                    driven.sleepers.push(Reverse(sleeper));
                    woken
                };
                let _ = woken.await;
            }
        }
    }

    /// Lets time pass until `deadline`, measured as [`Clock::elapsed`] is.
    pub async fn sleep_until(&self, deadline: Duration) {
        self.sleep(deadline.saturating_sub(self.elapsed())).await;
    }

    /// How many wait on a driven clock; 0 on the machine's. A sleep that was dropped counts until its time has come.
    pub fn sleepers(&self) -> usize {
        match &*self.0 {
            Kind::System { .. } => 0,
            Kind::Driven(driven) => driven.lock().sleepers.iter().filter(|each| !each.0.wake.is_closed()).count(),
        }
    }

    /// How long it takes until the first of those that wait on a driven clock is due; none where nobody waits, and on the machine's.
    pub fn next_due(&self) -> Option<Duration> {
        let Kind::Driven(driven) = &*self.0 else { return None };
        let mut driven = driven.lock();
        // A sleep that was dropped wakes nobody.
        while driven.sleepers.peek().is_some_and(|next| next.0.wake.is_closed()) {
            driven.sleepers.pop();
        }
        let until = driven.sleepers.peek()?.0.until;
        Some(until.saturating_sub(driven.elapsed))
    }

    /// Moves a driven clock on and wakes, in order, those whose time has come. Nothing on the machine's.
    pub fn advance(&self, time: Duration) {
        let Kind::Driven(driven) = &*self.0 else { return };
        let due = {
            let mut driven = driven.lock();
            driven.elapsed += time;
            let now = driven.elapsed;
            let mut due = Vec::new();
            while driven.sleepers.peek().is_some_and(|next| next.0.until <= now) {
                due.extend(driven.sleepers.pop());
            }
            due
        };
        for Reverse(sleeper) in due {
            let _ = sleeper.wake.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_driven_clock_wakes_in_order_of_time() {
        let clock = Clock::driven();
        let (late, soon) = (clock.clone(), clock.clone());
        let late = tokio::spawn(async move { late.sleep(Duration::from_millis(20)).await });
        let soon = tokio::spawn(async move { soon.sleep(Duration::from_millis(10)).await });
        while clock.sleepers() < 2 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_millis(10));
        soon.await.unwrap();
        assert!(!late.is_finished());
        clock.advance(Duration::from_millis(10));
        late.await.unwrap();
        assert_eq!(clock.elapsed(), Duration::from_millis(20));
    }

    #[tokio::test]
    async fn who_is_due_next_is_known_and_a_dropped_sleep_is_nobody() {
        let clock = Clock::driven();
        assert_eq!(clock.next_due(), None);
        let sleep = |ms| {
            let clock = clock.clone();
            tokio::spawn(async move { clock.sleep(Duration::from_millis(ms)).await })
        };
        let (soon, late) = (sleep(10), sleep(20));
        while clock.sleepers() < 2 {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_millis(4));
        assert_eq!(clock.next_due(), Some(Duration::from_millis(6)));
        soon.abort();
        assert!(soon.await.is_err());
        assert_eq!(clock.next_due(), Some(Duration::from_millis(16)));
        clock.advance(Duration::from_millis(16));
        late.await.unwrap();
        assert_eq!(clock.next_due(), None);
    }
}
