//! `agents`: what a flow opens its conversations with.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use flowhost_core::{
    agent::{self, BatchOptions},
    error::{Error, Result as CoreResult},
    harness as core,
    job::CancelOnDrop,
    place::Place,
    session::{self, SessionHandle},
    turn::{self, TurnHandle},
};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::{
        agents::{self, Answer, Permission, TurnOptions, Unanswered, WhenBusy},
        types,
    },
    host::{
        Answered, enter,
        types::{same_cases, turn_options},
        watches::Watch,
    },
    store::State,
};

/// An agent of the branch.
pub type Agent = Arc<agent::Agent>;

/// A turn that was started, or all turns of a pursuit.
pub enum Turn {
    One(TurnHandle),
    /// Dropping it interrupts it.
    Pursuit(CancelOnDrop<turn::Answer>),
}

same_cases! {
    core::Access = agents::Access { None, Read, All }
    core::Moment = agents::Moment {
        SessionStart, PromptSubmit, PreToolUse, PermissionRequest, Question, Notification, OfferedTool, Stop, SessionEnd,
        SubagentStart, SubagentStop, Other,
    }
    session::WhenBusy = WhenBusy { Refuse, Queue }
    flowhost_core::occasion::Unanswered = Unanswered { Pass, Block }
}

impl From<Permission> for core::Permission {
    fn from(permission: Permission) -> Self {
        let Permission { workdir, home, system, network } = permission;
        Self { workdir: workdir.into(), home: home.into(), system: system.into(), network }
    }
}

/// Plain calls that look into a directory do so here: a few system calls, on a thread that may wait for them. A directory in memory
/// is looked into at once, on any thread.
fn now<R>(work: impl Future<Output = R>) -> R {
    let mut work = pin!(work);
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return done;
    }
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work))
}

impl agents::Host for State {
    fn get_agent(&mut self, role: String) -> Answered<Option<Resource<Agent>>> {
        let found = self.branch("agents.get-agent")?.agent(&role);
        self.hold_found(found)
    }
}

impl State {
    pub(crate) fn place(&self, at: Option<&Resource<Place>>) -> Result<Option<Place>> {
        Ok(at.map(|at| self.table.get(at)).transpose()?.cloned())
    }

    fn open(
        &mut self,
        agent: &Resource<Agent>,
        count: u32,
        at: Option<Resource<Place>>,
        directory: Option<&str>,
        when_busy: WhenBusy,
    ) -> Answered<Vec<SessionHandle>> {
        if let Err(exceeded) = self.room(count.into()) {
            return Ok(Err(exceeded.error().into()));
        }
        let agent = self.table.get(agent)?;
        let place = self.place(at.as_ref())?;
        let (place, when_busy) = (place.as_ref(), when_busy.into());
        let Some(more) = count.checked_sub(1) else { return Ok(Ok(Vec::new())) };
        let first = match directory {
            Some(directory) => now(agent.spawn_in(place, directory, when_busy)),
            None => agent.spawn(place, when_busy),
        };
        Ok(first.map_err(Into::into).map(|first| {
            let rest = agent.spawn_many(more, &first, when_busy);
            std::iter::once(first).chain(rest).map(|session| session.handle()).collect()
        }))
    }
}

impl agents::HostAgent for State {
    fn role(&mut self, agent: Resource<Agent>) -> Result<String> {
        Ok(self.table.get(&agent)?.role.to_string())
    }

    fn harness(&mut self, agent: Resource<Agent>) -> Result<String> {
        Ok(self.table.get(&agent)?.grant.harness.name().to_owned())
    }

    fn model(&mut self, agent: Resource<Agent>) -> Result<String> {
        Ok(self.table.get(&agent)?.grant.settings.model.clone())
    }

    fn effort(&mut self, agent: Resource<Agent>) -> Result<String> {
        Ok(self.table.get(&agent)?.grant.settings.effort.clone())
    }

    fn capabilities(&mut self, agent: Resource<Agent>) -> Result<Vec<String>> {
        Ok(self.table.get(&agent)?.grant.capabilities.to_vec())
    }

