//! What came of a scenario.

use std::{collections::BTreeMap, time::Duration};

use flowhost_core::{
    error::{Error, Kind},
    measure,
    usage::Usage,
};
use serde_json::{Map, Value, json};

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The flow's answer, or how it failed.
    pub result: Result<Value, Error>,
    /// Why it could not end by itself, where it could not: what it still waited for, with nothing left to happen.
    pub stuck: Option<String>,
    /// The lines that it said, in order: log, standard output, standard error.
    pub log: Vec<String>,
    /// What was asked, in order, in the flow's own words.
    pub prompts: Vec<String>,
    /// Conversations that were opened.
    pub sessions: u64,
    /// Prompts that were handed over.
    pub turns: u64,
    /// Most turns that were going at once.
    pub peak: u64,
    /// Turns that were interrupted.
    pub interrupted: u64,
    /// Calls of flows; the flow itself is the first.
    pub branches: u64,
    /// What was spent in all.
    pub spent: Usage,
    /// By role.
    pub agents: BTreeMap<String, AgentSeen>,
    /// By role.
    pub envs: BTreeMap<String, EnvSeen>,
    /// Virtual time from its start to its end.
    pub took: Duration,
}

/// What an agent was asked.
#[derive(Clone, Debug, Default)]
pub struct AgentSeen {
    /// What it was asked, in order, in the flow's own words.
    pub prompts: Vec<String>,
    /// Words that were put into its turns.
    pub steers: Vec<String>,
    /// What was said to what it asked: `pass`, `allow`, `block: REASON`, `reply: TEXT`.
    pub verdicts: Vec<String>,
    /// Its conversations.
    pub sessions: u64,
    /// Prompts that it was handed.
    pub turns: u64,
    /// Most of its turns that were going at once.
    pub peak: u64,
    /// Most of its conversations that were open at once.
    pub peak_sessions: u64,
    /// Its turns that were interrupted.
    pub interrupted: u64,
}

/// What an environment has become.
#[derive(Clone, Debug, Default)]
pub struct EnvSeen {
    /// Its files at the end, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The commands that were run, in order.
    pub commands: Vec<Vec<String>>,
}

impl Outcome {
    /// The environment that files and commands are of where no role is named: `workspace`, or the only one.
    pub fn workspace(&self) -> Option<&EnvSeen> {
        let only = || self.envs.values().next().filter(|_| self.envs.len() == 1);
        self.envs.get("workspace").or_else(only)
    }

    /// All of it as one document, under the keys of `expect` in a scenario file.
    pub(crate) fn document(&self) -> Value {
        let mut seen = Map::new();
        match &self.result {
            Ok(answer) => seen.insert("result".into(), answer.clone()),
            Err(error) => seen.insert("error".into(), error_document(error)),
        };
        seen.insert("log".into(), json!(self.log));
        seen.insert("prompts".into(), json!(self.prompts));
        for (key, number) in [
            ("sessions", self.sessions),
            ("turns", self.turns),
            ("peak", self.peak),
            ("interrupted", self.interrupted),
            ("branches", self.branches),
        ] {
            seen.insert(key.into(), number.into());
        }
        let Usage { cost, input_tokens, output_tokens, turns, .. } = self.spent;
        let spending = json!({
            "cost": cost.dollars(), "input-tokens": input_tokens, "output-tokens": output_tokens, "turns": turns,
        });
        seen.insert("spending".into(), spending);
        seen.insert("duration".into(), measure::written(self.took).into());
        if let Some(workspace) = self.workspace() {
            seen.extend(workspace.document());
        }
        let agents = self.agents.iter().map(|(role, agent)| (role.clone(), agent.document())).collect();
        seen.insert("agents".into(), Value::Object(agents));
        let envs = self.envs.iter().map(|(role, env)| (role.clone(), Value::Object(env.document()))).collect();
        seen.insert("envs".into(), Value::Object(envs));
        Value::Object(seen)
    }
}

impl AgentSeen {
    fn document(&self) -> Value {
        json!({
            "prompts": self.prompts, "steers": self.steers, "verdicts": self.verdicts, "sessions": self.sessions, "turns": self.turns,
            "peak": self.peak, "peak-sessions": self.peak_sessions, "interrupted": self.interrupted,
        })
    }
}

impl EnvSeen {
    fn document(&self) -> Map<String, Value> {
        let text =
            |(path, data): (&String, &Vec<u8>)| (path.clone(), String::from_utf8_lossy(data).into_owned().into());
        let commands: Vec<String> = self.commands.iter().map(|argv| argv.join(" ")).collect();
        let files = Value::Object(self.files.iter().map(text).collect());
        Map::from_iter([("files".into(), files), ("commands".into(), json!(commands))])
    }
}

/// An error in the words of a scenario file: `kind`, `fault` or `limit`, `message`.
pub(crate) fn error_document(error: &Error) -> Value {
    let mut document = Map::new();
    let said = serde_json::to_value(&error.kind).unwrap_or_default();
    document.insert("kind".into(), said["kind"].clone());
    match &error.kind {
        Kind::Harness(failure) => {
            document.insert("fault".into(), said["fault"]["fault"].clone());
            if let Some(ms) = failure.retry_after_ms {
                document.insert("retry-after".into(), measure::written(Duration::from_millis(ms)).into());
            }
        }
        Kind::Budget(_) => {
            document.insert("limit".into(), said["fault"]["limit"].clone());
        }
        Kind::Session(_) | Kind::Env(_) | Kind::Flow(_) => {
            document.insert("fault".into(), said["fault"].clone());
        }
        _ => {}
    }
    document.insert("message".into(), error.message.as_str().into());
    Value::Object(document)
}
