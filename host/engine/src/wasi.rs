//! What a language's runtime needs of WASI 0.2, and no more: clocks and random values that the record keeps (J1), standard output and
//! standard error into the run's log. No files, no sockets, no environment, no arguments.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use flowhost_core::{
    branch::Branch,
    record::{LogSource, Outcome},
};
use parking_lot::Mutex;
use rand_chacha::{
    ChaCha12Rng,
    rand_core::{Infallible, SeedableRng, TryRng},
};
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder,
    cli::{IsTerminal, StdoutStream},
};

use crate::limits::Exceeded;

/// The WASI context of a branch; one that has nothing at all where the flow is only described.
pub(crate) fn context(branch: Option<Arc<Branch>>, log: &Log) -> WasiCtx {
    let mut builder = WasiCtxBuilder::new();
    builder
        .allow_blocking_current_thread(false)
        .stdout(Output { log: log.clone(), from: LogSource::Stdout })
        .stderr(Output { log: log.clone(), from: LogSource::Stderr })
        .wall_clock(Wall(branch.clone()))
        .monotonic_clock(Monotonic(branch.clone()))
        .secure_random(Random::new(branch.clone(), "random"))
        .insecure_random(Random::new(branch.clone(), "insecure-random"))
        .insecure_random_seed(branch.as_deref().map_or(0, Branch::seed));
    builder.build()
}

fn keep(branch: &Branch, function: &'static str, value: &impl serde::Serialize) {
    if let Ok(json) = serde_json::value::to_raw_value(value) {
        branch.value(function, Outcome::Ok(json.into()));
    }
}

struct Wall(Option<Arc<Branch>>);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        let Some(branch) = &self.0 else { return Duration::ZERO };
        let now = branch.now_ms();
        keep(branch, "wall-clock", &now);
        Duration::from_millis(now)
    }
}

struct Monotonic(Option<Arc<Branch>>);

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        let Some(branch) = &self.0 else { return 0 };
        let now = u64::try_from(branch.run.elapsed().as_nanos()).unwrap_or(u64::MAX);
        keep(branch, "monotonic-clock", &now);
        now
    }
}

/// Random values from a seed that is written down when the first is taken: the record needs no more to give the same again.
struct Random {
    branch: Option<Arc<Branch>>,
    function: &'static str,
    source: Option<ChaCha12Rng>,
}

impl Random {
    fn new(branch: Option<Arc<Branch>>, function: &'static str) -> Self {
        Self { branch, function, source: None }
    }

    fn source(&mut self) -> &mut ChaCha12Rng {
        let Self { branch, function, source } = self;
        source.get_or_insert_with(|| {
            let mut seed = [0u8; 32];
            if let Some(branch) = branch {
                // Up to 256 bytes the system gives whole or not at all, and it fails only before it has booted.
                let _ = rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty());
                keep(branch, function, &seed);
            }
            ChaCha12Rng::from_seed(seed)
        })
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.source().try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.source().try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.source().try_fill_bytes(bytes)
    }
}

/// The log of a branch: lines, and how many bytes of them there may be (X2).
#[derive(Clone)]
pub(crate) struct Log(Arc<LogState>);

struct LogState {
    branch: Option<Arc<Branch>>,
    limit: u64,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    bytes: u64,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// A line that never ends is cut here, so that it is not kept in memory.
const LONGEST_LINE: usize = 64 << 10;

impl Log {
    pub(crate) fn new(branch: Option<Arc<Branch>>, limit: u64) -> Self {
        Self(Arc::new(LogState { branch, limit, written: Mutex::default() }))
    }

    /// Says a line. Fails past the limit.
    pub(crate) fn line(&self, line: &str, from: LogSource) -> Result<(), Exceeded> {
        self.count(line.len() + 1)?;
        if let Some(branch) = &self.0.branch {
            branch.log(line, from);
        }
        Ok(())
    }

    fn count(&self, bytes: usize) -> Result<(), Exceeded> {
        let mut written = self.0.written.lock();
        written.bytes = written.bytes.saturating_add(bytes as u64);
        if written.bytes > self.0.limit { Err(Exceeded::bytes("log-bytes", self.0.limit)) } else { Ok(()) }
    }

    fn write(&self, bytes: &[u8], from: LogSource) -> Result<(), Exceeded> {
        self.count(bytes.len())?;
        let mut lines = Vec::new();
        {
            let mut written = self.0.written.lock();
            let rest = if from == LogSource::Stdout { &mut written.stdout } else { &mut written.stderr };
            rest.extend_from_slice(bytes);
            while let Some(end) =
                rest.iter().position(|byte| *byte == b'\n').or((rest.len() > LONGEST_LINE).then_some(LONGEST_LINE))
            {
                let mut line: Vec<u8> = rest.drain(..=end).collect();
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                lines.push(line);
            }
        }
        self.say(&lines, from);
        Ok(())
    }

    /// Says what was written without an end of line.
    pub(crate) fn flush(&self) {
        for from in [LogSource::Stdout, LogSource::Stderr] {
            let rest = {
                let mut written = self.0.written.lock();
                std::mem::take(if from == LogSource::Stdout { &mut written.stdout } else { &mut written.stderr })
            };
            if !rest.is_empty() {
                self.say(&[rest], from);
            }
        }
    }

    fn say(&self, lines: &[Vec<u8>], from: LogSource) {
        let Some(branch) = &self.0.branch else { return };
        for line in lines {
            branch.log(&String::from_utf8_lossy(line), from);
        }
    }
}

struct Output {
    log: Log,
    from: LogSource,
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(Stream { log: self.log.clone(), from: self.from })
    }

    fn p2_stream(&self) -> Box<dyn wasmtime_wasi::p2::OutputStream> {
        Box::new(Stream { log: self.log.clone(), from: self.from })
    }
}

struct Stream {
    log: Log,
    from: LogSource,
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.log.write(bytes, self.from).map(|()| bytes.len()).map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[wasmtime_wasi::async_trait]
impl wasmtime_wasi::p2::Pollable for Stream {
    async fn ready(&mut self) {}
}

impl wasmtime_wasi::p2::OutputStream for Stream {
    fn write(&mut self, bytes: bytes::Bytes) -> wasmtime_wasi::p2::StreamResult<()> {
        // A trap, not a stream error: a runtime would go on writing into the closed stream for ever.
        self.log.write(&bytes, self.from).map_err(|exceeded| wasmtime_wasi::p2::StreamError::Trap(exceeded.into()))
    }

    fn flush(&mut self) -> wasmtime_wasi::p2::StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> wasmtime_wasi::p2::StreamResult<usize> {
        Ok(LONGEST_LINE)
    }
}
