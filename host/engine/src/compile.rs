//! From bytes to a component that can be instantiated: size, imports, compilation, cache.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use wasmtime::{Cache, CacheConfig, Config, component};

use crate::{
    artifacts::Artifacts,
    code::Code,
    component::Component,
    instances::{Form, Machine, Machines},
    limits::{Exceeded, Limits},
    runner::Runner,
    source::{INTERFACE, Source},
};

/// How many components are compiled at once: each takes the processors that there are.
const AT_ONCE: usize = 2;

/// What an engine is made with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where compiled components and manifests are kept; none to keep nothing.
    pub cache: Option<PathBuf>,
    /// The limits of each branch and of compilation.
    pub limits: Limits,
}

/// wasmtime, as flows need it: one a process.
pub struct Engine {
    pub(crate) limits: Arc<Limits>,
    pub(crate) compiler: Arc<Compiler>,
    manifests: Option<PathBuf>,
    /// Where files without their types are kept.
    pub(crate) stripped: Option<PathBuf>,
    loaded: Mutex<HashMap<Arc<str>, Arc<Component>>>,
    /// What runs source text, by its digest.
    runners: Mutex<HashMap<Arc<str>, Arc<Code>>>,
}

/// Makes components of bytes.
pub(crate) struct Compiler {
    pub(crate) machines: Machines,
    limits: Arc<Limits>,
    compiling: Arc<Semaphore>,
    /// Of runners.
    artifacts: Option<Arc<Artifacts>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Why bytes are not a flow that this host runs.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// They are no component.
    #[error("it is not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// It imports what flowhost does not have.
    #[error("it imports {}, which flowhost does not have", .0.join(", "))]
    UnknownImports(Vec<String>),
    /// It runs source text, and is no flow by itself.
    #[error("it is a runner of flows that are source text, and no flow itself")]
    Runner,
    /// It does not export what a flow exports, or with other types.
    #[error("it is not a flow of the contract flowhost:flow: {0}")]
    NotAFlow(String),
    /// It exceeds a limit while it is compiled or described.
    #[error("{0}")]
    Exceeded(String),
    /// Describing it failed.
    #[error("it cannot be described: {0}")]
    Describe(String),
    /// Its source is wrong: in the words of its language, with file and line. It may have several lines.
    #[error("{0}")]
    Source(String),
    /// Its manifest is wrong.
    #[error("{0}")]
    Manifest(String),
    /// The host could not do its part.
    #[error("{0}")]
    Host(String),
}

impl Engine {
    /// An engine under these options. Fails where the cache's directory cannot be used.
    pub fn new(options: Options) -> Result<Self, LoadError> {
        let host = |error: wasmtime::Error| LoadError::Host(format!("wasmtime: {error:#}"));
        let mut config = Config::new();
        config.wasm_component_model_async(true).epoch_interruption(true);
        // Flows need none of these.
        config.gc_support(false).wasm_memory64(false);
        // For unwinders that are not wasmtime's, and for offsets that no message shows: a third of what is kept of a component.
        config.native_unwind_info(false).generate_address_map(false);
        if let Some(directory) = &options.cache {
            let mut cache = CacheConfig::new();
            cache.with_directory(directory.join("compiled"));
            config.cache(Some(Cache::new(cache).map_err(host)?));
        }
        let limits = Arc::new(options.limits);
        let machines = Machines::new(config, &limits);
        let compiling = Arc::new(Semaphore::new(AT_ONCE));
        let artifacts = options.cache.as_ref().map(|directory| Arc::new(Artifacts::new(directory.join("runners"))));
        Ok(Self {
            compiler: Arc::new(Compiler { machines, limits: limits.clone(), compiling, artifacts }),
            limits,
            manifests: options.cache.as_ref().map(|directory| directory.join("manifests")),
            stripped: options.cache.map(|directory| directory.join("stripped")),
            loaded: Mutex::default(),
            runners: Mutex::default(),
        })
    }

    /// The limits of each branch.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes a flow of the bytes of a component: compiles it, or takes it from the cache, and reads its manifest with nothing
    /// granted. The same bytes twice in one process are the same flow.
    pub async fn load(&self, bytes: Vec<u8>) -> Result<Arc<Component>, LoadError> {
        admit(&bytes, self.limits.component_size)?;
        let digest: Arc<str> = blake3::hash(&bytes).to_hex().as_str().into();
        if let Some(known) = self.loaded.lock().get(&digest) {
            return Ok(known.clone());
        }
        let code = Code::load(&self.compiler, bytes.into(), digest.clone()).await?;
        if code.imports().iter().any(|name| name.starts_with(INTERFACE)) {
            return Err(LoadError::Runner);
        }
        self.described(code, None, digest).await
    }

    /// Makes a flow of source text: `runner` is the component that runs it.
    pub async fn load_source(&self, runner: &Runner, source: Source) -> Result<Arc<Component>, LoadError> {
        let by = runner.digest();
        let digest = source.digest(by);
        if let Some(known) = self.loaded.lock().get(&digest) {
            return Ok(known.clone());
        }
        let known = self.runners.lock().get(by).cloned();
        let code = match known {
            Some(code) => code,
            None => {
                let code = Code::load_runner(&self.compiler, runner.clone()).await?;
                self.runners.lock().entry(by.clone()).or_insert(code).clone()
            }
        };
        self.described(code, Some(Arc::new(source)), digest).await
    }

