//! What goes on at once: the jobs of the engine, and the calls of the contract that its promises stand for.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, VecDeque},
    future::poll_fn,
    hash::{BuildHasherDefault, DefaultHasher},
    pin::Pin,
    rc::Rc,
    task::{self, Poll, Waker},
};

use boa_engine::{
    Context, JsError, JsResult, JsValue,
    builtins::promise::{OperationType, Promise},
    context::HostHooks,
    job::{Job, JobExecutor},
    object::{JsObject, builtins::JsPromise},
};
use futures_util::{FutureExt, Stream, stream::FuturesUnordered};

use crate::{bindings::flowhost::flow::types, failures, failures::Origin};

/// How far the flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its modules are imported to see what it declares: what it says is for nobody.
    Described,
    /// Its modules are imported to run it.
    Imported,
    /// Its function runs, and may call what it likes.
    Running,
}

/// Hands what a call came to to the promise that stands for it.
type Delivery = Box<dyn FnOnce(&mut Context)>;
type Call = Pin<Box<dyn Future<Output = Delivery>>>;

/// The state of the one flow that runs in this component. The engine keeps it as what it hands its jobs to.
pub(crate) struct Tasks {
    stage: Cell<Stage>,
    jobs: RefCell<VecDeque<Job>>,
    calls: RefCell<FuturesUnordered<Slot>>,
    /// Prototypes of the SDK's classes, by name.
    classes: RefCell<BTreeMap<String, JsObject>>,
    /// Functions of the SDK, by name: see [`crate::failures`].
    functions: RefCell<BTreeMap<String, JsObject>>,
}

/// That of the flow.
pub(crate) fn tasks(context: &Context) -> Rc<Tasks> {
    // The machine is the only one that makes a context, always with this.
    context.downcast_job_executor().unwrap_or_else(|| Rc::new(Tasks::new(Stage::Described)))
}

impl Tasks {
    pub(crate) fn new(stage: Stage) -> Self {
        Self {
            stage: Cell::new(stage),
            jobs: RefCell::default(),
            calls: RefCell::default(),
            classes: RefCell::default(),
            functions: RefCell::default(),
        }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.set(stage);
    }

    pub(crate) fn set_class(&self, name: String, prototype: JsObject) {
        self.classes.borrow_mut().insert(name, prototype);
    }

    pub(crate) fn class(&self, name: &str) -> Option<JsObject> {
        self.classes.borrow().get(name).cloned()
    }

    pub(crate) fn set_function(&self, name: String, function: JsObject) {
        self.functions.borrow_mut().insert(name, function);
    }

    pub(crate) fn function(&self, name: &str) -> Option<JsObject> {
        self.functions.borrow().get(name).cloned()
    }

    /// Waits for the next call that ends, and hands it over. False where none is out.
    pub(crate) async fn next(&self, context: &mut Context) -> bool {
        loop {
            // No code of JavaScript runs while this is polled, so nothing else borrows it.
            let next = poll_fn(|cx| Pin::new(&mut *self.calls.borrow_mut()).poll_next(cx)).await;
            match next {
                Some(Some(deliver)) => {
                    deliver(context);
                    return true;
                }
                Some(None) => {}
                None => return false,
            }
        }
    }

    /// Lets go of every call that is out: what each stands for is stopped.
    pub(crate) fn drop_calls(&self) {
        drop(self.calls.take());
    }

    fn push(&self, slot: Slot) {
        self.calls.borrow_mut().push(slot);
    }
}

impl JobExecutor for Tasks {
    fn enqueue_job(self: Rc<Self>, job: Job, _: &mut Context) {
        self.jobs.borrow_mut().push_back(job);
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let next = self.jobs.borrow_mut().pop_front();
            match next {
                None => return Ok(()),
                Some(Job::PromiseJob(job)) => drop(job.call(context)?),
                Some(Job::GenericJob(job)) => drop(job.call(context)?),
                // Modules are loaded by one; the loader does not wait, so that it ends here.
                Some(Job::AsyncJob(job)) => drop(job.call(&RefCell::new(context)).now_or_never().transpose()?),
                // Of the engine's own timers, which are not used, and registries, which wait for the collector.
                Some(_) => {}
            }
        }
    }
}

/// A call that is out; empty once it was cancelled.
struct Slot(Rc<Canceller>);

