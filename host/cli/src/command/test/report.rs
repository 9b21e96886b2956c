//! What is written about scenarios: a line each, what differs, and a line in the end.

use std::{fmt::Write as _, path::Path, time::Duration};

use flowhost_core::measure;
use flowhost_testing::Difference;
use serde_json::{Value, json};

use super::{Ending, Played, find};
use crate::{
    escape,
    exit::Exit,
    render::figures,
    terminal::{self, BAD, BOLD, DIM, GOOD, NOTE, styled},
};

/// Columns of one line of foreign text.
const LINE: usize = 1000;

/// Writes to stdout as scenarios end.
pub(super) struct Report<'a> {
    standing: &'a Path,
    json: bool,
}

/// How many came out how.
pub(super) struct Sums {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) updated: usize,
    pub(super) refused: usize,
    pub(super) took: Duration,
}

impl Sums {
    pub(super) fn of(played: &[Played], took: Duration) -> Self {
        let count = |is: fn(&Ending) -> bool| played.iter().filter(|each| is(&each.ending)).count();
        Self {
            passed: count(|ending| matches!(ending, Ending::Passed(_))),
            failed: count(|ending| matches!(ending, Ending::Failed(..))),
            updated: count(|ending| matches!(ending, Ending::Updated(_))),
            refused: count(|ending| matches!(ending, Ending::Refused(_))),
            took,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self { failed: 1.., .. } => Exit::Failed,
            Self { refused: 1.., .. } => Exit::Refused,
            _ => Exit::Answered,
        }
    }

    /// `3 passed, 1 failed in 0.2s`.
    fn line(&self) -> String {
        let part = |number: usize, word: &str, style| (number > 0).then(|| styled(style, &format!("{number} {word}")));
        let parts = [
            part(self.failed, "failed", BAD),
            part(self.refused, "refused", BAD),
            part(self.updated, "updated", NOTE),
            part(self.passed, "passed", GOOD),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{} in {}", parts.join(", "), figures::time(self.took))
    }
}

impl<'a> Report<'a> {
    pub(super) fn new(standing: &'a Path, json: bool) -> Self {
        Self { standing, json }
    }

    /// A scenario has ended. What will be written back into its file is not shown as a failure.
    pub(super) fn scenario(&mut self, played: &Played, updating: bool) -> anyhow::Result<()> {
        let text = if self.json {
            escape::json(&object(self.standing, played, updating).to_string()) + "\n"
        } else {
            lines(self.standing, played, updating)
        };
        Ok(terminal::print(&text)?)
    }

    pub(super) fn end(&mut self, sums: &Sums) -> anyhow::Result<()> {
        let text = if self.json {
            let Sums { passed, failed, updated, refused, took } = sums;
            let ms = took.as_millis() as u64;
            let object = json!({ "type": "end", "passed": passed, "failed": failed, "updated": updated, "refused": refused, "ms": ms });
            format!("{object}\n")
        } else {
            format!("\n{}\n", sums.line())
        };
        Ok(terminal::print(&text)?)
    }
}

fn lines(standing: &Path, played: &Played, updating: bool) -> String {
    let (word, style, time, differences) = match &played.ending {
        Ending::Passed(time) => ("ok", GOOD, Some(time), &[][..]),
        Ending::Updated(time) => ("updated", NOTE, Some(time), &[][..]),
        Ending::Failed(differences, time) => {
            if updating && are_exact(differences) {
                ("updated", NOTE, Some(time), &differences[..])
            } else {
                ("FAILED", BAD, Some(time), &differences[..])
            }
        }
        Ending::Refused(_) => ("REFUSED", BAD, None, &[][..]),
    };
    let file = escape::line(&find::shown(standing, &played.file), LINE);
    let name = styled(BOLD, &escape::line(&played.name, LINE));
    let mut out = format!("{}  {file}:{}  {name}", styled(style, &format!("{word:<7}")), played.line);
    if let Some(time) = time {
        let spans = format!("{}, in {}", measure::written(*time), figures::time(played.real));
        let _ = write!(out, "  {}", styled(DIM, &spans));
    }
    out.push('\n');
    if let Ending::Refused(failure) = &played.ending {
        let _ = writeln!(out, "         {}", escape::line(&failure.message, LINE));
        if let Some(hint) = &failure.hint {
            let _ = writeln!(out, "         {} {}", styled(NOTE, "Hint:"), escape::line(hint, LINE));
        }
    }
    for difference in differences {
        out.push_str(&shown(difference));
    }
    if differences.iter().any(|difference| difference.lines.iter().any(|(sign, _)| sign != ' ')) {
        let _ = writeln!(out, "         {}", styled(DIM, "(- expected, + came)"));
    }
    out
}

fn shown(difference: &Difference) -> String {
    let line = difference.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let said = difference.said.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
    let of = format!("{}{line}{said}", difference.of);
    let mut out = format!("         {}\n", escape::line(&of, LINE));
    for (sign, text) in difference.lines.iter() {
        let text = format!("{sign} {}", escape::block(text));
        let style = match sign {
            '-' => BAD,
            '+' => GOOD,
            _ => DIM,
        };
        let _ = writeln!(out, "           {}", styled(style, &text));
    }
    out
}

/// Whether all of them will be written back.
fn are_exact(differences: &[Difference]) -> bool {
    differences.iter().all(|difference| difference.right.is_some())
}

/// A scenario for programs.
fn object(standing: &Path, played: &Played, updating: bool) -> Value {
    let mut object = json!({
        "type": "scenario",
        "file": find::shown(standing, &played.file),
        "line": played.line,
        "name": played.name,
        "ms": played.real.as_secs_f64() * 1e3,
    });
    let virtual_ms = |time: &Duration| json!(time.as_secs_f64() * 1e3);
    let (ending, more) = match &played.ending {
        Ending::Passed(time) => ("passed", [("virtual-ms", virtual_ms(time)), ("differences", json!([]))]),
        Ending::Updated(time) => ("updated", [("virtual-ms", virtual_ms(time)), ("differences", json!([]))]),
        Ending::Failed(differences, time) => {
            let word = if updating && are_exact(differences) { "updated" } else { "failed" };
            let differences: Vec<Value> = differences.iter().map(difference).collect();
            (word, [("virtual-ms", virtual_ms(time)), ("differences", json!(differences))])
        }
        Ending::Refused(failure) => ("refused", [("message", json!(failure.message)), ("hint", json!(failure.hint))]),
    };
    object["ending"] = ending.into();
    for (key, value) in more {
        object[key] = value;
    }
    object
}

fn difference(difference: &Difference) -> Value {
    let lines: Vec<String> = difference.lines.iter().map(|(sign, text)| format!("{sign} {text}")).collect();
    json!({ "of": difference.of, "line": difference.line, "said": difference.said, "lines": lines })
}
