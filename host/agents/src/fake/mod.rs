//! `fake`: a harness for tests and benchmarks, and [`FakeEnv`], an environment in memory.
//!
//! ```
//! use std::time::Duration;
//! use flowhost_agents::fake::{Fake, Pattern, Said};
//! use flowhost_core::{clock::Clock, error::{Error, HarnessFault}};
//!
//! let clock = Clock::driven();
//! let fake = Fake::new()
//!     .last_word()
//!     .delay(&clock, Duration::from_millis(10))
//!     .when(Pattern::ends_with("b.py."), Error::harness(HarnessFault::Other, "the CLI died mid-turn"))
//!     .cost(0.02);
//! // … give `Arc::new(fake.clone())` to what is under test, then ask:
//! assert_eq!((fake.turns(), fake.peak_turns(), fake.sessions().len()), (0, 0, 0));
//! ```
//!
//! A clone is the same fake: it keeps one record of what it was asked, [`Fake::prompts`] and the like. It costs well under a
//! microsecond a session with one instant turn, so what a benchmark measures is the host.
//!
//! # On the command line
//!
//! `-a ROLE=fake:TEXT` answers TEXT; `-a ROLE=fake:{…}` is JSON, every key of which may be left out:
//!
//! | key | is | as in |
//! |---|---|---|
//! | `reply` | what it answers: a string, `{"echo": "last-word"}`, `{"value": JSON}`, or `{"list": […], "then": "repeat"}` (`"fail"` for an error after the last) | `"done"` |
//! | `fail` | turns that fail, the first that fits: a pattern, `message`, and `fault` (`throttled`, …), `retry-after-ms`, or a whole `error` | `[{"ends-with": "b.py.", "message": "the CLI died mid-turn"}]` |
//! | `when` | turns that are answered in another way, the first that fits: a pattern and `reply`, or `"never": true` | `[{"contains": "judge", "reply": "yes"}]` |
//! | `delay-ms` | how long a turn takes | `10` |
//! | `cost`, `input-tokens`, `output-tokens` | what it spends, in US dollars and tokens | `0.6` |
//! | `steps` | in how many steps the spending is told while it goes | `4` |
//! | `occasions` | what it asks in each turn; what blocks it is its answer (`blocked: REASON`), and so is a reply | `[{"moment": "question", "details": {}}]` |
//! | `capabilities` | what it can: `steer fork goal tools skills schema resume spends` and moments | `["steer", "fork"]` |
//! | `pure` | whether its turns need not be on disk before they start; it is unless this says otherwise | `false` |
//! | `stubborn` | that it does not end when it is interrupted | `true` |
//! | `name` | what it is called | `"claude"` |
//!
//! A pattern is `contains`, `starts-with`, `ends-with` or `matches` (a regular expression), or nothing, which fits always. An
//! entry of `fail` and `when` may have a `delay-ms` and a `cost` of its own, and `times`, after which it fits no more.

mod command;
mod env;
mod json;
mod log;
mod reply;
mod session;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    clock::Clock,
    error::{Error, Result},
    harness::{Capabilities, Conversation, Harness, Moment, Open, Steer, Verdict},
    id::SessionId,
    usage::{CostSource, Usage, Usd},
};
use futures::FutureExt;
use serde_json::Value;

pub use self::{
    command::Scripted,
    env::FakeEnv,
    json::capabilities,
    log::{Asked, Opened},
    reply::{Pattern, Question, Said, Then},
};
use self::{
    log::Log,
    reply::{Replies, When},
    session::Session,
};
use crate::registry::{Refusal, Row, Takes};

const CAPABILITIES: Capabilities = Capabilities { pure: true, ..Capabilities::NONE };

pub(crate) static ROW: Row = Row {
    name: "fake",
    about: "For tests: answers, fails, waits and spends as it is told.",
    takes: Takes::Either,
    capabilities: CAPABILITIES,
    hidden: true,
    build: |options, spec| {
        let fake = match &spec.rest {
            Some(rest) => Fake::from_text(rest, &options.clock)?,
            None => Fake::new(),
        };
        Ok(Arc::new(fake))
    },
};

