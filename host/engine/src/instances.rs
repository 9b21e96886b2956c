//! Where instances of flows get their memory, tables and stacks: from a pool that is made ready in advance, or on demand.
//!
//! Taking them from the system and giving them back is most of what a small branch costs, so an engine has slots for
//! [`SLOTS`] branches at once that are used again and again. A pool is a fixed number of slots of a fixed size: a branch that comes
//! when all are taken, and a component that does not fit in one, is run by a second engine, which takes what it needs from the
//! system. Its code is the same, so a component that needs both is compiled once where there is a cache.

use std::sync::Arc;

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use wasmparser::{Parser, Payload};
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig,
    component::{Component, Linker},
};

use crate::{
    bindings::{Flow, FlowPre},
    compile::{LoadError, tick},
    limits::Limits,
    store::State,
};

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
        Flow::add_to_linker::<_, State>(&mut linker, |state| state)?;
        Ok(Self { engine, linker })
    }

    pub(crate) fn link(&self, compiled: &Component, imports: Vec<String>) -> wasmtime::Result<Form> {
        let pre = FlowPre::new(self.linker.instantiate_pre(compiled)?)?;
        Ok(Form { engine: self.engine.clone(), pre, imports })
    }
}

/// A component, ready to be instantiated by one of the engines.
pub(crate) struct Form {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) pre: FlowPre<State>,
    pub(crate) imports: Vec<String>,
}

/// Both engines.
pub(crate) struct Machines {
    config: Config,
    /// None where the system does not give the room.
    pool: Option<Machine>,
    slots: Arc<Semaphore>,
    on_demand: OnceCell<Machine>,
}

/// A slot of the pool, for as long as this is held.
pub(crate) type Slot = OwnedSemaphorePermit;

impl Machines {
    /// Fails where the processor cannot be used.
    pub(crate) fn new(config: Config, limits: &Limits) -> Result<Self, LoadError> {
        let mut pooled = config.clone();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
        let pool = Machine::new(&pooled).ok();
        pool.as_ref().map_or(Ok(()), |pool| tick(&pool.engine))?;
        let machines =
            Self { config, pool, slots: Arc::new(Semaphore::new(SLOTS as usize)), on_demand: OnceCell::new() };
        Ok(machines)
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
        let made = async {
            let machine =
                Machine::new(&self.config).map_err(|error| LoadError::Host(format!("wasmtime: {error:#}")))?;
            tick(&machine.engine)?;
            Ok(machine)
        };
        self.on_demand.get_or_try_init(|| made).await
    }
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * PARTS)
        .max_core_instances_per_component(PARTS)
        .total_memories(SLOTS)
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

/// Whether a component has one memory at most and no table that can grow beyond a slot's. A slot that ends before the limit on
/// memory does would say no to a flow without a reason.
fn fits(component: &[u8]) -> bool {
    let mut memories = 0;
    Parser::new(0).parse_all(component).all(|payload| match payload {
        Ok(Payload::MemorySection(section)) => {
            memories += section.count();
            memories <= 1
        }
        Ok(Payload::TableSection(section)) => section
            .into_iter()
            .all(|table| table.is_ok_and(|table| table.ty.maximum.is_some_and(|most| most <= u64::from(ELEMENTS)))),
        Ok(_) => true,
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_outgrow_a_slot_is_run_on_demand() {
        let fitting = [
            "(component)",
            "(component (core module (memory 1)))",
            "(component (core module (memory 1 10) (table 20000 20000 funcref)))",
        ];
        let others = [
            "(component (core module (memory 1) (memory 1)))",
            "(component (core module (memory 1)) (core module (memory 1)))",
            "(component (core module (table 1 funcref)))",
            "(component (core module (table 1 20001 funcref)))",
            "(component (component (core module (table 1 funcref))))",
        ];
        for component in fitting {
            assert!(fits(&wat::parse_str(component).unwrap()), "{component}");
        }
        for component in others {
            assert!(!fits(&wat::parse_str(component).unwrap()), "{component}");
        }
        assert!(!fits(b"no component"));
    }
}
