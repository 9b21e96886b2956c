//! What turns spend and what limits it: [`Usage`], [`Limits`], [`Allowance`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// US dollars, kept as whole billionths so that sums are exact whatever order they are made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(pub u64);

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than anybody has.
    pub const MAX: Self = Self(u64::MAX);

    /// From what a harness or a flow says in dollars. What is not a number, or negative, is nothing; what is absurd is
    /// [`Usd::MAX`]: a figure from outside never becomes credit.
    pub fn from_dollars(dollars: f64) -> Self {
        // A cast from float saturates and takes NaN to 0.
        Self((dollars * 1e9).round() as u64)
    }

    /// In dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The sum, which stays at [`Usd::MAX`] once there.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left after `other`, or nothing.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Serialize for Usd {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::from_dollars(f64::deserialize(from)?))
    }
}

/// What a turn, a session, a branch or a run has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Usage {
    /// Prompts handed over, retries and repairs too (S9).
    pub turns: u32,
    /// Tokens read afresh; cached ones are apart.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens put into it.
    pub cache_write_tokens: u64,
    /// US dollars.
    pub cost: Usd,
    /// Where `cost` comes from.
    pub cost_source: CostSource,
    /// Time spent in turns, in milliseconds.
    pub duration_ms: u64,
}

impl Usage {
    /// Adds what another turn or branch has spent.
    pub fn add(&mut self, other: &Self) {
        self.cost_source = match (self.is_silent(), other.is_silent()) {
            (true, _) => other.cost_source,
            (_, true) => self.cost_source,
            _ => self.cost_source.with(other.cost_source),
        };
        self.turns = self.turns.saturating_add(other.turns);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.cost = self.cost.plus(other.cost);
        self.duration_ms = self.duration_ms.saturating_add(other.duration_ms);
    }

    /// Whether there is anything that could be charged for: tokens, or a cost.
    pub fn is_charged(&self) -> bool {
        let Self { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost, .. } = *self;
        cost > Usd::ZERO || [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens] != [0; 4]
    }

    /// Whether nobody knows what it costs ($4).
    pub fn is_unpriced(&self) -> bool {
        self.is_charged() && self.cost_source == CostSource::Unknown
    }

    /// Whether it says nothing about cost: no tokens, no cost, no source. Turns and time alone cost nothing.
    fn is_silent(&self) -> bool {
        let Self { turns, duration_ms, .. } = *self;
        *self == Self { turns, duration_ms, ..Self::default() }
    }
}

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostSource {
    /// The harness said it.
    Reported,
    /// A price table gave it.
    Priced,
    /// Some of both.
    Mixed,
    /// Nobody is charged: `demo` and `fake` make it up.
    MadeUp,
    /// Nobody knows; the cost is what is known, perhaps 0.
    #[default]
    Unknown,
}

impl CostSource {
    /// The source of a sum of two costs: one that is not known makes the sum unknown.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Mixed,
        }
    }
}

/// Limits to set; an absent one limits nothing ($1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Limits {
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// From the start of what it limits.
    #[serde(rename = "duration-ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// What becomes of the turn under way when a limit is reached ($3).
    pub grace: Grace,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        matches!(self, Self { cost: None, output_tokens: None, turns: None, duration: None, .. })
    }
}

/// What becomes of the turn under way when a limit is reached ($3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grace {
    /// It may finish.
    #[default]
    Finish,
    /// It is interrupted.
    Cut,
}

/// What is left to spend; an absent one is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Allowance {
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Time.
    #[serde(rename = "duration-ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_some(&u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_was_only_counted_leaves_the_source_of_a_cost_as_it_is() {
        let mut sum = Usage { turns: 1, duration_ms: 5, ..Usage::default() };
        sum.add(&Usage { cost: Usd::from_dollars(0.02), cost_source: CostSource::MadeUp, ..Usage::default() });
        assert_eq!(sum.cost_source, CostSource::MadeUp);
        sum.add(&Usage { turns: 1, ..Usage::default() });
        assert_eq!(sum.cost_source, CostSource::MadeUp);
        sum.add(&Usage { output_tokens: 5, ..Usage::default() });
        assert_eq!(sum.cost_source, CostSource::Unknown);
    }
}
