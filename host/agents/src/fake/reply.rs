//! What a fake answers, and to which prompts.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use flowhost_core::{
    error::{Error, HarnessFault, Result},
    harness::{Event, Moment, Reply, Steer},
    id::SessionId,
    usage::{CostSource, Usage, Usd},
};
use futures::future::BoxFuture;
use regex::Regex;
use serde_json::Value;

/// What a turn comes to: made of text, a JSON value, a [`Reply`] or an [`Error`].
#[derive(Clone, Debug)]
pub struct Said {
    pub(super) result: Result<Reply>,
    pub(super) after: Option<Duration>,
    pub(super) usage: Option<Usage>,
    pub(super) events: Vec<Event>,
    pub(super) occasions: Vec<(Moment, Value)>,
    pub(super) writes: Vec<(String, Vec<u8>)>,
    pub(super) never: bool,
}

impl Said {
    fn new(result: Result<Reply>) -> Self {
        Self {
            result,
            after: None,
            usage: None,
            events: Vec::new(),
            occasions: Vec::new(),
            writes: Vec::new(),
            never: false,
        }
    }

    /// Nothing, for as long as the turn goes.
    pub fn never() -> Self {
        Self { never: true, ..Self::from("") }
    }

    /// So long after its turn has started, instead of the fake's own delay.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { after: Some(delay), ..self }
    }

    /// At this cost in US dollars, instead of the fake's own.
    #[must_use]
    pub fn costing(self, dollars: f64) -> Self {
        let usage = Usage {
            cost: Usd::from_dollars(dollars),
            cost_source: CostSource::MadeUp,
            ..self.usage.unwrap_or_default()
        };
        Self { usage: Some(usage), ..self }
    }

    /// For this, instead of what the fake's turns spend.
    #[must_use]
    pub fn spending(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// With this happening before it.
    #[must_use]
    pub fn with(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// Asking whoever watches for this moment before it. What is said to that is written down, and changes nothing in the answer.
    #[must_use]
    pub fn asking(mut self, moment: Moment, details: Value) -> Self {
        self.occasions.push((moment, details));
        self
    }

    /// With a file written before it, where its session works. One that cannot be written fails the turn.
    #[must_use]
    pub fn writing(mut self, path: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        self.writes.push((path.into(), data.into()));
        self
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self::new(Ok(Reply { text, ..Reply::default() }))
    }
}

/// A structured answer; its text is the same as JSON.
impl From<Value> for Said {
    fn from(value: Value) -> Self {
        Self::new(Ok(Reply { text: value.to_string(), value: Some(value), usage: None }))
    }
}

impl From<Reply> for Said {
    fn from(reply: Reply) -> Self {
        Self::new(Ok(reply))
    }
}

impl From<Error> for Said {
    fn from(error: Error) -> Self {
        Self::new(Err(error))
    }
}

impl<S: Into<Said>> From<Result<S>> for Said {
    fn from(result: Result<S>) -> Self {
        result.map_or_else(Self::from, Into::into)
    }
}

/// What a function that replies is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The words.
    pub prompt: String,
    /// The turn's name in the run.
    pub turn: String,
    /// The session's.
    pub session: SessionId,
    /// Where the session works.
    pub directory: String,
    /// Turns that the conversation took before this one; those before a fork count.
    pub taken: u32,
    /// JSON Schema that the answer must meet.
    pub schema: Option<Value>,
}

/// What comes after the last of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// The last one again.
    #[default]
    Repeat,
    /// An error.
    Fail,
}

/// Which prompts.
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Any,
    Is(String),
    Contains(String),
    StartsWith(String),
    EndsWith(String),
    Matches(Regex),
}

impl Pattern {
    /// All.
    pub fn any() -> Self {
        Self(Kind::Any)
    }

    /// This one, word for word.
    pub fn is(prompt: impl Into<String>) -> Self {
        Self(Kind::Is(prompt.into()))
    }

    /// Those with this in them.
    pub fn contains(part: impl Into<String>) -> Self {
        Self(Kind::Contains(part.into()))
    }

    /// Those that start so.
    pub fn starts_with(start: impl Into<String>) -> Self {
        Self(Kind::StartsWith(start.into()))
    }

    /// Those that end so.
    pub fn ends_with(end: impl Into<String>) -> Self {
        Self(Kind::EndsWith(end.into()))
    }

    /// Those that a regular expression finds something in; an error where it is none.
    pub fn matches(expression: &str) -> Result<Self, regex::Error> {
        Ok(Self(Kind::Matches(Regex::new(expression)?)))
    }

    /// Whether this prompt is one of them.
    pub fn fits(&self, prompt: &str) -> bool {
        match &self.0 {
            Kind::Any => true,
            Kind::Is(whole) => prompt == whole,
            Kind::Contains(part) => prompt.contains(part.as_str()),
            Kind::StartsWith(start) => prompt.starts_with(start.as_str()),
            Kind::EndsWith(end) => prompt.ends_with(end.as_str()),
            Kind::Matches(expression) => expression.is_match(prompt),
        }
    }
}

/// What is said to some prompts.
#[derive(Clone, Debug)]
pub(super) struct When {
    pattern: Pattern,
    said: Said,
    /// How often it still fits.
    left: Option<Arc<AtomicU32>>,
}

impl When {
    pub(super) fn new(pattern: Pattern, said: Said, times: Option<u32>) -> Self {
        Self { pattern, said, left: times.map(|times| Arc::new(AtomicU32::new(times))) }
    }

    pub(super) fn fits(&self, prompt: &str) -> Option<&Said> {
        let fits = self.pattern.fits(prompt)
            && self
                .left
                .as_ref()
                .is_none_or(|left| left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok());
        fits.then_some(&self.said)
    }
}

/// What is said otherwise.
#[derive(Clone)]
pub(super) enum Replies {
    Always(Box<Said>),
    Listed { all: Arc<[Said]>, next: Arc<AtomicUsize>, then: Then },
    LastWord,
    Function(Arc<dyn Fn(&Question) -> Said + Send + Sync>),
    Async(Arc<dyn Fn(Question) -> BoxFuture<'static, Said> + Send + Sync>),
}

impl fmt::Debug for Replies {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Always(_) => "Always",
            Self::Listed { .. } => "Listed",
            Self::LastWord => "LastWord",
            Self::Function(_) => "Function",
            Self::Async(_) => "Async",
        })
    }
}

/// The next of a list.
pub(super) fn next(all: &[Said], next: &AtomicUsize, then: Then) -> Said {
    let at = next.fetch_add(1, Relaxed);
    match (all.get(at), all.last(), then) {
        (Some(said), ..) => said.clone(),
        (None, Some(last), Then::Repeat) => last.clone(),
        _ => Error::harness(HarnessFault::Other, format!("this fake has {} answers and was asked for more", all.len()))
            .into(),
    }
}

/// The last word of the last of these texts that has one.
pub(super) fn last_word<'a>(prompt: &'a str, steered: &'a [Steer]) -> &'a str {
    let texts = steered.iter().rev().map(|steer| steer.text.as_str()).chain([prompt]);
    texts.filter_map(|text| text.split_whitespace().next_back()).next().unwrap_or_default()
}
