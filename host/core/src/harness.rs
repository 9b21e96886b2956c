//! What a harness is to the rest of the host: it opens conversations and takes turns in them, behind one trait.
//!
//! Adding a harness is one module that implements [`Harness`] and [`Conversation`]. Everything that is a rule (one turn at
//! a time, budgets, retries, repairs, the record) is done above this trait; a harness only talks to its program.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    env::Env,
    error::{Error, HarnessFault, Result},
    id::SessionId,
    usage::Usage,
};

/// The program behind an agent.
#[async_trait]
pub trait Harness: Send + Sync + fmt::Debug + 'static {
    /// As it is named in `-a ROLE=HARNESS`.
    fn name(&self) -> &str;

    /// Tells it from others that cost differently: turns of one label, model and effort are expected to cost alike ($2).
    fn label(&self) -> String {
        self.name().to_owned()
    }

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Opens a conversation: called when the first turn of a session lands, never before (S3).
    async fn open(&self, open: Open) -> Result<Box<dyn Conversation>>;

    /// Opens one that an earlier run had, by the harness's own id for it.
    async fn resume(&self, open: Open, native: &str) -> Result<Box<dyn Conversation>> {
        let _ = (open, native);
        Err(self.cannot("resume"))
    }

    /// The error of what this harness cannot do.
    fn cannot(&self, what: &str) -> Error {
        Error::harness(HarnessFault::Unsupported, format!("{what}: {} cannot do it", self.name()))
    }
}

/// One conversation of a harness. One turn of it goes at a time, so it is borrowed mutably by its turn.
#[async_trait]
pub trait Conversation: Send + 'static {
    /// The harness's own id for it, where it has one by now.
    fn native(&self) -> Option<String> {
        None
    }

    /// Takes a turn to its end. Where `host.interrupted()` returns, the turn ends soon with `interrupted`, its program told
    /// to stop; a turn that does not is dropped, which must end whatever the turn started.
    async fn turn(&mut self, prompt: Prompt<'_>, host: &dyn TurnHost) -> Result<Reply>;

    /// Branches the conversation; the fork works where `open` says.
    async fn fork(&mut self, open: Open) -> Result<Box<dyn Conversation>> {
        let _ = open;
        Err(Error::harness(HarnessFault::Unsupported, "fork: this harness cannot do it"))
    }

    /// Ends it: its program is told to stop and then made to. Dropping it does so at once.
    async fn close(self: Box<Self>);
}

/// What a conversation is opened with.
#[derive(Clone, Debug)]
pub struct Open {
    /// Its session's name in the run.
    pub session: SessionId,
    /// Where it works.
    pub env: Arc<dyn Env>,
    /// Model and effort.
    pub settings: Arc<Settings>,
    /// Added to the environment of its program, such as `FLOWHOST_RUN`.
    pub vars: Vec<(String, String)>,
}

/// What an agent is given beside its harness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// As the harness spells it; empty for its own choice.
    pub model: String,
    /// As the harness spells it; empty for its own choice.
    pub effort: String,
    /// What its tools may do.
    pub permission: Permission,
}

/// What of a part of the machine may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Nothing.
    None,
    /// Reading.
    Read,
    /// Reading and writing.
    All,
}

/// What an agent's tools may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// Where it works.
    pub workdir: Access,
    /// The person's home.
    pub home: Access,
    /// The rest of the machine.
    pub system: Access,
    /// The network, for its tools.
    pub network: bool,
}

impl Default for Permission {
    /// What a flow that is not built in gets without asking.
    fn default() -> Self {
        Self { workdir: Access::All, home: Access::None, system: Access::Read, network: false }
    }
}

impl Permission {
    /// Whether it allows all that `other` does.
    pub fn covers(&self, other: &Self) -> bool {
        self.workdir >= other.workdir
            && self.home >= other.home
            && self.system >= other.system
            && self.network >= other.network
    }
}

/// What a turn is asked.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// The turn's name in the run, such as `t40`.
    pub id: &'a str,
    /// The words.
    pub text: &'a str,
    /// JSON Schema that the answer must meet, for harnesses that can ask for it themselves.
    pub schema: Option<&'a Value>,
}

/// What a turn came to, as its harness says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What the agent said last.
    pub text: String,
    /// The structured answer, where the harness gives one apart from the text.
    pub value: Option<Value>,
    /// What this turn spent, `turns` left at 0: the host counts those. None where it is what the last [`Event::Usage`] said.
    pub usage: Option<Usage>,
}