/// A harness that does as it is told. Without a word more it answers `done` at once, for nothing.
#[derive(Clone)]
pub struct Fake {
    script: Arc<Script>,
    log: Arc<Log>,
}

/// What a fake is told to do.
#[derive(Clone)]
struct Script {
    name: Arc<str>,
    capabilities: Capabilities,
    clock: Clock,
    delay: Duration,
    replies: Replies,
    /// Before `replies`, the first that fits.
    whens: Vec<When>,
    usage: Usage,
    steps: u32,
    occasions: Vec<(Moment, Value)>,
    refuses: Option<Error>,
    stubborn: bool,
    recording: bool,
}

impl Default for Fake {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Fake").field("name", &self.script.name).finish_non_exhaustive()
    }
}

/// What it does.
impl Fake {
    /// One that answers `done` at once.
    pub fn new() -> Self {
        let script = Script {
            name: ROW.name.into(),
            capabilities: CAPABILITIES,
            clock: Clock::system(),
            delay: Duration::ZERO,
            replies: Replies::Always(Box::new("done".into())),
            whens: Vec::new(),
            usage: Usage { cost_source: CostSource::MadeUp, ..Usage::default() },
            steps: 1,
            occasions: Vec::new(),
            refuses: None,
            stubborn: false,
            recording: true,
        };
        Self { script: Arc::new(script), log: Arc::default() }
    }

    /// One as text says: what follows `fake:` on the command line. It waits on `clock`.
    pub fn from_text(text: &str, clock: &Clock) -> Result<Self, Refusal> {
        json::read(text, clock)
    }

    fn told(mut self, how: impl FnOnce(&mut Script)) -> Self {
        how(Arc::make_mut(&mut self.script));
        self
    }

    /// It always answers this; an [`Error`] is a turn that fails.
    #[must_use]
    pub fn reply(self, said: impl Into<Said>) -> Self {
        self.told(|script| script.replies = Replies::Always(Box::new(said.into())))
    }

    /// It answers these, one a turn in the order in which turns start, and after the last one as `then` says.
    #[must_use]
    pub fn replies<S: Into<Said>>(self, said: impl IntoIterator<Item = S>, then: Then) -> Self {
        let all = said.into_iter().map(Into::into).collect();
        self.told(|script| script.replies = Replies::Listed { all, next: Arc::default(), then })
    }

    /// It answers the last word of its prompt, and of what was steered into its turn.
    #[must_use]
    pub fn last_word(self) -> Self {
        self.told(|script| script.replies = Replies::LastWord)
    }

    /// It answers what this function says.
    #[must_use]
    pub fn reply_with<S: Into<Said>>(self, function: impl Fn(&Question) -> S + Send + Sync + 'static) -> Self {
        let function = move |question: &Question| function(question).into();
        self.told(|script| script.replies = Replies::Function(Arc::new(function)))
    }

    /// It answers what this function says, which may wait. An interruption drops it.
    #[must_use]
    pub fn reply_with_async<S, F>(self, function: impl Fn(Question) -> F + Send + Sync + 'static) -> Self
    where
        S: Into<Said> + 'static,
        F: Future<Output = S> + Send + 'static,
    {
        let function = move |question: Question| function(question).map(Into::into).boxed();
        self.told(|script| script.replies = Replies::Async(Arc::new(function)))
    }

    /// It answers prompts that fit the pattern with this instead. The first pattern that fits counts.
    #[must_use]
    pub fn when(self, pattern: Pattern, said: impl Into<Said>) -> Self {
        self.told(|script| script.whens.push(When::new(pattern, said.into(), None)))
    }

    /// As [`Fake::when`], the first so many times.
    #[must_use]
    pub fn when_times(self, times: u32, pattern: Pattern, said: impl Into<Said>) -> Self {
        self.told(|script| script.whens.push(When::new(pattern, said.into(), Some(times))))
    }

    /// Opening a conversation fails.
    #[must_use]
    pub fn refuses_to_open(self, error: Error) -> Self {
        self.told(|script| script.refuses = Some(error))
    }

    /// How long a turn takes on this clock, which is also that of [`Said::after`].
    #[must_use]
    pub fn delay(self, clock: &Clock, delay: Duration) -> Self {
        self.told(|script| (script.clock, script.delay) = (clock.clone(), delay))
    }

    /// What a turn costs, in US dollars that nobody is charged.
    #[must_use]
    pub fn cost(self, dollars: f64) -> Self {
        self.told(|script| script.usage.cost = Usd::from_dollars(dollars))
    }

    /// What a turn spends. Of a turn that fails too.
    #[must_use]
    pub fn spends(self, usage: Usage) -> Self {
        self.told(|script| script.usage = usage)
    }

    /// In how many equal steps the spending is told while the turn goes; 1 is at its end.
    #[must_use]
    pub fn steps(self, steps: u32) -> Self {
        self.told(|script| script.steps = steps.max(1))
    }

    /// In each turn it asks whoever watches for this moment. What blocks it is its answer (`blocked: REASON`); so is a reply.
    #[must_use]
    pub fn asks(self, moment: Moment, details: Value) -> Self {
        self.told(|script| script.occasions.push((moment, details)))
    }

    /// What it says that it can do, and then does.
    #[must_use]
    pub fn can(self, capabilities: Capabilities) -> Self {
        self.told(|script| script.capabilities = capabilities)
    }

    /// What it is called.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.told(|script| script.name = name.into())
    }

