//! What most flows use: `use flowhost::prelude::*;`.

pub use std::collections::BTreeMap;
pub use std::time::Duration;

pub use crate::{
    Agent, Answer, Awaited, Branch, Budget, Callee, Context, Env, Error, Failures, Moment, Occasion, Output, Process,
    Result, Session, Settings, Spawn, SteerMode, Turn, Unanswered, Watch, WhenBusy, answer, flow, gather, git, group,
    join, load, log, now, params, sleep, timeout, wait_any,
};
