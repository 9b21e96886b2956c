//! What host, guardian and shim say to each other: small messages, each one datagram on a socket that keeps them apart
//! (`SOCK_SEQPACKET`), with descriptors beside them. A program with its arguments and variables may be large and is
//! therefore in a memory file.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, IoSlice, IoSliceMut, Read, Seek},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::PathBuf,
    time::Duration,
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    },
};

/// Bytes of the largest message: a path, and a little.
const LARGEST: usize = 8192;
/// The most descriptors beside one message.
const DESCRIPTORS: usize = 6;

/// Two ends of a socket. Both are closed by exec.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Sends a message. Fails with `EPIPE` where nobody holds the other end.
pub(super) fn send(socket: impl AsFd, message: &[u8], handles: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(handles));
    }
    loop {
        match sendmsg(&socket, &[IoSlice::new(message)], &mut beside, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            sent => return sent.map(drop),
        }
    }
}

/// A message and the descriptors beside it.
pub(super) type Received = (Vec<u8>, Vec<OwnedFd>);

/// Receives a message with what is beside it; none where nobody holds the other end.
pub(super) fn receive(socket: impl AsFd, flags: RecvFlags) -> Result<Option<Received>, Errno> {
    let mut message = vec![0; LARGEST];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut message)], &mut beside, flags) {
            Err(Errno::INTR) => {}
            // The other end was closed with something unread in it.
            Err(Errno::CONNRESET) => return Ok(None),
            received => break received?,
        }
    };
    let handles = beside
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(handles) => Some(handles),
            _ => None,
        })
        .flatten()
        .collect();
    if received.bytes == 0 {
        return Ok(None);
    }
    message.truncate(received.bytes);
    Ok(Some((message, handles)))
}

/// What the host tells the guardian.
#[derive(Debug)]
pub(super) enum Order {
    /// The first: the mark that all of the host's processes bear, and the directory to remove at the end.
    Hello { mark: Vec<u8>, scratch: PathBuf },
    /// To fork a shim.
    Start(Assignment),
    /// To end a shim that does not answer or was killed, with all below it; `done` is told when nothing is left.
    End { shim: i32, done: OwnedFd },
}

/// What a shim is forked for.
#[derive(Debug)]
pub(super) struct Assignment {
    /// The socket to the host.
    pub(super) control: OwnedFd,
    /// The [`Program`].
    pub(super) program: OwnedFd,
    /// Where it starts.
    pub(super) directory: OwnedFd,
    /// stdin, stdout and stderr.
    pub(super) stdio: [OwnedFd; 3],
}

impl Order {
    pub(super) fn send(&self, socket: impl AsFd) -> Result<(), Errno> {
        match self {
            Self::Hello { mark, scratch } => {
                let mut message = vec![b'H', u8::try_from(mark.len()).unwrap_or(0)];
                message.extend(mark);
                message.extend(scratch.as_os_str().as_bytes());
                send(socket, &message, &[])
            }
            Self::Start(Assignment { control, program, directory, stdio: [stdin, stdout, stderr] }) => {
                let handles = [control, program, directory, stdin, stdout, stderr].map(AsFd::as_fd);
                send(socket, b"S", &handles)
            }
            Self::End { shim, done } => {
                let mut message = vec![b'E'];
                message.extend(shim.to_le_bytes());
                send(socket, &message, &[done.as_fd()])
            }
        }
    }

    /// None for what is no order.
    pub(super) fn parse(message: &[u8], handles: Vec<OwnedFd>) -> Option<Self> {
        let (kind, rest) = message.split_first()?;
        let mut handles = handles.into_iter();
        match kind {
            b'H' => {
                let (length, rest) = rest.split_first()?;
                let (mark, scratch) = rest.split_at_checked(usize::from(*length))?;
                Some(Self::Hello { mark: mark.to_vec(), scratch: OsString::from_vec(scratch.to_vec()).into() })
            }
            b'S' => Some(Self::Start(Assignment {
                control: handles.next()?,
                program: handles.next()?,
                directory: handles.next()?,
                stdio: [handles.next()?, handles.next()?, handles.next()?],
            })),
            b'E' => Some(Self::End { shim: i32::from_le_bytes(rest.try_into().ok()?), done: handles.next()? }),
            _ => None,
        }
    }
}

/// What a shim is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Tell the tree to stop, and make it where it has not within the grace.
    Stop(Duration),
    /// End the tree at once.
    Kill,
}

impl Command {
    pub(super) fn send(self, socket: impl AsFd) -> Result<(), Errno> {
        match self {
            Self::Stop(grace) => {
                let mut message = vec![b'T'];
                message.extend(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
                send(socket, &message, &[])
            }
            Self::Kill => send(socket, b"K", &[]),
        }
    }

    pub(super) fn parse(message: &[u8]) -> Self {
        match message.split_first() {
            Some((b'T', grace)) => grace
                .try_into()
                .map_or(Self::Kill, |grace| Self::Stop(Duration::from_millis(u64::from_le_bytes(grace)))),
            _ => Self::Kill,
        }
    }
}

/// What a shim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The first: this is the process that says so, and it is about to start its root.
    Here {
        /// Its number.
        shim: i32,
    },
    /// The root is started.
    Started,
    /// The system did not start it.
    NotStarted(Errno),
    /// The root has ended with this status, and nothing below the shim is left.
    Ended(i32),
}

