//! Runs what a guest does at its every start once, while it is built, and keeps its memory as it is then.
//!
//! The function is one of the core module; it takes and gives nothing, and calls nothing of the host's. An interpreter runs it: a compiler
//! would have to be compiled first, which takes longer.

use std::ops::Range;

use futures_util::FutureExt as _;
use wasm_encoder::RawSection;
use wasmi::{Caller, CompilationMode, Config, Engine, ExternType, Instance, Linker, Module, Store, Val};
use wasmparser::{Parser, ValType};
use wasmtime_wizer::{InstanceState, SnapshotVal, Wizer};

use crate::Error;

/// The identifier of a section of a component that is a core module.
const MODULE: u8 = 1;

/// A component after a function of its largest core module has run. The function is no longer exported.
pub(crate) fn prepared(component: &[u8], function: &str) -> Result<Vec<u8>, Error> {
    let sections = sections(component)?;
    let modules = sections.iter().filter(|(id, _)| *id == MODULE);
    let (_, main) = modules.max_by_key(|(_, range)| range.len()).ok_or("it has no core module")?;
    let module = snapshot(&component[main.clone()], function)?;
    let mut whole = wasm_encoder::Component::new();
    for (id, range) in &sections {
        let data = if range == main { &module } else { &component[range.clone()] };
        whole.section(&RawSection { id: *id, data });
    }
    Ok(whole.finish())
}

/// The sections of a component, and not those of what is in it: identifiers and where their contents are.
fn sections(component: &[u8]) -> Result<Vec<(u8, Range<usize>)>, Error> {
    let mut sections: Vec<(u8, Range<usize>)> = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let Some((id, range)) = payload?.as_section() else { continue };
        if sections.last().is_none_or(|(_, before)| before.end <= range.start) {
            sections.push((id, range));
        }
    }
    Ok(sections)
}

/// A core module as it is after its function has run.
fn snapshot(module: &[u8], function: &str) -> Result<Vec<u8>, Error> {
    let mut wizer = Wizer::new();
    wizer.init_func(function);
    let said = |error| Error::from(format!("{error:#}"));
    let (context, instrumented) = wizer.instrument(module).map_err(said)?;
    let mut state = State { ran: ran(&instrumented, function)?, unread: None };
    let snapshot = wizer.snapshot(&context, &mut state).now_or_never().ok_or("it waits")?.map_err(said)?;
    match state.unread {
        Some(unread) => Err(unread.into()),
        None => Ok(snapshot),
    }
}

/// Instantiates a module, on imports that only fail, and runs its constructors and the function.
fn ran(module: &[u8], function: &str) -> Result<(Store<()>, Instance), Error> {
    // Most of a module is not run.
    let mut config = Config::default();
    config.compilation_mode(CompilationMode::Lazy);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, module)?;
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    for import in module.imports() {
        let (module, name) = (import.module(), import.name());
        let ExternType::Func(ty) = import.ty() else { return Err(format!("{name} of {module} is no function").into()) };
        if name == SEED {
            linker.func_wrap(module, name, seed)?;
            continue;
        }
        let said = format!("it calls {name} of {module}");
        let fails = move |_: Caller<'_, ()>, _: &[Val], _: &mut [Val]| Err(wasmi::Error::new(said.clone()));
        linker.func_new(module, name, ty.clone(), fails)?;
    }
    let instance = linker.instantiate_and_start(&mut store, &module)?;
    if let Some(constructors) = instance.get_func(&store, "_initialize") {
        constructors.call(&mut store, &[], &mut [])?;
    }
    let function = instance.get_func(&store, function).ok_or("there is no such function")?;
    function.call(&mut store, &[], &mut [])?;
    Ok((store, instance))
}

/// What the standard library asks for when it makes its first map.
const SEED: &str = "insecure-seed";

/// The same each time, so that what is built is too. Who fills a map of a flow with keys that collide is its own author, and the limits
/// hold.
fn seed(mut caller: Caller<'_, ()>, at: i32) -> Result<(), wasmi::Error> {
    let memory = caller.get_export("memory").and_then(wasmi::Extern::into_memory);
    let memory = memory.ok_or_else(|| wasmi::Error::new("there is no memory"))?;
    let at = usize::try_from(at).map_err(|_| wasmi::Error::new("there is no such place"))?;
    memory.write(&mut caller, at, &[0; 16]).map_err(|error| wasmi::Error::new(error.to_string()))
}

/// What is read of an instance that has run.
struct State {
    ran: (Store<()>, Instance),
    /// What could not be read: whoever asks takes no error.
    unread: Option<String>,
}

impl InstanceState for State {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let (store, instance) = &self.ran;
        match instance.get_global(store, name).map(|global| global.get(store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(value)) => SnapshotVal::F32(value.to_bits()),
            Some(Val::F64(value)) => SnapshotVal::F64(value.to_bits()),
            other => {
                self.unread = Some(format!("the global {name} is {other:?}"));
                SnapshotVal::I32(0)
            }
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        let (store, instance) = &self.ran;
        match instance.get_memory(store, name) {
            Some(memory) => contents(memory.data(store)),
            None => self.unread = Some(format!("there is no memory {name}")),
        }
    }
}