    fn spawn(
        &mut self,
        agent: Resource<Agent>,
        at: Option<Resource<Place>>,
        directory: Option<String>,
        when_busy: WhenBusy,
    ) -> Answered<Resource<SessionHandle>> {
        match self.open(&agent, 1, at, directory.as_deref(), when_busy)? {
            Ok(mut sessions) => match sessions.pop() {
                Some(session) => Ok(Ok(self.push(session)?)),
                None => Ok(Err(Error::other("no session was opened").into())),
            },
            Err(error) => Ok(Err(error)),
        }
    }

    fn spawn_many(
        &mut self,
        agent: Resource<Agent>,
        count: u32,
        at: Option<Resource<Place>>,
        directory: Option<String>,
        when_busy: WhenBusy,
    ) -> Answered<Vec<Resource<SessionHandle>>> {
        match self.open(&agent, count, at, directory.as_deref(), when_busy)? {
            Ok(sessions) => Ok(Ok(sessions.into_iter().map(|session| self.push(session)).collect::<Result<_>>()?)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn pursue(
        &mut self,
        agent: Resource<Agent>,
        objective: String,
        at: Option<Resource<Place>>,
        rounds: u32,
        options: TurnOptions,
    ) -> Answered<Resource<Turn>> {
        self.hold(|state| {
            let (agent, place) = (state.table.get(&agent)?, state.place(at.as_ref())?);
            let pursue = |options| agent.pursue(objective.into(), place.as_ref(), rounds, options);
            Ok(turn_options(options).and_then(pursue).map(|job| Turn::Pursuit(CancelOnDrop(job))))
        })
    }

    fn derive(
        &mut self,
        agent: Resource<Agent>,
        permission: Option<Permission>,
        model: Option<String>,
        effort: Option<String>,
    ) -> Answered<Resource<Agent>> {
        self.hold(|state| {
            let agent = state.table.get(&agent)?;
            Ok(agent.derive(permission.map(Into::into), model.as_deref(), effort.as_deref()))
        })
    }

    fn watch(
        &mut self,
        agent: Resource<Agent>,
        moments: Vec<agents::Moment>,
        patience_ms: Option<u64>,
        unanswered: Unanswered,
    ) -> Answered<Resource<Watch>> {
        let moments = moments.into_iter().map(Into::into).collect();
        let patience = patience_ms.map(Duration::from_millis);
        self.hold(|state| Ok(state.table.get(&agent)?.watch(moments, patience, unanswered.into()).map(Watch)))
    }

    fn drop(&mut self, agent: Resource<Agent>) -> Result<()> {
        self.delete(agent)
    }
}

impl<T: Send> agents::HostAgentWithStore<T> for State {
    async fn run(
        accessor: &Accessor<T, Self>,
        agent: Resource<Agent>,
        prompt: String,
        at: Option<Resource<Place>>,
        options: TurnOptions,
    ) -> Answered<Answer> {
        let look = |state: &mut Self, _: &_| Ok((state.table.get(&agent)?.clone(), state.place(at.as_ref())?));
        let (branch, (agent, place), _pending) = enter(accessor, "agent.run", look)?;
        let result: CoreResult<turn::Answer> =
            async { agent.run(prompt.into(), place.as_ref(), turn_options(options)?).await }.await;
        branch.delivered("agent.run".into());
        Ok(result.map(Into::into).map_err(Into::into))
    }

    async fn batch(
        accessor: &Accessor<T, Self>,
        agent: Resource<Agent>,
        prompts: Vec<String>,
        at: Option<Resource<Place>>,
        options: agents::BatchOptions,
    ) -> Answered<Vec<Result<Answer, types::Error>>> {
        let look = |state: &mut Self, _: &_| Ok((state.table.get(&agent)?.clone(), state.place(at.as_ref())?));
        let (branch, (agent, place), _pending) = enter(accessor, "agent.batch", look)?;
        let agents::BatchOptions { at_once, suppress, turn } = options;
        let result = async {
            let options = BatchOptions { at_once, suppress, turn: turn_options(turn)? };
            let prompts = prompts.into_iter().map(Into::into).collect();
            agent.batch(prompts, place.as_ref(), options).await
        }
        .await;
        branch.delivered("agent.batch".into());
        let each = |answer: CoreResult<turn::Answer>| answer.map(Into::into).map_err(Into::into);
        Ok(result.map(|answers| answers.into_iter().map(each).collect()).map_err(Into::into))
    }
}