impl Report {
    pub(super) fn send(self, socket: impl AsFd) -> Result<(), Errno> {
        let (kind, number) = match self {
            Self::Here { shim } => (b'H', shim),
            Self::Started => (b'P', 0),
            Self::NotStarted(errno) => (b'N', errno.raw_os_error()),
            Self::Ended(status) => (b'X', status),
        };
        let mut message = vec![kind];
        message.extend(number.to_le_bytes());
        send(socket, &message, &[])
    }

    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let (kind, rest) = message.split_first()?;
        let number = i32::from_le_bytes(rest.try_into().ok()?);
        match kind {
            b'H' => Some(Self::Here { shim: number }),
            b'P' => Some(Self::Started),
            b'N' => Some(Self::NotStarted(Errno::from_raw_os_error(number))),
            b'X' => Some(Self::Ended(number)),
            _ => None,
        }
    }
}

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The file, absolute or from the directory that it starts in.
    pub(super) file: OsString,
    /// The name that it is started under, and its arguments.
    pub(super) argv: Vec<OsString>,
    /// All of its environment.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// The descriptors that it may have open, as the host found the limit.
    pub(super) files: Option<u64>,
}

impl Program {
    /// Puts it into a memory file.
    pub(super) fn write(&self) -> io::Result<OwnedFd> {
        let mut data = Vec::new();
        let mut put = |value: &OsStr| {
            data.extend(value.as_bytes());
            data.push(0);
        };
        put(OsStr::new(&self.files.unwrap_or(u64::MAX).to_string()));
        put(OsStr::new(&self.argv.len().to_string()));
        put(&self.file);
        self.argv.iter().for_each(|argument| put(argument));
        for (name, value) in &self.variables {
            put(name);
            put(value);
        }
        memory_file(&data)
    }

    /// Reads it from one.
    pub(super) fn read(handle: OwnedFd) -> io::Result<Self> {
        let mut data = Vec::new();
        File::from(handle).read_to_end(&mut data)?;
        Self::parse(&data).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(data: &[u8]) -> Option<Self> {
        let mut values = data.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let number = |value: Option<&[u8]>| std::str::from_utf8(value?).ok()?.parse::<u64>().ok();
        let files = Some(number(values.next())?).filter(|files| *files != u64::MAX);
        let arguments = number(values.next())?;
        let mut values = values.map(|value| OsString::from_vec(value.to_vec()));
        let file = values.next()?;
        let argv: Vec<OsString> = values.by_ref().take(usize::try_from(arguments).ok()?).collect();
        let mut variables = Vec::new();
        while let Some(name) = values.next() {
            variables.push((name, values.next()?));
        }
        Some(Self { file, argv, variables, files })
    }
}

/// A file in memory with these bytes, to be read from its start.
pub(crate) fn memory_file(data: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write;
    let handle = rustix::fs::memfd_create("flowhost", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(handle);
    file.write_all(data)?;
    file.rewind()?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_as_it_was_written() {
        let program = Program {
            file: "/bin/sh".into(),
            argv: vec!["sh".into(), String::new().into(), "ü\n".into()],
            variables: vec![("A".into(), String::new().into()), ("B".into(), "=".into())],
            files: Some(1024),
        };
        assert_eq!(Program::read(program.write().unwrap()).unwrap(), program);
        let empty = Program { argv: Vec::new(), variables: Vec::new(), files: None, ..program };
        assert_eq!(Program::read(empty.write().unwrap()).unwrap(), empty);
        assert!(Program::parse(b"").is_none() && Program::parse(b"1\0x\0").is_none());
    }

    #[test]
    fn messages_keep_apart_and_carry_descriptors() {
        let (here, there) = pair().unwrap();
        let stdin = File::open("/dev/null").unwrap();
        send(&here, b"one", &[stdin.as_fd()]).unwrap();
        Order::Hello { mark: b"m=".to_vec(), scratch: "/tmp/x".into() }.send(&here).unwrap();
        let (message, handles) = receive(&there, RecvFlags::empty()).unwrap().unwrap();
        assert_eq!((message.as_slice(), handles.len()), (&b"one"[..], 1));
        let (message, handles) = receive(&there, RecvFlags::empty()).unwrap().unwrap();
        let order = Order::parse(&message, handles).unwrap();
        assert!(matches!(order, Order::Hello { mark, scratch } if mark == b"m=" && scratch == *"/tmp/x"));
        assert!(Order::parse(b"S", Vec::new()).is_none() && Order::parse(b"?", Vec::new()).is_none());
        drop(here);
        assert!(receive(&there, RecvFlags::empty()).unwrap().is_none());
    }

    #[test]
    fn commands_and_reports_are_read_as_they_were_sent() {
        let (here, there) = pair().unwrap();
        let next = || receive(&there, RecvFlags::empty()).unwrap().unwrap().0;
        for command in [Command::Kill, Command::Stop(Duration::from_millis(1500))] {
            command.send(&here).unwrap();
            assert_eq!(Command::parse(&next()), command);
        }
        for report in [Report::Here { shim: 7 }, Report::Started, Report::NotStarted(Errno::NOENT), Report::Ended(-1)] {
            report.send(&here).unwrap();
            assert_eq!(Report::parse(&next()), Some(report));
        }
    }
}
