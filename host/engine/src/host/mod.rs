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

use flowhost_core::branch::Branch;
use wasmtime::{Result, component::Accessor};

use crate::store::{Pending, State};

/// What a call that waits needs of its store: the branch, something of the handles, and its place among those that wait.
pub(crate) fn enter<T: Send, R>(
    accessor: &Accessor<T, State>,
    call: &str,
    look: impl FnOnce(&mut State, &Arc<Branch>) -> Result<R>,
) -> Result<(Arc<Branch>, R, Pending)> {
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
