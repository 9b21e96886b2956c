//! A command line that cannot be read, said in our two lines: `error:` and `Hint:`.

use clap::{
    CommandFactory as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{args::Args, exit::Failure, values::near};

/// What clap found wrong. None where it is no error: help and version.
///
/// `words` is the command line, without the program.
pub(crate) fn failure(error: &clap::Error, words: &[String]) -> Option<Failure> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => Some(one.clone()),
        Some(ContextValue::Strings(many)) => Some(many.join(", ")),
        _ => None,
    };
    let first = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => Some(one.clone()),
        Some(ContextValue::Strings(many)) => many.first().cloned(),
        _ => None,
    };
    let names = |kind| match error.get(kind) {
        Some(ContextValue::Strings(many)) => many.clone(),
        _ => Vec::new(),
    };
    let did_you_mean = |kind| first(kind).map(|name| format!("Did you mean {name}?"));
    let command = command(words);
    let help = format!("`{command} --help` says what there is");
    let argument = said(ContextKind::InvalidArg).unwrap_or_default().replace(['<', '>'], "");
    let value = said(ContextKind::InvalidValue).unwrap_or_default();
    let failure = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return None;
        }
        ErrorKind::InvalidSubcommand => {
            let name = said(ContextKind::InvalidSubcommand).unwrap_or_default();
            let hint = did_you_mean(ContextKind::SuggestedSubcommand).unwrap_or(help);
            Failure::refused(format!("{command}: no command is called {name:?}")).hint(hint)
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let hint = did_you_mean(ContextKind::SuggestedArg).unwrap_or(help);
            Failure::refused(format!("{command}: no flag is called {argument}")).hint(hint)
        }
        ErrorKind::UnknownArgument => {
            let hint =
                if command.ends_with(" exec") { "A task of several words is put in quotes".into() } else { help };
            Failure::refused(format!("{command}: {argument:?} is one word too many")).hint(hint)
        }
        ErrorKind::MissingRequiredArgument => Failure::refused(format!("{command}: {argument} is missing")).hint(help),
        ErrorKind::MissingSubcommand => Failure::refused(format!("{command}: which one is not said")).hint(help),
        ErrorKind::InvalidValue if value.is_empty() => {
            Failure::refused(format!("{command}: {argument} needs a value")).hint(help)
        }
        ErrorKind::InvalidValue => {
            let valid = names(ContextKind::ValidValue);
            let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
            let hint =
                did_you_mean(ContextKind::SuggestedValue).unwrap_or_else(|| near::hint("values", &value, &valid));
            Failure::refused(format!("{command}: {argument}: {value:?} is not one of its values")).hint(hint)
        }
        ErrorKind::ValueValidation => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let why = cause.unwrap_or_else(|| format!("{value:?} cannot be read"));
            Failure::refused(format!("{command}: {argument}: {why}")).hint(help)
        }
        ErrorKind::ArgumentConflict => {
            let prior = said(ContextKind::PriorArg).unwrap_or_default().replace(['<', '>'], "");
            let message = if prior == argument || prior.is_empty() {
                format!("{command}: {argument} is given twice")
            } else {
                format!("{command}: {argument} and {prior} do not go together")
            };
            Failure::refused(message).hint("Leave one out")
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            Failure::refused(line.strip_prefix("error: ").unwrap_or(line).to_owned()).hint(help)
        }
    };
    Some(failure)
}

/// The command that was being read: the names of commands that the line starts with, flags in between left out.
fn command(words: &[String]) -> String {
    let root = Args::command();
    let (mut at, mut path) = (&root, String::from("flowhost"));
    for word in words {
        match at.find_subcommand(word) {
            Some(command) => {
                at = command;
                path = format!("{path} {word}");
            }
            None if at.has_subcommands() => {}
            None => break,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};
    use insta::assert_snapshot;

    use super::*;

    fn read(words: &str) -> Option<Failure> {
        let words: Vec<String> = words.split_whitespace().map(Into::into).collect();
        let line = std::iter::once("flowhost".to_owned()).chain(words.iter().cloned());
        failure(&Args::try_parse_from(line).unwrap_err(), &words)
    }

    fn refusal(words: &str) -> String {
        let failure = read(words).unwrap();
        assert_eq!(failure.exit.code(), 2);
        assert!(!failure.message.contains('\n'), "one line: {}", failure.message);
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    #[test]
    fn the_table_of_arguments_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_misspelt_command_or_flag_is_one_line_and_a_hint() {
        assert_snapshot!(refusal("exce -f fanout x"), @r#"
        error: flowhost: no command is called "exce"
        Hint: Did you mean exec?
        "#);
        assert_snapshot!(refusal("weather"), @r#"
        error: flowhost: no command is called "weather"
        Hint: `flowhost --help` says what there is
        "#);
        assert_snapshot!(refusal("flows lsit"), @r#"
        error: flowhost flows: no command is called "lsit"
        Hint: Did you mean list?
        "#);
        assert_snapshot!(refusal("exec --bugdet cost=1 -f fanout x"), @"
        error: flowhost exec: no flag is called --bugdet
        Hint: Did you mean --budget?
        ");
        assert_snapshot!(refusal("exec --weather -f fanout x"), @"
        error: flowhost exec: no flag is called --weather
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f fanout Add a docstring"), @r#"
        error: flowhost exec: "a" is one word too many
        Hint: A task of several words is put in quotes
        "#);
        assert_snapshot!(refusal("exec -f fanout"), @"
        error: flowhost exec: TASK is missing
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec x"), @"
        error: flowhost exec: --flow REF is missing
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f"), @"
        error: flowhost exec: --flow REF needs a value
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f a -f b x"), @"
        error: flowhost exec: --flow REF is given twice
        Hint: Leave one out
        ");
        assert_snapshot!(refusal("exec -f a --at-once 0 x"), @"
        error: flowhost exec: --at-once N: 0: not a number of turns, such as 4
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f a --at-once two x"), @"
        error: flowhost exec: --at-once N: two: not a number of turns, such as 4
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f a --unpriced alow x"), @r#"
        error: flowhost exec: --unpriced WHAT: "alow" is not one of its values
        Hint: Did you mean allow?
        "#);
        assert_snapshot!(refusal("exec -f a --patience 5 x"), @"
        error: flowhost exec: --patience TIME: 5: a time has a unit, such as 5s or 5m
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("exec -f a --demo-speed fast x"), @"
        error: flowhost exec: --demo-speed X: fast: not a speed, such as 2, 0.5 or 0
        Hint: `flowhost exec --help` says what there is
        ");
        assert_snapshot!(refusal("--color purple demo"), @r#"
        error: flowhost demo: --color WHEN: "purple" is not one of its values
        Hint: The values are auto, always, never
        "#);
        assert_snapshot!(refusal("completions bahs"), @r#"
        error: flowhost completions: SHELL: "bahs" is not one of its values
        Hint: Did you mean bash?
        "#);
        assert_snapshot!(refusal("check"), @"
        error: flowhost check: FLOW is missing
        Hint: `flowhost check --help` says what there is
        ");
    }

    #[test]
    fn help_is_no_error() {
        for words in ["--help", "exec --help", "--version", "flows --help", "flows", ""] {
            assert!(read(words).is_none());
        }
    }
}
