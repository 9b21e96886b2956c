//! A component that is a flow: what it declares, and how a branch of it runs.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use flowhost_core::{
    branch::Branch,
    error::{Error, FlowFault},
    manifest::Manifest,
    record::Json,
    run::{Ended, Flow},
};
use tokio_util::task::AbortOnDropHandle;
use wasmtime::Store;

use crate::{
    code::Code,
    compile::LoadError,
    instances::Form,
    kept,
    limits::{Exceeded, Limits},
    source::{self, Source},
    store::{State, Timed, store},
};

/// A flow, compiled and described.
pub struct Component {
    code: Arc<Code>,
    /// Where its code is a runner: what that runs.
    source: Option<Arc<Source>>,
    digest: Arc<str>,
    manifest: Manifest,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Component")
            .field("name", &self.manifest.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// Limits of a component that is only described: what a manifest takes, many times over.
pub(crate) fn describing(limits: &Limits) -> Limits {
    Limits {
        memory: limits.memory.min(512 << 20),
        cpu_time: limits.cpu_time.min(Duration::from_secs(10)),
        wall_clock: limits.wall_clock.min(Duration::from_secs(30)),
        ..limits.clone()
    }
}

impl Component {
    /// Reads its manifest: from the cache, where the same was described before, else by running `describe` with nothing granted.
    pub(crate) async fn describe(
        code: Arc<Code>,
        source: Option<Arc<Source>>,
        digest: Arc<str>,
        cache: Option<&Path>,
    ) -> Result<Arc<Self>, LoadError> {
        let known = cache.and_then(|cache| kept::read(cache, &digest));
        let known = known.and_then(|json| Manifest::read(&json).ok());
        let manifest = match known {
            Some(manifest) => manifest,
            None => {
                let json = described(&code, source.clone()).await?;
                let manifest = match &source {
                    Some(_) => source::manifest(&json)?,
                    None => Manifest::read(&json).map_err(LoadError::Manifest)?,
                };
                if let Some(cache) = cache {
                    kept::keep(cache, &digest, &json);
                }
                manifest
            }
        };
        Ok(Arc::new(Self { code, source, digest, manifest }))
    }

    /// Bytes of the component, or of the source.
    pub fn size(&self) -> usize {
        self.source.as_ref().map_or(self.code.size(), |source| source.size())
    }

    /// What it imports, by name.
    pub fn imports(&self) -> &[String] {
        self.code.imports()
    }

    /// Names of its files, where it is source text: its own first.
    pub fn files(&self) -> Vec<&str> {
        self.source.iter().flat_map(|source| source.names()).collect()
    }
}

async fn described(code: &Code, source: Option<Arc<Source>>) -> Result<String, LoadError> {
    let limits = Arc::new(describing(code.limits()));
    let (form, _slot) = code.place().await?;
    let (mut store, cpu) = store(&form.engine, None, source, &limits);
    let pre = form.pre.clone();
    let work = async move {
        let flow = pre.instantiate_async(&mut store).await?;
        flow.call_describe(&mut store).await
    };
    let work = tokio::time::timeout(limits.wall_clock, Timed { cpu, work: Box::pin(work) });
    // In a task of its own: whoever loads it may be a flow, inside whose store another one cannot run.
    let ended = AbortOnDropHandle::new(tokio::spawn(work)).await;
    let ended = ended.map_err(|_| LoadError::Host("the host broke down in it; this is a bug of the host".into()))?;
    match ended {
        Ok(Ok(json)) => Ok(json),
        Ok(Err(trap)) => Err(match exceeded(&trap, &limits) {
            Some(exceeded) => LoadError::Exceeded(format!("while it is described: {exceeded}")),
            None if of_the_system(&trap) => LoadError::Host(refusal(&trap)),
            None => LoadError::Describe(reason(&trap)),
        }),
        Err(_) => {
            let exceeded = Exceeded::time("wall-clock", limits.wall_clock);
            Err(LoadError::Exceeded(format!("while it is described: {exceeded}")))
        }
    }
}

#[async_trait]
impl Flow for Component {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn digest(&self) -> &Arc<str> {
        &self.digest
    }

    async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended> {
        let limits = self.code.limits();
        // Held until the store is dropped, which is what it stands for.
        let (form, _slot) =
            self.code.place().await.map_err(|error| {
                Ended::Host(Error::flow(FlowFault::Other, format!("{}: {error}", self.manifest.name)))
            })?;
        let (mut store, cpu) = store(&form.engine, Some(branch), self.source.clone(), limits);
        let limit = limits.wall_clock;
        let work = Timed { cpu, work: Box::pin(call(form, &mut store, &task)) };
        // Around `run_concurrent`, never inside: dropping that future alone would leave host calls in the store.
        let result = tokio::time::timeout(limit, work).await;
        store.data().log.flush();
        match result {
            Ok(Ok(Ok(answer))) => {
                serde_json::from_str::<Box<serde_json::value::RawValue>>(&answer).map(Into::into).map_err(|error| {
                    let message = format!("{} gave an answer that is not JSON: {error}", self.manifest.name);
                    Ended::Host(Error::flow(FlowFault::Other, message))
                })
            }
            Ok(Ok(Err(raised))) => Err(Ended::Raised(raised.into())),
            Ok(Err(trap)) => Err(Ended::Host(match exceeded(&trap, limits) {
                Some(exceeded) => exceeded.error(),
                None if of_the_system(&trap) => Error::flow(FlowFault::Other, refusal(&trap)),
                None => Error::flow(FlowFault::Trapped, format!("the flow broke down: {}", reason(&trap))),
            })),
            Err(_) => Err(Ended::Host(Exceeded::time("wall-clock", limit).error())),
        }
    }
}

type Returned = Result<String, crate::bindings::flowhost::flow::types::Error>;

async fn call(form: &Form, store: &mut Store<State>, task: &str) -> wasmtime::Result<Returned> {
    let flow = form.pre.instantiate_async(&mut *store).await?;
    store.run_concurrent(async |accessor| flow.call_run(accessor, task.to_owned()).await).await?
}

/// The limit that a trap is about, where it is about one.
pub(crate) fn exceeded(trap: &wasmtime::Error, limits: &Limits) -> Option<Exceeded> {
    if let Some(exceeded) = trap.chain().find_map(|cause| cause.downcast_ref::<Exceeded>()) {
        return Some(exceeded.clone());
    }
    // wasmtime has no type for these.
    let says = |words: &str| trap.chain().any(|cause| cause.to_string().starts_with(words));
    if says("too much data is being copied") {
        return Some(Exceeded::bytes("hostcall-bytes", limits.hostcall_bytes));
    }
    says("resource table has no free keys").then(|| Exceeded::count("handles", limits.handles))
}

/// Whether it is the operating system that refused something, such as memory: no fault of the flow's.
pub(crate) fn of_the_system(trap: &wasmtime::Error) -> bool {
    trap.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>())
}

pub(crate) fn refusal(trap: &wasmtime::Error) -> String {
    format!("the system refused what an instance takes: {}", reason(trap))
}

/// Why a flow trapped, in a line: the innermost cause says what, the outer ones only where.
pub(crate) fn reason(trap: &wasmtime::Error) -> String {
    let cause = trap.root_cause().to_string();
    cause.lines().next().unwrap_or("it trapped").to_owned()
}
