//! `--grant WHAT`: what a flow may do beyond what it gets without asking.

use flowhost_core::harness::Access;

use super::near;
use crate::exit::Failure;

const NAMES: [&str; 9] = ["workdir", "home", "system", "network", "container", "ssh", "flow", "model", "unconfined"];

/// One thing that the person grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// What may be done where a turn works.
    Workdir(Access),
    /// What may be done in the person's home.
    Home(Access),
    /// What may be done on the rest of the machine.
    System(Access),
    /// Whether tools and commands reach the network.
    Network(bool),
    /// A container image that may be used.
    Container(String),
    /// A machine that may be reached.
    Ssh(String),
    /// A flow that may be loaded, by its reference.
    Flow(String),
    /// A model or effort that may be used beyond the one given.
    Model(String),
    /// To run a flow that is not built in where this system does not confine it.
    Unconfined,
}

impl Grant {
    /// Reads one.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let value = |form: &str| {
            value.filter(|value| !value.is_empty()).ok_or_else(|| {
                Failure::refused(format!("--grant {name}: it needs a value")).hint(format!("Say --grant {name}={form}"))
            })
        };
        let access = || match value("none|read|all")? {
            "none" => Ok(Access::None),
            "read" => Ok(Access::Read),
            "all" => Ok(Access::All),
            _ => Err(Failure::refused(format!("--grant {text}: neither none, read nor all"))
                .hint(format!("Say --grant {name}=read, for instance"))),
        };
        Ok(match name {
            "workdir" => Self::Workdir(access()?),
            "home" => Self::Home(access()?),
            "system" => Self::System(access()?),
            "network" => match value("none|all")? {
                "none" => Self::Network(false),
                "all" => Self::Network(true),
                _ => {
                    return Err(Failure::refused(format!("--grant {text}: neither none nor all"))
                        .hint("Say --grant network=all, for instance"));
                }
            },
            "container" => Self::Container(value("IMAGE")?.into()),
            "ssh" => Self::Ssh(value("HOST")?.into()),
            "flow" => Self::Flow(value("REF")?.into()),
            "model" => Self::Model(value("NAME")?.into()),
            "unconfined" if text == name => Self::Unconfined,
            "unconfined" => {
                return Err(Failure::refused(format!("--grant {text}: unconfined takes no value"))
                    .hint("Say --grant unconfined"));
            }
            _ => {
                return Err(Failure::refused(format!("--grant: nothing is called {name:?}"))
                    .hint(near::hint("grants", name, &NAMES)));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn refusal(text: &str) -> String {
        let failure = Grant::read(text).unwrap_err();
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    #[test]
    fn grants_are_read() {
        assert_eq!(Grant::read("home=read"), Ok(Grant::Home(Access::Read)));
        assert_eq!(Grant::read("network=all"), Ok(Grant::Network(true)));
        assert_eq!(Grant::read("flow=./x.wasm"), Ok(Grant::Flow("./x.wasm".into())));
        assert_eq!(Grant::read("unconfined"), Ok(Grant::Unconfined));
    }

    #[test]
    fn what_is_no_grant_is_refused() {
        assert_snapshot!(refusal("home"), @"
        error: --grant home: it needs a value
        Hint: Say --grant home=none|read|all
        ");
        assert_snapshot!(refusal("home=write"), @"
        error: --grant home=write: neither none, read nor all
        Hint: Say --grant home=read, for instance
        ");
        assert_snapshot!(refusal("network=read"), @"
        error: --grant network=read: neither none nor all
        Hint: Say --grant network=all, for instance
        ");
        assert_snapshot!(refusal("netwrok=all"), @r#"
        error: --grant: nothing is called "netwrok"
        Hint: Did you mean network?
        "#);
        assert_snapshot!(refusal("unconfined=yes"), @"
        error: --grant unconfined=yes: unconfined takes no value
        Hint: Say --grant unconfined
        ");
    }
}
