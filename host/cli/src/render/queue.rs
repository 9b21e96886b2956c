//! Hands records from the run to the thread that shows them, without waiting.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// A queue with one taker.
#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
}

#[derive(Debug)]
struct State<T> {
    items: Vec<T>,
    left_out: u64,
    closed: bool,
}

/// What was queued since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch<T> {
    /// In order.
    pub items: Vec<T>,
    /// How many were left out because the taker does not keep up.
    pub left_out: u64,
    /// Whether nothing comes after these.
    pub closed: bool,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { items: Vec::new(), left_out: 0, closed: false }), wake: Condvar::new() }
    }
}

impl<T> Queue<T> {
    /// Puts one at the end.
    pub fn push(&self, item: T) {
        let mut state = self.state.lock();
        state.items.push(item);
        // The taker sleeps only while there is nothing.
        if state.items.len() == 1 {
            self.wake.notify_one();
        }
    }

    /// Puts one at the end unless `most` are there already: it is counted then. `item` is not called in vain.
    pub fn push_unless_full(&self, most: usize, item: impl FnOnce() -> T) {
        if self.state.lock().items.len() >= most {
            self.state.lock().left_out += 1;
        } else {
            self.push(item());
        }
    }

    /// Says that nothing comes any more.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Waits until there is something, or for as long as `patience` says, and takes all there is.
    pub fn take(&self, patience: Option<Duration>) -> Batch<T> {
        let mut state = self.state.lock();
        while state.items.is_empty() && !state.closed {
            match patience {
                None => self.wake.wait(&mut state),
                Some(patience) => {
                    if self.wake.wait_for(&mut state, patience).timed_out() {
                        break;
                    }
                }
            }
        }
        Batch {
            items: std::mem::take(&mut state.items),
            left_out: std::mem::take(&mut state.left_out),
            closed: state.closed,
        }
    }

    /// Lets `time` pass unless the queue is closed: what comes in the meantime is taken together.
    pub fn rest(&self, time: Duration) {
        let mut state = self.state.lock();
        let until = std::time::Instant::now() + time;
        while !state.closed {
            if self.wake.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_taker_gets_everything_in_order_and_the_end() {
        let queue = Arc::new(Queue::default());
        let pusher = queue.clone();
        let thread = std::thread::spawn(move || {
            (0..10_000).for_each(|each| pusher.push(each));
            pusher.close();
        });
        let mut taken = Vec::new();
        loop {
            let batch = queue.take(None);
            taken.extend(batch.items);
            if batch.closed {
                break;
            }
        }
        thread.join().unwrap();
        assert_eq!(taken, (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_full_queue_counts_what_it_leaves_out() {
        let queue = Queue::default();
        (0..5).for_each(|each| queue.push_unless_full(3, || each));
        queue.push(9);
        let batch = queue.take(None);
        assert_eq!((batch.items, batch.left_out), (vec![0, 1, 2, 9], 2));
    }
}