    /// It does not end when it is interrupted: it has to be dropped.
    #[must_use]
    pub fn stubborn(self) -> Self {
        self.told(|script| script.stubborn = true)
    }

    /// It only counts, and keeps no list of sessions and prompts.
    #[must_use]
    pub fn without_record(self) -> Self {
        self.told(|script| script.recording = false)
    }
}

/// What it was asked.
impl Fake {
    /// The conversations opened, in order.
    pub fn sessions(&self) -> Vec<Opened> {
        self.log.entries.lock().sessions.clone()
    }

    /// The prompts, in the order in which their turns started.
    pub fn prompts(&self) -> Vec<Asked> {
        self.log.entries.lock().prompts.clone()
    }

    /// The forks: of which session, and as which.
    pub fn forks(&self) -> Vec<(SessionId, SessionId)> {
        let entries = self.log.entries.lock();
        entries.sessions.iter().filter_map(|opened| Some((opened.fork_of?, opened.session))).collect()
    }

    /// The conversations that were closed, or dropped, in order.
    pub fn closed(&self) -> Vec<SessionId> {
        self.log.entries.lock().closed.clone()
    }

    /// The words that were put into turns.
    pub fn steers(&self) -> Vec<(SessionId, Steer)> {
        self.log.entries.lock().steers.clone()
    }

    /// What was said to what it asked.
    pub fn verdicts(&self) -> Vec<(SessionId, Verdict)> {
        self.log.entries.lock().verdicts.clone()
    }

    /// Turns started.
    pub fn turns(&self) -> u64 {
        self.log.turns.count()
    }

    /// Turns that were interrupted, or dropped before their end.
    pub fn interrupted(&self) -> u64 {
        self.log.interrupted.count()
    }

    /// Most turns that were going at once.
    pub fn peak_turns(&self) -> u64 {
        self.log.going.peak()
    }

    /// Most conversations that were open at once.
    pub fn peak_sessions(&self) -> u64 {
        self.log.open.peak()
    }

    /// Turns that are going now.
    pub fn going_turns(&self) -> u64 {
        self.log.going.count()
    }

    /// Conversations that are open now.
    pub fn open_sessions(&self) -> u64 {
        self.log.open.count()
    }
}

#[async_trait]
impl Harness for Fake {
    fn name(&self) -> &str {
        &self.script.name
    }

    fn capabilities(&self) -> Capabilities {
        self.script.capabilities
    }

    async fn open(&self, open: Open) -> Result<Box<dyn Conversation>> {
        Ok(Box::new(Session::open(self, open, None, None)?))
    }

    async fn resume(&self, open: Open, native: &str) -> Result<Box<dyn Conversation>> {
        if !self.script.capabilities.resume {
            return Err(self.cannot("resume"));
        }
        Ok(Box::new(Session::open(self, open, None, Some(native))?))
    }
}
