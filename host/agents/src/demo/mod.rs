//! `demo`: a harness that is built in, needs no account and costs nothing.
//!
//! It is no model. It knows the six requests below by their words, does them for real in its session's directory, and says of
//! anything else that it cannot. What it emits is what a real harness emits: words, tools that start and end, usage that grows,
//! a cost (which nobody is charged).
//!
//! | ask for | as in | what it does |
//! |---|---|---|
//! | a docstring | `Add a one-line module docstring to this file.` | Python: a docstring after shebang, encoding and first comment; other languages: a header comment |
//! | a header comment | `Add a header comment saying "Part of calc." to calc.rs` | a comment after shebang and encoding; without words, one that names the file and what it defines |
//! | another name | ``Rename `add` to `plus` in calc.py`` | every use of the name in code; strings and comments stay (where the language is not known, every use) |
//! | `__all__` | ``Add `__all__` to calc.py`` | the public functions and classes of a Python file |
//! | a last line end | `Make calc.py end with a newline.` | one line end |
//! | a new file | ``Create `NOTES.md` with the text "Read me."`` | that file, where there is none |
//!
//! The file is the one that the prompt says it is (`The file is PATH.`), else those that it names, in backticks, quotes or
//! bare, that are there; else the one of the conversation's last turn. Everything but the edit stays as it was, byte for byte:
//! encoding, byte order mark, line ends, the lack of a last one. What is there already is left alone, so that asking again
//! changes nothing; who asks for a word where nothing is left to do (`answer DONE on a line of its own`) gets it then. Asked to
//! review or to judge, it edits nothing and answers in words, and in JSON where a schema is given.
//!
//! A turn takes 100 to 700 ms by its prompt, divided by the speed of [`Demo::speed`]; 0 is without any delay.

mod code;
mod edit;
mod language;
mod layout;
mod pace;
mod python;
mod request;
mod value;

use std::sync::Arc;

use async_trait::async_trait;
use flowhost_core::{
    clock::Clock,
    env::{EntryKind, Env},
    error::{EnvFault, Error, HarnessFault, Kind, Result},
    harness::{Capabilities, Conversation, Event, Harness, Open, Prompt, Reply, TurnHost},
};

use self::{
    edit::{edit, new_file},
    pace::Pace,
    request::{Request, named_paths, word_for_nothing_left},
};
use crate::registry::{Row, Takes};

/// Files that one turn edits.
const FILES: usize = 16;
/// Names in a prompt that are looked for.
const NAMES: usize = 64;
/// Bytes of a file that it edits.
const FILE_LIMIT: u64 = 1 << 20;

const CAPABILITIES: Capabilities = Capabilities { steer: true, fork: true, schema: true, ..Capabilities::NONE };

pub(crate) static ROW: Row = Row {
    name: "demo",
    about: "Built in, no account: adds a docstring, a header comment, `__all__` or a last line end, renames, makes a file.",
    takes: Takes::Model { accounts: false, efforts: &["low", "medium", "high"] },
    capabilities: CAPABILITIES,
    hidden: false,
    build: |options, _| Ok(Arc::new(Demo::new(options.clock.clone()).speed(options.demo_speed))),
};

/// What it says when it is asked for anything else.
const CANNOT: &str = "I am the demo agent and no model, so I cannot do that. I can add a one-line docstring, a header comment, \
                      `__all__` or a last line end to a file, rename something in it, or create a file; name it as in \"The \
                      file is calc.py.\"";

/// A harness that is built in. Model and effort are only names to it.
#[derive(Clone, Debug)]
pub struct Demo {
    clock: Clock,
    speed: f64,
}

impl Demo {
    /// One that waits on this clock.
    pub fn new(clock: Clock) -> Self {
        Self { clock, speed: 1.0 }
    }

    /// How fast it works: 1 as it is, 10 ten times as fast, 0 without any delay.
    #[must_use]
    pub fn speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }
}

