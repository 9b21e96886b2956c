//! Letting time pass, and waiting for whichever comes first.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::raw::flowhost::flow::{context, waiting as wit};
use crate::{Branch, Process, Turn, Watch};

/// Lets time pass, as the host counts it. The only sleep: `std::thread::sleep` would hold up every call of the flow.
pub async fn sleep(duration: Duration) {
    context::sleep(crate::context::millis(duration)).await;
}

/// Waits for two things that differ, both to their end.
///
/// ```no_run
/// # async fn example(actor: &flowhost::Agent, reviewer: &flowhost::Agent) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
/// let (acted, reviewed) = join(actor.run("Fix it."), reviewer.run("What could go wrong?")).await;
/// log!("{} / {}", acted?.text, reviewed?.text);
/// # Ok(()) }
/// ```
pub async fn join<A: IntoFuture, B: IntoFuture>(one: A, other: B) -> (A::Output, B::Output) {
    futures_util::future::join(one.into_future(), other.into_future()).await
}

/// Gives up on something that takes longer than this: the future is dropped, which stops what it stood for.
///
/// ```no_run
/// # async fn example(session: &flowhost::Session) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
/// match timeout(Duration::from_secs(60), session.run("Be quick.")).await {
///     Ok(answer) => log!("{}", answer?.text),
///     Err(elapsed) => log!("{elapsed}"),
/// }
/// # Ok(()) }
/// ```
pub async fn timeout<F: IntoFuture>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future.into_future());
    let mut clock = pin!(sleep(limit));
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        clock.as_mut().poll(cx).map(|()| Err(Elapsed(limit)))
    })
    .await
}

/// A [`timeout`] that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed(Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not done within {:?}", self.0)
    }
}

impl std::error::Error for Elapsed {}

/// Something that [`wait_any`] can wait for.
#[derive(Clone, Copy, Debug)]
pub enum Awaited<'a> {
    /// A turn's end.
    Turn(&'a Turn),
    /// A command's end.
    Process(&'a Process),
    /// A called flow's end.
    Branch(&'a Branch),
    /// An occasion to take, or the watch's end.
    Watch(&'a Watch),
}

macro_rules! awaited_from {
    ($($what:ident),*) => {$(
        impl<'a> From<&'a $what> for Awaited<'a> {
            fn from(what: &'a $what) -> Self {
                Self::$what(what)
            }
        }
    )*};
}
awaited_from!(Turn, Process, Branch, Watch);

/// Waits until at least one of several is ready, or for so long; gives the places of all that are, in order, and none when the
/// time is over or nothing was asked for.
///
/// ```no_run
/// # async fn example(turns: Vec<flowhost::Turn>) -> flowhost::Result<()> {
/// let ready = flowhost::wait_any(&turns, None).await;
/// # Ok(()) }
/// ```
pub async fn wait_any<'a>(on: impl IntoIterator<Item = impl Into<Awaited<'a>>>, limit: Option<Duration>) -> Vec<usize> {
    let on = on.into_iter().map(|each| match each.into() {
        Awaited::Turn(turn) => wit::Awaited::Turn(&turn.0),
        Awaited::Process(process) => wit::Awaited::Process(&process.0),
        Awaited::Branch(branch) => wit::Awaited::Branch(&branch.0),
        Awaited::Watch(watch) => wit::Awaited::Watch(&watch.0),
    });
    let ready = wit::wait_any(on.collect(), limit.map(crate::context::millis)).await;
    ready.into_iter().map(|place| place as usize).collect()
}
