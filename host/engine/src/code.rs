//! A component that was compiled: what runs, whichever flow it is of.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::{
    compile::{Compiler, LoadError},
    instances::{Form, Slot},
    limits::Limits,
};

/// Compiled for the pool, on demand, or both.
pub(crate) struct Code {
    compiler: Arc<Compiler>,
    bytes: Arc<[u8]>,
    digest: Arc<str>,
    /// For a slot of the pool, where it fits in one.
    pooled: Option<Form>,
    /// For when there is none: made when it is first needed.
    on_demand: OnceCell<Form>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_tuple("Code").field(&self.digest).finish()
    }
}

impl Code {
    /// Compiles it, or takes it from the cache.
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
        let code = Self { compiler: compiler.clone(), bytes, digest, pooled, on_demand: OnceCell::new() };
        code.place().await?;
        Ok(Arc::new(code))
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
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
        let made = async { self.compiler.form(self.compiler.machines.on_demand().await?, &self.bytes).await };
        Ok((self.on_demand.get_or_try_init(|| made).await?, None))
    }
}