/// What a harness can do, as data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Capabilities {
    /// Takes words into a running turn.
    pub steer: bool,
    /// Branches a conversation.
    pub fork: bool,
    /// Has a goal command of its own.
    pub goal: bool,
    /// Reaches tools that a flow offers.
    pub tools: bool,
    /// Takes skills that a flow brings.
    pub skills: bool,
    /// Asks for a structured answer itself.
    pub schema: bool,
    /// Opens a conversation that an earlier run had.
    pub resume: bool,
    /// Can cost money, so that a run with it says what it may cost ($4).
    pub spends: bool,
    /// Has no effect outside of the host's memory: its turns need not be on disk before they start (J1).
    pub pure: bool,
    /// The moments that it tells of and waits at.
    #[serde(skip)]
    pub moments: &'static [Moment],
}

impl Capabilities {
    /// None of them.
    pub const NONE: Self = Self {
        steer: false,
        fork: false,
        goal: false,
        tools: false,
        skills: false,
        schema: false,
        resume: false,
        spends: false,
        pure: false,
        moments: &[],
    };

    /// Those that a flow may ask for, by the contract's names: `steer fork goal tools skills` and each moment.
    pub fn names(&self) -> Vec<&'static str> {
        let named = [
            (self.steer, "steer"),
            (self.fork, "fork"),
            (self.goal, "goal"),
            (self.tools, "tools"),
            (self.skills, "skills"),
        ];
        let own = named.into_iter().filter(|(has, _)| *has).map(|(_, name)| name);
        own.chain(self.moments.iter().map(|moment| moment.name())).collect()
    }
}

/// What can be watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// A session starts.
    SessionStart,
    /// A prompt is about to be read.
    PromptSubmit,
    /// A tool is about to be used.
    PreToolUse,
    /// The agent asks to be permitted something.
    PermissionRequest,
    /// The agent asks a question.
    Question,
    /// The harness says something by the way.
    Notification,
    /// The agent uses a tool that this flow offers.
    OfferedTool,
    /// The agent is about to end its turn.
    Stop,
    /// A session ends.
    SessionEnd,
    /// A helper of the agent starts.
    SubagentStart,
    /// A helper of the agent is about to end.
    SubagentStop,
    /// Anything else.
    Other,
}

impl Moment {
    /// All that have a name of their own.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::PromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::Question,
        Self::Notification,
        Self::OfferedTool,
        Self::Stop,
        Self::SessionEnd,
        Self::SubagentStart,
        Self::SubagentStop,
    ];

    /// As the contract names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PromptSubmit => "prompt-submit",
            Self::PreToolUse => "pre-tool-use",
            Self::PermissionRequest => "permission-request",
            Self::Question => "question",
            Self::Notification => "notification",
            Self::OfferedTool => "offered-tool",
            Self::Stop => "stop",
            Self::SessionEnd => "session-end",
            Self::SubagentStart => "subagent-start",
            Self::SubagentStop => "subagent-stop",
            Self::Other => "other",
        }
    }
}

/// What a harness says to the host, and asks of it, while it takes a turn.
#[async_trait]
pub trait TurnHost: Send + Sync {
    /// Something happened. It goes into the record and onto the screen; usage goes into the budget.
    fn event(&self, event: Event);

    /// Returns once the turn is to end, and at once from then on.
    async fn interrupted(&self);

    /// The next words for the running turn. Pending for ever in a turn that nobody steers. Safe to cancel.
    async fn steered(&self) -> Steer;

    /// Asks whoever watches for this moment; [`Verdict::Pass`] where nobody does. The turn waits for the answer, and while
    /// it does it is not in flight for caps and budget (S10).
    async fn occasion(&self, moment: Moment, details: Value) -> Verdict;
}

/// Words for a running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steer {
    /// The words.
    pub text: String,
    /// Whether they interrupt what is going on, or wait for the agent to come up for air.
    pub interrupting: bool,
}

/// What was said to an occasion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It goes on as if nobody watched.
    Pass,
    /// Yes.
    Allow,
    /// No, and why.
    Block(String),
    /// Context, an answer, or a next prompt.
    Reply(String),
}

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The agent said something.
    Text {
        /// What.
        text: String,
    },
    /// The agent thought something.
    Thinking {
        /// What.
        text: String,
    },
    /// It starts to use a tool.
    ToolStart {
        /// Tells it from others of this turn.
        tool: String,
        /// The tool's name: `Read`.
        name: String,
        /// A short line for a person: `Read(path)`.
        label: String,
    },
    /// The tool has ended.
    ToolEnd {
        /// Which.
        tool: String,
        /// Whether it did what it was for.
        ok: bool,
    },
    /// What the turn has spent so far: a total, not a difference.
    Usage {
        /// The total.
        usage: Usage,
    },
    /// Something by the way, such as a retry.
    Notice {
        /// What.
        text: String,
    },
}
