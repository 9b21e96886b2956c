//! The names of things in the record of a run.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! counted {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(to, concat!($letter, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                text.strip_prefix($letter)
                    .and_then(|number| number.parse().ok())
                    .map(Self)
                    .ok_or_else(|| format!("{text}: not a name such as {}12", $letter))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

counted! {
    /// A session, counted within the run: `s12`.
    SessionId, "s"
}
counted! {
    /// A turn, counted within the run: `t40`.
    TurnId, "t"
}
counted! {
    /// Any other call that is recorded, counted within the run: `c7`.
    CallId, "c"
}

/// A run: `YYYYMMDD-HHMMSS-xxxx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub Arc<str>);

impl RunId {
    /// The name of a run that starts at `stamp`, a time as `YYYYMMDD-HHMMSS`; `salt` tells apart those that start in one
    /// second.
    pub fn new(stamp: &str, salt: u16) -> Self {
        Self(format!("{stamp}-{salt:04x}").into())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

/// A branch's place in its run, by order of calls: `1` is the root, `1.3.2` the second call of its third call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(pub Arc<str>);

impl BranchId {
    /// The root of a run.
    pub fn root() -> Self {
        Self("1".into())
    }

    /// The `nth` call (from 1) that this branch makes.
    #[must_use]
    pub fn call(&self, nth: u32) -> Self {
        Self(format!("{}.{nth}", self.0).into())
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}
