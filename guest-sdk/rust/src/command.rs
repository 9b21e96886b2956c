//! Commands: programs that run in an environment.

use std::time::Duration;

use crate::raw::flowhost::flow::envs as wit;
use crate::{Env, Error, Pending, Result};

/// A command to run in a clean environment. Awaited it runs to its end, and is killed when the future is dropped before.
///
/// A status that is not 0 is no error unless the command is [checked](Exec::checked).
///
/// ```no_run
/// # async fn example(workspace: &flowhost::Env) -> flowhost::Result<()> {
/// use std::time::Duration;
/// let head = workspace.exec(["git", "rev-parse", "HEAD"]).checked().await?.stdout;
/// let tests = workspace.exec(["cargo", "test"]).timeout(Duration::from_secs(600)).await?;
/// if !tests.success() {
///     flowhost::log!("at {}: {}", head.trim(), tests.stderr);
/// }
/// # Ok(()) }
/// ```
#[must_use = "a command runs when it is awaited or started"]
#[derive(Debug)]
pub struct Exec<'a> {
    env: &'a Env,
    command: wit::Command,
    checked: bool,
}

impl<'a> Exec<'a> {
    pub(crate) fn new(env: &'a Env, argv: Vec<String>) -> Self {
        let command = wit::Command { argv, vars: vec![], stdin: None, timeout_ms: None, keep: None, repeatable: false };
        Self { env, command, checked: false }
    }

    /// What it reads; nothing where it is not said.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.command.stdin = Some(bytes.into());
        self
    }

    /// Kills it after so long: [`Error::Env`] with the fault `timed-out`.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.command.timeout_ms = Some(crate::context::millis(limit));
        self
    }

    /// Adds a variable to its clean environment.
    pub fn var(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.command.vars.push((name.into(), value.into()));
        self
    }

    /// Bytes kept of each of stdout and stderr; the host's limit where it is not said.
    pub fn keep(mut self, bytes: u64) -> Self {
        self.command.keep = Some(bytes);
        self
    }

    /// It may be run again where a run that was cut off in its middle is taken up: it only looks, or twice is once.
    pub fn repeatable(mut self) -> Self {
        self.command.repeatable = true;
        self
    }

    /// A status that is not 0 is [`Error::Failed`], which names the command and gives the first line that it complained in; so is output
    /// that was cut.
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// Starts it and returns at once.
    pub fn start(self) -> Result<Process> {
        self.env.0.start(&self.command).map(Process).map_err(Error::lift)
    }
}

impl<'a> IntoFuture for Exec<'a> {
    type Output = Result<Output>;
    type IntoFuture = Pending<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let shown = self.checked.then(|| self.command.argv.join(" "));
            let output = Output::lift(self.env.0.exec(self.command).await.map_err(Error::lift)?);
            match shown {
                Some(command) if !output.success() => Err(output.complaint(&command)),
                Some(command) if output.truncated => {
                    Err(Error::failed(format!("`{command}` wrote more than is kept of it; keep more, or ask for less")))
                }
                _ => Ok(output),
            }
        })
    }
}

/// What a command left.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its exit status; 128 and the signal's number where one killed it.
    pub status: i32,
    /// What it wrote, as text: what is not UTF-8 is replaced. [`Output::stdout_bytes`] has it as it was.
    pub stdout: String,
    /// What it complained of, as text. [`Output::stderr_bytes`] has it as it was.
    pub stderr: String,
    /// Whether either was cut.
    pub truncated: bool,
    raw_stdout: Option<Vec<u8>>,
    raw_stderr: Option<Vec<u8>>,
}

impl Output {
    pub(crate) fn lift(output: wit::Output) -> Self {
        let (stdout, raw_stdout) = text(output.stdout);
        let (stderr, raw_stderr) = text(output.stderr);
        Self { status: output.status, stdout, stderr, truncated: output.truncated, raw_stdout, raw_stderr }
    }

    /// Whether its status is 0.
    pub fn success(&self) -> bool {
        self.status == 0
    }

    /// What it wrote, as it was.
    pub fn stdout_bytes(&self) -> &[u8] {
        self.raw_stdout.as_deref().unwrap_or(self.stdout.as_bytes())
    }

    /// What it complained of, as it was.
    pub fn stderr_bytes(&self) -> &[u8] {
        self.raw_stderr.as_deref().unwrap_or(self.stderr.as_bytes())
    }

    fn complaint(&self, command: &str) -> Error {
        let lines = self.stderr.lines().chain(self.stdout.lines());
        match lines.map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => Error::failed(format!("`{command}` ended with status {}: {line}", self.status)),
            None => Error::failed(format!("`{command}` ended with status {}", self.status)),
        }
    }
}

/// Text, and the bytes as they were where the text is not all of them.
fn text(bytes: Vec<u8>) -> (String, Option<Vec<u8>>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let bytes = error.into_bytes();
            (String::from_utf8_lossy(&bytes).into_owned(), Some(bytes))
        }
    }
}

/// A command that was started. Dropping it interrupts it.
#[derive(Debug)]
pub struct Process(pub(crate) wit::Process);

impl Process {
    /// Waits for its end. May be asked again and by several; all get the same. Dropping the wait interrupts nothing.
    pub async fn wait(&self) -> Result<Output> {
        self.0.wait().await.map(Output::lift).map_err(Error::lift)
    }

    /// Whether it has ended.
    pub fn done(&self) -> bool {
        self.0.done()
    }

    /// Interrupts it; `wait` then says `interrupted`. Twice, or after its end, is nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(status: i32, stdout: &[u8], stderr: &[u8]) -> Output {
        Output::lift(wit::Output { status, stdout: stdout.into(), stderr: stderr.into(), truncated: false })
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_beside_it() {
        let output = output(0, b"caf\xe9", b"fine");
        assert_eq!(output.stdout, "caf\u{fffd}");
        assert_eq!(output.stdout_bytes(), b"caf\xe9");
        assert_eq!(output.stderr_bytes(), b"fine");
    }

    #[test]
    fn a_complaint_is_one_line_and_names_the_command() {
        let said = output(128, b"", b"\nfatal: not a git repository\nsecond line\n").complaint("git ls-files");
        assert_eq!(said.to_string(), "`git ls-files` ended with status 128: fatal: not a git repository");
        assert_eq!(output(1, b"", b"").complaint("false").to_string(), "`false` ended with status 1");
    }
}
