//! Virtual time: when it moves on, and how far.
//!
//! A scenario runs on a thread of its own, on an event loop of its own, whose time stands still (`tokio::time::pause`). That loop
//! lets a timer fire only when nothing on it can go on: no task is ready, and nothing that it gave to another thread is under
//! way. So a timer of its own says that all wait, however long the guest's code ran before, and no pause of the machine
//! can be taken for that. Then the scenario's clock moves on to what is due first, in one step; where nothing is due, nothing
//! will ever happen again.

use std::{pin::pin, time::Duration};

use flowhost_core::clock::Clock;

/// The smallest step that the loop's timers know.
const TICK: Duration = Duration::from_millis(1);
/// The loop's timers count no further than some hundred million years, and what they cannot count is due at once.
const FARTHEST: Duration = Duration::from_secs(100 * 366 * 86_400);

/// Takes `work` to its end. `stuck` is called where it waits for what will never come; it must make something come. Where that does
/// not help either, there is no result. `limit` is when the engine ends the flow by the loop's own time: no step goes beyond it.
///
/// Must be called on a current-thread runtime that was started paused.
pub(crate) async fn drive<T>(
    clock: &Clock,
    limit: Duration,
    work: impl Future<Output = T>,
    mut stuck: impl FnMut(),
) -> Option<T> {
    let mut work = pin!(work);
    let began = tokio::time::Instant::now();
    let mut was_stuck = false;
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = tokio::time::sleep(TICK) => {}
        }
        match clock.next_due() {
            Some(due) => {
                let left = limit.saturating_sub(clock.elapsed());
                let due = if left.is_zero() { due } else { due.min(left) };
                // What counts by the loop's own time sees as much of it pass.
                let behind = (clock.elapsed() + due).min(FARTHEST).saturating_sub(began.elapsed());
                if !behind.is_zero() {
                    tokio::time::advance(behind).await;
                }
                clock.advance(due);
            }
            None if was_stuck => return None,
            None => {
                was_stuck = true;
                stuck();
            }
        }
    }
}
