//! One of every record, and of everything that can stand in one.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::Arc;

use flowhost_core::{
    error::{EnvFault, Error, FlowFault, HarnessFailure, HarnessFault, Kind, Limit, SessionFault, SpentLimit},
    harness::{Event, Moment, Verdict},
    id::{BranchId, CallId, RunId, SessionId, TurnId},
    record::{Answer, FORMAT, Json, Key, LogSource, Outcome, Record},
    usage::{CostSource, Grace, Limits, Usage, Usd},
};
use serde_json::value::RawValue;

pub(crate) fn json(text: &str) -> Json {
    RawValue::from_string(text.to_owned()).unwrap().into()
}

pub(crate) fn run_id() -> RunId {
    RunId("20260101-120000-0a1b".into())
}

pub(crate) fn usage() -> Usage {
    Usage {
        turns: 2,
        input_tokens: 1200,
        output_tokens: 345,
        cache_read_tokens: 6,
        cache_write_tokens: 7,
        cost: Usd::from_dollars(0.1234),
        cost_source: CostSource::Reported,
        duration_ms: 6021,
    }
}

fn errors() -> Vec<Error> {
    vec![
        Error::session(SessionFault::NotYours, "s1 is another branch's"),
        Error::harness(HarnessFault::Killed, "the CLI died mid-turn"),
        Error::new(
            Kind::Harness(HarnessFailure { fault: HarnessFault::Throttled, retry_after_ms: Some(30_000) }),
            "too many requests",
        ),
        Error::env(EnvFault::TooLarge, "a.bin: too large"),
        Error::new(Kind::Budget(SpentLimit { limit: Limit::OutputTokens, whose: "1.2".into() }), "spent"),
        Error::requirement("no agent for the role `reviewer`"),
        Error::not_granted("network"),
        Error::flow(FlowFault::TooDeep, "65 levels"),
        Error::new(Kind::Failed, "no \"quotes\", no\nlines"),
        Error::stopped(),
        Error::other("\u{1b}[31m\u{0}"),
    ]
}

