//! Resources of the contract as objects of JavaScript.
//!
//! The object is of the SDK's class and holds the handle inside, where no code of JavaScript can reach or forge it. It is dropped
//! with the object, and a call that is going holds it too: dropping a resource that a call borrows would end the flow.

use std::rc::Rc;

use boa_engine::{Context, Finalize, JsData, JsResult, JsValue, Trace, object::JsObject};

use crate::{
    bindings::flowhost::flow::{
        agents::{Agent, Occasion, Session, Turn, Watch},
        envs::{Env, Process},
        flows::{Branch, Callee},
    },
    reading::wrong,
    tasks::{Canceller, tasks},
};

/// What is inside an object of one of the SDK's classes.
#[derive(Clone, Trace, Finalize, JsData)]
#[boa_gc(unsafe_empty_trace)]
pub(crate) enum Handle {
    Agent(Rc<Agent>),
    Session(Rc<Session>),
    Turn(Rc<Turn>),
    Env(Rc<Env>),
    Process(Rc<Process>),
    Callee(Rc<Callee>),
    Branch(Rc<Branch>),
    Watch(Rc<Watch>),
    Occasion(Rc<Occasion>),
    Canceller(Rc<Canceller>),
}

impl Handle {
    /// That of an object, where it has one.
    pub(crate) fn inside(value: &JsValue) -> Option<Self> {
        let object = value.as_object()?;
        let handle = object.downcast_ref::<Self>()?;
        Some(handle.clone())
    }
}

/// A kind of handle.
pub(crate) trait Resource: Sized {
    /// The SDK's class.
    const CLASS: &'static str;

    fn handle(self) -> Handle;

    fn of(handle: Handle) -> Option<Rc<Self>>;

    /// That of an object of the class; `what` says what it is for.
    fn from_value(value: &JsValue, what: &str) -> JsResult<Rc<Self>> {
        let handle = Handle::inside(value).and_then(Self::of);
        handle.ok_or_else(|| wrong(what, &format!("an object of the class {}", Self::CLASS), value))
    }

    /// An object of the class.
    fn give(self, context: &mut Context) -> JsValue {
        let prototype = tasks(context).class(Self::CLASS);
        JsObject::from_proto_and_data(prototype, self.handle()).into()
    }
}

macro_rules! resources {
    ($($name:ident),*) => {$(
        impl Resource for $name {
            const CLASS: &'static str = stringify!($name);

            fn handle(self) -> Handle {
                Handle::$name(Rc::new(self))
            }

            fn of(handle: Handle) -> Option<Rc<Self>> {
                match handle {
                    Handle::$name(inside) => Some(inside),
                    _ => None,
                }
            }
        }
    )*};
}
resources!(Agent, Session, Turn, Env, Process, Callee, Branch, Watch, Occasion, Canceller);
