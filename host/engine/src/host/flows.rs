//! `flows`: flows calling flows.

use std::sync::Arc;

use flowhost_core::{
    branch::{Call, Given},
    error::{Error, Result as CoreResult},
    run::Flow,
    usage::Limits,
};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::flows::{self, Handover},
    host::{Answered, enter, hold_later},
    store::State,
};

/// A flow that can be called.
pub type Callee = Arc<dyn Flow>;

/// A call that was started. Dropping it cancels it.
pub struct Branch(pub(crate) Call);

impl Drop for Branch {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl State {
    fn begin(&self, callee: &Resource<Callee>, task: String, given: Handover) -> Result<CoreResult<Call>> {
        let branch = self.branch("callee.call")?;
        let callee = self.table.get(callee)?;
        let mut agents = Vec::with_capacity(given.agents.len());
        for (role, agent) in &given.agents {
            agents.push((role.as_str().into(), self.table.get(agent)?.grant.clone()));
        }
        let mut envs = Vec::with_capacity(given.envs.len());
        for (role, env) in &given.envs {
            envs.push((role.as_str().into(), self.table.get(env)?.grant().clone()));
        }
        let limits = given.budget.map(Limits::from).unwrap_or_default();
        let params = serde_json::from_str::<Box<serde_json::value::RawValue>>(&given.params).map_err(|error| {
            Error::requirement(format!("the params for {} are not JSON: {error}", callee.manifest().name))
        });
        Ok(params.and_then(|params| {
            branch.call(callee, task.into(), Given { agents, envs, params: params.into(), limits, scratch: None })
        }))
    }
}

impl flows::Host for State {}

impl<T: Send> flows::HostWithStore<T> for State {
    async fn load(accessor: &Accessor<T, Self>, reference: String) -> Answered<Resource<Callee>> {
        hold_later(accessor, async || {
            let (branch, (), _pending) = enter(accessor, "flows.load", |_, _| Ok(()))?;
            let result = branch.load(&reference).await;
            branch.delivered("flows.load".into());
            Ok(result.map_err(Into::into))
        })
        .await
    }
}

impl flows::HostCallee for State {
    fn name(&mut self, callee: Resource<Callee>) -> Result<String> {
        Ok(self.table.get(&callee)?.manifest().name.clone())
    }

    fn manifest(&mut self, callee: Resource<Callee>) -> Result<String> {
        Ok(serde_json::to_string(self.table.get(&callee)?.manifest())?)
    }

    fn start(&mut self, callee: Resource<Callee>, task: String, given: Handover) -> Answered<Resource<Branch>> {
        self.hold(|state| Ok(state.begin(&callee, task, given)?.map(Branch)))
    }

    fn drop(&mut self, callee: Resource<Callee>) -> Result<()> {
        self.delete(callee)
    }
}

impl<T: Send> flows::HostCalleeWithStore<T> for State {
    async fn call(
        accessor: &Accessor<T, Self>,
        callee: Resource<Callee>,
        task: String,
        given: Handover,
    ) -> Answered<String> {
        let begin = |state: &mut Self, _: &_| state.begin(&callee, task, given);
        let (branch, begun, _pending) = enter(accessor, "callee.call", begin)?;
        match begun {
            // Cancelling the call cancels the branch.
            Ok(call) => waited(&branch, &Branch(call).0).await,
            Err(error) => Ok(Err(error.into())),
        }
    }
}

async fn waited(branch: &flowhost_core::branch::Branch, call: &Call) -> Answered<String> {
    let result = call.wait().await;
    branch.delivered(call.branch.0.clone());
    Ok(result.map(|answer| answer.get().to_owned()).map_err(Into::into))
}

impl flows::HostBranch for State {
    fn done(&mut self, branch: Resource<Branch>) -> Result<bool> {
        Ok(self.table.get(&branch)?.0.done())
    }

    fn cancel(&mut self, branch: Resource<Branch>) -> Result<()> {
        self.table.get(&branch)?.0.cancel();
        Ok(())
    }

    fn drop(&mut self, branch: Resource<Branch>) -> Result<()> {
        self.delete(branch)
    }
}

impl<T: Send> flows::HostBranchWithStore<T> for State {
    async fn wait(accessor: &Accessor<T, Self>, called: Resource<Branch>) -> Answered<String> {
        let look = |state: &mut Self, _: &_| Ok(state.table.get(&called)?.0.clone());
        let (branch, call, _pending) = enter(accessor, "branch.wait", look)?;
        waited(&branch, &call).await
    }
}
