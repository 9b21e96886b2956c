//! `--budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut`, `--budget none` and `-p budget.cost=1`.

use flowhost_core::usage::{Grace, Limits};

use super::{measure, near};
use crate::exit::Failure;

/// What a budget may say, as it is written.
const KEYS: [&str; 5] = ["cost", "output-tokens", "duration", "turns", "grace"];
const EXAMPLE: &str = "Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none";

/// What the person said about the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    /// Nothing.
    #[default]
    Unsaid,
    /// That nothing is limited.
    None,
    /// These limits.
    Limits(Limits),
}

impl Budget {
    /// Puts together all that was said; one thing said twice, and `none` beside a limit, is refused.
    pub fn read<'a>(flags: impl IntoIterator<Item = &'a str>, params: &[(String, String)]) -> Result<Self, Failure> {
        let mut reader = Reader::default();
        for flag in flags {
            if flag == "none" {
                reader.none = true;
                continue;
            }
            for part in flag.split(',') {
                let part = part.trim();
                match part.split_once('=') {
                    Some((key, value)) => reader.take(key, value)?,
                    // The one measure that cannot be taken for another.
                    None if part.starts_with('$') => reader.take("cost", part)?,
                    None => {
                        return Err(Failure::refused(format!("--budget {flag}: {part:?} does not say what it limits"))
                            .hint(EXAMPLE));
                    }
                }
            }
        }
        for (key, value) in params {
            reader.take(key, value)?;
        }
        reader.end()
    }

    /// The limits; none of them where nothing was said.
    pub fn limits(&self) -> Limits {
        match self {
            Self::Limits(limits) => *limits,
            Self::Unsaid | Self::None => Limits::default(),
        }
    }
}

#[derive(Default)]
struct Reader {
    limits: Limits,
    said: Vec<&'static str>,
    none: bool,
}

impl Reader {
    fn take(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        let written = key.replace('_', "-");
        let Some(known) = KEYS.into_iter().find(|each| *each == written) else {
            return Err(
                Failure::refused(format!("budget: nothing is called {key:?}")).hint(near::hint("limits", key, &KEYS))
            );
        };
        if self.said.contains(&known) {
            return Err(Failure::refused(format!("budget: {known} is given twice")).hint("Give it once"));
        }
        self.said.push(known);
        let wrong = |error: String| Failure::refused(format!("budget: {known}={error}")).hint(EXAMPLE);
        let limits = &mut self.limits;
        match known {
            "cost" => limits.cost = Some(measure::usd(value).map_err(wrong)?),
            "output-tokens" => limits.output_tokens = Some(measure::count(value).map_err(wrong)?),
            "duration" => limits.duration = Some(measure::duration(value).map_err(wrong)?),
            "turns" => {
                let turns = measure::count(value).map_err(wrong)?;
                limits.turns = Some(u32::try_from(turns).map_err(|_| wrong(format!("{value}: too many")))?);
            }
            _ => {
                limits.grace = match value {
                    "finish" => Grace::Finish,
                    "cut" => Grace::Cut,
                    _ => return Err(wrong(format!("{value}: neither finish nor cut"))),
                }
            }
        }
        Ok(())
    }

    fn end(self) -> Result<Budget, Failure> {
        match (self.none, self.limits.is_none()) {
            (true, _) if !self.said.is_empty() => {
                Err(Failure::refused(format!("budget: none, and {} beside it", self.said.join(", ")))
                    .hint("Say --budget none, or the limits"))
            }
            (true, _) => Ok(Budget::None),
            (false, false) => Ok(Budget::Limits(self.limits)),
            (false, true) if self.said.is_empty() => Ok(Budget::Unsaid),
            (false, true) => Err(Failure::refused("budget: grace alone limits nothing").hint(EXAMPLE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flowhost_core::usage::Usd;
    use insta::assert_snapshot;

    use super::*;

    fn refusal(flags: &[&str], params: &[(&str, &str)]) -> String {
        let failure = read(flags, params).unwrap_err();
        assert_eq!(failure.exit.code(), 2);
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    fn read(flags: &[&str], params: &[(&str, &str)]) -> Result<Budget, Failure> {
        let params: Vec<_> = params.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Budget::read(flags.iter().copied(), &params)
    }

    #[test]
    fn every_limit_can_be_written_in_its_own_measure() {
        let all = Limits {
            cost: Some(Usd::from_dollars(1.0)),
            output_tokens: Some(200_000),
            turns: Some(50),
            duration: Some(Duration::from_secs(1800)),
            grace: Grace::Cut,
        };
        let said = read(&["cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut"], &[]);
        assert_eq!(said, Ok(Budget::Limits(all)));
        let params =
            [("cost", "$1"), ("output_tokens", "0.2m"), ("duration", "1800s"), ("turns", "50"), ("grace", "cut")];
        assert_eq!(read(&[], &params), Ok(Budget::Limits(all)));
        assert_eq!(read(&["$5"], &[]).unwrap().limits().cost, Some(Usd::from_dollars(5.0)));
        assert_eq!(read(&["none"], &[]), Ok(Budget::None));
        assert_eq!(read(&[], &[]), Ok(Budget::Unsaid));
        assert_eq!(read(&["turns=5", "cost=1"], &[("duration", "1h30m")]).unwrap().limits().turns, Some(5));
    }

    #[test]
    fn what_is_unknown_or_contradicts_itself_is_refused() {
        assert_snapshot!(refusal(&["costs=1"], &[]), @r#"
        error: budget: nothing is called "costs"
        Hint: Did you mean cost?
        "#);
        assert_snapshot!(refusal(&["5"], &[]), @r#"
        error: --budget 5: "5" does not say what it limits
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        "#);
        assert_snapshot!(refusal(&["cost=lots"], &[]), @"
        error: budget: cost=lots: not an amount of US dollars, such as $5 or 0.50
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        ");
        assert_snapshot!(refusal(&["cost=1"], &[("cost", "2")]), @"
        error: budget: cost is given twice
        Hint: Give it once
        ");
        assert_snapshot!(refusal(&["none", "turns=3"], &[]), @"
        error: budget: none, and turns beside it
        Hint: Say --budget none, or the limits
        ");
        assert_snapshot!(refusal(&["grace=cut"], &[]), @"
        error: budget: grace alone limits nothing
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        ");
        assert_snapshot!(refusal(&["grace=now,cost=1"], &[]), @"
        error: budget: grace=now: neither finish nor cut
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        ");
        assert_snapshot!(refusal(&["duration=30,cost=1"], &[]), @"
        error: budget: duration=30: a time has a unit, such as 30s or 30m
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        ");
        assert_snapshot!(refusal(&["turns=9999999999"], &[]), @"
        error: budget: turns=9999999999: too many
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        ");
        assert_snapshot!(refusal(&[""], &[]), @r#"
        error: --budget : "" does not say what it limits
        Hint: Such as --budget cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or --budget none
        "#);
        assert_snapshot!(refusal(&[], &[("weather", "fair")]), @r#"
        error: budget: nothing is called "weather"
        Hint: The limits are cost, output-tokens, duration, turns, grace
        "#);
    }
}
