//! `-a ROLE=AGENT` and `-e ROLE=ENV`.

use std::path::PathBuf;

use super::near;
use crate::exit::Failure;

/// Something given to a flow under a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The role.
    pub role: String,
    /// What fills it, as it was written.
    pub with: String,
}

impl Given {
    /// Splits `ROLE=WHAT`; `flag` and `example` are for the refusal.
    pub fn read(text: &str, flag: &str, example: &str) -> Result<Self, Failure> {
        match text.split_once('=') {
            Some((role, with)) if !role.is_empty() && !with.is_empty() => {
                Ok(Self { role: role.into(), with: with.into() })
            }
            _ => Err(Failure::refused(format!("{flag} {text}: not of the form ROLE=…"))
                .hint(format!("Such as {flag} {example}"))),
        }
    }

    /// Refuses a role that is not among those declared.
    pub fn known(&self, flow: &str, what: &str, roles: &[&str]) -> Result<(), Failure> {
        if roles.contains(&self.role.as_str()) {
            return Ok(());
        }
        let hint = if roles.is_empty() {
            format!("Leave it out: {flow} has no {what} roles")
        } else {
            near::hint(&format!("{what} roles of {flow}"), &self.role, roles)
        };
        Err(Failure::refused(format!("{flow}: no {what} role is called {:?}", self.role)).hint(hint))
    }
}

/// The directory of `local:DIR`; what this build does not have is refused plainly.
pub fn local_dir(given: &Given) -> Result<PathBuf, Failure> {
    let Given { role, with } = given;
    let kind = with.split_once(':').map_or(with.as_str(), |(kind, _)| kind);
    match with.split_once(':') {
        Some(("local", "")) => {
            Err(Failure::refused(format!("-e {role}={with}: no directory")).hint(format!("Such as -e {role}=local:.")))
        }
        Some(("local", directory)) => Ok(directory.into()),
        Some(("ssh" | "container", _)) => {
            Err(Failure::refused(format!("-e {role}={with}: {kind} environments are not in this build"))
                .hint(format!("Use a directory of this machine: -e {role}=local:DIR")))
        }
        _ => Err(Failure::refused(format!("-e {role}={with}: no environment is called {kind:?}"))
            .hint(format!("Use a directory of this machine: -e {role}=local:DIR"))),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn said<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
        let failure = result.unwrap_err();
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    fn env(with: &str) -> Given {
        Given { role: "workspace".into(), with: with.into() }
    }

    #[test]
    fn a_role_is_split_from_what_fills_it_at_the_first_equals_sign() {
        let given = Given::read("agent=script:./a b=c", "-a", "agent=demo").unwrap();
        assert_eq!((given.role.as_str(), given.with.as_str()), ("agent", "script:./a b=c"));
        assert_snapshot!(said(Given::read("demo", "-a", "agent=demo")), @"
        error: -a demo: not of the form ROLE=…
        Hint: Such as -a agent=demo
        ");
    }

    #[test]
    fn an_unknown_role_is_refused_with_the_nearest() {
        let given = Given { role: "agnet".into(), with: "demo".into() };
        assert_snapshot!(said(given.known("fanout", "agent", &["agent"])), @r#"
        error: fanout: no agent role is called "agnet"
        Hint: Did you mean agent?
        "#);
        let given = Given { role: "judge".into(), with: "demo".into() };
        assert_snapshot!(said(given.known("pair", "agent", &["actor", "reviewer"])), @r#"
        error: pair: no agent role is called "judge"
        Hint: The agent roles of pair are actor, reviewer
        "#);
        assert_snapshot!(said(given.known("pair", "env", &[])), @r#"
        error: pair: no env role is called "judge"
        Hint: Leave it out: pair has no env roles
        "#);
    }

    #[test]
    fn environments_of_other_builds_are_refused_plainly() {
        assert_eq!(local_dir(&env("local:a b")).unwrap(), PathBuf::from("a b"));
        assert_snapshot!(said(local_dir(&env("ssh:host:/srv"))), @"
        error: -e workspace=ssh:host:/srv: ssh environments are not in this build
        Hint: Use a directory of this machine: -e workspace=local:DIR
        ");
        assert_snapshot!(said(local_dir(&env("container:alpine"))), @"
        error: -e workspace=container:alpine: container environments are not in this build
        Hint: Use a directory of this machine: -e workspace=local:DIR
        ");
        assert_snapshot!(said(local_dir(&env("src"))), @r#"
        error: -e workspace=src: no environment is called "src"
        Hint: Use a directory of this machine: -e workspace=local:DIR
        "#);
        assert_snapshot!(said(local_dir(&env("local:"))), @"
        error: -e workspace=local:: no directory
        Hint: Such as -e workspace=local:.
        ");
    }
}
