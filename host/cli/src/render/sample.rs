//! Records of runs that did not happen, for tests of what shows them.

use std::{sync::Arc, time::Duration};

use flowhost_core::{
    error::{Error, HarnessFault},
    harness::Event,
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    record::{Answer, FORMAT, Json, Key, LogSource, Outcome, Record},
    usage::{CostSource, Limits, Usage, Usd},
};

/// A run, written record by record.
pub(crate) struct Sample {
    at: Duration,
    pub(crate) records: Vec<(Duration, Record)>,
}

impl Sample {
    /// Of this flow, with `$1`.
    pub(crate) fn of(flow: &str) -> Self {
        let mut sample = Self { at: Duration::ZERO, records: Vec::new() };
        sample.put(Record::Run {
            format: FORMAT,
            flowhost: "0.1.0".into(),
            run: RunId::new("20260101-000000", 0xab),
            reference: flow.into(),
            started_ms: 1_767_225_600_000,
            agents: vec![("agent".into(), "demo".into())],
            envs: vec![("workspace".into(), "local:.".into())],
            at_once: None,
        });
        sample.branch("1", flow, Some(1.0));
        sample
    }

    pub(crate) fn after(&mut self, ms: u64) -> &mut Self {
        self.at += Duration::from_millis(ms);
        self
    }

    pub(crate) fn put(&mut self, record: Record) -> &mut Self {
        self.records.push((self.at, record));
        self
    }

    pub(crate) fn branch(&mut self, place: &str, flow: &str, cost: Option<f64>) -> &mut Self {
        self.put(Record::Branch {
            branch: branch(place),
            parent: place.rsplit_once('.').map(|(parent, _)| branch(parent)),
            flow: flow.into(),
            digest: "0".repeat(64).into(),
            key: Key([0; 16]),
            task: "annotate".into(),
            params: json("{}"),
            limits: Limits { cost: cost.map(Usd::from_dollars), ..Limits::default() },
        })
    }

    pub(crate) fn branch_end(&mut self, place: &str, outcome: Outcome<Json>) -> &mut Self {
        self.put(Record::BranchEnd { branch: branch(place), outcome, usage: usage(1) })
    }

    pub(crate) fn session(&mut self, place: &str, session: u32, nth: u32, agent: &str) -> &mut Self {
        self.put(Record::Session {
            session: SessionId(session),
            branch: branch(place),
            role: "agent".into(),
            agent: agent.into(),
            directory: "/srv/calc".into(),
            nth,
            fork_of: None,
        })
    }

    pub(crate) fn turn(&mut self, place: &str, session: u32, turn: u32) -> &mut Self {
        self.put(Record::Turn {
            turn: TurnId(turn),
            session: SessionId(session),
            branch: branch(place),
            key: Key([0; 16]),
            prompt: "annotate".into(),
            schema: None,
        })
    }

    pub(crate) fn event(&mut self, turn: u32, event: Event) -> &mut Self {
        self.put(Record::Event { turn: TurnId(turn), event })
    }

    pub(crate) fn text(&mut self, turn: u32, text: &str) -> &mut Self {
        self.event(turn, Event::Text { text: text.into() })
    }

    pub(crate) fn tool(&mut self, turn: u32, tool: &str, label: &str) -> &mut Self {
        let name = label.split('(').next().unwrap_or_default().into();
        self.event(turn, Event::ToolStart { tool: tool.into(), name, label: label.into() })
    }

    pub(crate) fn tool_end(&mut self, turn: u32, tool: &str, ok: bool) -> &mut Self {
        self.event(turn, Event::ToolEnd { tool: tool.into(), ok })
    }

    pub(crate) fn waiting(&mut self, turn: u32, why: Option<&str>) -> &mut Self {
        self.put(Record::Waiting { turn: TurnId(turn), why: why.map(Into::into) })
    }

    pub(crate) fn answered(&mut self, turn: u32) -> &mut Self {
        let answer = Answer { text: "done".into(), value: None };
        self.put(Record::TurnEnd { turn: TurnId(turn), outcome: Outcome::Ok(answer), usage: usage(1) })
    }

    pub(crate) fn failed(&mut self, turn: u32, error: Error) -> &mut Self {
        self.put(Record::TurnEnd {
            turn: TurnId(turn),
            outcome: Outcome::Error(error),
            usage: Usage { turns: 1, ..Usage::default() },
        })
    }

    pub(crate) fn call(&mut self, call: u32, label: &str) -> &mut Self {
        self.put(Record::Call {
            call: CallId(call),
            branch: branch("1"),
            function: "env.exec".into(),
            key: Key([0; 16]),
            label: label.into(),
            repeatable: false,
        });
        self.after(4).put(Record::CallEnd { call: CallId(call), outcome: Outcome::Ok(json("{}")) })
    }

    pub(crate) fn log(&mut self, place: &str, line: &str) -> &mut Self {
        self.put(Record::Log { branch: branch(place), line: line.into(), from: LogSource::Log })
    }
}

/// `fanout` over three files, two at a time; the second turn fails.
pub(crate) fn fanout() -> Sample {
    let mut sample = Sample::of("fanout");
    sample.call(1, "git ls-files *.py");
    sample.session("1", 1, 1, "claude/sonnet-5-5:high").turn("1", 1, 1);
    sample.session("1", 2, 2, "claude/sonnet-5-5:high").turn("1", 2, 2);
    sample.after(800).tool(1, "a", "Read(/srv/calc/calc.py)").tool(2, "a", "Read(/srv/calc/check.py)");
    sample.after(400).tool_end(1, "a", true).tool_end(2, "a", false);
    sample.after(900).failed(2, died());
    sample.session("1", 3, 3, "claude/sonnet-5-5:high").turn("1", 3, 3);
    sample.tool(1, "b", "Edit(/srv/calc/calc.py)").after(300).tool_end(1, "b", true);
    sample.text(1, "I added the one-line docstring `\"\"\"Simple calculator functions.\"\"\"` at the top of `calc.py`,\nand changed nothing else.");
    sample.after(4_000).answered(1).after(700).text(3, "Done.").answered(3);
    sample.log("1", "check.py: failed, the CLI died mid-turn");
    sample.put(Record::End { outcome: Outcome::Ok(json("{}")), usage: usage(3), exit: 0 });
    sample
}

pub(crate) fn died() -> Error {
    Error::harness(HarnessFault::Killed, "the CLI died mid-turn")
}

pub(crate) fn usage(turns: u32) -> Usage {
    Usage {
        turns,
        input_tokens: 6,
        output_tokens: 266,
        cache_read_tokens: 45_800,
        cache_write_tokens: 4_100,
        cost: Usd::from_dollars(0.02),
        cost_source: CostSource::Reported,
        duration_ms: 0,
    }
}

pub(crate) fn branch(place: &str) -> BranchId {
    BranchId(place.into())
}

pub(crate) fn json(text: &str) -> Json {
    Arc::from(serde_json::value::RawValue::from_string(text.into()).unwrap())
}

/// Without colors, a line each.
pub(crate) fn plain(lines: &[String]) -> String {
    anstream::adapter::strip_str(&lines.join("\n")).to_string()
}
