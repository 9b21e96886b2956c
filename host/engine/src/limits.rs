//! What a flow may use of the host (X2): one table of limits, each with a default, a name for `--limit` and an error that says both.

use std::time::Duration;

use flowhost_core::error::{Error, FlowFault};

/// The limits of a branch, and of the compilation of its flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all memories and tables of the branch, summed.
    pub memory: u64,
    /// Processor time that the flow's own code uses.
    pub cpu_time: Duration,
    /// Time from the flow's start to its end.
    pub wall_clock: Duration,
    /// Sessions, turns, processes and the like that the flow holds at once.
    pub handles: u64,
    /// Calls into the host that wait at once.
    pub pending_calls: u64,
    /// Bytes of log lines, standard output and standard error.
    pub log_bytes: u64,
    /// Bytes that one call carries into the host.
    pub hostcall_bytes: u64,
    /// Bytes of a component.
    pub component_size: u64,
    /// Time that a component takes to compile.
    pub compile_time: Duration,
    /// Branches that a run has at once: counted by the run, not by a store.
    pub branches: u64,
}

impl Default for Limits {
    /// Generous: a flow that meets one of these is broken or hostile.
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            cpu_time: Duration::from_secs(300),
            wall_clock: Duration::from_secs(24 * 60 * 60),
            // Ten times the fan-out that the measures go to, with the turns of each session.
            handles: 1_000_000,
            pending_calls: 1_000_000,
            log_bytes: 64 << 20,
            // wasmtime's own default.
            hostcall_bytes: 128 << 20,
            // Python's runtime in a component is 22 MB.
            component_size: 128 << 20,
            compile_time: Duration::from_secs(180),
            branches: flowhost_core::run::BRANCHES as u64,
        }
    }
}

/// How a limit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes: `64MiB`.
    Bytes,
    /// A number of things.
    Count,
    /// Time: `1h30m`.
    Time,
}

/// There is no limit of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no limit is called {0}")]
pub struct UnknownLimit(pub String);

impl Limits {
    /// Every limit: its name, how it is written, what it bounds.
    pub const TABLE: [(&'static str, Unit, &'static str); 10] = [
        ("memory", Unit::Bytes, "memories and tables of a branch, summed"),
        ("cpu-time", Unit::Time, "processor time of a branch's own code"),
        ("wall-clock", Unit::Time, "time from a branch's start to its end"),
        ("handles", Unit::Count, "sessions, turns, processes and the like that a branch holds at once"),
        ("pending-calls", Unit::Count, "calls of a branch into the host that wait at once"),
        ("log-bytes", Unit::Bytes, "log lines and output of a branch"),
        ("hostcall-bytes", Unit::Bytes, "what one call of a branch carries into the host"),
        ("component-size", Unit::Bytes, "a flow's component"),
        ("compile-time", Unit::Time, "the compilation of a flow"),
        ("branches", Unit::Count, "calls of flows that a run has at once"),
    ];

    /// Sets a limit by its name: bytes, a number, or milliseconds.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), UnknownLimit> {
        let time = Duration::from_millis(value);
        match name {
            "memory" => self.memory = value,
            "cpu-time" => self.cpu_time = time,
            "wall-clock" => self.wall_clock = time,
            "handles" => self.handles = value,
            "pending-calls" => self.pending_calls = value,
            "log-bytes" => self.log_bytes = value,
            "hostcall-bytes" => self.hostcall_bytes = value,
            "component-size" => self.component_size = value,
            "compile-time" => self.compile_time = time,
            "branches" => self.branches = value,
            _ => return Err(UnknownLimit(name.to_owned())),
        }
        Ok(())
    }

    /// The value of a limit by its name, as [`Limits::set`] takes it.
    pub fn get(&self, name: &str) -> Result<u64, UnknownLimit> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Ok(match name {
            "memory" => self.memory,
            "cpu-time" => millis(self.cpu_time),
            "wall-clock" => millis(self.wall_clock),
            "handles" => self.handles,
            "pending-calls" => self.pending_calls,
            "log-bytes" => self.log_bytes,
            "hostcall-bytes" => self.hostcall_bytes,
            "component-size" => self.component_size,
            "compile-time" => millis(self.compile_time),
            "branches" => self.branches,
            _ => return Err(UnknownLimit(name.to_owned())),
        })
    }
}

/// A limit that a flow went past. As an error inside wasmtime it ends the flow, which cannot catch it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the flow exceeded its limit {name} of {value}; if it needs more, raise it with --limit {name}=…")]
pub(crate) struct Exceeded {
    name: &'static str,
    value: String,
}

impl Exceeded {
    pub(crate) fn bytes(name: &'static str, limit: u64) -> Self {
        let value = match limit {
            whole if whole >= 1 << 20 && whole % (1 << 20) == 0 => format!("{} MiB", whole >> 20),
            whole if whole >= 1 << 10 && whole % (1 << 10) == 0 => format!("{} KiB", whole >> 10),
            bytes => format!("{bytes} bytes"),
        };
        Self { name, value }
    }

    pub(crate) fn count(name: &'static str, limit: u64) -> Self {
        Self { name, value: limit.to_string() }
    }

    pub(crate) fn time(name: &'static str, limit: Duration) -> Self {
        Self { name, value: format!("{limit:?}") }
    }

    pub(crate) fn error(&self) -> Error {
        Error::flow(FlowFault::Exceeded, self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_of_the_table_can_be_set_and_read() {
        let mut limits = Limits::default();
        for (name, ..) in Limits::TABLE {
            limits.set(name, 7).unwrap();
            assert_eq!(limits.get(name), Ok(7), "{name}");
        }
        assert_eq!(limits.set("memmory", 1), Err(UnknownLimit("memmory".into())));
    }
}