/// Every record at least once; what may be absent is there in one and not in another.
pub(crate) fn records() -> Vec<Record> {
    let (branch, session, turn, call) = (BranchId::root(), SessionId(12), TurnId(40), CallId(7));
    let key = Key::of(&[b"a call"]);
    let text = Arc::<str>::from("Grüße \"aus\" C:\\ \n\t\u{2028}\u{7f}");
    let mut all = vec![
        Record::Run {
            format: FORMAT,
            flowhost: "0.1.0".into(),
            run: run_id(),
            reference: "fanout".into(),
            started_ms: 1_767_225_600_000,
            agents: vec![("agent".into(), "claude/opus:high".into())],
            envs: vec![("workspace".into(), "local:.".into())],
            at_once: Some(4),
        },
        Record::Run {
            format: FORMAT,
            flowhost: "0.1.0".into(),
            run: run_id(),
            reference: "./flow.wasm".into(),
            started_ms: 0,
            agents: vec![],
            envs: vec![],
            at_once: None,
        },
        Record::Branch {
            branch: branch.clone(),
            parent: None,
            flow: "fanout".into(),
            digest: "ab".repeat(32).into(),
            key,
            task: text.clone(),
            params: json("{\"b\": 1.0e5,  \"a\": [1, {\"deep\": null}]}"),
            limits: Limits::default(),
        },
        Record::Branch {
            branch: branch.call(3).call(2),
            parent: Some(branch.call(3)),
            flow: "parts".into(),
            digest: "".into(),
            key,
            task: "".into(),
            params: json("null"),
            limits: Limits {
                cost: Some(Usd::from_dollars(1.5)),
                output_tokens: Some(200_000),
                turns: Some(50),
                duration: Some(std::time::Duration::from_secs(1800)),
                grace: Grace::Cut,
            },
        },
        Record::Session {
            session,
            branch: branch.clone(),
            role: "agent".into(),
            agent: "claude/opus:high".into(),
            directory: "/srv/project".into(),
            nth: 1,
            fork_of: None,
        },
        Record::Session {
            session: SessionId(13),
            branch: branch.clone(),
            role: "agent".into(),
            agent: "demo".into(),
            directory: "/srv/project/sub".into(),
            nth: 2,
            fork_of: Some(session),
        },
        Record::Native { session, native: "0198-abc".into() },
        Record::Turn { turn, session, branch: branch.clone(), key, prompt: text.clone(), schema: None },
        Record::Turn {
            turn: TurnId(41),
            session: SessionId(13),
            branch: branch.clone(),
            key: key.occurrence(1),
            prompt: "again".into(),
            schema: Some(json("{\"type\":\"object\"}")),
        },
        Record::Waiting { turn, why: Some("budget".into()) },
        Record::Waiting { turn, why: None },
        Record::Again { turn, why: "its answer does not meet the schema".into(), prompt: "once more".into() },
        Record::Steer { turn, prompt: "stop that".into(), interrupting: true },
        Record::Call {
            call,
            branch: branch.clone(),
            function: "env.exec".into(),
            key,
            label: "git ls-files".into(),
            repeatable: false,
        },
        Record::Call {
            call: CallId(8),
            branch: branch.clone(),
            function: "env.exec".into(),
            key,
            label: "true".into(),
            repeatable: true,
        },
        Record::CallEnd { call, outcome: Outcome::Ok(json("{\"status\":0,\"stdout\":\"YQ==\"}")) },
        Record::Value {
            branch: branch.clone(),
            function: "now-ms".into(),
            key: None,
            outcome: Outcome::Ok(json("1767225600000")),
        },
        Record::Value {
            branch: branch.clone(),
            function: "env.read".into(),
            key: Some(key),
            outcome: Outcome::Error(Error::env(EnvFault::NotFound, "a.txt: no such file")),
        },
        Record::Delivered { branch: branch.clone(), of: "t40".into() },
        Record::TurnEnd { turn, outcome: Outcome::Ok(Answer { text: text.clone(), value: None }), usage: usage() },
        Record::TurnEnd {
            turn: TurnId(41),
            outcome: Outcome::Ok(Answer { text: "".into(), value: Some(json("{\"files\": []}")) }),
            usage: Usage::default(),
        },
        Record::SessionEnd { session },
        Record::Stop { why: "ctrl-c".into() },
    ];
    let events = [
        Event::Text { text: text.to_string() },
        Event::Thinking { text: "hm".into() },
        Event::ToolStart { tool: "1".into(), name: "Read".into(), label: "Read(a.py)".into() },
        Event::ToolEnd { tool: "1".into(), ok: true },
        Event::Usage { usage: usage() },
        Event::Notice { text: "retrying".into() },
    ];
    all.extend(events.map(|event| Record::Event { turn, event }));
    let verdicts = [Verdict::Pass, Verdict::Allow, Verdict::Block("no".into()), Verdict::Reply("context".into())];
    all.extend(verdicts.into_iter().zip(Moment::ALL.into_iter().chain([Moment::Other]).cycle()).map(
        |(verdict, moment)| Record::Occasion {
            turn,
            moment,
            details: serde_json::json!({"tool": "Bash", "at": [1, 2.5]}),
            verdict,
            answered: true,
        },
    ));
    let sources = [LogSource::Log, LogSource::Stdout, LogSource::Stderr, LogSource::Host];
    all.extend(sources.map(|from| Record::Log { branch: branch.clone(), line: text.clone(), from }));
    all.extend(errors().into_iter().map(|error| Record::TurnEnd {
        turn,
        outcome: Outcome::Error(error),
        usage: Usage::default(),
    }));
    all.push(Record::BranchEnd {
        branch: branch.clone(),
        outcome: Outcome::Ok(json("{\"a.py\": \"done\"}")),
        usage: usage(),
    });
    all.push(Record::End { outcome: Outcome::Ok(json("[ 1,2 ]")), usage: usage(), exit: 0 });
    all
}

/// The name of a record on a line. A new record is added here, to [`records`] and to the schema.
pub(crate) fn name(record: &Record) -> &'static str {
    match record {
        Record::Run { .. } => "run",
        Record::Branch { .. } => "branch",
        Record::BranchEnd { .. } => "branch-end",
        Record::Session { .. } => "session",
        Record::Native { .. } => "native",
        Record::SessionEnd { .. } => "session-end",
        Record::Turn { .. } => "turn",
        Record::Event { .. } => "event",
        Record::Waiting { .. } => "waiting",
        Record::Again { .. } => "again",
        Record::Steer { .. } => "steer",
        Record::Occasion { .. } => "occasion",
        Record::TurnEnd { .. } => "turn-end",
        Record::Call { .. } => "call",
        Record::CallEnd { .. } => "call-end",
        Record::Value { .. } => "value",
        Record::Delivered { .. } => "delivered",
        Record::Log { .. } => "log",
        Record::Stop { .. } => "stop",
        Record::End { .. } => "end",
    }
}
