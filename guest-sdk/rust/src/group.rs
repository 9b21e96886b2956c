//! Many that stand or fall together.

use std::cell::Cell;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::Poll;

use futures_util::stream::{Stream, StreamExt};

use crate::gather::{as_they_end, put};
use crate::{Error, Pending};

/// Waits for many at once; at the first error the rest is cancelled, and what each stood for is stopped.
///
/// ```no_run
/// # async fn example(agent: &flowhost::Agent) -> flowhost::Result<()> {
/// use flowhost::prelude::*;
/// let questions = ["What is in src?", "What is in tests?", "What is in docs?"];
/// match group(questions.map(|each| agent.run(each))).await {
///     Ok(answers) => log!("{} answers", answers.len()),
///     Err(failures) => log!("{} failed, {} cancelled", failures.errors.len(), failures.cancelled),
/// }
/// # Ok(()) }
/// ```
pub fn group<'a, I>(futures: I) -> Group<'a, I::IntoIter>
where
    I: IntoIterator<Item: IntoFuture, IntoIter: 'a>,
{
    Group { futures: futures.into_iter(), at_once: usize::MAX, lives: PhantomData }
}

/// What [`group`] waits for.
#[must_use = "nothing happens until it is awaited"]
#[derive(Debug)]
pub struct Group<'a, I> {
    futures: I,
    at_once: usize,
    /// What the futures borrow lives so long.
    lives: PhantomData<&'a ()>,
}

impl<I> Group<'_, I> {
    /// How many go at once; all where it is not said, and 0 is as 1.
    pub fn at_once(mut self, width: usize) -> Self {
        self.at_once = width.max(1);
        self
    }
}

/// What became of a [`group`] in which something failed. Through `?` it is its first error, as it was raised.
#[derive(Clone, Debug, PartialEq)]
pub struct Failures<E = Error> {
    /// The errors, the first one first; more than one where several ended before the rest could be cancelled.
    pub errors: Vec<E>,
    /// How many had answered.
    pub answered: usize,
    /// How many were going and were cancelled.
    pub cancelled: usize,
}

impl From<Failures> for Error {
    fn from(failures: Failures) -> Self {
        failures.errors.into_iter().next().unwrap_or_else(|| Error::failed("a group failed"))
    }
}

impl<'a, I, T, E> IntoFuture for Group<'a, I>
where
    I: Iterator<Item: IntoFuture<Output = Result<T, E>>> + 'a,
    T: 'a,
    E: 'a,
{
    type Output = Result<Vec<T>, Failures<E>>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (begun, failed) = (Cell::new(0), Cell::new(false));
            // Once something failed, nothing new begins.
            let futures = self.futures.take_while(|_| !failed.get()).inspect(|_| begun.set(begun.get() + 1));
            let mut ended = pin!(as_they_end(futures, self.at_once));
            let mut answers = Vec::new();
            let mut errors = Vec::new();
            while let Some((place, outcome)) = ended.next().await {
                match outcome {
                    Ok(answer) => put(&mut answers, place, answer),
                    Err(error) => {
                        failed.set(true);
                        errors.push(error);
                        break;
                    }
                }
            }
            if errors.is_empty() {
                return Ok(answers.into_iter().flatten().collect());
            }
            let mut answered = answers.into_iter().flatten().count();
            for (_, outcome) in already(ended.as_mut()).await {
                match outcome {
                    Ok(_) => answered += 1,
                    Err(error) => errors.push(error),
                }
            }
            let cancelled = begun.get() - answered - errors.len();
            Err(Failures { errors, answered, cancelled })
        })
    }
}

/// What a stream has ready now; it does not wait.
async fn already<S: Stream>(mut stream: std::pin::Pin<&mut S>) -> Vec<S::Item> {
    let mut items = Vec::new();
    poll_fn(|cx| {
        while let Poll::Ready(Some(item)) = stream.poll_next_unpin(cx) {
            items.push(item);
        }
        Poll::Ready(())
    })
    .await;
    items
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, pending, ready};
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::*;

    fn outcome(
        of: impl IntoFuture<Output = Result<Vec<u32>, Failures<&'static str>>>,
    ) -> Option<Result<Vec<u32>, Failures<&'static str>>> {
        of.into_future().now_or_never()
    }

    #[test]
    fn all_that_answer_are_answers_in_the_order_asked() {
        let all: [Ready<Result<u32, &str>>; 3] = [ready(Ok(1)), ready(Ok(2)), ready(Ok(3))];
        assert_eq!(outcome(group(all)), Some(Ok(vec![1, 2, 3])));
    }

    #[test]
    fn the_first_error_cancels_the_rest_and_is_counted_with_those_that_failed_beside_it() {
        let held = Rc::new(());
        let one = |each: u32| {
            let held = Rc::clone(&held);
            async move {
                let _held = held;
                match each {
                    0 => Ok(each),
                    1 | 3 => Err("broken"),
                    _ => pending().await,
                }
            }
        };
        let failures = Failures { errors: vec!["broken"; 2], answered: 1, cancelled: 2 };
        assert_eq!(outcome(group((0..5).map(one))), Some(Err(failures)));
        assert_eq!(Rc::strong_count(&held), 1, "a cancelled future is dropped");
    }

    #[test]
    fn nothing_begins_after_the_first_error() {
        let begun = Cell::new(0);
        let futures = (0..9).map(|each| {
            begun.set(begun.get() + 1);
            ready(if each == 1 { Err("broken") } else { Ok(each) })
        });
        let failures = Failures { errors: vec!["broken"], answered: 1, cancelled: 0 };
        assert_eq!(outcome(group(futures).at_once(1)), Some(Err(failures)));
        assert_eq!(begun.get(), 3, "one was asked for and not begun");
    }
}
