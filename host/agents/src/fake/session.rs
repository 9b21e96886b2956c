//! A fake's conversation.

use std::{borrow::Cow, pin::pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    env::Env,
    error::{Error, HarnessFault, Result},
    harness::{Conversation, Event, Moment, Open, Prompt, Reply, Steer, TurnHost, Verdict},
    id::SessionId,
    usage::{Usage, Usd},
};
use serde_json::Value;

use super::{
    Fake, Script,
    log::{Asked, Log, Opened},
    reply::{Question, Replies, Said, last_word, next},
};

pub(super) struct Session {
    script: Arc<Script>,
    log: Arc<Log>,
    session: SessionId,
    env: Arc<dyn Env>,
    /// As the record has it; none where nothing is recorded.
    directory: Option<Arc<str>>,
    native: Option<String>,
    taken: u32,
}

impl Session {
    pub(super) fn open(fake: &Fake, open: Open, fork_of: Option<&Self>, native: Option<&str>) -> Result<Self> {
        let Fake { script, log } = fake;
        if let Some(error) = &script.refuses {
            return Err(error.clone());
        }
        log.open.up();
        let mut directory = None;
        if script.recording {
            let mut entries = log.entries.lock();
            let shared = entries.directory(open.env.directory());
            directory = Some(shared.clone());
            entries.sessions.push(Opened {
                session: open.session,
                directory: shared,
                fork_of: fork_of.map(|parent| parent.session),
                resumed: native.map(str::to_owned),
            });
        }
        let native = match native {
            Some(native) => Some(native.to_owned()),
            None => script.capabilities.resume.then(|| format!("fake-{}", open.session)),
        };
        let taken = fork_of.map_or(0, |parent| parent.taken);
        Ok(Self {
            script: script.clone(),
            log: log.clone(),
            session: open.session,
            env: open.env,
            directory,
            native,
            taken,
        })
    }

    fn question(&self, prompt: &Prompt<'_>) -> Question {
        Question {
            prompt: prompt.text.to_owned(),
            turn: prompt.id.to_owned(),
            session: self.session,
            directory: self.env.directory().to_owned(),
            taken: self.taken,
            schema: prompt.schema.cloned(),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.log.open.down();
        if self.script.recording {
            self.log.entries.lock().closed.push(self.session);
        }
    }
}

/// Counts a turn for as long as it goes.
struct Going<'a> {
    log: &'a Log,
    ended: bool,
}

impl<'a> Going<'a> {
    fn new(log: &'a Log) -> Self {
        log.turns.up();
        log.going.up();
        Self { log, ended: false }
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.log.going.down();
        if !self.ended {
            self.log.interrupted.up();
        }
    }
}

#[async_trait]
impl Conversation for Session {
    fn native(&self) -> Option<String> {
        self.native.clone()
    }

    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply> {
        if let Some(directory) = &self.directory {
            let asked = Asked { session: self.session, prompt: prompt.text.to_owned(), directory: directory.clone() };
            self.log.entries.lock().prompts.push(asked);
        }
        let mut going = Going::new(&self.log);
        let turn = Turn { session: self, host, prompt };
        let result = turn.take().await;
        going.ended = !matches!(&result, Err(error) if *error == interrupted());
        drop(going);
        self.taken += 1;
        result
    }

    async fn fork(&mut self, open: Open) -> Result<Box<dyn Conversation>> {
        if !self.script.capabilities.fork {
            return Err(Error::harness(HarnessFault::Unsupported, "fork: this fake cannot do it"));
        }
        let fake = Fake { script: self.script.clone(), log: self.log.clone() };
        Ok(Box::new(Self::open(&fake, open, Some(self), None)?))
    }

    async fn close(self: Box<Self>) {}
}

fn interrupted() -> Error {
    Error::harness(HarnessFault::Interrupted, "the turn was interrupted")
}

/// A turn that goes.
struct Turn<'a> {
    session: &'a Session,
    host: &'a dyn TurnHost,
    prompt: Prompt<'a>,
}

