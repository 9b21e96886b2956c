//! Where instances of flows get their memory, tables and stacks: from a pool that is made ready in advance, or on demand.
//!
//! Taking them from the system and giving them back is most of what a small branch costs, so an engine has slots for
//! [`SLOTS`] branches at once that are used again and again. A pool is a fixed number of slots of a fixed size: a branch that comes
//! when all are taken, and a component that does not fit in one, is run by a second engine, which takes what it needs from the
//! system. Its code is the same, so a component that needs both is compiled once where there is a cache.

use std::{sync::Arc, thread, time::Duration};

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use wasmparser::{Encoding, Parser, Payload};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig,
    component::{Component, InstancePre, Linker},
    error::Context as _,
};

use crate::{
    bindings::{Runner, RunnerPre},
    compile::LoadError,
    limits::Limits,
    store::State,
};

/// How often the epoch ticks: what spins is looked at this often.
const TICK: Duration = Duration::from_millis(5);
/// Branches at once that find a slot. More slots cost every start of the program: each has a guard page that the system is
/// asked for.
const SLOTS: u32 = 1000;
/// Core instances, and tables, that a component has at most in a slot: a flow with the adapters of its language has about five.
const PARTS: u32 = 16;
/// Elements of a table in a slot. Tables of functions are as long as a program has addresses taken of.
const ELEMENTS: u32 = 20_000;
/// Bytes of a page of WebAssembly memory.
const PAGE: u64 = 64 << 10;
/// Bytes that stay with a slot from one branch to the next: what a small flow touches.
const KEPT_MEMORY: usize = 512 << 10;
const KEPT_TABLE: usize = 16 << 10;
const KEPT_STACK: usize = 32 << 10;
/// Bytes of stack for the code of a component that is run on demand. A runtime that is larger than a slot looks after its recursion itself:
/// CPython does at a megabyte of the stack that it keeps in its own memory, beside which up to 60 of this one are in use (an exception group
/// within an exception group, …). With less it would break down where it can raise an error. What is not used takes nothing.
const DEEP_STACK: usize = 64 << 20;
/// What the host's own functions have beyond it: wasmtime's own default.
const HOST_STACK: usize = 3 << 19;

/// An engine of wasmtime and what its components are linked to.
pub(crate) struct Machine {
    pub(crate) engine: wasmtime::Engine,
    linker: Linker<State>,
}

impl Machine {
    fn new(config: &Config) -> wasmtime::Result<Self> {
        let engine = wasmtime::Engine::new(config)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        Runner::add_to_linker::<_, State>(&mut linker, |state| state)?;
        tick(&engine).context("the epoch's thread did not start")?;
        Ok(Self { engine, linker })
    }

    pub(crate) fn link(&self, compiled: &Component, imports: Vec<String>) -> wasmtime::Result<Form> {
        let pre = RunnerPre::new(self.instance(compiled)?)?;
        Ok(Form { engine: self.engine.clone(), pre, imports })
    }

    /// A component with what it imports, whatever it exports.
    pub(crate) fn instance(&self, compiled: &Component) -> wasmtime::Result<InstancePre<State>> {
        self.linker.instantiate_pre(compiled)
    }
}

/// A component, ready to be instantiated by one of the engines.
pub(crate) struct Form {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) pre: RunnerPre<State>,
    pub(crate) imports: Vec<String>,
}

/// Both engines.
pub(crate) struct Machines {
    /// Of the engine that has no pool.
    config: Config,
    /// None where the system does not give the room.
    pool: Option<Machine>,
    slots: Arc<Semaphore>,
    on_demand: OnceCell<Machine>,
}

/// A slot of the pool, for as long as this is held.
pub(crate) type Slot = OwnedSemaphorePermit;

impl Machines {
    pub(crate) fn new(mut config: Config, limits: &Limits) -> Self {
        // The first contents of a memory are mapped from a file that lies in memory: such a limit holds for that too.
        let files_limited = getrlimit(Resource::Fsize).current.is_some();
        config.memory_init_cow(!files_limited);
        let mut pooled = config.clone();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
        // Without a pool, as under a limit on address space, flows run as well and start more slowly.
        let pool = Machine::new(&pooled).ok();
        config.max_wasm_stack(DEEP_STACK).async_stack_size(DEEP_STACK + HOST_STACK);
        Self { config, pool, slots: Arc::new(Semaphore::new(SLOTS as usize)), on_demand: OnceCell::new() }
    }

