//! The contract's enums, which JavaScript writes as their words.

use crate::bindings::flowhost::flow::{
    agents::{Access, Moment, SteerMode, Unanswered, WhenBusy},
    envs::EntryKind,
    types::{CostSource, EnvFault, FlowFault, Grace, HarnessFault, Limit, SessionFault},
};

/// An enum of the contract.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// Every case with its word.
    const ALL: &'static [(Self, &'static str)];

    /// The word of this case.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(case, _)| *case == self).map_or("other", |(_, word)| word)
    }

    /// The case of this word.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, each)| *each == word).map(|(case, _)| *case)
    }
}

macro_rules! words {
    ($($of:ident { $($case:ident = $word:literal),* $(,)? })*) => {$(
        impl Word for $of {
            const ALL: &'static [(Self, &'static str)] = &[$(($of::$case, $word)),*];
        }
    )*};
}

words! {
    WhenBusy { Refuse = "refuse", Queue = "queue" }
    SteerMode { Queued = "queued", Interrupting = "interrupting" }
    Access { None = "none", Read = "read", All = "all" }
    Unanswered { Pass = "pass", Block = "block" }
    Moment {
        SessionStart = "session-start",
        PromptSubmit = "prompt-submit",
        PreToolUse = "pre-tool-use",
        PermissionRequest = "permission-request",
        Question = "question",
        Notification = "notification",
        OfferedTool = "offered-tool",
        Stop = "stop",
        SessionEnd = "session-end",
        SubagentStart = "subagent-start",
        SubagentStop = "subagent-stop",
        Other = "other",
    }
    EntryKind { File = "file", Directory = "directory", Link = "link", Other = "other" }
    CostSource {
        Reported = "reported",
        Priced = "priced",
        Mixed = "mixed",
        MadeUp = "made-up",
        Unknown = "unknown",
    }
    Grace { Finish = "finish", Cut = "cut" }
    Limit { Cost = "cost", OutputTokens = "output-tokens", Turns = "turns", Duration = "duration" }
    SessionFault {
        Busy = "busy",
        Closed = "closed",
        NotYours = "not-yours",
        NeverRan = "never-ran",
        RefusedDir = "refused-dir",
        Idle = "idle",
        Other = "other",
    }
    HarnessFault {
        NotInstalled = "not-installed",
        NotLoggedIn = "not-logged-in",
        ModelUnavailable = "model-unavailable",
        Throttled = "throttled",
        Overloaded = "overloaded",
        Contended = "contended",
        ContextFull = "context-full",
        Killed = "killed",
        Dropped = "dropped",
        Hung = "hung",
        Interrupted = "interrupted",
        BadOutput = "bad-output",
        Unsupported = "unsupported",
        Other = "other",
    }
    EnvFault {
        NotFound = "not-found",
        Denied = "denied",
        Outside = "outside",
        TimedOut = "timed-out",
        NotStarted = "not-started",
        Conflict = "conflict",
        TooLarge = "too-large",
        Unavailable = "unavailable",
        Interrupted = "interrupted",
        Other = "other",
    }
    FlowFault {
        NotFound = "not-found",
        BadRef = "bad-ref",
        TooDeep = "too-deep",
        Trapped = "trapped",
        Exceeded = "exceeded",
        Interrupted = "interrupted",
        Other = "other",
    }
}
