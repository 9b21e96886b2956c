//! What came of a scenario, held against what it expects.

use std::{fmt, time::Duration};

use flowhost_core::measure;
use serde_json::Value;

use crate::{
    expect::{Check, Expectation, Expected},
    lines::{self, Lines},
    outcome::{Outcome, error_document},
    pattern::{Text, same},
};

/// Something that came out in another way than was expected.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The line of the scenario file that expects it; none where it goes without saying.
    pub line: Option<usize>,
    /// What it is of: `result`, `log`, `agents.actor.prompts`.
    pub of: String,
    /// In words, where the two are not texts to be laid beside each other.
    pub said: Option<String>,
    /// What was expected, and what came, line by line.
    pub lines: Lines,
    /// The value that would have been right, where the expected one was given exactly.
    pub right: Option<Value>,
    /// Where the expected one stands below `expect`.
    pub(crate) path: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.of)?;
        if let Some(line) = self.line {
            write!(to, " (line {line})")?;
        }
        if let Some(said) = &self.said {
            write!(to, ": {said}")?;
        }
        self.lines.iter().try_for_each(|(sign, text)| write!(to, "\n{sign} {text}"))
    }
}

/// Holds an outcome against what was expected of it; nothing where all is as it should be.
///
/// A flow that cannot end by itself, and one that fails where no failure is expected, are differences whatever is expected.
pub fn compare(expected: &Expected, outcome: &Outcome) -> Vec<Difference> {
    let mut differences = Vec::new();
    let unsaid = |of: &str, said: String| Difference {
        line: None,
        of: of.to_owned(),
        said: Some(said),
        lines: Lines::default(),
        right: None,
        path: Vec::new(),
    };
    if let Some(stuck) = &outcome.stuck {
        differences.push(unsaid("end", format!("the flow never returns; {stuck}")));
    }
    if let (false, None, Err(error)) = (expected.ending, &outcome.stuck, &outcome.result) {
        let kind = error_document(error);
        let kind = [&kind["kind"], &kind["fault"], &kind["limit"]].map(Value::as_str).into_iter().flatten();
        let kind = kind.collect::<Vec<_>>().join(", ");
        differences.push(unsaid("result", format!("the flow failed ({kind}): {}", error.message)));
    }
    let seen = outcome.document();
    differences.extend(expected.all.iter().filter_map(|each| differs(each, &seen, outcome)));
    differences
}

