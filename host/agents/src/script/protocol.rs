//! The lines of `script+json`, as `SCRIPT.md` defines them. Reading is tolerant; what ends a turn is not guessed at.

use std::sync::LazyLock;

use flowhost_core::{
    error::{Error, HarnessFailure, HarnessFault, Kind},
    harness::{Event, Moment, Prompt, Reply, Steer, Verdict},
    usage::{CostSource, Usage, Usd},
};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prices;

/// What the host says.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Said<'a> {
    Prompt {
        id: &'a str,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<&'a Value>,
    },
    Steer {
        text: &'a str,
        mode: &'a str,
    },
    Interrupt,
    Verdict {
        id: &'a Value,
        verdict: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
    },
}

impl Said<'_> {
    fn line(&self) -> Vec<u8> {
        // Strings and values always have a JSON form.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

pub(super) fn prompt(prompt: &Prompt<'_>) -> Vec<u8> {
    Said::Prompt { id: prompt.id, text: prompt.text, schema: prompt.schema }.line()
}

pub(super) fn steer(steer: &Steer) -> Vec<u8> {
    let mode = if steer.interrupting { "interrupting" } else { "queued" };
    Said::Steer { text: &steer.text, mode }.line()
}

pub(super) fn interrupt() -> Vec<u8> {
    Said::Interrupt.line()
}

pub(super) fn verdict(id: &Value, verdict: &Verdict) -> Vec<u8> {
    let (verdict, text) = match verdict {
        Verdict::Pass => ("pass", None),
        Verdict::Allow => ("allow", None),
        Verdict::Block(reason) => ("block", Some(reason.as_str())),
        Verdict::Reply(text) => ("reply", Some(text.as_str())),
    };
    Said::Verdict { id, verdict, text }.line()
}

/// What the program says.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// What it can do, by the contract's names.
    Hello(Vec<String>),
    /// Something to pass on.
    Event(Event),
    /// It asks.
    Occasion { id: Value, moment: Moment, details: Value },
    /// It has answered; of which turn, where it says.
    Answer { id: Option<String>, reply: Reply },
    /// It has failed; in which turn, where it says.
    Failed { id: Option<String>, error: Error },
    /// A line that says nothing, and why.
    Nothing(String),
    /// It means to end the turn, in words that cannot be read.
    Garbled(String),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line {
    Hello {
        #[serde(default)]
        capabilities: Vec<String>,
    },
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    Notice {
        text: String,
    },
    ToolStart {
        #[serde(default)]
        tool: Value,
        name: String,
        #[serde(default)]
        label: Option<String>,
    },
    ToolEnd {
        #[serde(default)]
        tool: Value,
        #[serde(default = "yes")]
        ok: bool,
    },
    Usage(Spent),
    Occasion {
        #[serde(default)]
        id: Value,
        moment: String,
        #[serde(default)]
        details: Value,
    },
    Answer {
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        value: Option<Value>,
    },
    Error {
        #[serde(default)]
        id: Option<String>,
        message: String,
        #[serde(default)]
        fault: Option<Value>,
        #[serde(default, rename = "retry-after-ms")]
        retry_after_ms: Option<u64>,
    },
}

/// Figures from outside: what is no figure is 0, and never becomes credit.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Spent {
    input_tokens: f64,
    output_tokens: f64,
    cache_read_tokens: f64,
    cache_write_tokens: f64,
    cost: Option<f64>,
    /// Whose tokens they are, for a price where no cost is said.
    model: Option<String>,
}

fn yes() -> bool {
    true
}

