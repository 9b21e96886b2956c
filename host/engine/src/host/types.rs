//! `types`: the contract's values to `core`'s and back.

use std::{sync::Arc, time::Duration};

use flowhost_core::{
    answer::Schema,
    error as core,
    turn::{self, TurnOptions},
    usage::{self, Limits, Usd},
};

use crate::{
    bindings::flowhost::flow::{agents, types},
    store::State,
};

impl types::Host for State {}

/// Pairs of enums with the same cases, in both directions.
macro_rules! same_cases {
    ($($ours:path = $theirs:path { $($case:ident),* $(,)? })*) => {$(
        impl From<$ours> for $theirs {
            fn from(ours: $ours) -> Self {
                match ours { $(<$ours>::$case => Self::$case),* }
            }
        }
        impl From<$theirs> for $ours {
            fn from(theirs: $theirs) -> Self {
                match theirs { $(<$theirs>::$case => Self::$case),* }
            }
        }
    )*};
}
pub(crate) use same_cases;

same_cases! {
    core::SessionFault = types::SessionFault { Busy, Closed, NotYours, NeverRan, RefusedDir, Idle, Other }
    core::HarnessFault = types::HarnessFault {
        NotInstalled, NotLoggedIn, ModelUnavailable, Throttled, Overloaded, Contended, ContextFull, Killed, Dropped, Hung,
        Interrupted, BadOutput, Unsupported, Other,
    }
    core::EnvFault = types::EnvFault {
        NotFound, Denied, Outside, TimedOut, NotStarted, Conflict, TooLarge, Unavailable, Interrupted, Other,
    }
    core::FlowFault = types::FlowFault { NotFound, BadRef, TooDeep, Trapped, Exceeded, Interrupted, Other }
    core::Limit = types::Limit { Cost, OutputTokens, Turns, Duration }
    usage::CostSource = types::CostSource { Reported, Priced, Mixed, MadeUp, Unknown }
    usage::Grace = types::Grace { Finish, Cut }
}

impl From<core::Error> for types::Error {
    fn from(error: core::Error) -> Self {
        use types::ErrorKind as Kind;
        let kind = match error.kind {
            core::Kind::Session(fault) => Kind::Session(fault.into()),
            core::Kind::Harness(failure) => Kind::Harness(types::HarnessFailure {
                fault: failure.fault.into(),
                retry_after_ms: failure.retry_after_ms,
            }),
            core::Kind::Env(fault) => Kind::Env(fault.into()),
            core::Kind::Budget(spent) => {
                Kind::Budget(types::SpentLimit { limit: spent.limit.into(), whose: spent.whose })
            }
            core::Kind::Requirement => Kind::Requirement,
            core::Kind::NotGranted => Kind::NotGranted,
            core::Kind::Flow(fault) => Kind::Flow(fault.into()),
            core::Kind::Failed => Kind::Failed,
            core::Kind::Stopped => Kind::Stopped,
            core::Kind::Other => Kind::Other,
        };
        Self { kind, message: error.message }
    }
}

impl From<types::Error> for core::Error {
    fn from(error: types::Error) -> Self {
        use types::ErrorKind as Kind;
        let kind = match error.kind {
            Kind::Session(fault) => core::Kind::Session(fault.into()),
            Kind::Harness(failure) => core::Kind::Harness(core::HarnessFailure {
                fault: failure.fault.into(),
                retry_after_ms: failure.retry_after_ms,
            }),
            Kind::Env(fault) => core::Kind::Env(fault.into()),
            Kind::Budget(spent) => {
                core::Kind::Budget(core::SpentLimit { limit: spent.limit.into(), whose: spent.whose })
            }
            Kind::Requirement => core::Kind::Requirement,
            Kind::NotGranted => core::Kind::NotGranted,
            Kind::Flow(fault) => core::Kind::Flow(fault.into()),
            Kind::Failed => core::Kind::Failed,
            Kind::Stopped => core::Kind::Stopped,
            Kind::Other => core::Kind::Other,
        };
        Self { kind, message: error.message }
    }
}

impl From<usage::Usage> for types::Usage {
    fn from(usage: usage::Usage) -> Self {
        Self {
            turns: usage.turns,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cost: usage.cost.dollars(),
            cost_source: usage.cost_source.into(),
            duration_ms: usage.duration_ms,
        }
    }
}

impl From<usage::Allowance> for types::Allowance {
    fn from(left: usage::Allowance) -> Self {
        Self {
            cost: left.cost.map(Usd::dollars),
            output_tokens: left.output_tokens,
            turns: left.turns,
            duration_ms: left.duration.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

impl From<types::Budget> for Limits {
    fn from(budget: types::Budget) -> Self {
        Self {
            cost: budget.cost.map(Usd::from_dollars),
            output_tokens: budget.output_tokens,
            turns: budget.turns,
            duration: budget.duration_ms.map(Duration::from_millis),
            grace: budget.grace.into(),
        }
    }
}

/// How a turn is taken; fails where its schema is not one.
pub(crate) fn turn_options(options: agents::TurnOptions) -> core::Result<TurnOptions> {
    Ok(TurnOptions {
        schema: options.schema.as_deref().map(Schema::read).transpose()?,
        limits: options.budget.map(Limits::from),
        expected: options.expected_cost.map(Usd::from_dollars),
    })
}

impl From<turn::Answer> for agents::Answer {
    fn from(answer: turn::Answer) -> Self {
        Self {
            text: String::from(&*answer.text),
            value: answer.value.map(|value: Arc<_>| value.get().to_owned()),
            usage: answer.usage.into(),
        }
    }
}