fn differs(expectation: &Expectation, seen: &Value, outcome: &Outcome) -> Option<Difference> {
    let Expectation { path, line, seen: place, check } = expectation;
    let actual = place.iter().try_fold(seen, |value, key| value.get(key));
    let mut difference = Difference {
        line: Some(*line),
        of: path.join("."),
        said: None,
        lines: Lines::default(),
        right: None,
        path: path.clone(),
    };
    let Some(actual) = actual else {
        if matches!(check, Check::Absent) {
            return None;
        }
        difference.said = Some(nothing(&place[0], path, outcome));
        if place[0] == "result"
            && let Check::Exactly(wanted) = check
        {
            difference.lines = lines::differences(&format!("{wanted:#}"), "");
        }
        return Some(difference);
    };
    match check {
        Check::Exactly(wanted) => {
            if same(wanted, actual) || close(wanted, actual) {
                return None;
            }
            if wanted.is_number() && actual.is_number() {
                difference.said = Some(range([Some(figure(wanted)), None], &figure(actual)));
            } else {
                difference.lines = lines::differences(&shown(wanted), &shown(actual));
            }
            difference.right = Some(actual.clone());
        }
        Check::Like(like) => difference.said = Some(like.mismatch(actual)?),
        Check::Text(text) => {
            let said = actual.as_str().unwrap_or_default();
            if text.fits(said) {
                return None;
            }
            difference.lines = lines::differences(text.shown(), said);
            difference.right = text.is_exact().then(|| actual.clone());
        }
        Check::Lines(wanted) => {
            let said = texts(actual);
            if said.len() == wanted.len() && wanted.iter().zip(&said).all(|(wanted, said)| wanted.fits(said)) {
                return None;
            }
            difference.lines = lines::differences(&expected_lines(wanted, &said), &quoted(said.iter().copied()));
            difference.right = wanted.iter().all(Text::is_exact).then(|| actual.clone());
        }
        Check::AnyOrder(wanted) => {
            let said = texts(actual);
            let (missing, more) = lines::unmatched(wanted, &said);
            if missing.is_empty() && more.is_empty() {
                return None;
            }
            let missing = missing.iter().map(|text| ('-', shown_text(text)));
            difference.lines = Lines(missing.chain(more.iter().map(|said| ('+', format!("{said:?}")))).collect());
            difference.right = wanted.iter().all(Text::is_exact).then(|| actual.clone());
        }
        Check::Among(wanted) => {
            let said = texts(actual);
            let missing: Vec<_> = wanted.iter().filter(|text| !said.iter().any(|said| text.fits(said))).collect();
            if missing.is_empty() {
                return None;
            }
            let missing = missing.into_iter().map(|text| ('-', shown_text(text)));
            let there = said.iter().take(SHOWN).map(|said| (' ', format!("{said:?}")));
            difference.lines = Lines(missing.chain(there).collect());
            difference.said = Some(format!("of {} there is none like these", said.len()));
        }
        Check::Between(least, most) => {
            let number = actual.as_f64().unwrap_or_default();
            if least.is_none_or(|least| number >= least - TINY) && most.is_none_or(|most| number <= most + TINY) {
                return None;
            }
            let bound = |word: &str, bound: &Option<f64>| bound.map(|bound| format!("{word} {bound}"));
            difference.said = Some(range([bound("at least", least), bound("at most", most)], &figure(actual)));
        }
        Check::Time(least, most) => {
            let time = outcome.took;
            if least.is_none_or(|least| time >= least) && most.is_none_or(|most| time <= most) {
                return None;
            }
            let time_said = measure::written(time);
            if least == most {
                difference.said = Some(range([least.map(measure::written), None], &time_said));
                difference.right = Some(actual.clone());
            } else {
                let bound = |word: &str, bound: &Option<Duration>| {
                    bound.map(|time| format!("{word} {}", measure::written(time)))
                };
                let bounds = [bound("at least", least), bound("at most", most)];
                difference.said = Some(range(bounds, &time_said));
            }
        }
        Check::Absent => difference.said = Some("it must not be there, and it is".to_owned()),
    }
    Some(difference)
}

/// Amounts of money are sums of parts that no binary fraction is exact for.
const TINY: f64 = 1e-9;
/// How many others are shown where one is missing.
const SHOWN: usize = 10;

fn close(wanted: &Value, actual: &Value) -> bool {
    let difference = wanted.as_f64().zip(actual.as_f64()).map(|(wanted, actual)| (wanted - actual).abs());
    difference.is_some_and(|difference| difference < TINY)
}

fn figure(number: &Value) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |figure| figure.to_string())
}

fn range(bounds: [Option<String>; 2], actual: &str) -> String {
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    format!("it is {actual}, and {} is wanted", bounds.join(" and "))
}

/// Why there is nothing to compare with.
fn nothing(what: &str, path: &[String], outcome: &Outcome) -> String {
    match (what, &outcome.result) {
        ("result", Err(error)) => {
            format!("the flow failed: {}", error.message)
        }
        ("error", Ok(answer)) => format!("the flow did not fail; it answered {answer}"),
        ("error", Err(error)) => format!("the error has none: {}", error_document(error)),
        ("agents", _) => format!("the scenario has no agent {}", path[1]),
        ("envs", _) if path.len() < 4 => format!("the flow has no env {}", path[1]),
        ("files", _) if outcome.workspace().is_none() => {
            "no env is called workspace, nor is there only one; say envs.ROLE.files".to_owned()
        }
        ("commands", _) => "no env is called workspace, nor is there only one; say envs.ROLE.commands".to_owned(),
        _ => "there is no such file".to_owned(),
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn shown(value: &Value) -> String {
    format!("{value:#}")
}

fn shown_text(text: &Text) -> String {
    if text.is_exact() { format!("{:?}", text.shown()) } else { text.shown().to_owned() }
}

/// What was expected, where a pattern that fits what came in its place is not shown as a difference.
fn expected_lines(wanted: &[Text], said: &[&str]) -> String {
    let each = |(nth, wanted): (usize, &Text)| match said.get(nth) {
        Some(said) if wanted.fits(said) => format!("{said:?}\n"),
        _ => shown_text(wanted) + "\n",
    };
    wanted.iter().enumerate().map(each).collect()
}

fn quoted<'a>(said: impl Iterator<Item = &'a str>) -> String {
    said.map(|said| format!("{said:?}\n")).collect()
}
