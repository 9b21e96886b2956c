//! `--limit NAME=VALUE`: what keeps a flow from taking the machine (X2). The names and defaults are the engine's.

use super::near;
use crate::exit::Failure;

/// Splits `NAME=VALUE` and finds the name among `names`, underscores allowed.
pub fn split<'a, 'n>(text: &'a str, names: &[&'n str]) -> Result<(&'n str, &'a str), Failure> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::refused(format!("--limit {text}: not of the form NAME=VALUE"))
            .hint("Such as --limit memory=1GiB; `flowhost exec --help` lists the limits"));
    };
    let written = name.replace('_', "-");
    match names.iter().find(|each| **each == written) {
        Some(known) => Ok((known, value)),
        None => {
            Err(Failure::refused(format!("--limit: nothing is called {name:?}"))
                .hint(near::hint("limits", name, names)))
        }
    }
}

/// The refusal of a value that cannot be read.
pub fn wrong(name: &str, why: &str) -> Failure {
    Failure::refused(format!("--limit {name}={why}"))
        .hint("`flowhost exec --help` lists the limits with their defaults")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_found_by_its_name() {
        assert_eq!(split("cpu_time=5s", &["memory", "cpu-time"]), Ok(("cpu-time", "5s")));
        let failure = split("memroy=1GiB", &["memory", "cpu-time"]).unwrap_err();
        assert_eq!(failure.message, "--limit: nothing is called \"memroy\"");
        assert_eq!(failure.hint.as_deref(), Some("Did you mean memory?"));
        assert!(split("memory", &["memory"]).is_err());
    }
}
