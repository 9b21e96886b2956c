//! What a command comes to in an environment in memory.

use std::time::Duration;

use flowhost_core::{
    env::Output,
    error::{Error, Result},
};

/// A command that an environment in memory knows, and what it comes to: with no more said, status 0 and no output.
///
/// ```
/// use std::time::Duration;
/// use flowhost_agents::fake::{FakeEnv, Scripted};
///
/// let tests = || Scripted::line("cargo test").after(Duration::from_secs(30));
/// let env = FakeEnv::new()
///     .scripted(tests().status(101).stderr("1 failed").times(2))
///     .scripted(tests().stdout("ok"));
/// ```
#[derive(Clone, Debug)]
pub struct Scripted {
    words: Words,
    pub(super) result: Result<Output>,
    pub(super) after: Option<Duration>,
    pub(super) never: bool,
    /// How often it still fits.
    left: Option<u32>,
}

#[derive(Clone, Debug)]
enum Words {
    Argv(Vec<String>),
    Line(String),
    LineStart(String),
}

impl Scripted {
    fn new(words: Words) -> Self {
        Self { words, result: Ok(Output::default()), after: None, never: false, left: None }
    }

    /// The command of exactly these words.
    pub fn argv<W: Into<String>>(argv: impl IntoIterator<Item = W>) -> Self {
        Self::new(Words::Argv(argv.into_iter().map(Into::into).collect()))
    }

    /// Commands whose words, with one space between them, are this line.
    pub fn line(line: impl Into<String>) -> Self {
        Self::new(Words::Line(line.into()))
    }

    /// Commands whose words, with one space between them, start so.
    pub fn line_start(start: impl Into<String>) -> Self {
        Self::new(Words::LineStart(start.into()))
    }

    fn told(mut self, how: impl FnOnce(&mut Output)) -> Self {
        let mut output = self.result.unwrap_or_default();
        how(&mut output);
        self.result = Ok(output);
        self
    }

    /// It exits with this status.
    #[must_use]
    pub fn status(self, status: i32) -> Self {
        self.told(|output| output.status = status)
    }

    /// It writes this to standard output.
    #[must_use]
    pub fn stdout(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.told(|output| output.stdout = bytes.into())
    }

    /// It writes this to standard error.
    #[must_use]
    pub fn stderr(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.told(|output| output.stderr = bytes.into())
    }

    /// It cannot be run, or not to its end.
    #[must_use]
    pub fn fails(self, error: Error) -> Self {
        Self { result: Err(error), ..self }
    }

    /// It takes so long, instead of the environment's own delay.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { after: Some(delay), ..self }
    }

    /// It goes on until it is interrupted, or its time is up.
    #[must_use]
    pub fn never(self) -> Self {
        Self { never: true, ..self }
    }

    /// It fits so many times, and no more.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { left: Some(times), ..self }
    }

    /// What this command comes to, where it is the one.
    pub(super) fn take(&mut self, argv: &[String]) -> Option<Self> {
        let fits = match &self.words {
            Words::Argv(words) => words == argv,
            Words::Line(line) => argv.join(" ") == *line,
            Words::LineStart(start) => argv.join(" ").starts_with(start.as_str()),
        };
        if !fits || self.left == Some(0) {
            return None;
        }
        self.left = self.left.map(|left| left - 1);
        Some(self.clone())
    }
}
