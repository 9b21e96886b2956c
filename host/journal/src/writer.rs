//! Group commit: records come together in a buffer that is written in one piece.
//!
//! Whoever waits for a record lets all others go first that are ready, so that their records come with its own, and then writes the
//! buffer out, since that takes far less than it takes another thread to hear of it. Where someone is writing already, or the disk was [slow](SLOW) just now, the waiter is woken when it is done.
//!
//! What takes long is done by a thread: it makes records durable, writes those that nobody waits for after [`LINGER`], and all
//! of them where the disk is slow. Where it has served several by one write more are likely to come, so it lets them come together for
//! [`PACE`] before the next one.

use std::{
    cell::RefCell,
    io, mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use flowhost_core::{
    error::{Error, Result},
    record::{Mark, Record},
};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{
    disk::Disk,
    line::{LONGEST_LINE, checked_line},
};

/// How long a record may lie that nobody waits for.
const LINGER: Duration = Duration::from_millis(5);
/// How long those who wait may come together, where several do.
const PACE: Duration = Duration::from_micros(150);
/// A write that takes longer than this holds up a thread that others are run by, for longer than waking another one takes.
const SLOW: Duration = Duration::from_micros(500);
/// How long such a disk is left to the writer thread.
const SLOW_FOR: Duration = Duration::from_millis(20);
/// Bytes that are written without waiting any longer.
const FULL: usize = 64 << 10;
/// Bytes of room that a thread keeps for its next record, and the writer for its next batch.
const KEPT_ROOM: usize = 1 << 20;

/// What those who append, those who wait and the writer thread share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Whoever writes holds this from before the buffer is taken until it is written, so that nobody overtakes. It is locked
    /// before `state`. None once the journal is closed.
    writer: Mutex<Option<Writer>>,
    wake: Condvar,
    /// Bytes that the system has.
    written: AtomicU64,
    /// Bytes that are on disk.
    durable: AtomicU64,
    /// For messages.
    name: String,
}

struct State {
    buffer: Vec<u8>,
    /// Bytes before the end of `buffer`.
    end: u64,
    sleep: Sleep,
    written: Waiters,
    durable: Waiters,
    closing: bool,
    failure: Option<Arc<str>>,
}

struct Writer {
    disk: Box<dyn Disk>,
    /// Room for what is being written.
    batch: Vec<u8>,
    slow_until: Option<Instant>,
}

/// How the writer thread sleeps, which is what it can be woken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sleep {
    /// It is at work, or was woken.
    Not,
    /// A full buffer wakes it.
    Paced,
    /// A waiter does too.
    Lingering,
    /// Any record does too.
    Idle,
}

#[derive(Default)]
struct Waiters(Vec<(u64, Waker)>);

impl Waiters {
    /// Those who wait for no more than `reached`. Each is looked at twice at most: a mark is in the batch under way or in
    /// the next.
    fn served(&mut self, reached: u64) -> Vec<Waker> {
        self.0.extract_if(.., |(mark, _)| *mark <= reached).map(|(_, waker)| waker).collect()
    }
}

/// What a waiter waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Written(Mark),
    Durable(Mark),
}

