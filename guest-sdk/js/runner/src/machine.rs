//! The engine with a flow loaded in it.

use std::{
    cell::{Cell, OnceCell},
    mem::ManuallyDrop,
    rc::Rc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use boa_engine::{
    Context, JsError, JsResult, JsValue, Module,
    builtins::promise::PromiseState,
    context::time::{Clock, JsInstant},
    object::{JsObject, builtins::JsPromise},
};

use crate::{
    bindings::flowhost::flow::{context as host, source, types::Error},
    failures, giving,
    modules::{self, Modules},
    reading,
    tasks::{Rejections, Stage, Tasks},
};

/// Functions of JavaScript that call one another: what the stack of a component holds of those that go through the engine's own, such as
/// `map`, which are the largest.
const DEEPEST: usize = 400;
/// Values on the engine's own stack.
const VALUES: usize = 200_000;
/// Rejections that nobody heard and the log says.
const UNHEARD: usize = 20;

/// The engine with the SDK loaded in it, before it has seen a flow: the same each time.
struct Prepared {
    context: Box<Context>,
    modules: Rc<Modules>,
    tasks: Rc<Tasks>,
    rejections: Rc<Rejections>,
    entry: JsObject,
}

thread_local! {
    /// Made when the program is built, where it is: see [`prepare`].
    static PREPARED: Cell<Option<Prepared>> = const { Cell::new(None) };
}

/// Makes the engine ready. The build calls it once and keeps the component's memory as it is then, so that no start has to do it again. It
/// calls nothing of the host's. A failure is met again, and said, when a flow is imported.
pub(crate) fn prepare() {
    PREPARED.set(Prepared::new().ok());
}

impl Prepared {
    fn new() -> Result<Self, Error> {
        let tasks = Rc::new(Tasks::new(Stage::Described));
        let rejections = Rc::new(Rejections::default());
        let modules = Rc::new(Modules::default());
        let context = Context::builder()
            .job_executor(tasks.clone())
            .module_loader(modules.clone())
            .host_hooks(rejections.clone())
            .clock(Rc::new(HostClock::default()))
            .build()
            .map_err(|error| failures::failed(error.to_string()))?;
        let mut context = Box::new(context);
        context.runtime_limits_mut().set_recursion_limit(DEEPEST);
        context.runtime_limits_mut().set_stack_size_limit(VALUES);
        let entry = ours(&modules, modules::ENTRY, &mut context)?;
        // What a flow imports.
        ours(&modules, modules::SDK, &mut context)?;
        Ok(Self { context, modules, tasks, rejections, entry })
    }
}

/// The host's clocks. The engine's own asks for the time while it is made.
#[derive(Default)]
struct HostClock {
    /// When it was first asked.
    base: OnceCell<Instant>,
}

impl Clock for HostClock {
    fn now(&self) -> JsInstant {
        let since = self.base.get_or_init(Instant::now).elapsed();
        JsInstant::new(since.as_secs(), since.subsec_nanos())
    }

    fn system_time_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// Runs one of the SDK's own modules and gives what it exports.
fn ours(modules: &Modules, name: &str, context: &mut Context) -> Result<JsObject, Error> {
    let module = modules.module(name, context).map_err(|error| failures::lower(error, context))?;
    evaluate(&module, name, context)
}

/// A flow, imported.
pub(crate) struct Machine {
    /// Never dropped: the component's memory goes with its store, and the collector would only walk through it once more.
    context: ManuallyDrop<Box<Context>>,
    tasks: Rc<Tasks>,
    rejections: Rc<Rejections>,
    /// What the SDK's entry exports.
    entry: JsObject,
    /// What the flow's module exports.
    flow: JsObject,
    file: String,
}

impl Machine {
    /// The manifest of the flow, as JSON; why there is none, where there is none.
    pub(crate) fn manifest() -> Result<String, String> {
        let machine = Self::import(Stage::Described);
        machine.and_then(Self::describe).map_err(|error| error.message)
    }

    /// The flow, ready to run.
    pub(crate) fn start() -> Result<Self, Error> {
        Self::import(Stage::Imported)
    }

    fn import(stage: Stage) -> Result<Self, Error> {
        let Prepared { context, modules, tasks, rejections, entry } = match PREPARED.take() {
            Some(prepared) => prepared,
            None => Prepared::new()?,
        };
        let mut context = context;
        tasks.enter(stage);
        let file = source::main();
        let flow = modules.module(&file, &mut context);
        let flow = flow.map_err(|error| failures::lower(error, &mut context))?;
        let flow = evaluate(&flow, &file, &mut context).map_err(|error| of_a_type(error, &file))?;
        Ok(Self { context: ManuallyDrop::new(context), tasks, rejections, entry, flow, file })
    }

    fn describe(mut self) -> Result<String, Error> {
        let name = giving::text(modules::stem(&self.file));
        let manifest = self.enter("describe", name);
        let manifest = manifest.and_then(|manifest| reading::text(&manifest, "the manifest"));
        manifest.map_err(|error| failures::lower(error, &mut self.context))
    }

    /// Runs the flow to its end; the answer is JSON.
    pub(crate) async fn run(mut self, task: &str) -> Result<String, Error> {
        self.tasks.enter(Stage::Running);
        let outcome = match self.enter("run", giving::text(task)) {
            Ok(promise) => self.settle(&promise).await,
            Err(error) => Err(error),
        };
        let outcome = outcome.and_then(|answer| reading::text(&answer, "the answer"));
        let outcome = outcome.map_err(|error| failures::lower(error, &mut self.context));
        self.say_unheard();
        self.tasks.drop_calls();
        outcome
    }

    /// Calls a function of the SDK's entry with what the flow's module exports.
    fn enter(&mut self, function: &str, argument: JsValue) -> JsResult<JsValue> {
        let context = &mut self.context;
        let entry = self.entry.get(boa_engine::JsString::from(function), context)?;
        let function = entry.as_object().ok_or_else(|| reading::wrong(function, "a function", &entry))?;
        function.call(&JsValue::undefined(), &[self.flow.clone().into(), argument], context)
    }

    /// Waits for a promise, and for whatever it waits for.
    async fn settle(&mut self, promise: &JsValue) -> JsResult<JsValue> {
        let object = promise.as_object().ok_or_else(|| reading::wrong("what the flow gives", "a promise", promise))?;
        let promise = JsPromise::from_object(object.clone())?;
        loop {
            self.context.run_jobs()?;
            match promise.state() {
                PromiseState::Fulfilled(value) => return Ok(value),
                PromiseState::Rejected(error) => {
                    self.rejections.hear(&object);
                    return Err(JsError::from_opaque(error));
                }
                PromiseState::Pending => {}
            }
            if !self.tasks.next(&mut self.context).await {
                return Err(boa_engine::JsNativeError::error()
                    .with_message("the flow waits for a promise that nothing is going to settle")
                    .into());
            }
        }
    }

    /// Failures that the flow did not wait for are not its own, but its author wants to know.
    fn say_unheard(&mut self) {
        for promise in self.rejections.take().into_iter().take(UNHEARD) {
            let state = JsPromise::from_object(promise).map(|promise| promise.state());
            if let Ok(PromiseState::Rejected(error)) = state {
                let error = failures::lower(JsError::from_opaque(error), &mut self.context);
                host::log(&format!("a promise failed and nobody waited for it: {}", error.message));
            }
        }
    }
}

/// Runs a module and gives what it exports.
fn evaluate(module: &Module, name: &str, context: &mut Context) -> Result<JsObject, Error> {
    let promise = module.load_link_evaluate(context);
    context.run_jobs().map_err(|error| failures::lower(error, context))?;
    match promise.state() {
        PromiseState::Fulfilled(_) => Ok(module.namespace(context)),
        PromiseState::Rejected(error) => Err(failures::lower(JsError::from_opaque(error), context)),
        PromiseState::Pending => Err(failures::failed(format!(
            "{name} waits while it is imported, for what nothing is going to settle: wait in the flow's function instead"
        ))),
    }
}

/// What TypeScript does not find at run time is most often a type.
fn of_a_type(mut error: Error, file: &str) -> Error {
    if modules::is_typed(file) && error.message.contains("could not find export") {
        error.message.push_str("; what is only a type is imported by `import type`");
    }
    error
}