/// A tool's name in its turn: a string, or anything else as JSON.
fn tool_id(id: Value) -> String {
    match id {
        Value::String(id) => id,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Whether a line that is no JSON looks like an `answer` or an `error`: a character that is cut in half, a value that is nested too
/// deep.
fn is_meant_to_end(line: &str) -> bool {
    static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#""type"\s*:\s*"(answer|error)""#).ok());
    ENDS.as_ref().is_some_and(|ends| ends.is_match(line))
}

/// Reads a line.
pub(super) fn hear(line: &str) -> Heard {
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        // What is meant to end the turn and cannot be read ends it: nothing else will.
        Err(error) if is_meant_to_end(line) => return Heard::Garbled(error.to_string()),
        Err(error) => return Heard::Nothing(format!("a line that is no JSON ({error})")),
    };
    let Some(kind) = value.get("type").and_then(Value::as_str).map(str::to_owned) else {
        return Heard::Nothing("a line without a type".to_owned());
    };
    const KINDS: [&str; 10] =
        ["hello", "text", "thinking", "notice", "tool-start", "tool-end", "usage", "occasion", "answer", "error"];
    if !KINDS.contains(&kind.as_str()) {
        return Heard::Nothing(format!("a line of a type that is not known ({kind})"));
    }
    let line: Line = match serde_json::from_value(value) {
        Ok(line) => line,
        Err(error) if kind == "answer" || kind == "error" => return Heard::Garbled(format!("{kind}: {error}")),
        Err(error) => return Heard::Nothing(format!("a line that is not what its type says ({kind}: {error})")),
    };
    match line {
        Line::Hello { capabilities } => Heard::Hello(capabilities),
        Line::Text { text } => Heard::Event(Event::Text { text }),
        Line::Thinking { text } => Heard::Event(Event::Thinking { text }),
        Line::Notice { text } => Heard::Event(Event::Notice { text }),
        Line::ToolStart { tool, name, label } => {
            let label = label.unwrap_or_else(|| name.clone());
            Heard::Event(Event::ToolStart { tool: tool_id(tool), name, label })
        }
        Line::ToolEnd { tool, ok } => Heard::Event(Event::ToolEnd { tool: tool_id(tool), ok }),
        Line::Usage(spent) => Heard::Event(Event::Usage { usage: spent.usage() }),
        Line::Occasion { id, moment, details } => match Moment::ALL.into_iter().find(|each| each.name() == moment) {
            Some(moment) => Heard::Occasion { id, moment, details },
            None => Heard::Occasion { id, moment: Moment::Other, details },
        },
        Line::Answer { id, text, value } => match (text, value) {
            (None, None) => Heard::Garbled("answer: it has neither text nor value".to_owned()),
            (text, value) => {
                let text = text.or_else(|| value.as_ref().map(Value::to_string)).unwrap_or_default();
                Heard::Answer { id, reply: Reply { text, value, usage: None } }
            }
        },
        Line::Error { id, message, fault, retry_after_ms } => {
            Heard::Failed { id, error: failure(message, fault, retry_after_ms) }
        }
    }
}

fn failure(message: String, fault: Option<Value>, retry_after_ms: Option<u64>) -> Error {
    let fault = match fault.and_then(|fault| serde_json::from_value(fault).ok()) {
        // That a turn was interrupted is the host's to say.
        None | Some(HarnessFault::Interrupted) => HarnessFault::Other,
        Some(fault) => fault,
    };
    Error::new(Kind::Harness(HarnessFailure { fault, retry_after_ms }), message)
}

impl Spent {
    fn usage(&self) -> Usage {
        // A cast from float saturates, and takes NaN and what is negative to 0.
        let usage = Usage {
            input_tokens: self.input_tokens as u64,
            output_tokens: self.output_tokens as u64,
            cache_read_tokens: self.cache_read_tokens as u64,
            cache_write_tokens: self.cache_write_tokens as u64,
            cost: self.cost.map_or(Usd::ZERO, Usd::from_dollars),
            cost_source: if self.cost.is_some() { CostSource::Reported } else { CostSource::Unknown },
            ..Usage::default()
        };
        match &self.model {
            Some(model) => prices::priced(usage, model),
            None => usage,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn failed(line: &str) -> Error {
        match hear(line) {
            Heard::Failed { error, .. } => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_ends_its_turn() {
        let deep = format!(r#"{{"type":"answer","value":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let cut =
            [r#"{"type":"answer","text":"\ud83d"}"#, r#"{"text":"x","type" : "error","message":"\ud83d"}"#, &deep];
        for line in cut {
            assert!(matches!(hear(line), Heard::Garbled(_)), "{}", &line[..30]);
        }
        assert!(matches!(hear(r#"{"type":"text","text":"\ud83d"}"#), Heard::Nothing(_)));
    }

    #[test]
    fn what_the_host_says_is_one_line_each() {
        let schema = json!({"type": "object"});
        let asked = Prompt { id: "t1", text: "a\n\"b\"", schema: Some(&schema) };
        let lines = [
            prompt(&asked),
            prompt(&Prompt { schema: None, ..asked }),
            steer(&Steer { text: "no".into(), interrupting: true }),
            interrupt(),
            verdict(&json!(7), &Verdict::Block("why".into())),
            verdict(&json!("x"), &Verdict::Pass),
        ];
        let text = String::from_utf8(lines.concat()).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"type":"prompt","id":"t1","text":"a\n\"b\"","schema":{"type":"object"}}"#,
                "\n",
                r#"{"type":"prompt","id":"t1","text":"a\n\"b\""}"#,
                "\n",
                r#"{"type":"steer","text":"no","mode":"interrupting"}"#,
                "\n",
                r#"{"type":"interrupt"}"#,
                "\n",
                r#"{"type":"verdict","id":7,"verdict":"block","text":"why"}"#,
                "\n",
                r#"{"type":"verdict","id":"x","verdict":"pass"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn an_error_carries_the_contracts_fault_and_never_an_interruption() {
        let error = failed(r#"{"type":"error","message":"slow down","fault":"throttled","retry-after-ms":500}"#);
        assert_eq!(
            error.kind,
            Kind::Harness(HarnessFailure { fault: HarnessFault::Throttled, retry_after_ms: Some(500) })
        );
        for fault in ["interrupted", "no-such-fault"] {
            let error = failed(&json!({"type": "error", "message": "m", "fault": fault}).to_string());
            assert_eq!(error, Error::harness(HarnessFault::Other, "m"));
        }
    }

    #[test]
    fn figures_from_outside_never_become_credit() {
        let line = r#"{"type":"usage","input-tokens":-5,"output-tokens":1e300,"cache-read-tokens":2.9,"cost":-1}"#;
        let Heard::Event(Event::Usage { usage }) = hear(line) else { panic!() };
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (0, u64::MAX, 2));
        assert_eq!((usage.cost, usage.cost_source), (Usd::ZERO, CostSource::Reported));
        let Heard::Event(Event::Usage { usage }) = hear(r#"{"type":"usage","output-tokens":3}"#) else { panic!() };
        assert_eq!((usage.output_tokens, usage.cost_source), (3, CostSource::Unknown));
    }

    #[test]
    fn what_means_to_end_the_turn_is_not_passed_over() {
        for line in [r#"{"type":"answer"}"#, r#"{"type":"answer","text":7}"#, r#"{"type":"error"}"#] {
            assert!(matches!(hear(line), Heard::Garbled(_)), "{line}");
        }
        for line in
            ["", "hello", "[1]", "{}", r#"{"type":"later"}"#, r#"{"type":"text"}"#, r#"{"type":"usage","cost":"much"}"#]
        {
            assert!(matches!(hear(line), Heard::Nothing(_)), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in any::<String>(), kind in "hello|text|usage|answer|error|occasion|tool-end", value in any::<f64>()) {
            hear(&line);
            hear(&json!({"type": kind, "text": line, "message": value, "capabilities": line, "id": value}).to_string());
        }
    }
}
