//! What a person writes for an agent: `HARNESS[@ACCOUNT][/MODEL[:EFFORT]]` or `HARNESS:REST`.

use std::{fmt, str::FromStr};

use flowhost_core::harness::{Permission, Settings};

use crate::registry::{Refusal, Takes, row};

/// An agent as a person gave it. Reading one says nothing about whether its program is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The harness's name: one that this build has.
    pub harness: String,
    /// Which of its accounts.
    pub account: Option<String>,
    /// The model, as the harness spells it.
    pub model: Option<String>,
    /// The effort: one that the harness lists.
    pub effort: Option<String>,
    /// What `script:`, `script+json:` and `fake:` are given, as it stands.
    pub rest: Option<String>,
}

impl Spec {
    /// Reads one. The harness ends at the first of `/ @ :`; an effort follows the last colon only if the harness lists it, so a
    /// model may have colons.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let end = text.find(['/', '@', ':']).unwrap_or(text.len());
        let (name, after) = text.split_at(end);
        let row = row(name)?;
        let mut spec = Self { harness: name.to_owned(), ..Self::default() };
        if let (Takes::Rest(_) | Takes::Either, Some(rest)) = (row.takes, after.strip_prefix(':')) {
            spec.rest = Some(rest.to_owned()).filter(|rest| !rest.trim().is_empty());
        }
        let (accounts, efforts) = match row.takes {
            Takes::Rest(example) if spec.rest.is_none() => {
                return Err(Refusal::new(format!("{text}: {name} needs a program, as in {name}:{example}")));
            }
            Takes::Either if after.starts_with(':') && spec.rest.is_none() => {
                return Err(Refusal::new(format!("{text}: nothing follows the colon")));
            }
            _ if spec.rest.is_some() => return Ok(spec),
            Takes::Model { accounts, efforts } => (accounts, efforts),
            Takes::Rest(_) | Takes::Either => (false, &[][..]),
        };
        if after.starts_with(':') {
            let message = format!("{text}: an effort follows a model, as in {name}/MODEL:EFFORT");
            return Err(Refusal::new(message));
        }
        let (account, model) = match after.find('/') {
            Some(slash) => (&after[..slash], Some(&after[slash + 1..])),
            None => (after, None),
        };
        if let Some(account) = account.strip_prefix('@') {
            if !accounts {
                return Err(Refusal::new(format!("{text}: {name} works without accounts"))
                    .hint(format!("Leave out @{account}.")));
            }
            if account.is_empty() {
                return Err(Refusal::new(format!("{text}: no account follows the @")));
            }
            spec.account = Some(account.to_owned());
        }
        if let Some(model) = model {
            let (model, effort) = match model.rsplit_once(':') {
                Some((model, effort)) if efforts.contains(&effort) => (model, Some(effort)),
                _ => (model, None),
            };
            if model.is_empty() {
                return Err(Refusal::new(format!("{text}: no model follows the /")));
            }
            spec.model = Some(model.to_owned());
            spec.effort = effort.map(str::to_owned);
        }
        Ok(spec)
    }

    /// Model and effort, with what the agent's tools may do.
    pub fn settings(&self, permission: Permission) -> Settings {
        Settings {
            model: self.model.clone().unwrap_or_default(),
            effort: self.effort.clone().unwrap_or_default(),
            permission,
        }
    }
}

impl FromStr for Spec {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::parse(text)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.harness)?;
        let parts = [('@', &self.account), ('/', &self.model), (':', &self.effort), (':', &self.rest)];
        for (mark, part) in parts {
            if let Some(part) = part {
                write!(to, "{mark}{part}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> (String, Option<String>, Option<String>, Option<String>) {
        let spec = Spec::parse(text).unwrap();
        assert_eq!(spec.to_string(), text);
        (spec.harness, spec.model, spec.effort, spec.rest)
    }

    #[test]
    fn the_harness_ends_at_the_first_mark_and_an_effort_is_one_that_is_listed() {
        let some = |text: &str| Some(text.to_owned());
        let demo = || "demo".to_owned();
        assert_eq!(parts("demo"), (demo(), None, None, None));
        assert_eq!(parts("demo/small"), (demo(), some("small"), None, None));
        assert_eq!(parts("demo/small:high"), (demo(), some("small"), some("high"), None));
        assert_eq!(parts("demo/lab/small:8b"), (demo(), some("lab/small:8b"), None, None));
        assert_eq!(parts("demo/lab/small:8b:low"), (demo(), some("lab/small:8b"), some("low"), None));
        assert_eq!(parts("fake/m"), ("fake".into(), some("m"), None, None));
    }

    #[test]
    fn a_script_takes_the_rest_as_it_stands() {
        let spec = Spec::parse("script:./a b.sh --x=/y@z:w").unwrap();
        assert_eq!(spec.rest.as_deref(), Some("./a b.sh --x=/y@z:w"));
        let spec = Spec::parse("script+json:python3 x.py").unwrap();
        assert_eq!((spec.harness.as_str(), spec.rest.as_deref()), ("script+json", Some("python3 x.py")));
        assert_eq!(Spec::parse(r#"fake:{"a":1}"#).unwrap().rest.as_deref(), Some(r#"{"a":1}"#));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, why) in [
            ("", "an agent starts with the name of its harness, as in demo"),
            ("demo:high", "demo:high: an effort follows a model, as in demo/MODEL:EFFORT"),
            ("demo/", "demo/: no model follows the /"),
            ("demo/:high", "demo/:high: no model follows the /"),
            ("demo@me/x", "demo@me/x: demo works without accounts"),
            ("script", "script: script needs a program, as in script:./agent.sh"),
            ("script: ", "script: : script needs a program, as in script:./agent.sh"),
            ("script/x", "script/x: script needs a program, as in script:./agent.sh"),
            ("fake:", "fake:: nothing follows the colon"),
        ] {
            assert_eq!(Spec::parse(text).unwrap_err().message, why);
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_what_is_read_is_written_the_same(text in "(demo|fake|script|script\\+json|x)?[@/:a-z ü]{0,12}") {
            if let Ok(spec) = Spec::parse(&text) {
                prop_assert_eq!(spec.to_string(), text);
            }
        }
    }
}
