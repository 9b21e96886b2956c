//! Commands that are run to their end, and programs that are started with pipes.

use std::{fs::File, io, os::fd::OwnedFd, time::Duration};

use flowhost_core::{
    env::{Child, Command, Output, Program},
    error::{EnvFault, Error, Result},
};
use tokio::net::unix::pipe::{Receiver, Sender, pipe};

use crate::{
    environment::not_started,
    fault, git,
    guardian::{Launch, LaunchError, Opening, Tree, memory_file},
    local::Local,
};

/// Bytes that are taken from a pipe at once.
const CHUNK: usize = 16 * 1024;
/// Bytes that are still taken from a pipe once the tree of its command is gone: as much as a pipe can hold. Somebody
/// outside of the tree who was handed the pipe could go on writing.
const REST: u64 = 2 << 20;
/// Characters of a command in a message.
const SHOWN: usize = 100;

/// Runs a command to its end.
///
/// It gets a clean environment, `vars`, and settings that keep git from running what a repository's own configuration names (W2).
/// Output past what is kept is read and thrown away, and `\n[… N bytes cut]` says so at the end of what is kept. What the
/// command leaves running when it ends is ended too, and does not hold the call.
pub(crate) async fn exec(local: &Local, command: Command) -> Result<Output> {
    let Command { argv, vars, stdin, timeout, keep, repeatable: _ } = command;
    let limits = &local.root().limits;
    let stdin = match stdin {
        None => File::open("/dev/null").map(OwnedFd::from),
        // Not a pipe: a program that reads none of it holds nobody up.
        Some(data) if data.len() as u64 <= limits.stdin => {
            let written = tokio::task::spawn_blocking(move || memory_file(&data)).await;
            written.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()))
        }
        Some(data) => {
            let message = format!(
                "{}: {} bytes for its stdin, and at most {} are carried; put them into a file",
                shown(&argv),
                data.len(),
                limits.stdin
            );
            return Err(Error::env(EnvFault::TooLarge, message));
        }
    };
    let opening = local.root().guardian.opening().await?;
    let mut variables = git::settings(&local.root().safe);
    variables.extend(vars);
    let wiring = wire_up();
    let ((stdout, theirs_out), (stderr, theirs_err), stdin) =
        wiring.and_then(|(out, err)| Ok((out, err, stdin?))).map_err(|error| no_pipes(&argv, &error))?;
    let tree = launch(local, opening, &argv, &variables, [stdin, theirs_out, theirs_err]).await?;

    let keep = keep.unwrap_or(limits.kept_output).min(limits.kept_output_most);
    let (mut out, mut err) = (Kept::new(keep), Kept::new(keep));
    let status = {
        let reading = async {
            tokio::join!(out.read(&stdout), err.read(&stderr));
            // That nobody writes any more is not yet the end.
            std::future::pending::<()>().await;
        };
        let ending = async {
            match timeout {
                None => Ok(tree.ended().await),
                Some(time) => match tokio::time::timeout(time, tree.ended()).await {
                    Ok(ended) => Ok(ended),
                    // Whatever comes of the stop, the command did not end by itself.
                    Err(_) => {
                        let _ = tree.stopped(limits.grace).await;
                        Err(timed_out(&argv, time))
                    }
                },
            }
        };
        tokio::select! {
            ended = ending => ended??,
            () = reading => return Err(Error::env(EnvFault::Other, "the output of a command ended twice")),
        }
    };
    out.rest(&stdout);
    err.rest(&stderr);
    let truncated = out.is_cut() || err.is_cut();
    Ok(Output { status, stdout: out.finish(), stderr: err.finish(), truncated })
}

/// Starts a program with pipes. Unlike a command it gets no settings of git: a harness works as its person would.
pub(crate) async fn spawn(local: &Local, program: Program) -> Result<Child> {
    let Program { argv, vars } = program;
    if argv.first().is_some_and(|program| program.contains('/') && !program.starts_with('/')) {
        let message = format!("{}: a harness's program is given by its absolute path", shown(&argv));
        return Err(Error::env(EnvFault::NotStarted, message));
    }
    let opening = local.root().guardian.opening().await?;
    let failed = |error: io::Error| no_pipes(&argv, &error);
    let ((stdout, theirs_out), (stderr, theirs_err)) = wire_up().map_err(failed)?;
    let (stdin, theirs_in) = pipe().map_err(failed)?;
    let theirs_in = theirs_in.into_blocking_fd().map_err(failed)?;
    let tree = launch(local, opening, &argv, &vars, [theirs_in, theirs_out, theirs_err]).await?;
    let stdin: Box<Sender> = Box::new(stdin);
    Ok(Child { stdin, stdout: Box::new(stdout), stderr: Box::new(stderr), process: Box::new(tree) })
}

