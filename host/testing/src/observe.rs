//! What is seen of a run while it goes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use flowhost_core::{
    id::{CallId, SessionId, TurnId},
    record::{Observer, Record},
};
use parking_lot::Mutex;

/// Keeps of the record what a scenario asks about.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Kept>);

#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) log: Vec<String>,
    /// In the order in which they began.
    turns: Vec<(TurnId, SessionId, Arc<str>)>,
    /// Turns that ended before their prompt was handed over.
    unasked: HashSet<TurnId>,
    /// Turns as they began and ended, those that were never asked too.
    steps: Vec<(TurnId, bool)>,
    pub(crate) branches: u64,
    going: BTreeMap<TurnId, Arc<str>>,
    waiting: HashMap<TurnId, Arc<str>>,
    calls: BTreeMap<CallId, Arc<str>>,
}

impl Seen {
    /// What was kept.
    pub(crate) fn take(&self) -> Kept {
        std::mem::take(&mut self.0.lock())
    }

    /// What the run has going, for a person.
    pub(crate) fn going(&self) -> String {
        let kept = self.0.lock();
        let turns = kept.going.iter().map(|(turn, prompt)| format!("turn {turn}, asked {}", short(prompt)));
        let waiting = kept.waiting.iter().map(|(turn, why)| format!("turn {turn}, which waits for {why}"));
        let calls = kept.calls.values().map(|label| format!("command {}", short(label)));
        let all: Vec<String> = turns.chain(waiting).chain(calls).collect();
        match &all[..] {
            [] => "no turn and no command is going".to_owned(),
            [few @ .., last] if few.len() < 4 => {
                format!("still going: {}", few.iter().chain([last]).cloned().collect::<Vec<_>>().join("; "))
            }
            many => format!("still going: {}; and {} more", many[..4].join("; "), many.len() - 4),
        }
    }
}

/// The beginning of a text, quoted.
fn short(text: &str) -> String {
    let line: String = text.chars().take(60).collect();
    if line.len() < text.len() { format!("{line:?}…") } else { format!("{line:?}") }
}

impl Observer for Seen {
    fn record(&self, _: Duration, record: &Record) {
        let mut kept = self.0.lock();
        match record {
            Record::Log { line, .. } => kept.log.push(line.to_string()),
            Record::Branch { .. } => kept.branches += 1,
            Record::Turn { turn, session, prompt, .. } => {
                kept.turns.push((*turn, *session, prompt.clone()));
                kept.steps.push((*turn, true));
                kept.going.insert(*turn, prompt.clone());
            }
            Record::TurnEnd { turn, usage, .. } => {
                if usage.turns == 0 {
                    kept.unasked.insert(*turn);
                }
                kept.steps.push((*turn, false));
                kept.going.remove(turn);
            }
            Record::Waiting { turn, why } => {
                match why {
                    Some(why) => kept.waiting.insert(*turn, why.clone()),
                    None => kept.waiting.remove(turn),
                };
            }
            Record::Call { call, label, .. } => {
                kept.calls.insert(*call, label.clone());
            }
            Record::CallEnd { call, .. } => {
                kept.calls.remove(call);
            }
            _ => {}
        }
    }
}

impl Kept {
    /// What was asked, in order, by the sessions that `of` lets through.
    pub(crate) fn prompts(&self, of: impl Fn(SessionId) -> bool) -> Vec<String> {
        let asked = self.turns.iter().filter(|(turn, session, _)| !self.unasked.contains(turn) && of(*session));
        asked.map(|(.., prompt)| prompt.to_string()).collect()
    }

    /// Most turns that were going at once.
    pub(crate) fn peak(&self) -> u64 {
        let (mut going, mut peak) = (0u64, 0);
        for (turn, began) in &self.steps {
            if self.unasked.contains(turn) {
                continue;
            }
            going = if *began { going + 1 } else { going.saturating_sub(1) };
            peak = peak.max(going);
        }
        peak
    }
}
