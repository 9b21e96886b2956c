//! `envs`: working directories on a machine.

use std::time::Duration;

use flowhost_core::{
    env as core,
    error::{Error, Result as CoreResult},
    job::CancelOnDrop,
    place::Place,
};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::envs::{self, Command, Entry, MergeOutcome, Output, WorktreeHead},
    host::{Answered, enter, hold_later, types::same_cases},
    store::State,
};

/// A command that was started. Dropping it interrupts it.
pub type Process = CancelOnDrop<core::Output>;

same_cases! {
    core::EntryKind = envs::EntryKind { File, Directory, Link, Other }
}

impl From<core::Output> for Output {
    fn from(output: core::Output) -> Self {
        let core::Output { status, stdout, stderr, truncated } = output;
        Self { status, stdout, stderr, truncated }
    }
}

impl From<Command> for core::Command {
    fn from(command: Command) -> Self {
        let Command { argv, vars, stdin, timeout_ms, keep, repeatable } = command;
        Self { argv, vars, stdin, timeout: timeout_ms.map(Duration::from_millis), keep, repeatable }
    }
}

impl From<core::Entry> for Entry {
    fn from(entry: core::Entry) -> Self {
        Self { path: entry.path, kind: entry.kind.into(), size: entry.size }
    }
}

impl From<WorktreeHead> for core::WorktreeHead {
    fn from(head: WorktreeHead) -> Self {
        match head {
            WorktreeHead::ByHost => Self::ByHost,
            WorktreeHead::Branch(name) => Self::Branch(name),
            WorktreeHead::Detached => Self::Detached,
        }
    }
}

impl envs::Host for State {
    fn get_env(&mut self, role: String) -> Answered<Option<Resource<Place>>> {
        let found = self.branch("envs.get-env")?.env(&role);
        self.hold_found(found)
    }
}

impl envs::HostProcess for State {
    fn done(&mut self, process: Resource<Process>) -> Result<bool> {
        Ok(self.table.get(&process)?.0.done())
    }

    fn cancel(&mut self, process: Resource<Process>) -> Result<()> {
        self.table.get(&process)?.0.cancel();
        Ok(())
    }

    fn drop(&mut self, process: Resource<Process>) -> Result<()> {
        self.delete(process)
    }
}

impl<T: Send> envs::HostProcessWithStore<T> for State {
    async fn wait(accessor: &Accessor<T, Self>, process: Resource<Process>) -> Answered<Output> {
        let look = |state: &mut Self, _: &_| Ok(state.table.get(&process)?.0.clone());
        let (branch, job, _pending) = enter(accessor, "process.wait", look)?;
        let result = job.wait().await;
        branch.delivered("process".into());
        Ok(result.map(Into::into).map_err(Into::into))
    }
}

impl envs::HostEnv for State {
    fn role(&mut self, env: Resource<Place>) -> Result<String> {
        Ok(self.table.get(&env)?.role().to_string())
    }

    fn directory(&mut self, env: Resource<Place>) -> Result<String> {
        Ok(self.table.get(&env)?.env().directory().to_owned())
    }

    fn kind(&mut self, env: Resource<Place>) -> Result<String> {
        Ok(self.table.get(&env)?.env().kind().name().to_owned())
    }

    fn branch_name(&mut self, env: Resource<Place>) -> Result<Option<String>> {
        Ok(self.table.get(&env)?.env().branch_name())
    }

    fn start(&mut self, env: Resource<Place>, command: Command) -> Answered<Resource<Process>> {
        self.hold(|state| Ok(state.table.get(&env)?.start(command.into()).map(CancelOnDrop)))
    }

    fn drop(&mut self, env: Resource<Place>) -> Result<()> {
        self.delete(env)
    }
}

/// A call on an env that waits.
async fn on<T: Send, R>(
    accessor: &Accessor<T, State>,
    env: Resource<Place>,
    call: &'static str,
    work: impl AsyncFnOnce(&Place) -> CoreResult<R>,
) -> Answered<R> {
    let (branch, place, _pending) = enter(accessor, call, |state, _| Ok(state.table.get(&env)?.clone()))?;
    let result = work(&place).await;
    branch.delivered(call.into());
    Ok(result.map_err(Into::into))
}

/// One that gives another env.
async fn derive<T: Send>(
    accessor: &Accessor<T, State>,
    env: Resource<Place>,
    call: &'static str,
    work: impl AsyncFnOnce(&Place) -> CoreResult<Place>,
) -> Answered<Resource<Place>> {
    hold_later(accessor, async || on(accessor, env, call, work).await).await
}