thread_local! {
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Shared {
    /// A journal that begins with `header`; `name` is what messages call it.
    pub(crate) fn new(name: String, header: Vec<u8>, disk: impl Disk) -> Arc<Self> {
        let state = State {
            end: header.len() as u64,
            buffer: header,
            sleep: Sleep::Not,
            written: Waiters::default(),
            durable: Waiters::default(),
            closing: false,
            failure: None,
        };
        let writer = Writer { disk: Box::new(disk), batch: Vec::new(), slow_until: None };
        Arc::new(Self {
            state: Mutex::new(state),
            writer: Mutex::new(Some(writer)),
            wake: Condvar::new(),
            written: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            name,
        })
    }

    pub(crate) fn append(&self, at: Duration, record: &Record) -> Mark {
        // Made outside of the lock, so that a long record holds nobody up.
        LINE.with_borrow_mut(|line| {
            line.clear();
            let mark = match checked_line(at, record, line) {
                Ok(()) if line.len() <= LONGEST_LINE => self.add(line),
                Ok(()) => self.refuse(format!(
                    "a record of {} bytes, more than the {LONGEST_LINE} that a line may have; give the flow smaller pieces",
                    line.len()
                )),
                Err(error) => self.refuse(format!("a record that JSON cannot say: {error}")),
            };
            line.shrink_to(KEPT_ROOM);
            mark
        })
    }

    fn add(&self, line: &[u8]) -> Mark {
        let mut state = self.state.lock();
        state.end += line.len() as u64;
        let mark = Mark(state.end);
        if state.failure.is_none() {
            state.buffer.extend_from_slice(line);
            let wakes = if state.buffer.len() >= FULL { Sleep::Paced } else { Sleep::Idle };
            self.rouse(state, wakes);
        }
        mark
    }

    /// Breaks the journal: what cannot be written must not be lost in silence.
    fn refuse(&self, why: String) -> Mark {
        let mut state = self.state.lock();
        state.end += 1;
        let mark = Mark(state.end);
        let woken = self.fail(&mut state, &why);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        mark
    }

    /// Wakes the thread where it sleeps `from` or sounder.
    fn rouse(&self, mut state: MutexGuard<'_, State>, from: Sleep) {
        if state.sleep >= from {
            state.sleep = Sleep::Not;
            drop(state);
            self.wake.notify_one();
        }
    }

    fn has_reached(&self, until: Until) -> bool {
        let (reached, Mark(mark)) = match until {
            Until::Written(mark) => (&self.written, mark),
            Until::Durable(mark) => (&self.durable, mark),
        };
        reached.load(Ordering::Acquire) >= mark
    }

    pub(crate) fn wait(self: &Arc<Self>, until: Until) -> Wait<'_> {
        Wait { shared: self, until, patient: false, queued: None }
    }

    /// The mark of all that was appended.
    pub(crate) fn end(&self) -> Mark {
        Mark(self.state.lock().end)
    }

    /// Has the thread write what is left, make all of it durable and end.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closing = true;
        self.rouse(state, Sleep::Paced);
    }

    /// Remembers the first thing that went wrong and gives those who are to hear of it.
    fn fail(&self, state: &mut State, why: &str) -> Vec<Waker> {
        state.failure.get_or_insert_with(|| format!("{}: {why}", self.name).into());
        state.buffer = Vec::new();
        let waiting = mem::take(&mut state.written.0).into_iter().chain(mem::take(&mut state.durable.0));
        waiting.map(|(_, waker)| waker).collect()
    }

    /// Writes until the journal is closed. The thread's own function.
    pub(crate) fn run(&self) {
        let mut crowded = false;
        while self.wait_for_work(crowded) {
            let Some(writer) = &mut *self.writer.lock() else { break };
            let Some((end, closing)) = self.take(&mut writer.batch) else { break };
            let served = self.write(writer, end).and_then(|served| {
                self.sync(writer, end, closing)?;
                Ok(served)
            });
            match served {
                Ok(served) => crowded = served > 1,
                Err(why) => {
                    let woken = self.fail(&mut self.state.lock(), &why);
                    woken.into_iter().for_each(Waker::wake);
                }
            }
            if closing {
                break;
            }
        }
        // A broken journal is held all the same, so that no other host takes the run over while this one lives.
        let mut state = self.state.lock();
        while !state.closing {
            state.sleep = Sleep::Paced;
            self.wake.wait(&mut state);
        }
        let woken = self.fail(&mut state, "the journal is closed");
        drop(state);
        *self.writer.lock() = None;
        woken.into_iter().for_each(Waker::wake);
    }

    /// Writes all there is on the waiter's own thread, unless someone is writing already or the disk is slow.
    pub(crate) fn write_now(&self) {
        let Some(mut writer) = self.writer.try_lock() else { return };
        let Some(writer) = &mut *writer else { return };
        let began = Instant::now();
        if writer.slow_until.is_some_and(|until| began < until) {
            return;
        }
        let Some((end, _)) = self.take(&mut writer.batch) else { return };
        if let Err(why) = self.write(writer, end) {
            let woken = self.fail(&mut self.state.lock(), &why);
            woken.into_iter().for_each(Waker::wake);
        }
        writer.slow_until = (began.elapsed() > SLOW).then(|| began + SLOW_FOR);
    }

    /// Sleeps until there is a reason to write; whether there will be another. Never again where the journal is broken.
    fn wait_for_work(&self, crowded: bool) -> bool {
        let mut state = self.state.lock();
        if crowded {
            self.sleep(&mut state, Sleep::Paced, Some(Instant::now() + PACE), |state| state.buffer.len() < FULL);
        }
        self.sleep(&mut state, Sleep::Idle, None, |state| state.buffer.is_empty() && !state.is_awaited());
        let calm = |state: &State| state.buffer.len() < FULL && !state.is_awaited();
        if calm(&state) {
            self.sleep(&mut state, Sleep::Lingering, Some(Instant::now() + LINGER), calm);
        }
        state.failure.is_none()
    }

    /// Takes what there is: gives the mark at its end, and whether it is the last. None where the journal is broken.
    fn take(&self, batch: &mut Vec<u8>) -> Option<(u64, bool)> {
        let mut state = self.state.lock();
        if state.failure.is_some() {
            return None;
        }
        mem::swap(&mut state.buffer, batch);
        Some((state.end, state.closing))
    }

    /// Sleeps until a time while something holds, and the journal is neither closing nor broken.
    fn sleep(
        &self,
        state: &mut MutexGuard<'_, State>,
        how: Sleep,
        until: Option<Instant>,
        condition: impl Fn(&State) -> bool,
    ) {
        while condition(state) && !state.closing && state.failure.is_none() {
            state.sleep = how;
            match until {
                None => self.wake.wait(state),
                Some(until) if self.wake.wait_until(state, until).timed_out() => break,
                Some(_) => {}
            }
        }
        state.sleep = Sleep::Not;
    }

    /// Writes the batch, which ends at `end`, and wakes who waited for it; gives how many did.
    fn write(&self, writer: &mut Writer, end: u64) -> Result<usize, String> {
        let Writer { disk, batch, .. } = writer;
        let start = self.written.load(Ordering::Relaxed);
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let wrote = match disk.write(rest) {
                Ok(0) => Err(io::Error::from(io::ErrorKind::WriteZero)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                wrote => wrote,
            };
            match wrote {
                Ok(wrote) => rest = &rest[wrote..],
                Err(error) => {
                    // No torn record stays, so that what is there can be gone on with. Where this fails too, the reader
                    // knows a torn line.
                    let wrote = &batch[..batch.len() - rest.len()];
                    let whole = wrote.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
                    if whole < wrote.len() {
                        let _ = disk.cut(start + whole as u64);
                    }
                    self.reached_written(start + whole as u64);
                    return Err(trouble("written down", &error));
                }
            }
        }
        batch.clear();
        batch.shrink_to(KEPT_ROOM);
        Ok(self.reached_written(end))
    }

    fn reached_written(&self, mark: u64) -> usize {
        self.written.store(mark, Ordering::Release);
        let served = self.state.lock().written.served(mark);
        let count = served.len();
        served.into_iter().for_each(Waker::wake);
        count
    }

    /// Makes what is written durable, where somebody waits for that.
    fn sync(&self, writer: &mut Writer, end: u64, closing: bool) -> Result<(), String> {
        let wanted = closing || !self.state.lock().durable.0.is_empty();
        if !wanted || self.durable.load(Ordering::Relaxed) >= end {
            return Ok(());
        }
        writer.disk.sync().map_err(|error| trouble("made durable", &error))?;
        self.durable.store(end, Ordering::Release);
        let served = self.state.lock().durable.served(end);
        served.into_iter().for_each(Waker::wake);
        Ok(())
    }
}

