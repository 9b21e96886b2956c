//! A component that was compiled: what runs, whichever flow it is of.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::{
    compile::{Compiler, LoadError},
    instances::{Form, Slot},
    limits::Limits,
    runner::Runner,
};

/// Compiled for the pool, on demand, or both.
pub(crate) struct Code {
    compiler: Arc<Compiler>,
    bytes: Bytes,
    digest: Arc<str>,
    /// For a slot of the pool, where it fits in one.
    pooled: Option<Form>,
    /// For when there is none: made when it is first needed.
    on_demand: OnceCell<Form>,
}

/// What is compiled.
enum Bytes {
    /// A flow that is a component.
    Flow(Arc<[u8]>),
    /// What runs source text, whose bytes nobody needs once it was compiled.
    Runner(Runner),
}

impl std::fmt::Debug for Code {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_tuple("Code").field(&self.digest).finish()
    }
}

impl Code {
    /// Compiles a flow, or takes it from the cache.
    pub(crate) async fn load(
        compiler: &Arc<Compiler>,
        bytes: Arc<[u8]>,
        digest: Arc<str>,
    ) -> Result<Arc<Self>, LoadError> {
        let pooled = match compiler.machines.pool_for(&bytes) {
            None => None,
            Some(pool) => match compiler.form(pool, &bytes).await {
                Ok(form) => Some(form),
                // It may be larger than a slot. If that is not it, the other engine says so too.
                Err(LoadError::NotAComponent(_)) => None,
                Err(error) => return Err(error),
            },
        };
        let (compiler, bytes) = (compiler.clone(), Bytes::Flow(bytes));
        let code = Self { compiler, bytes, digest, pooled, on_demand: OnceCell::new() };
        code.place().await?;
        Ok(Arc::new(code))
    }

    /// Compiles what runs source text, or takes it from where its code is kept. It takes no slot of the pool: what its language's engine
    /// fills at its start is more than a slot keeps.
    pub(crate) async fn load_runner(compiler: &Arc<Compiler>, runner: Runner) -> Result<Arc<Self>, LoadError> {
        let (compiler, digest) = (compiler.clone(), runner.digest().clone());
        let (bytes, on_demand) = (Bytes::Runner(runner), OnceCell::new());
        let code = Self { compiler, bytes, digest, pooled: None, on_demand };
        code.place().await?;
        Ok(Arc::new(code))
    }

    /// Bytes of the component; of a runner none are counted.
    pub(crate) fn size(&self) -> usize {
        match &self.bytes {
            Bytes::Flow(bytes) => bytes.len(),
            Bytes::Runner(_) => 0,
        }
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        self.compiler.limits()
    }

    /// What it imports, by name.
    pub(crate) fn imports(&self) -> &[String] {
        let form = self.pooled.as_ref().or_else(|| self.on_demand.get());
        form.map_or(&[], |form| &form.imports)
    }

    /// What an instance is made of: in a slot of the pool where there is one for it, else on demand. The slot is taken for as
    /// long as it is held.
    pub(crate) async fn place(&self) -> Result<(&Form, Option<Slot>), LoadError> {
        if let Some(pooled) = &self.pooled
            && let Some(slot) = self.compiler.machines.slot()
        {
            return Ok((pooled, Some(slot)));
        }
        let made = async {
            let machine = self.compiler.machines.on_demand().await?;
            match &self.bytes {
                Bytes::Flow(bytes) => self.compiler.form(machine, bytes).await,
                Bytes::Runner(runner) => self.compiler.runner(machine, runner).await,
            }
        };
        Ok((self.on_demand.get_or_try_init(|| made).await?, None))
    }
}
