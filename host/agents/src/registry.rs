//! The harnesses that there are, and how one is built from what a person wrote.

use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc};

use flowhost_core::{
    clock::Clock,
    error::Error,
    harness::{Capabilities, Harness},
};

pub use crate::spec::Spec;
use crate::{demo, fake, script};

/// Those that this build has, in the order in which they are listed. A harness is one line here.
static ROWS: [&Row; 4] = [&demo::ROW, &script::PLAIN, &script::JSON, &fake::ROW];

/// Those that a person may well ask for, and that this build has not.
const LATER: [&str; 9] = ["claude", "codex", "opencode", "pi", "omp", "acp", "gemini", "qwen", "kimi"];

/// A harness, as `flowhost agents` lists it.
pub struct Row {
    /// As `-a ROLE=HARNESS` names it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What may follow the name.
    pub takes: Takes,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Whether lists leave it out.
    pub hidden: bool,
    pub(crate) build: fn(&RegistryOptions, &Spec) -> Built,
}

/// A harness, or why there is none.
type Built = Result<Arc<dyn Harness>, Refusal>;

impl fmt::Debug for Row {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Row").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What may follow a harness's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// `[@ACCOUNT][/MODEL[:EFFORT]]`.
    Model {
        /// Whether it works with accounts.
        accounts: bool,
        /// The efforts that it lists.
        efforts: &'static [&'static str],
    },
    /// `:REST`, taken as it stands: what the rest is, as a person would write it.
    Rest(&'static str),
    /// `:REST` or `/MODEL`, or nothing.
    Either,
}

/// Every harness of this build, hidden ones too.
pub fn table() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().copied()
}

/// The harness of this name; a refusal with the nearest name where there is none.
pub(crate) fn row(name: &str) -> Result<&'static Row, Refusal> {
    if let Some(row) = table().find(|row| row.name == name) {
        return Ok(row);
    }
    let listed: Vec<_> = table().filter(|row| !row.hidden).map(|row| row.name).collect();
    let listed = listed.join(", ");
    if LATER.contains(&name) {
        let message = format!("{name}: this build has no such harness yet; it has {listed}");
        return Err(Refusal::new(message).hint("script:PROGRAM makes an agent of any program that reads a prompt."));
    }
    let known = table().filter(|row| !row.hidden).map(|row| row.name).chain(LATER);
    let near = known
        .map(|known| (strsim::damerau_levenshtein(known, &name.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= 1.max(known.len().min(name.len()) / 3))
        .min();
    let refusal = Refusal::new(if name.is_empty() {
        "an agent starts with the name of its harness, as in demo".to_owned()
    } else {
        format!("{name}: no harness is called that")
    });
    Err(match near {
        Some((_, near)) => refusal.hint(format!("Did you mean {near}?")),
        None => refusal.hint(format!("There are {listed}.")),
    })
}

/// What building a harness needs to know.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// What `demo` and `fake` wait on.
    pub clock: Clock,
    /// How fast `demo` works: 1 as it is, 10 ten times as fast, 0 without any delay.
    pub demo_speed: f64,
    /// Where a program given by a relative path is looked for. Absolute.
    pub where_the_person_stands: PathBuf,
    /// Where a program given by its name is looked for, as `PATH` spells it.
    pub path: OsString,
}

/// Builds harnesses.
#[derive(Clone, Debug)]
pub struct Registry {
    options: RegistryOptions,
}

impl Registry {
    /// One that builds with these.
    pub fn new(options: RegistryOptions) -> Self {
        Self { options }
    }

    /// The harness that `spec` asks for. Refused where its program is not there: found up front, before anything starts.
    pub fn build(&self, spec: &Spec) -> Result<Arc<dyn Harness>, Refusal> {
        (row(&spec.harness)?.build)(&self.options, spec)
    }
}

/// An agent that cannot be had, before anything has run: exit 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong, and with what.
    pub message: String,
    /// What to do about it: a sentence.
    pub hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::requirement(match refusal.hint {
            Some(hint) => format!("{}. {hint}", refusal.message),
            None => refusal.message,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Refusal {
        Spec::parse(text).unwrap_err()
    }

    #[test]
    fn a_misspelt_harness_is_refused_with_the_nearest_name() {
        assert_eq!(refused("dmeo").message, "dmeo: no harness is called that");
        assert_eq!(refused("dmeo").hint.unwrap(), "Did you mean demo?");
        assert_eq!(refused("Demo").hint.unwrap(), "Did you mean demo?");
        assert_eq!(refused("cluade/opus").hint.unwrap(), "Did you mean claude?");
        assert_eq!(refused("scrip:./x").hint.unwrap(), "Did you mean script?");
        assert_eq!(refused("script-json:./x").hint.unwrap(), "Did you mean script+json?");
        assert_eq!(refused("nothing-like-it").hint.unwrap(), "There are demo, script, script+json.");
    }

    #[test]
    fn a_harness_of_later_is_refused_plainly() {
        for name in LATER {
            let refusal = refused(name);
            assert!(refusal.message.starts_with(&format!("{name}: this build has no such harness yet")), "{refusal}");
        }
        assert!(refused("acp:npx thing --acp").message.starts_with("acp: this build"));
    }

    #[test]
    fn the_fake_is_not_listed_but_known() {
        assert!(table().any(|row| row.name == "fake" && row.hidden));
        assert!(!refused("fkae").hint.unwrap().contains("fake"));
        assert_eq!(Spec::parse("fake").unwrap().harness, "fake");
    }

    #[test]
    fn dollar_4_only_demo_fake_and_plain_script_cannot_spend() {
        let spending: Vec<_> = table().filter(|row| row.capabilities.spends).map(|row| row.name).collect();
        assert_eq!(spending, ["script+json"]);
    }

    #[test]
    fn what_is_built_is_what_the_table_says() {
        let registry = Registry::new(RegistryOptions {
            clock: Clock::driven(),
            demo_speed: 0.0,
            where_the_person_stands: "/".into(),
            path: "/usr/bin:/bin".into(),
        });
        for (row, text) in table().zip(["demo", "script:sh", "script+json:sh", "fake"]) {
            let harness = registry.build(&Spec::parse(text).unwrap()).unwrap();
            assert_eq!((harness.name(), harness.capabilities()), (row.name, row.capabilities), "{text}");
        }
    }
}