    async fn described(
        &self,
        code: Arc<Code>,
        source: Option<Arc<Source>>,
        digest: Arc<str>,
    ) -> Result<Arc<Component>, LoadError> {
        let component = Component::describe(code, source, digest.clone(), self.manifests.as_deref()).await?;
        Ok(self.loaded.lock().entry(digest).or_insert(component).clone())
    }
}

impl Compiler {
    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// A component for one of the engines.
    pub(crate) async fn form(&self, machine: &Machine, bytes: &Arc<[u8]>) -> Result<Form, LoadError> {
        let (engine, bytes) = (machine.engine.clone(), bytes.clone());
        let compiled = self.compile(move || {
            component::Component::new(&engine, &bytes).map_err(|error| LoadError::NotAComponent(format!("{error:#}")))
        });
        self.linked(machine, &compiled.await?)
    }

    /// A runner for one of the engines.
    pub(crate) async fn runner(&self, machine: &Machine, runner: &Runner) -> Result<Form, LoadError> {
        self.linked(machine, &self.mapped(machine, runner).await?)
    }

    /// Code that is mapped from where it is kept, or compiled and kept there.
    pub(crate) async fn mapped(&self, machine: &Machine, runner: &Runner) -> Result<component::Component, LoadError> {
        let (engine, runner, artifacts) = (machine.engine.clone(), runner.clone(), self.artifacts.clone());
        if let Some(kept) = artifacts.as_ref().and_then(|artifacts| artifacts.open(&engine, runner.digest())) {
            return Ok(kept);
        }
        let limit = self.limits.component_size;
        let compiled = self.compile(move || {
            let bytes = runner.bytes()?;
            admit(&bytes, limit)?;
            let refused = |error: wasmtime::Error| LoadError::NotAComponent(format!("{error:#}"));
            let Some(artifacts) = artifacts else { return component::Component::new(&engine, &bytes).map_err(refused) };
            let code = engine.precompile_component(&bytes).map_err(refused)?;
            artifacts.keep(&engine, runner.digest(), &code);
            match artifacts.open(&engine, runner.digest()) {
                Some(kept) => Ok(kept),
                // It could not be kept.
                None => component::Component::new(&engine, &bytes).map_err(refused),
            }
        });
        compiled.await
    }

    fn linked(&self, machine: &Machine, compiled: &component::Component) -> Result<Form, LoadError> {
        let imports = imports(&machine.engine, compiled)?;
        machine.link(compiled, imports).map_err(|error| LoadError::NotAFlow(format!("{error:#}")))
    }

    /// Off the event loop, bounded in number and time.
    async fn compile(
        &self,
        compile: impl FnOnce() -> Result<component::Component, LoadError> + Send + 'static,
    ) -> Result<component::Component, LoadError> {
        let closed = |_| LoadError::Host("the host is ending".into());
        let permit = self.compiling.clone().acquire_owned().await.map_err(closed)?;
        let compiling = tokio::task::spawn_blocking(move || {
            let compiled = compile();
            drop(permit);
            compiled
        });
        // What takes too long goes on in its thread, counted among those that compile, and is thrown away.
        let limit = self.limits.compile_time;
        tokio::time::timeout(limit, compiling)
            .await
            .map_err(|_| LoadError::Exceeded(Exceeded::time("compile-time", limit).to_string()))?
            .map_err(|_| LoadError::NotAComponent("the compiler broke down on it".into()))?
    }
}

/// Refuses bytes that are too many.
fn admit(bytes: &[u8], limit: u64) -> Result<(), LoadError> {
    if bytes.len() as u64 > limit {
        let exceeded = Exceeded::bytes("component-size", limit);
        return Err(LoadError::Exceeded(format!("it has {} bytes: {exceeded}", bytes.len())));
    }
    Ok(())
}

/// What a component imports, where flowhost has all of it.
fn imports(engine: &wasmtime::Engine, compiled: &component::Component) -> Result<Vec<String>, LoadError> {
    let ty = compiled.component_type();
    let imports: Vec<String> = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
    let known = |name: &String| {
        let package = name.split_once('/').map_or(name.as_str(), |(package, _)| package);
        OFFERED.contains(&package)
    };
    let unknown: Vec<String> = imports.iter().filter(|name| !known(name)).cloned().collect();
    if unknown.is_empty() { Ok(imports) } else { Err(LoadError::UnknownImports(unknown)) }
}

/// Packages whose interfaces a flow may import. Those of WASI are there for languages' runtimes, with nothing behind them
/// but clocks, random values, standard output and standard error.
const OFFERED: [&str; 7] =
    ["flowhost:flow", "wasi:io", "wasi:clocks", "wasi:random", "wasi:cli", "wasi:filesystem", "wasi:sockets"];
