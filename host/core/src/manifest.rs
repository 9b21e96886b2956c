//! What a flow declares: roles, capabilities, params, permissions. Read without running the flow.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{
    harness::{Moment, Permission},
    shape::Shape,
};

/// The contract that this host speaks.
pub const CONTRACT: &str = "0.1.0";

/// A flow's declaration, as `describe` gives it. Unknown keys are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// The contract's version that it was built for, such as `0.1.0`.
    pub contract: String,
    /// Its name: lower-case letters, digits and `-`.
    pub name: String,
    /// What it does, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Whether lists leave it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The agents that it steers.
    #[serde(default)]
    pub agents: Vec<AgentRole>,
    /// The environments that it works in.
    #[serde(default)]
    pub envs: Vec<EnvRole>,
    /// JSON Schema of its params; none where it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Shape>,
    /// JSON Schema of its answer, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Shape>,
    /// References of the flows that it loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<String>,
    /// Tools that it offers to its agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Skills that it brings: a name, to the files by path.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub skills: IndexMap<String, IndexMap<String, String>>,
}

/// An agent that a flow steers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AgentRole {
    /// The role's name.
    pub name: String,
    /// Whether the flow does without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// What the flow will use of it: `steer fork goal tools skills` and each moment by its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// The one harness that will do, where only one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// What its tools must be allowed to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
}

/// An environment that a flow works in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EnvRole {
    /// The role's name.
    pub name: String,
    /// Whether the flow does without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// What the flow will use of it: `shell bash files worktree copy scratch snapshot`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// What its commands must be allowed to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The container image that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Processors that it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory that it needs, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// A tool that a flow offers to its agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for, to the agent.
    pub description: String,
    /// JSON Schema of its input.
    pub input: Shape,
}

/// What an agent's role may ask for beside the moments.
const AGENT_CAPABILITIES: [&str; 5] = ["steer", "fork", "goal", "tools", "skills"];
/// What an environment's role may ask for.
pub const ENV_CAPABILITIES: [&str; 7] = ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"];

impl Manifest {
    /// Reads what `describe` gave. The message says which key is wrong, and where.
    pub fn read(json: &str) -> Result<Self, String> {
        let manifest: Self =
            serde_json::from_str(json).map_err(|error| format!("the manifest cannot be read: {error}"))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if !is_name(&self.name) {
            return Err(format!("name {:?}: a flow's name is lower-case letters, digits and `-`", self.name));
        }
        let compatible = self.contract.strip_prefix("0.1.").is_some_and(|patch| patch.parse::<u32>().is_ok());
        if !compatible {
            return Err(format!("contract {:?}: this host speaks {CONTRACT}", self.contract));
        }
        unique("agent role", self.agents.iter().map(|role| role.name.as_str()))?;
        unique("env role", self.envs.iter().map(|role| role.name.as_str()))?;
        for role in &self.agents {
            for each in &role.capabilities {
                let known = AGENT_CAPABILITIES.contains(&each.as_str())
                    || Moment::ALL.iter().any(|moment| moment.name() == each);
                if !known {
                    return Err(format!("agent role {}: no capability is called {each:?}", role.name));
                }
            }
        }
        for role in &self.envs {
            if let Some(each) = role.capabilities.iter().find(|each| !ENV_CAPABILITIES.contains(&each.as_str())) {
                return Err(format!("env role {}: no capability is called {each:?}", role.name));
            }
        }
        Ok(())
    }

    /// The declared role of this name.
    pub fn agent(&self, role: &str) -> Option<&AgentRole> {
        self.agents.iter().find(|each| each.name == role)
    }

    /// The declared role of this name.
    pub fn env(&self, role: &str) -> Option<&EnvRole> {
        self.envs.iter().find(|each| each.name == role)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|each| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '-')
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !is_name(name) {
            return Err(format!("{what} {name:?}: a role's name is lower-case letters, digits and `-`"));
        }
        if !seen.insert(name) {
            return Err(format!("{what} {name:?} is declared twice"));
        }
    }
    Ok(())
}
