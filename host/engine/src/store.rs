//! The state of one store: the branch that it is of, the handles of its flow, and what it has used of its limits.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use flowhost_core::branch::Branch;
use parking_lot::Mutex;
use wasmtime::{
    ResourceLimiter, Result, Store, UpdateDeadline,
    component::{HasData, Resource, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    limits::{Exceeded, Limits},
    source::Source,
    wasi,
};

/// What a store knows. Its handles are in `table`; dropping the store drops them, and with them what they hold (S6, B5).
pub(crate) struct State {
    /// The branch, unless the flow is only described.
    branch: Option<Arc<Branch>>,
    /// What it runs, where it is a runner of source text.
    pub(crate) source: Option<Arc<Source>>,
    pub(crate) table: ResourceTable,
    pub(crate) limits: Arc<Limits>,
    wasi: WasiCtx,
    memory: Memory,
    handles: u64,
    /// Places for handles that are on their way.
    reserved: Arc<()>,
    pending: Arc<()>,
    pub(crate) log: wasi::Log,
}

impl HasData for State {
    type Data<'a> = &'a mut Self;
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Bytes of all memories and tables of the store, summed: a limit per memory would be none.
struct Memory {
    used: u64,
    limit: u64,
}

/// What an element of a table takes, at most.
const ELEMENT: u64 = 16;

impl Memory {
    fn grow(&mut self, by: u64) -> Result<bool> {
        let used = self.used.saturating_add(by);
        if used > self.limit {
            // An error, not `false`: the guest could only turn that into a trap without a reason.
            return Err(Exceeded::bytes("memory", self.limit).into());
        }
        self.used = used;
        Ok(true)
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        self.grow(desired.saturating_sub(current) as u64)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        self.grow((desired.saturating_sub(current) as u64).saturating_mul(ELEMENT))
    }
}

impl State {
    /// The state of a store that runs `branch`, or only describes its flow.
    pub(crate) fn new(branch: Option<Arc<Branch>>, source: Option<Arc<Source>>, limits: Arc<Limits>) -> Self {
        let log = wasi::Log::new(branch.clone(), limits.log_bytes);
        Self {
            wasi: wasi::context(branch.clone(), &log),
            memory: Memory { used: 0, limit: limits.memory },
            branch,
            source,
            table: ResourceTable::new(),
            limits,
            handles: 0,
            reserved: Arc::new(()),
            pending: Arc::new(()),
            log,
        }
    }

    /// The branch on whose behalf a call is made. Traps while the flow is described: nothing is granted then.
    pub(crate) fn branch(&self, call: &str) -> Result<&Arc<Branch>> {
        match &self.branch {
            Some(branch) => Ok(branch),
            None => wasmtime::bail!("describe is pure, and this flow calls {call} in it"),
        }
    }

    /// Puts what a flow holds into the table, where it may hold one more (X2).
    pub(crate) fn push<T: Send + 'static>(&mut self, held: T) -> Result<Resource<T>> {
        self.handles += 1;
        Ok(self.table.push(held)?)
    }

    /// Fails where the flow holds as much as it may: asked before what would be held is made.
    pub(crate) fn room(&self, more: u64) -> Result<(), Exceeded> {
        let limit = self.limits.handles;
        let taken = self.handles.saturating_add(counted(&self.reserved));
        if taken.saturating_add(more) > limit { Err(Exceeded::count("handles", limit)) } else { Ok(()) }
    }

    /// Keeps a place for one more, until the result is let go of.
    pub(crate) fn reserve(&self) -> Result<Counted, Exceeded> {
        self.room(1)?;
        Ok(Counted(self.reserved.clone()))
    }

    /// Takes what a flow let go of out of the table.
    pub(crate) fn delete<T: Send + 'static>(&mut self, held: Resource<T>) -> Result<()> {
        self.table.delete(held)?;
        self.handles = self.handles.saturating_sub(1);
        Ok(())
    }

    /// Counts a call that may wait, for as long as the result is held. Traps past the limit.
    pub(crate) fn pending(&self) -> Result<Counted> {
        let limit = self.limits.pending_calls;
        if counted(&self.pending) >= limit {
            return Err(Exceeded::count("pending-calls", limit).into());
        }
        Ok(Counted(self.pending.clone()))
    }
}

/// Something that counts towards a limit while it is there.
pub(crate) struct Counted(#[expect(dead_code, reason = "counted by its references")] Arc<()>);

fn counted(all: &Arc<()>) -> u64 {
    Arc::strong_count(all) as u64 - 1
}

/// A new store for `branch`, under its limits.
pub(crate) fn store(
    engine: &wasmtime::Engine,
    branch: Option<Arc<Branch>>,
    source: Option<Arc<Source>>,
    limits: &Arc<Limits>,
) -> (Store<State>, Arc<CpuTime>) {
    let mut store = Store::new(engine, State::new(branch, source, limits.clone()));
    store.limiter(|state| &mut state.memory);
    store.set_hostcall_fuel(usize::try_from(limits.hostcall_bytes).unwrap_or(usize::MAX));
    // A session with a turn held and waited on takes four of wasmtime's handles; past the last it traps without a name.
    let handles = usize::try_from(limits.handles).unwrap_or(usize::MAX).saturating_mul(4).saturating_add(100_000);
    store.set_max_component_handles(handles);
    let cpu = Arc::new(CpuTime { limit: limits.cpu_time, used: Mutex::default() });
    let counted = cpu.clone();
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        counted.check()?;
        // Others may be waiting for this thread.
        Ok(UpdateDeadline::Yield(1))
    });
    (store, cpu)
}

/// Processor time that a store has used: measured around each poll of it, and looked at in each tick of the epoch.
pub(crate) struct CpuTime {
    limit: Duration,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    before: Duration,
    since: Option<Duration>,
}

impl CpuTime {
    fn check(&self) -> Result<()> {
        let used = {
            let used = self.used.lock();
            used.before + used.since.map(|since| thread_time().saturating_sub(since)).unwrap_or_default()
        };
        if used > self.limit { Err(Exceeded::time("cpu-time", self.limit).into()) } else { Ok(()) }
    }
}

fn thread_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or_default(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Counts the processor time of a future that runs a store.
pub(crate) struct Timed<F> {
    pub(crate) cpu: Arc<CpuTime>,
    pub(crate) work: Pin<Box<F>>,
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let since = thread_time();
        self.cpu.used.lock().since = Some(since);
        let polled = self.work.as_mut().poll(context);
        let mut used = self.cpu.used.lock();
        used.since = None;
        used.before += thread_time().saturating_sub(since);
        drop(used);
        polled
    }
}