async fn launch(
    local: &Local,
    opening: Opening,
    argv: &[String],
    vars: &[(String, String)],
    stdio: [OwnedFd; 3],
) -> Result<Tree> {
    let (ground, root) = (local.ground(), local.root());
    let Some(name) = argv.first().filter(|name| !name.is_empty()) else {
        return Err(Error::env(EnvFault::NotStarted, "a command without a program: its argv is empty"));
    };
    if argv.iter().any(|argument| argument.contains('\0')) {
        let message = format!("{}: an argument with a NUL byte, which no program can be given", shown(argv));
        return Err(Error::env(EnvFault::NotStarted, message));
    }
    let bytes = argv.iter().map(String::len).chain(vars.iter().map(|(name, value)| name.len() + value.len()));
    if bytes.map(|bytes| bytes as u64 + 1).sum::<u64>() > root.limits.arguments {
        return Err(not_started(name, ground.directory(), rustix::io::Errno::TOOBIG));
    }
    if ground.is_removed() {
        return Err(fault::failed(ground, ".", rustix::io::Errno::NOENT));
    }
    let variables = root.environment.variables(root.guardian.scratch(), vars)?;
    let file = root.environment.find_program(name)?;
    let directory = ground.duplicate().map_err(|error| no_pipes(argv, &error))?;
    let launch = Launch { file, argv: argv.to_vec(), variables, directory, stdio };
    let started = root.guardian.launch(opening, launch, root.abandoned.clone()).await;
    started.map_err(|error| match error {
        LaunchError::Refused(errno) => not_started(name, ground.directory(), errno),
        LaunchError::Failed(error) => error,
    })
}

/// The host's ends and the program's ends of stdout and stderr.
fn wire_up() -> io::Result<((Receiver, OwnedFd), (Receiver, OwnedFd))> {
    let one = || {
        let (theirs, ours) = pipe()?;
        Ok::<_, io::Error>((ours, theirs.into_blocking_fd()?))
    };
    Ok((one()?, one()?))
}

fn no_pipes(argv: &[String], error: &io::Error) -> Error {
    let message = format!("{}: not started: {error}; with fewer commands at once it may", shown(argv));
    Error::env(EnvFault::NotStarted, message)
}

fn timed_out(argv: &[String], time: Duration) -> Error {
    let command = shown(argv);
    let message =
        format!("`{command}` took longer than {time:?} and was ended, with all that it had started; give it more time");
    Error::env(EnvFault::TimedOut, message)
}

/// A command for a message.
fn shown(argv: &[String]) -> String {
    let mut shown = String::new();
    for argument in argv {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.extend(argument.chars().take(SHOWN + 1));
        if shown.chars().count() > SHOWN {
            return shown.chars().take(SHOWN).chain(['…']).collect();
        }
    }
    shown
}

/// What is kept of a stream.
struct Kept {
    data: Vec<u8>,
    most: u64,
    cut: u64,
    chunk: Vec<u8>,
}

impl Kept {
    fn new(most: u64) -> Self {
        Self { data: Vec::new(), most, cut: 0, chunk: Vec::new() }
    }

    /// Reads until nobody writes any more.
    async fn read(&mut self, pipe: &Receiver) {
        while pipe.readable().await.is_ok() {
            match self.take(|chunk| pipe.try_read(chunk)) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }

    /// Reads what is there: asked of the pipe itself, since the runtime may not have heard of it yet.
    fn rest(&mut self, pipe: &Receiver) {
        let mut taken = 0;
        while taken < REST {
            match self.take(|chunk| Ok(rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *chunk))?)) {
                Ok(0) | Err(_) => return,
                Ok(read) => taken += read as u64,
            }
        }
    }

    fn take(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        self.chunk.resize(CHUNK, 0);
        let read = read(&mut self.chunk)?;
        let room = usize::try_from(self.most - self.data.len() as u64).unwrap_or(usize::MAX).min(read);
        self.data.extend(&self.chunk[..room]);
        self.cut += (read - room) as u64;
        Ok(read)
    }

    fn is_cut(&self) -> bool {
        self.cut > 0
    }

    fn finish(mut self) -> Vec<u8> {
        if self.cut > 0 {
            // Not within a character, where it is text.
            if let Err(error) = std::str::from_utf8(&self.data)
                && error.error_len().is_none()
            {
                self.cut += (self.data.len() - error.valid_up_to()) as u64;
                self.data.truncate(error.valid_up_to());
            }
            self.data.extend(format!("\n[… {} bytes cut]", self.cut).into_bytes());
        }
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_what_is_cut_is_said_and_no_character_is_split() {
        let mut kept = Kept { data: "aü".as_bytes()[..2].to_vec(), most: 2, cut: 7, chunk: Vec::new() };
        assert!(kept.is_cut());
        assert_eq!(String::from_utf8(kept.finish()).unwrap(), "a\n[… 8 bytes cut]");
        kept = Kept { data: b"\xff\xfe".to_vec(), most: 2, cut: 1, chunk: Vec::new() };
        assert_eq!(kept.finish(), [&b"\xff\xfe"[..], "\n[… 1 bytes cut]".as_bytes()].concat());
        assert_eq!(Kept { data: b"all".to_vec(), most: 3, cut: 0, chunk: Vec::new() }.finish(), b"all");
    }

    /// The end of a command may be known before the runtime has looked at its pipes.
    #[tokio::test]
    async fn what_is_in_a_pipe_is_read_though_the_runtime_has_not_heard_of_it() {
        let (theirs, ours) = pipe().unwrap();
        rustix::io::write(&theirs, b"said").unwrap();
        let mut kept = Kept::new(10);
        kept.rest(&ours);
        assert_eq!(kept.finish(), b"said");
    }

    #[test]
    fn a_long_command_is_shortened() {
        assert_eq!(shown(&["git".to_owned(), "status".to_owned()]), "git status");
        let long = shown(&["ä".repeat(SHOWN), "x".to_owned()]);
        assert_eq!(long.chars().count(), SHOWN + 1);
        assert!(long.ends_with("ä…"));
    }
}