    /// The engine with a pool, where a component of these bytes fits in a slot of it.
    pub(crate) fn pool_for(&self, component: &[u8]) -> Option<&Machine> {
        self.pool.as_ref().filter(|_| fits(component))
    }

    /// A slot of the pool, unless all are taken.
    pub(crate) fn slot(&self) -> Option<Slot> {
        self.slots.clone().try_acquire_owned().ok()
    }

    /// The engine that takes what it needs from the system: made when it is first needed.
    pub(crate) async fn on_demand(&self) -> Result<&Machine, LoadError> {
        let made = async { Machine::new(&self.config) };
        let host = |error| LoadError::Host(format!("wasmtime: {error:#}"));
        self.on_demand.get_or_try_init(|| made).await.map_err(host)
    }
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * PARTS)
        .max_core_instances_per_component(PARTS)
        .total_memories(SLOTS)
        .max_memories_per_component(1)
        .max_memory_size(usize::try_from(limits.memory.min(1 << 32).next_multiple_of(PAGE)).unwrap_or(usize::MAX))
        .total_tables(SLOTS * PARTS)
        .max_tables_per_component(PARTS)
        .max_tables_per_module(PARTS)
        .table_elements(ELEMENTS as usize)
        // One that is being instantiated beside one that runs.
        .total_stacks(SLOTS * 2)
        .max_unused_warm_slots(SLOTS)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        .async_stack_keep_resident(KEPT_STACK)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Whether a component fits in a slot of the pool, as far as wasmtime does not look at that itself when it compiles for one:
///
/// - It has no table that can grow beyond a slot's: that would fail a flow that is still within its limit on memory.
/// - None of its components has core modules of its own: calls between components have stacks of their own, as many as they like,
///   and the pool's would be gone for all others.
fn fits(component: &[u8]) -> bool {
    let mut around = Vec::new();
    Parser::new(0).parse_all(component).all(|payload| match payload {
        Ok(Payload::Version { encoding, .. }) => {
            around.push(encoding);
            around.len() <= 2 || encoding == Encoding::Component
        }
        Ok(Payload::End(_)) => around.pop().is_some(),
        Ok(Payload::TableSection(section)) => section
            .into_iter()
            .all(|table| table.is_ok_and(|table| table.ty.maximum.is_some_and(|most| most <= u64::from(ELEMENTS)))),
        Ok(_) => true,
        Err(_) => false,
    })
}

/// Ticks from a thread of the operating system: a flow that spins may hold every thread of the runtime.
fn tick(engine: &wasmtime::Engine) -> std::io::Result<()> {
    let weak = engine.weak();
    thread::Builder::new()
        .name("epoch".into())
        .spawn(move || {
            while let Some(engine) = weak.upgrade() {
                engine.increment_epoch();
                drop(engine);
                thread::sleep(TICK);
            }
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_outgrow_a_slot_is_run_on_demand() {
        let fitting = [
            "(component)",
            "(component (component (component)) (core module (memory 1)))",
            "(component (core module (memory 1 10) (table 20000 20000 funcref)))",
        ];
        let others = [
            "(component (core module (table 1 funcref)))",
            "(component (core module (table 1 20001 funcref)))",
            "(component (component (core module)))",
        ];
        for component in fitting {
            assert!(fits(&wat::parse_str(component).unwrap()), "{component}");
        }
        for component in others {
            assert!(!fits(&wat::parse_str(component).unwrap()), "{component}");
        }
        assert!(!fits(b"no component"));
    }

    #[test]
    fn what_has_several_memories_is_not_compiled_for_the_pool() {
        let mut config = Config::new();
        config.gc_support(false);
        let machines = Machines::new(config, &Limits::default());
        let pool = |component: &str| {
            let component = wat::parse_str(component).unwrap();
            let machine = machines.pool_for(&component).unwrap();
            Component::new(&machine.engine, component)
        };
        let instance = "(core instance (instantiate $m))";
        let memory = "(core module $m (memory 1))";
        pool(&format!("(component {memory} {instance})")).unwrap();
        assert!(pool(&format!("(component {memory} {instance} {instance})")).is_err());
        assert!(pool("(component (core module $m (memory 1) (memory 1)) (core instance (instantiate $m)))").is_err());
    }
}