impl State {
    fn is_awaited(&self) -> bool {
        !self.written.0.is_empty() || !self.durable.0.is_empty()
    }
}

/// What a broken disk means, and what to do about it.
fn trouble(what: &str, error: &io::Error) -> String {
    let next = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on that disk",
        io::ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f)",
        io::ErrorKind::ReadOnlyFilesystem => "mount that disk for writing",
        _ => "check that disk",
    };
    format!("the run can no longer be {what}, so it does not go on: {error}; {next}")
}

/// Waits for a place in the journal.
#[must_use]
pub(crate) struct Wait<'a> {
    shared: &'a Shared,
    until: Until,
    /// Whether others have had their turn since it was asked first.
    patient: bool,
    /// The waker that is in the queue already.
    queued: Option<Waker>,
}

impl Future for Wait<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let shared = self.shared;
        if shared.has_reached(self.until) {
            return Poll::Ready(Ok(()));
        }
        if matches!(self.until, Until::Written(_)) && self.queued.is_none() {
            if !mem::replace(&mut self.patient, true) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            shared.write_now();
        }
        let mut state = shared.state.lock();
        // Again under the lock: the writer moves the mark first and then looks who waits.
        if shared.has_reached(self.until) {
            return Poll::Ready(Ok(()));
        }
        if let Some(failure) = &state.failure {
            return Poll::Ready(Err(Error::other(&**failure)));
        }
        if self.queued.as_ref().is_some_and(|queued| queued.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let waker = cx.waker().clone();
        match self.until {
            Until::Written(Mark(mark)) => state.written.0.push((mark, waker)),
            Until::Durable(Mark(mark)) => state.durable.0.push((mark, waker)),
        }
        shared.rouse(state, Sleep::Lingering);
        self.queued = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
