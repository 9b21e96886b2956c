//! Money, counts, times and sizes as people write them: `$5`, `1.5m`, `1h30m`, `1GiB`.

use std::time::Duration;

use crate::usage::Usd;

/// US dollars: `$5`, `0.50`.
pub fn usd(text: &str) -> Result<Usd, String> {
    let wrong = || format!("{text}: not an amount of US dollars, such as $5 or 0.50");
    let figure = decimal(text.strip_prefix('$').unwrap_or(text)).ok_or_else(wrong)?;
    Ok(Usd::from_dollars(figure))
}

/// A whole number, perhaps in thousands, millions or billions: `50`, `200k`, `1.5m`.
pub fn count(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text}: not a whole number, such as 50, 200k or 1.5m");
    let (figure, unit) = split_unit(text);
    let times = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "b" | "g" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    scaled(figure, times).ok_or_else(wrong)
}

/// A time: `90s`, `30m`, `1h30m`, `1.5h`, `250ms`. A number without a unit is refused.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: not a time, such as 90s, 30m or 1h30m");
    let mut rest = text;
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let (figure, after) = split_unit(rest);
        let unit = &after[..after.find(|each: char| !each.is_alphabetic()).unwrap_or(after.len())];
        rest = &after[unit.len()..];
        let nanos: u64 = match unit {
            "ms" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => 86_400_000_000_000,
            "" if sum.is_zero() && decimal(figure).is_some() => {
                return Err(format!("{text}: a time has a unit, such as {text}s or {text}m"));
            }
            _ => return Err(wrong()),
        };
        let part = decimal(figure).ok_or_else(wrong)? * nanos as f64;
        // A year at most: nothing waits longer, and sums of it cannot overflow.
        if part > 366.0 * 86_400e9 {
            return Err(format!("{text}: more than a year"));
        }
        sum += Duration::from_nanos(part.round() as u64);
    }
    if text.is_empty() { Err(wrong()) } else { Ok(sum) }
}

/// A time as [`duration`] reads it, exact to the nanosecond: `1h30m`, `20ms`, `0s`.
pub fn written(time: Duration) -> String {
    let mut rest = time.as_nanos();
    let mut text = String::new();
    for (unit, nanos) in [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000)] {
        let whole = rest / nanos;
        rest %= nanos;
        if whole > 0 {
            text.push_str(&format!("{whole}{unit}"));
        }
    }
    if rest > 0 {
        let (whole, part) = (rest / 1_000_000, rest % 1_000_000);
        let part = format!("{part:06}");
        let part = part.trim_end_matches('0');
        text.push_str(&if part.is_empty() { format!("{whole}ms") } else { format!("{whole}.{part}ms") });
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Bytes: `1GiB`, `512MiB`, `64k`, `4096`. `k`, `m`, `g` and `KiB` are powers of 1024, `kB` and the like of 1000.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text}: not a size, such as 512MiB or 1GiB");
    let (figure, unit) = split_unit(text);
    let times = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    scaled(figure, times).ok_or_else(wrong)
}

fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|each: char| !(each.is_ascii_digit() || matches!(each, '.' | '_'))).unwrap_or(text.len()))
}

/// Digits with at most one point, `_` between them. No sign, no exponent: neither is ever meant.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.bytes().any(|each| each.is_ascii_digit());
    let only = text.bytes().all(|each| each.is_ascii_digit() || matches!(each, b'.' | b'_'));
    if !digits || !only {
        return None;
    }
    text.replace('_', "").parse().ok().filter(|figure: &f64| figure.is_finite())
}

fn scaled(figure: &str, times: u64) -> Option<u64> {
    if let Ok(whole) = figure.replace('_', "").parse::<u64>() {
        return whole.checked_mul(times);
    }
    let product = decimal(figure)? * times as f64;
    let whole = product.round();
    // 2^53: beyond it the product is no longer exact.
    ((product - whole).abs() < 1e-6 && whole < 9_007_199_254_740_992.0).then_some(whole as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money() {
        assert_eq!(usd("$5"), Ok(Usd::from_dollars(5.0)));
        assert_eq!(usd("0.50"), Ok(Usd::from_dollars(0.5)));
        assert_eq!(usd("0"), Ok(Usd::ZERO));
        for wrong in ["", "$", "-1", "$-1", "nan", "inf", "1e9", "five", "1.2.3", "5 "] {
            assert!(usd(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("50"), Ok(50));
        assert_eq!(count("200k"), Ok(200_000));
        assert_eq!(count("1.5m"), Ok(1_500_000));
        assert_eq!(count("1_000"), Ok(1_000));
        assert_eq!(count("0.29m"), Ok(290_000));
        for wrong in ["", "k", "1.5", "-2", "2x", "99999999999999999999", "18446744073709551615k"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(duration("30").unwrap_err(), "30: a time has a unit, such as 30s or 30m");
        for wrong in ["", "s", "5y", "-1s", "1h-5m", "1h30", "999999d", "1..5s", "é", "1é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_is_written_as_it_is_read() {
        for (nanos, text) in
            [(0, "0s"), (5_400_000_000_000, "1h30m"), (20_000_000, "20ms"), (61_000_500_000, "1m1s0.5ms")]
        {
            let time = Duration::from_nanos(nanos);
            assert_eq!(written(time), text);
            assert_eq!(duration(text), Ok(time));
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        assert_eq!(bytes("64k"), Ok(65_536));
        assert_eq!(bytes("1.5MiB"), Ok(1_572_864));
        assert_eq!(bytes("2MB"), Ok(2_000_000));
        assert_eq!(bytes("4096"), Ok(4096));
        for wrong in ["", "1TiB", "-1k", "0.3", "99999999999999999999"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
