//! A component that runs source text, as somebody has it.

use std::{borrow::Cow, fmt, sync::Arc};

use crate::compile::LoadError;

type Read = dyn Fn() -> Result<Cow<'static, [u8]>, String> + Send + Sync;

/// What runs source text of a language: a component that imports `flowhost:flow/source`, known by its digest; or what takes the types out of it, for
/// [`crate::Engine::strip`]. Its bytes are read only where it was not compiled before.
#[derive(Clone)]
pub struct Runner {
    digest: Arc<str>,
    read: Arc<Read>,
}

impl fmt::Debug for Runner {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Runner").field(&self.digest).finish()
    }
}

impl Runner {
    /// Of these bytes.
    pub fn of(bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        let bytes = bytes.into();
        let digest = blake3::hash(&bytes).to_hex().as_str().into();
        Self { digest, read: Arc::new(move || Ok(bytes.clone())) }
    }

    /// Of bytes that `read` gives, whose BLAKE3 digest in hexadecimal digits is known. What has another one is never run.
    pub fn kept(
        digest: impl Into<Arc<str>>,
        read: impl Fn() -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { digest: digest.into(), read: Arc::new(move || read().map(Cow::Owned)) }
    }

    /// The digest of its bytes.
    pub fn digest(&self) -> &Arc<str> {
        &self.digest
    }

    /// Its bytes. Fails where they cannot be read, or have another digest.
    pub fn bytes(&self) -> Result<Cow<'static, [u8]>, LoadError> {
        let bytes = (self.read)().map_err(LoadError::Host)?;
        if blake3::hash(&bytes).to_hex().as_str() != &*self.digest {
            return Err(LoadError::Host("the runner is not the one whose digest is known".into()));
        }
        Ok(bytes)
    }
}