/// What cancels a call: shared by the object that JavaScript holds and the call's slot.
#[derive(Default)]
pub(crate) struct Canceller {
    call: RefCell<Option<Call>>,
    waker: Cell<Option<Waker>>,
}

impl Canceller {
    /// Drops the call at once, which stops what it stands for; its promise stays as it is.
    pub(crate) fn cancel(&self) {
        drop(self.call.take());
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Future for Slot {
    type Output = Option<Delivery>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let mut call = self.0.call.borrow_mut();
        let Some(going) = call.as_mut() else { return Poll::Ready(None) };
        match going.as_mut().poll(cx) {
            Poll::Ready(deliver) => {
                *call = None;
                Poll::Ready(Some(deliver))
            }
            Poll::Pending => {
                self.0.waker.set(Some(cx.waker().clone()));
                Poll::Pending
            }
        }
    }
}

/// Begins a call of the contract and gives a promise of what `lift` makes of its answer; its error is raised in the promise.
pub(crate) fn call<T: 'static>(
    canceller: Option<Rc<Canceller>>,
    future: impl Future<Output = Result<T, types::Error>> + 'static,
    lift: impl FnOnce(T, &mut Context) -> JsResult<JsValue> + 'static,
    context: &mut Context,
) -> JsResult<JsValue> {
    let origin = Origin::here(context);
    let lift = move |answer: Result<T, types::Error>, context: &mut Context| match answer {
        Ok(answer) => lift(answer, context),
        Err(error) => Err(failures::raise(error, &origin, context)),
    };
    wait(canceller, future, lift, context)
}

/// Begins what cannot fail and gives a promise of what `lift` makes of it.
pub(crate) fn wait<T: 'static>(
    canceller: Option<Rc<Canceller>>,
    future: impl Future<Output = T> + 'static,
    lift: impl FnOnce(T, &mut Context) -> JsResult<JsValue> + 'static,
    context: &mut Context,
) -> JsResult<JsValue> {
    let (promise, resolvers) = JsPromise::new_pending(context);
    let mut call: Call = Box::pin(async move {
        let answer = future.await;
        let deliver = move |context: &mut Context| {
            let settled = match lift(answer, context) {
                Ok(value) => resolvers.resolve.call(&JsValue::undefined(), &[value], context),
                Err(error) => error
                    .into_opaque(context)
                    .and_then(|error| resolvers.reject.call(&JsValue::undefined(), &[error], context)),
            };
            // Neither function of a promise throws; only a spent limit of the engine could, and the next line of JavaScript meets it too.
            drop::<Result<JsValue, JsError>>(settled);
        };
        Box::new(deliver) as Delivery
    });
    // It begins now, not when the flow next waits: a second turn that is started on the next line finds the first one going.
    match call.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(deliver) => deliver(context),
        Poll::Pending => {
            let canceller = canceller.unwrap_or_default();
            canceller.call.replace(Some(call));
            tasks(context).push(Slot(canceller));
        }
    }
    Ok(promise.into())
}

/// Remembers promises that failed with nobody to hear it, in order.
#[derive(Default)]
pub(crate) struct Rejections {
    unheard: RefCell<HashMap<JsObject, u64, BuildHasherDefault<DefaultHasher>>>,
    count: Cell<u64>,
}

impl Rejections {
    /// The runner itself hears this one.
    pub(crate) fn hear(&self, promise: &JsObject) {
        self.unheard.borrow_mut().remove(promise);
    }

    /// Those that nobody heard, oldest first.
    pub(crate) fn take(&self) -> Vec<JsObject> {
        let mut unheard: Vec<_> = self.unheard.take().into_iter().collect();
        unheard.sort_by_key(|(_, nth)| *nth);
        unheard.into_iter().map(|(promise, _)| promise).collect()
    }
}

impl HostHooks for Rejections {
    fn promise_rejection_tracker(&self, promise: &JsObject<Promise>, operation: OperationType, _: &mut Context) {
        let promise = promise.clone().upcast();
        let mut unheard = self.unheard.borrow_mut();
        match operation {
            OperationType::Reject => {
                self.count.update(|count| count + 1);
                unheard.insert(promise, self.count.get());
            }
            OperationType::Handle => drop(unheard.remove(&promise)),
        }
    }
}
