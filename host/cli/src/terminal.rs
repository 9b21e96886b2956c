//! The one way to the terminal: what is written to stdout and stderr, whether it is colored, and how wide it may be.

use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

use crate::{escape, exit::Failure};

/// What is less important than the rest.
pub const DIM: Style = Style::new().dimmed();
/// What went well, or is under way.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What went wrong.
pub const BAD: Style = AnsiColor::Red.on_default();
/// What waits, or is to be noticed.
pub const NOTE: Style = AnsiColor::Yellow.on_default();
/// What to look at.
pub const BOLD: Style = Style::new().bold();

/// Columns of a line where nobody knows how wide it may be: a pipe, a file.
const PIPED: usize = 160;
/// Nothing is readable below this.
const NARROWEST: usize = 24;

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Makes it so for all that this program writes.
    pub fn choose(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Puts a style around our own words.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Columns of stderr.
pub fn columns() -> usize {
    if !io::stderr().is_terminal() {
        return PIPED;
    }
    let size = rustix::termios::tcgetwinsize(io::stderr());
    size.map_or(80, |size| usize::from(size.ws_col)).max(NARROWEST)
}

/// Columns of stdout.
pub fn answer_columns() -> usize {
    if !answers_a_person() {
        return PIPED;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout());
    size.map_or(80, |size| usize::from(size.ws_col)).max(NARROWEST)
}

/// Whether stderr is a terminal that can be drawn on.
pub fn drawable() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Rows of stderr.
pub fn rows() -> usize {
    rustix::termios::tcgetwinsize(io::stderr()).map_or(24, |size| usize::from(size.ws_row))
}

/// Writes a line to stderr. That nobody reads it is no reason to fail.
pub fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Says to a person what is worth knowing beforehand, in one line. It may quote what others wrote.
pub fn note(line: &str) {
    say(&format!("{} {}", styled(NOTE, "Note:"), escape::line(line, 400)));
}

/// Writes to stdout what the program was asked for, as it is.
pub fn answer(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes styled lines of our own to stdout: lists, tables.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Whether a person reads stdout.
pub fn answers_a_person() -> bool {
    io::stdout().is_terminal()
}

/// Says why a command did not do what was asked: `error:`, and `Hint:` where there is one.
pub fn complain(failure: &Failure) {
    say(&complaint(failure));
}

fn complaint(failure: &Failure) -> String {
    let mut text = format!("{} {}", styled(BAD.bold(), "error:"), escape::block(failure.message.trim_end()));
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("\n{} {}", styled(NOTE, "Hint:"), escape::block(hint)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_harmless_whatever_it_quotes() {
        let failure = Failure::refused("a\x1b[2Jb: no such flow").hint("Did you mean \u{202e}c?");
        let plain = anstream::adapter::strip_str(&complaint(&failure)).to_string();
        assert_eq!(plain, "error: a␛[2Jb: no such flow\nHint: Did you mean \\u{202e}c?");
    }
}
