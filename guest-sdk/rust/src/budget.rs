//! Limits to set.

use std::time::Duration;

use crate::{Budget, Grace};

impl Default for Budget {
    /// Limits nothing.
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// Limits nothing yet.
    ///
    /// ```
    /// # use flowhost::Budget;
    /// # use std::time::Duration;
    /// let budget = Budget::new().with_cost(0.5).with_turns(20).with_duration(Duration::from_secs(600));
    /// assert_eq!(budget.duration_ms, Some(600_000));
    /// ```
    pub fn new() -> Self {
        Self { cost: None, output_tokens: None, turns: None, duration_ms: None, grace: Grace::Finish }
    }

    /// At most so many US dollars.
    pub fn with_cost(mut self, dollars: f64) -> Self {
        self.cost = Some(dollars);
        self
    }

    /// At most so many tokens written.
    pub fn with_output_tokens(mut self, tokens: u64) -> Self {
        self.output_tokens = Some(tokens);
        self
    }

    /// At most so many turns.
    pub fn with_turns(mut self, turns: u32) -> Self {
        self.turns = Some(turns);
        self
    }

    /// At most so long, from the start of what it limits.
    pub fn with_duration(mut self, duration: Duration) -> Self {
        self.duration_ms = Some(crate::context::millis(duration));
        self
    }

    /// Interrupts the turn under way when a limit is reached, instead of letting it finish.
    pub fn cut(mut self) -> Self {
        self.grace = Grace::Cut;
        self
    }
}
