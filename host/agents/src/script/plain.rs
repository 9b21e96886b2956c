//! `script:PROGRAM`: a program that is started once a turn.

use std::{pin::pin, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    env::Child,
    error::{Error, HarnessFault, Result},
    harness::{Capabilities, Conversation, Event, Harness, Open, Prompt, Reply, TurnHost},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use super::{
    ANSWER_LIMIT, Argv, GRACE, LINGER, UNSEEN, build, ended, interrupted, label, nothing_spent, short, start, stop,
    tail::Tail,
};
use crate::registry::{Row, Takes};

const CAPABILITIES: Capabilities = Capabilities { ..Capabilities::NONE };

pub(crate) static ROW: Row = Row {
    name: "script",
    about: "Any program, started once a turn: the prompt on its standard input, the answer on its standard output.",
    takes: Takes::Rest("./agent.sh"),
    capabilities: CAPABILITIES,
    hidden: false,
    build: |options, spec| build(options, spec, Script::new),
};

/// A program that is started once a turn.
#[derive(Clone, Debug)]
pub struct Script {
    argv: Argv,
}

impl Script {
    /// Program and arguments; the program is an absolute path.
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv: argv.into() }
    }
}

#[async_trait]
impl Harness for Script {
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
        Ok(Box::new(Turns { argv: self.argv.clone(), open }))
    }
}

/// A session: nothing but where its turns are taken.
struct Turns {
    argv: Argv,
    open: Open,
}

#[async_trait]
impl Conversation for Turns {
    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply> {
        let child = start(&self.open.env, &self.argv, &self.open.vars, prompt.id, host).await?;
        let text = answer(&self.argv, child, prompt.text, host).await?;
        if !text.is_empty() {
            host.event(Event::Text { text: text.clone() });
        }
        Ok(Reply { text, value: None, usage: Some(nothing_spent()) })
    }

    async fn close(self: Box<Self>) {}
}

/// What the program says to `prompt`. Dropping this ends the program and all that it started.
async fn answer(argv: &Argv, child: Child, prompt: &str, host: &dyn TurnHost) -> Result<String> {
    let Child { stdin, mut stdout, stderr, mut process } = child;
    let too_much = || {
        let message = format!("{} answered with more than {} MiB", short(argv), ANSWER_LIMIT >> 20);
        Error::harness(HarnessFault::BadOutput, message)
    };
    let mut complaint = Tail::new(stderr);
    let mut said = Vec::new();
    let status = {
        let exchange = async {
            let complaint = async {
                complaint.drain().await;
                Ok(())
            };
            tokio::try_join!(feed(stdin, prompt), read(&mut stdout, &mut said), complaint).map(|_| ())
        };
        let mut exchange = pin!(exchange);
        let (mut exchanged, mut status) = (false, None);
        while status.is_none() {
            tokio::select! {
                biased;
                () = host.interrupted() => {
                    stop(&mut *process, GRACE).await;
                    return Err(interrupted());
                }
                done = &mut exchange, if !exchanged => match done {
                    Ok(()) => exchanged = true,
                    Err(TooMuch) => {
                        stop(&mut *process, GRACE).await;
                        return Err(too_much());
                    }
                },
                ended = process.wait() => status = Some(ended.unwrap_or(UNSEEN)),
            }
        }
        let mut rest = Ok(Ok(()));
        if !exchanged {
            rest = timeout(LINGER, &mut exchange).await;
        }
        // What it left behind ends with its turn, and with it the last that holds the pipes.
        stop(&mut *process, Duration::ZERO).await;
        if rest.is_err() {
            rest = timeout(LINGER, &mut exchange).await;
        }
        if let Ok(Err(TooMuch)) = rest {
            return Err(too_much());
        }
        status.unwrap_or(UNSEEN)
    };
    if status != 0 {
        return Err(ended(argv, status, &complaint.last_lines()));
    }
    let said = said.strip_suffix(b"\n").map_or(&said[..], |said| said.strip_suffix(b"\r").unwrap_or(said));
    Ok(String::from_utf8_lossy(said).into_owned())
}

/// Hands the prompt over and closes. A program that does not read it is within its rights.
async fn feed(mut stdin: Box<dyn AsyncWrite + Send + Unpin>, prompt: &str) -> Result<(), TooMuch> {
    if stdin.write_all(prompt.as_bytes()).await.is_ok() {
        let _ = stdin.shutdown().await;
    }
    Ok(())
}

struct TooMuch;

async fn read(stdout: &mut (dyn AsyncRead + Send + Unpin), said: &mut Vec<u8>) -> Result<(), TooMuch> {
    let mut limited = stdout.take(ANSWER_LIMIT as u64 + 1);
    // An error of a pipe is its end.
    let _ = limited.read_to_end(said).await;
    if said.len() > ANSWER_LIMIT { Err(TooMuch) } else { Ok(()) }
}
