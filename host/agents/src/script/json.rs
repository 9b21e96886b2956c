//! `script+json:PROGRAM`: a program that is held for the life of its session.

use std::{collections::VecDeque, pin::pin, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    env::{Child, Process},
    error::{Error, HarnessFault, Result},
    harness::{Capabilities, Conversation, Event, Harness, Moment, Open, Prompt, Reply, TurnHost},
};
use futures::{FutureExt, StreamExt, future, stream::FuturesUnordered};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    time::{sleep, timeout},
};

use super::{
    ANSWER_LIMIT, Argv, GRACE, LINGER, UNSEEN, build, ended, interrupted, label,
    lines::{Line, Lines},
    nothing_spent,
    protocol::{self, Heard, hear},
    short, start, stop,
    tail::Tail,
};
use crate::registry::{Row, Takes};

/// Lines that say nothing, in one turn, before the program is taken to speak something else.
const NOTHING_LIMIT: u32 = 100;
/// Bytes that a program may say in one turn.
const TURN_LIMIT: usize = 64 << 20;
/// Bytes that may wait to be read by the program beside its prompt.
const UNREAD_LIMIT: usize = 1 << 20;
/// Occasions that may wait for their answers at once.
const ASKED_LIMIT: usize = 64;

/// What the protocol carries. What a program does with it, it says in its `hello`.
const CAPABILITIES: Capabilities = Capabilities {
    steer: true,
    // The words of a prompt ask for it; its line carries it too, for a program that can do more with it.
    schema: false,
    spends: true,
    moments: &[
        Moment::PromptSubmit,
        Moment::PreToolUse,
        Moment::PermissionRequest,
        Moment::Question,
        Moment::Notification,
        Moment::Stop,
        Moment::SubagentStart,
        Moment::SubagentStop,
    ],
    ..Capabilities::NONE
};

pub(crate) static ROW: Row = Row {
    name: "script+json",
    about: "Any program, held for the life of its session: one JSON object a line, both ways.",
    takes: Takes::Rest("./agent.py"),
    capabilities: CAPABILITIES,
    hidden: false,
    build: |options, spec| build(options, spec, JsonScript::new),
};

/// A program that is held for the life of its session.
#[derive(Clone, Debug)]
pub struct JsonScript {
    argv: Argv,
}

impl JsonScript {
    /// Program and arguments; the program is an absolute path.
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv: argv.into() }
    }
}

#[async_trait]
impl Harness for JsonScript {
    fn name(&self) -> &str {
        ROW.name
    }

    fn label(&self) -> String {
        label(ROW.name, &self.argv)
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    async fn open(&self, open: Open) -> Result<Box<dyn Conversation>> {
        Ok(Box::new(Held { argv: self.argv.clone(), open, running: None, was_started: false }))
    }
}

/// A session. Its program is started with the first turn, whose name it then has in its environment.
struct Held {
    argv: Argv,
    open: Open,
    running: Option<Running>,
    was_started: bool,
}

/// A program that runs. Dropping it ends it and all that it started.
struct Running {
    stdin: Box<dyn AsyncWrite + Send + Unpin>,
    unread: VecDeque<u8>,
    lines: Lines,
    complaint: Tail,
    process: Box<dyn Process>,
    /// Whether nothing was heard yet: only the first line can be a `hello`.
    fresh: bool,
    /// Whether it takes words into a turn; none until its first line was heard.
    steers: Option<bool>,
}

/// How a turn ended.
enum Ended {
    /// And the program goes on.
    Whole(Result<Reply>),
    /// And the program has to go.
    Broken(Error),
    /// It never began: the program had ended by itself after the turn before it.
    Before,
}

#[async_trait]
impl Conversation for Held {
    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply> {
        loop {
            // Taken out, so that a turn that is dropped takes its program along.
            let mut running = match self.running.take().and_then(|running| running.ready(host)) {
                Some(running) => running,
                None => self.start(prompt.id, host).await?,
            };
            match running.turn(&self.argv, prompt, host).await {
                Ended::Whole(result) => {
                    self.running = Some(running);
                    return result;
                }
                Ended::Broken(error) => {
                    stop(&mut *running.process, GRACE).await;
                    return Err(error);
                }
                Ended::Before => stop(&mut *running.process, Duration::ZERO).await,
            }
        }
    }