impl<T: Send> envs::HostEnvWithStore<T> for State {
    async fn exec(accessor: &Accessor<T, Self>, env: Resource<Place>, command: Command) -> Answered<Output> {
        on(accessor, env, "env.exec", async |place| Ok(place.exec(command.into()).await?.into())).await
    }

    async fn bash(
        accessor: &Accessor<T, Self>,
        env: Resource<Place>,
        script: String,
        timeout_ms: Option<u64>,
    ) -> Answered<Output> {
        let timeout = timeout_ms.map(Duration::from_millis);
        on(accessor, env, "env.bash", async |place| Ok(place.bash(script, timeout).await?.into())).await
    }

    async fn read(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String) -> Answered<Vec<u8>> {
        on(accessor, env, "env.read", async |place| place.read(&path, None).await).await
    }

    async fn read_range(
        accessor: &Accessor<T, Self>,
        env: Resource<Place>,
        path: String,
        offset: u64,
        length: u32,
    ) -> Answered<Vec<u8>> {
        on(accessor, env, "env.read-range", async |place| place.read(&path, Some((offset, length))).await).await
    }

    async fn write(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String, data: Vec<u8>) -> Answered<()> {
        on(accessor, env, "env.write", async |place| place.write(&path, data).await).await
    }

    async fn append(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String, data: Vec<u8>) -> Answered<()> {
        on(accessor, env, "env.append", async |place| place.append(&path, data).await).await
    }

    async fn make_dir(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String) -> Answered<()> {
        on(accessor, env, "env.make-dir", async |place| place.make_dir(&path).await).await
    }

    async fn stat(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String) -> Answered<Entry> {
        on(accessor, env, "env.stat", async |place| Ok(place.stat(&path).await?.into())).await
    }

    async fn remove(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String) -> Answered<()> {
        on(accessor, env, "env.remove", async |place| place.remove(&path).await).await
    }

    async fn find(
        accessor: &Accessor<T, Self>,
        env: Resource<Place>,
        path: String,
        glob: String,
    ) -> Answered<Vec<Entry>> {
        on(accessor, env, "env.find", async |place| {
            Ok(place.find(&path, &glob).await?.into_iter().map(Into::into).collect())
        })
        .await
    }

    async fn subdir(accessor: &Accessor<T, Self>, env: Resource<Place>, path: String) -> Answered<Resource<Place>> {
        derive(accessor, env, "env.subdir", async |place| place.subdir(&path).await).await
    }

    async fn worktree(
        accessor: &Accessor<T, Self>,
        env: Resource<Place>,
        label: String,
        at: Option<String>,
        head: WorktreeHead,
    ) -> Answered<Resource<Place>> {
        derive(accessor, env, "env.worktree", async |place| place.worktree(&label, at.as_deref(), head.into()).await)
            .await
    }

    async fn copy(accessor: &Accessor<T, Self>, env: Resource<Place>, label: String) -> Answered<Resource<Place>> {
        derive(accessor, env, "env.copy", async |place| place.copy(&label).await).await
    }

    async fn scratch(accessor: &Accessor<T, Self>, env: Resource<Place>, label: String) -> Answered<Resource<Place>> {
        derive(accessor, env, "env.scratch", async |place| place.scratch(&label).await).await
    }

    async fn snapshot(accessor: &Accessor<T, Self>, env: Resource<Place>, name: Option<String>) -> Answered<String> {
        on(accessor, env, "env.snapshot", async |place| place.snapshot(name.as_deref()).await).await
    }

    async fn rewind(accessor: &Accessor<T, Self>, env: Resource<Place>, snapshot: String) -> Answered<()> {
        on(accessor, env, "env.rewind", async |place| place.rewind(&snapshot).await).await
    }

    async fn snapshots(accessor: &Accessor<T, Self>, env: Resource<Place>) -> Answered<Vec<String>> {
        on(accessor, env, "env.snapshots", async |place| place.snapshots().await).await
    }

    async fn diff(accessor: &Accessor<T, Self>, env: Resource<Place>) -> Answered<Vec<u8>> {
        on(accessor, env, "env.diff", async |place| place.diff().await).await
    }

    async fn merge(
        accessor: &Accessor<T, Self>,
        env: Resource<Place>,
        other: Resource<Place>,
    ) -> Answered<MergeOutcome> {
        let other = accessor.with(|mut access| Ok::<_, wasmtime::Error>(access.get().table.get(&other)?.clone()))?;
        on(accessor, env, "env.merge", async |place| {
            let core::MergeOutcome { merged, conflicts } = place.merge(&other).await?;
            Ok::<_, Error>(MergeOutcome { merged, conflicts })
        })
        .await
    }
}
