//! The host's side of the contract: one file an interface, each a thin adapter to `core`.
//!
//! A host function answers with a typed error wherever the contract has a `result`; the outer `wasmtime::Result` is a trap, and is
//! kept for what a flow cannot handle: a broken handle, a limit, a call while it is only described.

#![allow(unreachable_pub, reason = "the bindings export what stands behind each resource")]

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod envs;
pub(crate) mod flows;
pub(crate) mod sessions;
pub(crate) mod types;
pub(crate) mod waiting;
pub(crate) mod watches;

use std::{future::Future, sync::Arc};

use flowhost_core::{branch::Branch, error::Result as CoreResult};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::types::Error,
    store::{Counted, State},
};

/// What a function of the contract gives: a result that the flow can handle, or a trap.
pub(crate) type Answered<T> = Result<Result<T, Error>>;

impl State {
    /// Makes something that the flow holds from now on, if it may hold one more (X2).
    pub(crate) fn hold<T: Send + 'static>(
        &mut self,
        make: impl FnOnce(&mut Self) -> Result<CoreResult<T>>,
    ) -> Answered<Resource<T>> {
        if let Err(exceeded) = self.room(1) {
            return Ok(Err(exceeded.error().into()));
        }
        match make(self)? {
            Ok(held) => Ok(Ok(self.push(held)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    /// The same for something that may not be there.
    pub(crate) fn hold_found<T: Send + 'static>(
        &mut self,
        found: CoreResult<Option<T>>,
    ) -> Answered<Option<Resource<T>>> {
        match found {
            Ok(Some(found)) => Ok(self.hold(|_| Ok(Ok(found)))?.map(Some)),
            Ok(None) => Ok(Ok(None)),
            Err(error) => Ok(Err(error.into())),
        }
    }
}

/// The same for something that takes a while to make. Its place is kept meanwhile.
pub(crate) async fn hold_later<T: Send, H: Send + 'static>(
    accessor: &Accessor<T, State>,
    make: impl AsyncFnOnce() -> Answered<H>,
) -> Answered<Resource<H>> {
    let _reserved = match accessor.with(|mut access| access.get().reserve()) {
        Ok(reserved) => reserved,
        Err(exceeded) => return Ok(Err(exceeded.error().into())),
    };
    match make().await? {
        Ok(held) => accessor.with(|mut access| Ok(Ok(access.get().push(held)?))),
        Err(error) => Ok(Err(error)),
    }
}

/// What a call that waits needs of its store: the branch, something of the handles, and its place among those that wait.
pub(crate) fn enter<T: Send, R>(
    accessor: &Accessor<T, State>,
    call: &str,
    look: impl FnOnce(&mut State, &Arc<Branch>) -> Result<R>,
) -> Result<(Arc<Branch>, R, Counted)> {
    accessor.with(|mut access| {
        let state = access.get();
        let branch = state.branch(call)?.clone();
        let pending = state.pending()?;
        let looked = look(state, &branch)?;
        Ok((branch, looked, pending))
    })
}

/// X1: what waits and gives no error does not return after a stop.
pub(crate) async fn unless_stopped<R>(branch: &Branch, waits: impl Future<Output = R>) -> R {
    tokio::select! {
        biased;
        () = branch.run.stopped() => std::future::pending().await,
        result = waits => result,
    }
}