    async fn close(self: Box<Self>) {
        if let Some(running) = self.running {
            running.close().await;
        }
    }
}

impl Held {
    async fn start(&mut self, turn: &str, host: &dyn TurnHost) -> Result<Running> {
        let child = start(&self.open.env, &self.argv, &self.open.vars, turn, host).await?;
        if std::mem::replace(&mut self.was_started, true) {
            let text = format!("{} was started again: what it knew of this session is gone", short(&self.argv));
            host.event(Event::Notice { text });
        }
        Ok(Running::new(child))
    }
}

impl Running {
    fn new(child: Child) -> Self {
        Self {
            stdin: child.stdin,
            unread: VecDeque::new(),
            lines: Lines::new(child.stdout),
            complaint: Tail::new(child.stderr),
            process: child.process,
            fresh: true,
            steers: None,
        }
    }

    /// Itself, if it can take another turn. What it said since the last one belongs to none.
    fn ready(mut self, host: &dyn TurnHost) -> Option<Self> {
        if self.process.wait().now_or_never().is_some() {
            return None;
        }
        for _ in 0..NOTHING_LIMIT {
            match self.lines.next().now_or_never() {
                None => return Some(self),
                Some(Line::Text(_)) => {
                    host.event(Event::Notice { text: "a line from between two turns was passed over".to_owned() });
                }
                Some(Line::TooLong | Line::End) => return None,
            }
        }
        None
    }

    async fn turn(&mut self, argv: &Argv, prompt: Prompt<'_>, host: &dyn TurnHost) -> Ended {
        self.unread.extend(protocol::prompt(&prompt));
        let mut turn = Turn { argv, prompt, host, heard: 0, nothings: 0, usage: None, last_text: None };
        let mut asked = FuturesUnordered::new();
        let mut interrupting = false;
        // Set once there is something to wait for: the program's last words, or its end after an interruption.
        let mut deadline = pin!(future::pending::<()>().boxed());
        let mut status = None;
        loop {
            tokio::select! {
                biased;
                () = host.interrupted(), if !interrupting => {
                    interrupting = true;
                    self.unread.extend(protocol::interrupt());
                    deadline.set(sleep(GRACE).boxed());
                }
                () = &mut deadline => {
                    return Ended::Broken(if interrupting { interrupted() } else { self.gone(argv, status) });
                }
                line = self.lines.next() => {
                    let heard = match line {
                        Line::Text(line) => turn.hear(self, &line),
                        Line::TooLong => Hear::Broken(turn.bad(&format!("a line of more than {} MiB", ANSWER_LIMIT >> 20))),
                        Line::End => {
                            if status.is_none() {
                                status = self.ended_soon().await;
                            }
                            if status == Some(0) && turn.heard == 0 && !self.fresh && !interrupting {
                                return Ended::Before;
                            }
                            Hear::Broken(self.gone(argv, status))
                        }
                    };
                    match heard {
                        Hear::On => {}
                        Hear::Asked { id, moment, details } if asked.len() < ASKED_LIMIT => {
                            asked.push(host.occasion(moment, details).map(move |verdict| (id, verdict)));
                        }
                        Hear::Asked { .. } => {
                            return Ended::Broken(turn.bad(&format!("more than {ASKED_LIMIT} occasions at once")));
                        }
                        Hear::Ended(_) if interrupting => return Ended::Whole(Err(interrupted())),
                        Hear::Broken(_) if interrupting => return Ended::Broken(interrupted()),
                        Hear::Ended(result) => return Ended::Whole(result),
                        Hear::Broken(error) => return Ended::Broken(error),
                    }
                }
                () = self.complaint.drain(), if !self.complaint.is_ended() => {}
                written = self.stdin.write(self.unread.as_slices().0), if !self.unread.is_empty() => match written {
                    // It no longer reads: its output or its end says what that means.
                    Ok(0) | Err(_) => self.unread.clear(),
                    Ok(count) => {
                        self.unread.drain(..count);
                        if self.unread.is_empty() {
                            let _ = self.stdin.flush().await;
                        }
                    }
                },
                Some((id, verdict)) = asked.next() => self.say(&turn, protocol::verdict(&id, &verdict)),
                steer = host.steered(), if self.steers.is_some() && !interrupting => {
                    if self.steers == Some(true) {
                        self.say(&turn, protocol::steer(&steer));
                    } else {
                        turn.notice(format!("{} does not take words into a turn: its hello does not say steer", short(argv)));
                    }
                }
                ended = self.process.wait(), if status.is_none() => {
                    status = Some(ended.unwrap_or(UNSEEN));
                    if !interrupting {
                        // What it had written may still be on its way.
                        deadline.set(sleep(LINGER).boxed());
                    }
                }
            }
        }
    }

    /// Says a line, unless the program has stopped reading.
    fn say(&mut self, turn: &Turn<'_>, line: Vec<u8>) {
        if self.unread.len() + line.len() > UNREAD_LIMIT + turn.prompt.text.len() * 6 {
            turn.notice(format!("{} does not read what it is told", short(turn.argv)));
        } else {
            self.unread.extend(line);
        }
    }

