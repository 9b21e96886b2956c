//! Waiting for many.

use std::marker::PhantomData;

use futures_util::stream::{self, Stream, StreamExt};

use crate::Pending;

/// Waits for many at once and keeps every answer, in the order asked, whatever order they finish in.
///
/// Nothing is cancelled when one fails: the failure stays in its place. [`group`](crate::group()) is for the other case.
///
/// ```no_run
/// # async fn example(agent: &flowhost::Agent) {
/// use flowhost::prelude::*;
/// let questions = ["What is in src?", "What is in tests?", "What is in docs?"];
/// let answers: Vec<Result<Answer>> = gather(questions.map(|each| agent.run(each))).at_once(2).await;
/// # }
/// ```
pub fn gather<'a, I>(futures: I) -> Gather<'a, I::IntoIter>
where
    I: IntoIterator<Item: IntoFuture, IntoIter: 'a>,
{
    Gather { futures: futures.into_iter(), at_once: usize::MAX, lives: PhantomData }
}

/// What [`gather`] waits for.
#[must_use = "nothing happens until it is awaited"]
#[derive(Debug)]
pub struct Gather<'a, I> {
    futures: I,
    at_once: usize,
    /// What the futures borrow lives so long.
    lives: PhantomData<&'a ()>,
}

impl<I> Gather<'_, I> {
    /// How many go at once; all where it is not said, and 0 is as 1. The next is asked of the iterator only when there is room
    /// for it, so that a session is opened when its turn has come.
    pub fn at_once(mut self, width: usize) -> Self {
        self.at_once = width.max(1);
        self
    }
}

impl<'a, I> IntoFuture for Gather<'a, I>
where
    I: Iterator<Item: IntoFuture> + 'a,
{
    type Output = Vec<<I::Item as IntoFuture>::Output>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(self.futures.size_hint().0);
            let mut ended = std::pin::pin!(as_they_end(self.futures, self.at_once));
            while let Some((place, answer)) = ended.next().await {
                put(&mut answers, place, answer);
            }
            answers.into_iter().flatten().collect()
        })
    }
}

/// What each future came to with its place in the iterator, in the order they end; so many go at once.
pub(crate) fn as_they_end<I>(futures: I, at_once: usize) -> impl Stream<Item = (usize, <I::Item as IntoFuture>::Output)>
where
    I: Iterator<Item: IntoFuture>,
{
    let placed = futures.enumerate().map(|(place, future)| async move { (place, future.await) });
    stream::iter(placed).buffer_unordered(at_once)
}

/// Puts an answer in its place, whatever came before it.
pub(crate) fn put<T>(answers: &mut Vec<Option<T>>, place: usize, answer: T) {
    if answers.len() <= place {
        answers.resize_with(place + 1, || None);
    }
    answers[place] = Some(answer);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{poll_fn, ready};
    use std::task::Poll;

    use futures_util::FutureExt;

    use super::*;

    /// A future that ends at the poll of this number and wakes itself until then.
    fn ends_at(mut polls: usize) -> impl Future<Output = usize> {
        let all = polls;
        poll_fn(move |cx| {
            polls -= 1;
            cx.waker().wake_by_ref();
            if polls == 0 { Poll::Ready(all) } else { Poll::Pending }
        })
    }

    fn block_on<T>(mut future: Pending<'_, T>) -> T {
        loop {
            if let Some(output) = (&mut future).now_or_never() {
                return output;
            }
        }
    }

    #[test]
    fn answers_are_in_the_order_asked() {
        let answers = block_on(gather([3, 1, 2].map(ends_at)).into_future());
        assert_eq!(answers, [3, 1, 2]);
    }

    #[test]
    fn nothing_to_wait_for_is_no_answers() {
        let answers = block_on(gather(Vec::<std::future::Ready<u32>>::new()).into_future());
        assert!(answers.is_empty());
    }

    /// S2: with a width every prompt still lands, the rest waiting in order.
    #[test]
    fn no_more_go_at_once_than_asked_and_the_next_begins_when_one_ends() {
        let (going, peak) = (Cell::new(0), Cell::new(0));
        let futures = (0..10).map(|each| {
            let (going, peak) = (&going, &peak);
            async move {
                going.set(going.get() + 1);
                peak.set(peak.get().max(going.get()));
                ends_at(each % 3 + 1).await;
                going.set(going.get() - 1);
                each
            }
        });
        let answers = block_on(gather(futures).at_once(2).into_future());
        assert_eq!(answers, (0..10).collect::<Vec<_>>());
        assert_eq!((peak.get(), going.get()), (2, 0));
    }

    #[test]
    fn a_width_of_none_is_one() {
        assert_eq!(block_on(gather([ready(1), ready(2)]).at_once(0).into_future()), [1, 2]);
    }
}