#[async_trait]
impl Harness for Demo {
    fn name(&self) -> &str {
        ROW.name
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    async fn open(&self, open: Open) -> Result<Box<dyn Conversation>> {
        Ok(Box::new(Session { demo: self.clone(), env: open.env, last: Vec::new() }))
    }
}

/// A conversation: what it remembers is which files it was last about.
struct Session {
    demo: Demo,
    env: Arc<dyn Env>,
    last: Vec<String>,
}

#[async_trait]
impl Conversation for Session {
    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply> {
        let work = async {
            let pace = Pace::new(&self.demo.clock, self.demo.speed, prompt.text, host);
            let mut turn = Turn { env: &*self.env, host, pace, tools: 0, edited: false };
            turn.take(prompt, &mut self.last).await
        };
        tokio::select! {
            biased;
            () = host.interrupted() => {
                Err(Error::harness(HarnessFault::Interrupted, "the turn was interrupted"))
            }
            reply = work => Ok(reply),
        }
    }

    async fn fork(&mut self, open: Open) -> Result<Box<dyn Conversation>> {
        Ok(Box::new(Self { demo: self.demo.clone(), env: open.env, last: self.last.clone() }))
    }

    async fn close(self: Box<Self>) {}
}

/// A turn that goes.
struct Turn<'a> {
    env: &'a dyn Env,
    host: &'a dyn TurnHost,
    pace: Pace<'a>,
    tools: u32,
    /// Whether it has changed anything.
    edited: bool,
}