    async fn ended_soon(&mut self) -> Option<i32> {
        let status = timeout(LINGER, self.process.wait()).await.ok()?.unwrap_or(UNSEEN);
        let _ = timeout(LINGER, self.complaint.drain()).await;
        Some(status)
    }

    /// The failure of a program that is no longer there, or no longer speaks.
    fn gone(&mut self, argv: &Argv, status: Option<i32>) -> Error {
        let _ = self.complaint.drain().now_or_never();
        let complaint = self.complaint.last_lines();
        match status {
            Some(status) => match ended(argv, status, &complaint) {
                // A session was cut off, whatever the status.
                Error { message, .. } if status <= 128 => Error::harness(HarnessFault::Dropped, message),
                killed => killed,
            },
            None => Error::harness(HarnessFault::Dropped, format!("{} closed its output in a turn", short(argv))),
        }
    }

    /// The end of its input tells it to end; what has not by then is made to.
    async fn close(self) {
        let Self { mut stdin, mut lines, mut complaint, mut process, .. } = self;
        let _ = timeout(LINGER, stdin.shutdown()).await;
        drop(stdin);
        let drained = async { while matches!(lines.next().await, Line::Text(_)) {} };
        let ended = async {
            // A program that is held up by what nobody reads cannot end.
            let drained = future::join(drained, complaint.drain()).then(|_| future::pending::<()>());
            future::select(process.wait(), pin!(drained)).await;
        };
        let in_time = timeout(GRACE, ended).await.is_ok();
        stop(&mut *process, if in_time { Duration::ZERO } else { GRACE }).await;
    }
}

/// A turn that goes.
struct Turn<'a> {
    argv: &'a Argv,
    prompt: Prompt<'a>,
    host: &'a dyn TurnHost,
    heard: usize,
    nothings: u32,
    usage: Option<flowhost_core::usage::Usage>,
    last_text: Option<String>,
}

/// What a line means for the turn.
enum Hear {
    On,
    Asked { id: serde_json::Value, moment: Moment, details: serde_json::Value },
    Ended(Result<Reply>),
    Broken(Error),
}

impl Turn<'_> {
    fn notice(&self, text: String) {
        self.host.event(Event::Notice { text });
    }

    fn bad(&self, what: &str) -> Error {
        Error::harness(HarnessFault::BadOutput, format!("{} said {what}", short(self.argv)))
    }

    fn hear(&mut self, running: &mut Running, line: &str) -> Hear {
        self.heard += line.len();
        if self.heard > TURN_LIMIT {
            return Hear::Broken(self.bad(&format!("more than {} MiB in one turn", TURN_LIMIT >> 20)));
        }
        if line.trim().is_empty() {
            return Hear::On;
        }
        let fresh = std::mem::replace(&mut running.fresh, false);
        let heard = hear(line);
        if fresh {
            running.steers = Some(matches!(&heard, Heard::Hello(can) if can.iter().any(|can| can == "steer")));
        }
        match heard {
            Heard::Hello(_) if fresh => Hear::On,
            Heard::Hello(_) => self.nothing("a hello that is not its first line".to_owned()),
            Heard::Event(event) => {
                match &event {
                    Event::Text { text } => self.last_text = Some(text.clone()),
                    Event::Usage { usage } => self.usage = Some(*usage),
                    _ => {}
                }
                self.host.event(event);
                Hear::On
            }
            Heard::Occasion { id, moment, details } => Hear::Asked { id, moment, details },
            Heard::Answer { id, .. } | Heard::Failed { id, .. }
                if id.as_ref().is_some_and(|id| id != self.prompt.id) =>
            {
                self.nothing("the end of another turn".to_owned())
            }
            Heard::Answer { reply, .. } => {
                if !reply.text.is_empty() && self.last_text.as_ref() != Some(&reply.text) {
                    self.host.event(Event::Text { text: reply.text.clone() });
                }
                let usage = Some(self.usage.unwrap_or_else(nothing_spent));
                Hear::Ended(Ok(Reply { usage, ..reply }))
            }
            Heard::Failed { error, .. } => Hear::Ended(Err(error)),
            Heard::Nothing(what) => self.nothing(what),
            Heard::Garbled(what) => {
                Hear::Broken(self.bad(&format!("what cannot be read as the end of its turn ({what})")))
            }
        }
    }

    fn nothing(&mut self, what: String) -> Hear {
        self.nothings += 1;
        if self.nothings > NOTHING_LIMIT {
            return Hear::Broken(self.bad(&format!("{NOTHING_LIMIT} lines that mean nothing, the last one {what}")));
        }
        self.notice(format!("{} said {what}: passed over", short(self.argv)));
        Hear::On
    }
}
