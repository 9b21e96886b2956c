//! What tokens cost where a harness does not say ($4).
//!
//! The table is that of the crate `genai-prices`, embedded: list prices by provider and model, in force on the day of the run.
//! A newer table comes with a newer version of the crate.

use flowhost_core::usage::{CostSource, Usage, Usd};
use genai_prices::{Calculator, PriceRequest, UsageKey};

/// The same usage with the cost of its tokens, if its cost is not known and that of the model is. `model` is as its provider
/// spells it, perhaps after the provider: `anthropic/claude-sonnet-4-5`.
pub(crate) fn priced(usage: Usage, model: &str) -> Usage {
    if usage.cost_source != CostSource::Unknown {
        return usage;
    }
    match price(&usage, model) {
        Some(cost) => Usage { cost, cost_source: CostSource::Priced, ..usage },
        None => usage,
    }
}

fn price(usage: &Usage, model: &str) -> Option<Usd> {
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, .. } = *usage;
    // The table counts what is cached among the input.
    let read = input_tokens.saturating_add(cache_read_tokens).saturating_add(cache_write_tokens);
    let tokens = genai_prices::Usage::from([
        (UsageKey::INPUT_TOKENS, read as f64),
        (UsageKey::OUTPUT_TOKENS, output_tokens as f64),
        (UsageKey::CACHE_READ_TOKENS, cache_read_tokens as f64),
        (UsageKey::CACHE_WRITE_TOKENS, cache_write_tokens as f64),
    ]);
    let table = Calculator::bundled();
    let by_name = || table.calculate(&PriceRequest::new(model, &tokens));
    let found = match model.split_once('/') {
        Some((provider, name)) => {
            table.calculate(&PriceRequest::new(name, &tokens).with_provider_id(provider)).or_else(|_| by_name())
        }
        None => by_name(),
    };
    let cost = found.ok()?.total_price;
    (cost.is_finite() && cost >= 0.0).then(|| Usd::from_dollars(cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: u64 = 1_000_000;

    fn cost(usage: Usage, model: &str) -> (f64, CostSource) {
        let priced = priced(usage, model);
        (priced.cost.dollars(), priced.cost_source)
    }

    #[test]
    fn tokens_cost_what_the_table_says_and_cached_ones_less() {
        let fresh = Usage { input_tokens: MILLION, ..Usage::default() };
        let cached = Usage { cache_read_tokens: MILLION, ..Usage::default() };
        let (dear, source) = cost(fresh, "claude-opus-4-1");
        assert_eq!((dear, source), (15.0, CostSource::Priced));
        let (cheap, _) = cost(cached, "claude-opus-4-1");
        assert_eq!(cheap, 1.5);
        assert_eq!(cost(fresh, "anthropic/claude-opus-4-1").0, dear);
        assert_eq!(cost(Usage { output_tokens: MILLION, ..fresh }, "claude-opus-4-1").0, 90.0);
    }

    #[test]
    fn a_model_that_is_not_in_the_table_has_no_price_and_a_cost_that_was_said_stays() {
        let usage = Usage { output_tokens: MILLION, ..Usage::default() };
        for unknown in ["", "/", "my-own-model", "nobody/my-own-model"] {
            assert_eq!(cost(usage, unknown), (0.0, CostSource::Unknown), "{unknown}");
        }
        let said = Usage { cost: Usd::from_dollars(0.5), cost_source: CostSource::Reported, ..usage };
        assert_eq!(priced(said, "claude-opus-4-1"), said);
        let absurd = Usage { output_tokens: u64::MAX, input_tokens: u64::MAX, ..Usage::default() };
        assert!(priced(absurd, "claude-opus-4-1").cost > Usd::from_dollars(1e9));
    }
}
