//! Figures as people read them: `45.8k`, `$0.02`, `6s`.

use std::time::Duration;

use flowhost_core::usage::{CostSource, Usage, Usd};

/// `266`, `45.8k`, `1.2m`.
pub fn count(count: u64) -> String {
    let scaled = |unit: f64, letter: char| {
        let tenths = (count as f64 / unit * 10.0).floor() / 10.0;
        let whole = tenths.trunc();
        if tenths >= 100.0 || tenths == whole { format!("{whole}{letter}") } else { format!("{tenths:.1}{letter}") }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => scaled(1e3, 'k'),
        1_000_000..1_000_000_000 => scaled(1e6, 'm'),
        _ => scaled(1e9, 'b'),
    }
}

/// `$0.02`; what is less than a cent with two digits that say something, `$0.0042`.
pub fn usd(cost: Usd) -> String {
    let dollars = cost.dollars();
    if cost == Usd::ZERO || dollars >= 0.01 {
        return format!("${dollars:.2}");
    }
    let places = (-dollars.log10()).ceil() as usize + 1;
    format!("${dollars:.places$}")
}

/// `0.4s`, `6s`, `1m 12s`, `2h 5m`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.as_millis() < 1 => "0s".into(),
        0 if time.as_millis() < 100 => format!("{}ms", time.as_millis()),
        0 => format!("0.{}s", time.subsec_millis() / 100),
        1..60 => format!("{seconds}s"),
        60..3600 if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ if seconds % 3600 < 60 => format!("{}h", seconds / 3600),
        _ => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 turn`, `2 turns`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// `input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02`; empty where nothing was said of it. What is 0 of the
/// cache is left out, and a cost says where it comes from unless the harness or a price table gave it.
pub fn usage(usage: &Usage) -> String {
    let mut parts = Vec::new();
    if usage.input_tokens > 0 || usage.output_tokens > 0 {
        parts.push(format!("input {}", count(usage.input_tokens)));
        parts.push(format!("output {}", count(usage.output_tokens)));
    }
    for (name, tokens) in [("cache_read", usage.cache_read_tokens), ("cache_write", usage.cache_write_tokens)] {
        if tokens > 0 {
            parts.push(format!("{name} {}", count(tokens)));
        }
    }
    match (usage.cost_source, usage.cost) {
        (CostSource::Unknown, Usd::ZERO) if parts.is_empty() => {}
        (CostSource::Unknown, Usd::ZERO) => parts.push("cost unknown".into()),
        (CostSource::Unknown, cost) => parts.push(format!("{} or more", usd(cost))),
        (CostSource::MadeUp, cost) => parts.push(format!("{} made up", usd(cost))),
        (_, cost) => parts.push(usd(cost)),
    }
    parts.join(" · ")
}

/// `output 266 · $0.02`: the same where there is little room.
pub fn brief(spent: &Usage) -> String {
    usage(&Usage { input_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, ..*spent }).replace("input 0 · ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let written = [0, 6, 999, 1_000, 4_100, 45_800, 123_456, 999_999, 1_200_000, 3_000_000_000].map(count);
        assert_eq!(written, ["0", "6", "999", "1k", "4.1k", "45.8k", "123k", "999k", "1.2m", "3b"]);
    }

    #[test]
    fn money_keeps_the_digits_that_say_something() {
        let written = [0.0, 0.02, 1.0, 12.345, 0.0042, 0.00001].map(|dollars| usd(Usd::from_dollars(dollars)));
        assert_eq!(written, ["$0.00", "$0.02", "$1.00", "$12.35", "$0.0042", "$0.000010"]);
    }

    #[test]
    fn times_are_short() {
        let written =
            [0, 40, 450, 6_900, 60_000, 72_000, 7_500_000, 86_400_000].map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(written, ["0s", "40ms", "0.4s", "6s", "1m", "1m 12s", "2h 5m", "24h"]);
    }

    #[test]
    fn usage_says_where_its_cost_comes_from() {
        let mut spent = Usage {
            input_tokens: 6,
            output_tokens: 266,
            cache_read_tokens: 45_800,
            cache_write_tokens: 4_100,
            cost: Usd::from_dollars(0.02),
            cost_source: CostSource::Reported,
            ..Usage::default()
        };
        assert_eq!(usage(&spent), "input 6 · output 266 · cache_read 45.8k · cache_write 4.1k · $0.02");
        assert_eq!(brief(&spent), "output 266 · $0.02");
        spent.cost_source = CostSource::MadeUp;
        assert!(usage(&spent).ends_with("· $0.02 made up"));
        spent.cost_source = CostSource::Unknown;
        assert!(usage(&spent).ends_with("· $0.02 or more"));
        spent.cost = Usd::ZERO;
        assert!(usage(&spent).ends_with("· cost unknown"));
        assert_eq!(usage(&Usage::default()), "");
    }
}
