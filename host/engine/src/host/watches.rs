//! `agents`: watches and occasions.

use std::sync::Arc;

use flowhost_core::{
    harness::Verdict,
    occasion::{self, Occasion},
};
use wasmtime::{
    Result,
    component::{Accessor, Resource},
};

use crate::{
    bindings::flowhost::flow::agents,
    host::{Answered, enter, unless_stopped},
    store::State,
};

/// A queue of occasions. Dropping it closes it.
pub struct Watch(pub(crate) Arc<occasion::Watch>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl agents::HostWatch for State {
    fn take(&mut self, watch: Resource<Watch>) -> Result<Option<Resource<Occasion>>> {
        self.room(1)?;
        match self.table.get(&watch)?.0.take() {
            Some(occasion) => Ok(Some(self.push(occasion)?)),
            None => Ok(None),
        }
    }

    fn close(&mut self, watch: Resource<Watch>) -> Result<()> {
        self.table.get(&watch)?.0.close();
        Ok(())
    }

    fn drop(&mut self, watch: Resource<Watch>) -> Result<()> {
        self.delete(watch)
    }
}

impl<T: Send> agents::HostWatchWithStore<T> for State {
    async fn ready(accessor: &Accessor<T, Self>, watch: Resource<Watch>) -> Result<bool> {
        let look = |state: &mut Self, _: &_| Ok(state.table.get(&watch)?.0.clone());
        let (branch, watch, _pending) = enter(accessor, "watch.ready", look)?;
        let ready = unless_stopped(&branch, watch.ready()).await;
        branch.delivered("watch.ready".into());
        Ok(ready)
    }
}

impl State {
    fn answer(&mut self, occasion: &Resource<Occasion>, verdict: Verdict) -> Answered<()> {
        Ok(self.table.get_mut(occasion)?.answer(verdict).map_err(Into::into))
    }
}

impl agents::HostOccasion for State {
    fn moment(&mut self, occasion: Resource<Occasion>) -> Result<agents::Moment> {
        Ok(self.table.get(&occasion)?.moment.into())
    }

    fn session(&mut self, occasion: Resource<Occasion>) -> Result<String> {
        Ok(self.table.get(&occasion)?.session.to_string())
    }

    fn details(&mut self, occasion: Resource<Occasion>) -> Result<String> {
        Ok(self.table.get(&occasion)?.details.to_string())
    }

    fn allow(&mut self, occasion: Resource<Occasion>) -> Answered<()> {
        self.answer(&occasion, Verdict::Allow)
    }

    fn block(&mut self, occasion: Resource<Occasion>, reason: String) -> Answered<()> {
        self.answer(&occasion, Verdict::Block(reason))
    }

    fn reply(&mut self, occasion: Resource<Occasion>, text: String) -> Answered<()> {
        self.answer(&occasion, Verdict::Reply(text))
    }

    fn skip(&mut self, occasion: Resource<Occasion>) -> Answered<()> {
        self.answer(&occasion, Verdict::Pass)
    }

    fn drop(&mut self, occasion: Resource<Occasion>) -> Result<()> {
        self.delete(occasion)
    }
}
