//! `waiting`: for languages that cannot await many calls.

use std::{sync::Arc, time::Duration};

use flowhost_core::{branch::Call, env::Output, job::Job, occasion, turn};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use wasmtime::{Result, component::Accessor};

use crate::{
    bindings::flowhost::flow::waiting::{self, Awaited},
    host::{agents::Turn, enter, unless_stopped},
    store::State,
};

/// Something that a flow waits for, apart from its handle.
enum Awaiting {
    Turn(Arc<turn::Turn>),
    Pursuit(Arc<Job<turn::Answer>>),
    Process(Arc<Job<Output>>),
    Branch(Call),
    Watch(Arc<occasion::Watch>),
}

impl Awaiting {
    fn of(state: &State, on: &Awaited) -> Result<Self> {
        Ok(match on {
            Awaited::Turn(turn) => match state.table.get(turn)? {
                Turn::One(turn) => Self::Turn((**turn).clone()),
                Turn::Pursuit(pursuit) => Self::Pursuit(pursuit.0.clone()),
            },
            Awaited::Process(process) => Self::Process(state.table.get(process)?.0.clone()),
            Awaited::Branch(branch) => Self::Branch(state.table.get(branch)?.0.clone()),
            Awaited::Watch(watch) => Self::Watch(state.table.get(watch)?.0.clone()),
        })
    }

    fn is_ready(&self) -> bool {
        match self {
            Self::Turn(turn) => turn.done(),
            Self::Pursuit(job) => job.done(),
            Self::Process(job) => job.done(),
            Self::Branch(call) => call.done(),
            Self::Watch(watch) => watch.ready().now_or_never().is_some(),
        }
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        match self {
            Self::Turn(turn) => turn.wait().map(drop).boxed(),
            Self::Pursuit(job) => job.wait().map(drop).boxed(),
            Self::Process(job) => job.wait().map(drop).boxed(),
            Self::Branch(call) => call.wait().map(drop).boxed(),
            Self::Watch(watch) => watch.ready().map(drop).boxed(),
        }
    }
}

impl waiting::Host for State {}

impl<T: Send> waiting::HostWithStore<T> for State {
    async fn wait_any(accessor: &Accessor<T, Self>, on: Vec<Awaited>, timeout_ms: Option<u64>) -> Result<Vec<u32>> {
        let look =
            |state: &mut Self, _: &_| on.iter().map(|each| Awaiting::of(state, each)).collect::<Result<Vec<_>>>();
        let (branch, awaited, _pending) = enter(accessor, "waiting.wait-any", look)?;
        let ready = || (0u32..).zip(&awaited).filter(|(_, each)| each.is_ready()).map(|(at, _)| at).collect::<Vec<_>>();
        let mut indexes = ready();
        if indexes.is_empty() && !awaited.is_empty() {
            let mut all: FuturesUnordered<_> = awaited.iter().map(Awaiting::ready).collect();
            let timeout = async {
                match timeout_ms {
                    Some(ms) => branch.sleep(Duration::from_millis(ms)).await,
                    None => std::future::pending().await,
                }
            };
            unless_stopped(&branch, async {
                tokio::select! {
                    _ = all.next() => {}
                    () = timeout => {}
                }
            })
            .await;
            indexes = ready();
        }
        branch.delivered(format!("wait-any {indexes:?}").into());
        Ok(indexes)
    }
}