impl Turn<'_> {
    async fn take(&self) -> Result<Reply> {
        let script = &*self.session.script;
        let answer = self.ask(&script.occasions).await?;
        let said = match script.whens.iter().find_map(|when| when.fits(self.prompt.text)) {
            Some(said) => Some(Cow::Borrowed(said)),
            None => match &script.replies {
                Replies::Always(said) => Some(Cow::Borrowed(&**said)),
                Replies::Listed { all, next: at, then } => Some(Cow::Owned(next(all, at, *then))),
                Replies::LastWord => None,
                Replies::Function(function) => Some(Cow::Owned(function(&self.session.question(&self.prompt)))),
                Replies::Async(function) => {
                    let function = function(self.session.question(&self.prompt));
                    Some(Cow::Owned(self.unless_interrupted(function).await?))
                }
            },
        };
        let said = said.as_deref();
        if let Some(said) = said {
            self.ask(&said.occasions).await?;
        }
        let usage = said.and_then(|said| said.usage).unwrap_or(script.usage);
        let steered = self.wait(said, &usage).await?;
        for (path, data) in said.map_or(&[][..], |said| &said.writes) {
            self.session.env.write(path, data.clone()).await?;
        }
        for event in said.map_or(&[][..], |said| &said.events) {
            self.host.event(event.clone());
        }
        let reply = match said.map(|said| &said.result) {
            Some(Ok(reply)) => Reply { usage: Some(reply.usage.unwrap_or(usage)), ..reply.clone() },
            Some(Err(error)) => {
                // What a turn that fails has spent is only in its events.
                if usage != (Usage { cost_source: usage.cost_source, ..Usage::default() }) {
                    self.host.event(Event::Usage { usage });
                }
                return Err(error.clone());
            }
            None => {
                let text = last_word(self.prompt.text, &steered).to_owned();
                Reply { text, value: None, usage: Some(usage) }
            }
        };
        Ok(match answer {
            Some(text) => Reply { text, value: None, ..reply },
            None => reply,
        })
    }

    /// Asks these; what is said to it instead of an answer of its own.
    async fn ask(&self, occasions: &[(Moment, Value)]) -> Result<Option<String>> {
        let mut answer = None;
        for (moment, details) in occasions {
            let verdict = self.unless_interrupted(self.host.occasion(*moment, details.clone())).await?;
            match &verdict {
                Verdict::Block(reason) => answer = Some(format!("blocked: {reason}")),
                Verdict::Reply(text) => answer = Some(text.clone()),
                Verdict::Pass | Verdict::Allow => {}
            }
            self.session.log.entries.lock().verdicts.push((self.session.session, verdict));
        }
        Ok(answer)
    }

    async fn unless_interrupted<T>(&self, what: impl Future<Output = T>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.host.interrupted(), if !self.session.script.stubborn => Err(interrupted()),
            done = what => Ok(done),
        }
    }

    /// Lets the turn's time pass and tells what it spends; gives what was steered into it.
    async fn wait(&self, said: Option<&Said>, usage: &Usage) -> Result<Vec<Steer>> {
        let script = &*self.session.script;
        let mut steered = Vec::new();
        let delay = said.and_then(|said| said.after).unwrap_or(script.delay);
        let never = said.is_some_and(|said| said.never);
        if script.steps == 1 && delay.is_zero() && !never {
            return Ok(steered);
        }
        let until = script.clock.elapsed() + delay;
        for step in 1..=script.steps {
            // An interrupting word ends the wait at once.
            let hurry = steered.iter().any(|steer: &Steer| steer.interrupting);
            if !hurry {
                let left = until.saturating_sub(script.clock.elapsed());
                self.pass(left / (script.steps - step + 1), never, &mut steered).await?;
            }
            if script.steps > 1 {
                self.host.event(Event::Usage { usage: share(usage, step, script.steps) });
            }
        }
        Ok(steered)
    }

    async fn pass(&self, time: Duration, never: bool, steered: &mut Vec<Steer>) -> Result<()> {
        let script = &*self.session.script;
        let sleep = async {
            script.clock.sleep(time).await;
            if never {
                std::future::pending::<()>().await;
            }
        };
        let mut sleep = pin!(sleep);
        loop {
            tokio::select! {
                biased;
                () = self.host.interrupted(), if !script.stubborn => return Err(interrupted()),
                steer = self.host.steered(), if script.capabilities.steer => {
                    self.session.log.entries.lock().steers.push((self.session.session, steer.clone()));
                    let interrupting = steer.interrupting;
                    steered.push(steer);
                    if interrupting && !never {
                        return Ok(());
                    }
                }
                () = &mut sleep => return Ok(()),
            }
        }
    }
}

fn share(usage: &Usage, step: u32, steps: u32) -> Usage {
    let part = |whole: u64| {
        let part = u128::from(whole) * u128::from(step) / u128::from(steps);
        u64::try_from(part).unwrap_or(whole)
    };
    Usage {
        input_tokens: part(usage.input_tokens),
        output_tokens: part(usage.output_tokens),
        cache_read_tokens: part(usage.cache_read_tokens),
        cache_write_tokens: part(usage.cache_write_tokens),
        cost: Usd(part(usage.cost.0)),
        ..*usage
    }
}
