//! `agents`: sessions and turns.

use std::sync::Arc;

use flowhost_core::{
    agent::CutOnDrop, error::Result as CoreResult, harness::Steer, place::Place, session::SessionHandle, turn,
};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::{
        agents::{self, Answer, SteerMode, TurnOptions},
        types,
    },
    host::{Answered, agents::Turn, enter, hold_later, types::turn_options},
    store::State,
};

impl agents::HostSession for State {
    fn id(&mut self, session: Resource<SessionHandle>) -> Result<String> {
        Ok(self.table.get(&session)?.id.to_string())
    }

    fn directory(&mut self, session: Resource<SessionHandle>) -> Result<String> {
        Ok(self.table.get(&session)?.directory().to_owned())
    }

    fn usage(&mut self, session: Resource<SessionHandle>) -> Result<types::Usage> {
        Ok(self.table.get(&session)?.usage().into())
    }

    fn start(
        &mut self,
        session: Resource<SessionHandle>,
        prompt: String,
        options: TurnOptions,
    ) -> Answered<Resource<Turn>> {
        self.hold(|state| {
            let session = state.table.get(&session)?;
            let started = turn_options(options).and_then(|options| session.start(prompt.into(), options));
            Ok(started.map(|turn| Turn::One(turn.handle())))
        })
    }

    fn close(&mut self, session: Resource<SessionHandle>) -> Result<()> {
        self.table.get(&session)?.close();
        Ok(())
    }

    fn drop(&mut self, session: Resource<SessionHandle>) -> Result<()> {
        self.delete(session)
    }
}

impl<T: Send> agents::HostSessionWithStore<T> for State {
    async fn run(
        accessor: &Accessor<T, Self>,
        session: Resource<SessionHandle>,
        prompt: String,
        options: TurnOptions,
    ) -> Answered<Answer> {
        let start = |state: &mut Self, _: &_| {
            let session = state.table.get(&session)?;
            // S7: a call that is cancelled interrupts its turn.
            Ok(turn_options(options).and_then(|options| session.start(prompt.into(), options)).map(CutOnDrop))
        };
        let (branch, started, _pending) = enter(accessor, "session.run", start)?;
        match started {
            Ok(turn) => {
                let result = turn.0.wait().await;
                branch.delivered(turn.0.id.to_string().into());
                Ok(answered(result))
            }
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn steer(
        accessor: &Accessor<T, Self>,
        session: Resource<SessionHandle>,
        prompt: String,
        mode: SteerMode,
    ) -> Answered<()> {
        let look = |state: &mut Self, _: &_| Ok((*state.table.get(&session)?).clone());
        let (branch, session, _pending) = enter(accessor, "session.steer", look)?;
        let result = session.steer(Steer { text: prompt, interrupting: mode == SteerMode::Interrupting });
        branch.delivered("session.steer".into());
        Ok(result.map_err(Into::into))
    }

    async fn fork(
        accessor: &Accessor<T, Self>,
        session: Resource<SessionHandle>,
        at: Option<Resource<Place>>,
    ) -> Answered<Resource<SessionHandle>> {
        hold_later(accessor, async || {
            let look =
                |state: &mut Self, _: &_| Ok((Arc::clone(state.table.get(&session)?), state.place(at.as_ref())?));
            let (branch, (session, place), _pending) = enter(accessor, "session.fork", look)?;
            let result = session.fork_to(place.as_ref()).await;
            branch.delivered("session.fork".into());
            Ok(result.map(|fork| fork.handle()).map_err(Into::into))
        })
        .await
    }
}

fn answered(result: CoreResult<turn::Answer>) -> Result<Answer, types::Error> {
    result.map(Into::into).map_err(Into::into)
}

/// Something of a turn that outlives the call that looked it up.
enum Waited {
    One(Arc<turn::Turn>),
    Pursuit(Arc<flowhost_core::job::Job<turn::Answer>>),
}

impl agents::HostTurn for State {
    fn done(&mut self, turn: Resource<Turn>) -> Result<bool> {
        Ok(self.table.get(&turn)?.done())
    }

    fn cancel(&mut self, turn: Resource<Turn>) -> Result<()> {
        match self.table.get(&turn)? {
            Turn::One(turn) => turn.cancel(),
            Turn::Pursuit(pursuit) => pursuit.0.cancel(),
        }
        Ok(())
    }

    fn drop(&mut self, turn: Resource<Turn>) -> Result<()> {
        self.delete(turn)
    }
}

impl Turn {
    pub(crate) fn done(&self) -> bool {
        match self {
            Self::One(turn) => turn.done(),
            Self::Pursuit(pursuit) => pursuit.0.done(),
        }
    }
}

impl<T: Send> agents::HostTurnWithStore<T> for State {
    async fn wait(accessor: &Accessor<T, Self>, turn: Resource<Turn>) -> Answered<Answer> {
        let look = |state: &mut Self, _: &_| {
            Ok(match state.table.get(&turn)? {
                Turn::One(turn) => Waited::One((**turn).clone()),
                Turn::Pursuit(pursuit) => Waited::Pursuit(pursuit.0.clone()),
            })
        };
        let (branch, waited, _pending) = enter(accessor, "turn.wait", look)?;
        let (result, of) = match waited {
            Waited::One(turn) => (turn.wait().await, turn.id.to_string()),
            Waited::Pursuit(job) => (job.wait().await, "agent.pursue".to_owned()),
        };
        branch.delivered(of.into());
        Ok(answered(result))
    }
}
