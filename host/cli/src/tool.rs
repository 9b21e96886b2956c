//! Programs of other people's that build something: run to their end, and quoted where they fail; and what they build from, by digest.

use std::{
    io,
    process::{Command, Stdio},
};

/// Lines of a program that failed which are shown.
const LAST: usize = 12;

/// Why a program did not do its part.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It is not on PATH.
    NotFound,
    /// The last that it said.
    Said(String),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Self::NotFound => "there is no such program",
            Self::Said(said) => said,
        })
    }
}

/// A program that is run to its end.
pub(crate) trait Run {
    /// Runs it silently; what it says is quoted where it fails.
    fn run(&mut self) -> Result<(), Failed>;
}

impl Run for Command {
    fn run(&mut self) -> Result<(), Failed> {
        let output = self.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failed::NotFound,
            _ => Failed::Said(error.to_string()),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST)..].join("\n");
        Err(Failed::Said(if last.is_empty() { output.status.to_string() } else { last }))
    }
}

/// The digest of files by their paths, in hexadecimal digits.
pub(crate) fn digest(files: &[(&str, &str)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, text) in files {
        for part in [path, text] {
            // Each with its length, so that no two lists of files run into one another.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_quoted_at_its_end() {
        let Err(Failed::Said(said)) = Command::new("sh").args(["-c", "seq 30; echo why >&2; exit 3"]).run() else {
            panic!("it did not fail")
        };
        assert_eq!(said.lines().count(), LAST);
        assert_eq!(said.lines().last(), Some("why"));
        assert!(matches!(Command::new("no-such-program-of-flowhost").run(), Err(Failed::NotFound)));
    }
}
