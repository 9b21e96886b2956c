//! The contract as plain functions of JavaScript: the module that the SDK's own modules import as `native`.
//!
//! Each takes the object it is a method of first, then its arguments, which are held to the contract's types here.

mod agents;
mod context;
mod engine;
mod envs;
mod flows;
mod sessions;
mod waiting;
mod watches;

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsValue, Module, NativeFunction, module::SyntheticModuleInitializer,
    native_function::NativeFunctionPointer, object::FunctionObjectBuilder,
};

use crate::{
    bindings::flowhost::flow::types::Error,
    failures,
    tasks::{Stage, tasks},
};

/// A function's name here, what the author calls it, and itself.
type Function = (&'static str, &'static str, NativeFunctionPointer);

const TABLES: [&[Function]; 8] = [
    agents::FUNCTIONS,
    context::FUNCTIONS,
    engine::FUNCTIONS,
    envs::FUNCTIONS,
    flows::FUNCTIONS,
    sessions::FUNCTIONS,
    waiting::FUNCTIONS,
    watches::FUNCTIONS,
];

/// The module of all of them.
pub(crate) fn module(context: &mut Context) -> Module {
    let functions = || TABLES.iter().copied().flatten();
    let names: Vec<JsString> = functions().map(|(name, ..)| JsString::from(*name)).collect();
    let fill = SyntheticModuleInitializer::from_copy_closure(move |module, context| {
        for (name, says, function) in functions() {
            let guarded = NativeFunction::from_copy_closure(move |this, arguments, context| {
                allowed(says, context)?;
                function(this, arguments, context)
            });
            let function = FunctionObjectBuilder::new(context.realm(), guarded).name(JsString::from(*name)).build();
            module.set_export(&JsString::from(*name), function.into())?;
        }
        Ok(())
    });
    Module::synthetic(&names, fill, None, None, context)
}

/// What belongs to the engine is there always; a call of the contract only once the flow runs: while a module is imported nothing is
/// granted, and what is read then must be the same each time.
fn allowed(says: &str, context: &Context) -> JsResult<()> {
    if says == engine::ALWAYS || tasks(context).stage() == Stage::Running {
        return Ok(());
    }
    let message = format!("{says} is called while the file is imported: call it in the flow's function");
    Err(JsNativeError::error().with_message(message).into())
}

/// An argument; undefined where it is not given.
fn argument(arguments: &[JsValue], at: usize) -> JsValue {
    arguments.get(at).cloned().unwrap_or_default()
}

/// What a call that does not wait gave.
fn answered<T>(answer: Result<T, Error>, context: &mut Context) -> JsResult<T> {
    answer.map_err(|error| failures::raised(error, context))
}