impl Turn<'_> {
    async fn take(&mut self, prompt: Prompt<'_>, last: &mut Vec<String>) -> Reply {
        let request = Request::of(prompt.text, prompt.schema);
        self.pace.pass(25).await;
        self.pace.asked(prompt.text.len(), 0);
        let mut said = match &request {
            Request::Create { path, text } => self.create(path, text.as_deref()).await,
            _ => self.files(&request, prompt.text, last).await,
        };
        let nothing_left = !self.edited && request != Request::Unknown;
        if let Some(word) = word_for_nothing_left(prompt.text).filter(|_| nothing_left) {
            said.push_str(&format!("\n\n{word}\n"));
        }
        if !self.pace.steered.is_empty() {
            let words: Vec<_> = self.pace.steered.iter().map(|words| format!("\"{words}\"")).collect();
            said.push_str(&format!(" Meanwhile you said {}; I have heard it.", words.join(" and ")));
        }
        self.pace.pass(25).await;
        let value = prompt.schema.and_then(|schema| value::minimal(schema, &said));
        if prompt.schema.is_some() && value.is_none() {
            said.push_str(" I cannot make a value that meets this schema.");
        }
        self.host.event(Event::Text { text: said.clone() });
        self.pace.asked(0, said.len());
        Reply { text: said, value, usage: None }
    }

    /// Does what is asked with the files that the prompt means.
    async fn files(&mut self, request: &Request, prompt: &str, last: &mut Vec<String>) -> String {
        let found = match self.find(prompt, last).await {
            Ok(found) => found,
            Err(said) => return said,
        };
        let verdict = match request {
            Request::Unknown => return CANNOT.to_owned(),
            Request::Judge => Some("Yes: as far as I can see it is so."),
            Request::Review => Some("I see nothing to object to."),
            _ => None,
        };
        if found.is_empty() {
            return verdict
                .map_or_else(|| "Which file? Name one, as in \"The file is calc.py.\"".to_owned(), str::to_owned);
        }
        last.clone_from(&found);
        if verdict.is_none() {
            let names: Vec<_> = found.iter().map(|path| format!("`{path}`")).collect();
            self.host.event(Event::Text { text: format!("I will look at {}.", names.join(", ")) });
        }
        let share = u32::try_from(50 / found.len()).unwrap_or(0);
        let mut said = Vec::new();
        for path in &found {
            said.push(self.file(request, path, share).await);
        }
        said.extend(verdict.map(str::to_owned));
        said.join(" ")
    }

    /// The files that the prompt means, or what to say where the one that it names cannot be had.
    async fn find(&mut self, prompt: &str, last: &[String]) -> Result<Vec<String>, String> {
        let (names, certain) = named_paths(prompt);
        let mut found = Vec::new();
        for name in names.iter().take(NAMES) {
            match self.env.stat(name).await {
                Ok(entry) if entry.kind == EntryKind::File => found.push(name.clone()),
                Ok(entry) if certain => {
                    let what = match entry.kind {
                        EntryKind::Directory => "a directory",
                        EntryKind::Link => "a link",
                        _ => "no file",
                    };
                    return Err(format!("`{name}` is {what}, so I left it alone."));
                }
                Err(error) if certain && error.kind != Kind::Env(EnvFault::NotFound) => {
                    return Err(format!("I cannot reach `{name}`: {error}."));
                }
                _ => match self.below(name).await {
                    Some(path) => found.push(path),
                    None if certain => return Err(format!("There is no file `{name}` here.")),
                    None => {}
                },
            }
            if found.len() == FILES {
                break;
            }
        }
        if found.is_empty() {
            found.extend_from_slice(last);
        }
        Ok(found)
    }

    /// The one file of this name in the directories below, if there is one.
    async fn below(&mut self, name: &str) -> Option<String> {
        if name.contains(['/', '*', '?', '[', ']', '{', '}', '\\', '!', ' ']) || !name.contains('.') {
            return None;
        }
        let found = self.env.find(".", &format!("**/{name}")).await.ok()?;
        let mut files = found.into_iter().filter(|entry| entry.kind == EntryKind::File);
        let only = files.next()?;
        files.next().is_none().then_some(only.path)
    }

    async fn file(&mut self, request: &Request, path: &str, share: u32) -> String {
        let read = self.start("Read", path);
        self.pace.pass(share / 3).await;
        let text = match self.read(path).await {
            Ok(text) => text,
            Err(error) => {
                self.end(read, false);
                return format!("I cannot read `{path}`: {error}.");
            }
        };
        self.end(read, true);
        self.pace.asked(text.len(), 0);
        let outcome = edit(request, path, &text);
        let Some(edited) = outcome.text else { return outcome.said };
        let tool = self.start("Edit", path);
        self.pace.pass(share - share / 3).await;
        let added = edited.len().abs_diff(text.len());
        // Somebody else may work in the same directory: what they did in the meantime is not undone.
        let written = match self.env.read(path, None).await {
            Ok(now) if now == text => self.env.write(path, edited).await,
            Ok(_) => {
                self.end(tool, false);
                return format!("`{path}` was changed while I worked on it, so I left it alone.");
            }
            Err(error) => Err(error),
        };
        self.end(tool, written.is_ok());
        match written {
            Ok(()) => {
                self.edited = true;
                self.pace.asked(0, added);
                outcome.said
            }
            Err(error) => format!("I cannot write `{path}`: {error}."),
        }
    }

    async fn read(&mut self, path: &str) -> Result<Vec<u8>> {
        let entry = self.env.stat(path).await?;
        if entry.size > FILE_LIMIT {
            let message = format!("it has more than {} MiB", FILE_LIMIT >> 20);
            return Err(Error::env(EnvFault::TooLarge, message));
        }
        self.env.read(path, None).await
    }

    async fn create(&mut self, path: &str, text: Option<&str>) -> String {
        match self.env.stat(path).await {
            Ok(_) => return format!("`{path}` is there already, so I left it alone."),
            Err(error) if error.kind == Kind::Env(EnvFault::NotFound) => {}
            Err(error) => return format!("I cannot reach `{path}`: {error}."),
        }
        let tool = self.start("Write", path);
        self.pace.pass(50).await;
        let written = self.env.write(path, new_file(path, text)).await;
        self.end(tool, written.is_ok());
        match written {
            Ok(()) => {
                self.edited = true;
                self.pace.asked(0, text.map_or(0, str::len));
                format!("I created `{path}`.")
            }
            Err(error) => format!("I cannot write `{path}`: {error}."),
        }
    }

    fn start(&mut self, name: &str, path: &str) -> String {
        self.tools += 1;
        let tool = self.tools.to_string();
        let label = format!("{name}({path})");
        self.host.event(Event::ToolStart { tool: tool.clone(), name: name.to_owned(), label });
        tool
    }

    fn end(&self, tool: String, ok: bool) {
        self.host.event(Event::ToolEnd { tool, ok });
    }
}
