//! `context`: what a flow knows of its own call.

use std::{sync::Arc, time::Duration};

use flowhost_core::record::{LogSource, Outcome};
use wasmtime::{Result, component::Accessor};

use crate::{
    bindings::flowhost::flow::{context, types},
    host::{enter, unless_stopped},
    store::State,
};

impl context::Host for State {
    fn run_id(&mut self) -> Result<String> {
        Ok(self.branch("context.run-id")?.run.id.to_string())
    }

    fn branch_id(&mut self) -> Result<String> {
        Ok(self.branch("context.branch-id")?.id.to_string())
    }

    fn path(&mut self) -> Result<Vec<String>> {
        Ok(self.branch("context.path")?.path.iter().map(|name| name.to_string()).collect())
    }

    fn params(&mut self) -> Result<String> {
        Ok(self.branch("context.params")?.params.get().to_owned())
    }

    fn remaining(&mut self) -> Result<types::Allowance> {
        let branch = self.branch("context.remaining")?;
        let left = branch.remaining();
        kept(branch, "context.remaining", &left)?;
        Ok(left.into())
    }

    fn spent(&mut self) -> Result<types::Usage> {
        let branch = self.branch("context.spent")?;
        let spent = branch.spent();
        kept(branch, "context.spent", &spent)?;
        Ok(spent.into())
    }

    fn resumed(&mut self) -> Result<bool> {
        self.branch("context.resumed")?;
        // A run is always a new one as long as there is no `resume`.
        Ok(false)
    }

    fn log(&mut self, line: String) -> Result<()> {
        self.branch("context.log")?;
        Ok(self.log.line(&line, LogSource::Log)?)
    }

    fn now_ms(&mut self) -> Result<u64> {
        let branch = self.branch("context.now-ms")?;
        let now = branch.now_ms();
        kept(branch, "context.now-ms", &now)?;
        Ok(now)
    }
}

impl<T: Send> context::HostWithStore<T> for State {
    async fn sleep(accessor: &Accessor<T, Self>, ms: u64) -> Result<()> {
        let (branch, (), _pending) = enter(accessor, "context.sleep", |_, _| Ok(()))?;
        unless_stopped(&branch, branch.sleep(Duration::from_millis(ms))).await;
        branch.delivered("sleep".into());
        Ok(())
    }
}

/// J1: written down before the guest has it.
fn kept(
    branch: &Arc<flowhost_core::branch::Branch>,
    function: &'static str,
    value: &impl serde::Serialize,
) -> Result<()> {
    branch.value(function, Outcome::Ok(serde_json::value::to_raw_value(value)?.into()));
    Ok(())
}
