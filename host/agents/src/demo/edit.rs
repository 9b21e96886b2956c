//! The edits that `demo` makes, on bytes: the file differs by what was asked and by nothing else.

use super::{
    code::{code, is_word, masked},
    language::Language,
    layout::{insert, is_blank, line, lines, newline, start},
    python,
    request::Request,
};

/// Columns that an added line keeps to.
const WIDTH: usize = 79;
/// Lines of a header comment.
const HEADER_LINES: usize = 10;

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The file as it is to be; none where it stays as it is.
    pub(super) text: Option<Vec<u8>>,
    /// What to say about it.
    pub(super) said: String,
}

impl Outcome {
    fn edited(text: Vec<u8>, said: String) -> Self {
        Self { text: Some(text), said }
    }

    fn left(said: String) -> Self {
        Self { text: None, said }
    }
}

/// Edits the file at `path` as asked.
pub(super) fn edit(request: &Request, path: &str, text: &[u8]) -> Outcome {
    if text.contains(&0) {
        return Outcome::left(format!("`{path}` is not text that I can read, so I left it alone."));
    }
    let language = Language::of(path, text);
    match request {
        Request::Docstring if language == Language::Python => docstring(path, text),
        Request::Docstring => header(language, path, text, None),
        Request::Header(asked) => header(language, path, text, asked.as_deref()),
        Request::Rename { from, to } => rename(language, path, text, from, to),
        Request::All => all(language, path, text),
        Request::FinalNewline => final_newline(path, text),
        Request::Create { .. } => Outcome::left(format!("`{path}` is there already, so I left it alone.")),
        Request::Review | Request::Judge | Request::Unknown => Outcome::left(describe(language, path, text)),
    }
}

/// The text of a new file.
pub(super) fn new_file(path: &str, asked: Option<&str>) -> Vec<u8> {
    let mut text = asked.map_or_else(|| format!("{path}: made by the demo agent."), str::to_owned);
    if !text.is_empty() {
        text.push('\n');
    }
    text.into_bytes()
}

fn docstring(path: &str, text: &[u8]) -> Outcome {
    if python::has_docstring(text) {
        return Outcome::left(format!("`{path}` has a docstring already, so I left it alone."));
    }
    let added = format!("\"\"\"{}\"\"\"", sentence(Language::Python, path, text, WIDTH - 6));
    let edited = insert(text, python::after_first_comment(text), std::slice::from_ref(&added), false);
    Outcome::edited(
        edited,
        format!("I added the one-line docstring `{added}` at the top of `{path}` and changed nothing else."),
    )
}

fn header(language: Language, path: &str, text: &[u8], asked: Option<&str>) -> Outcome {
    let Some((open, close)) = language.comment() else {
        return Outcome::left(format!("I do not know how comments are written in `{path}`, so I left it alone."));
    };
    let at = match after_magic(language, text) {
        Ok(at) => at,
        Err(why) => return Outcome::left(format!("`{path}` {why}, so I left it alone.")),
    };
    let open = if asked.is_some() && language == Language::Rust { "//" } else { open };
    let comment = |said: &str| {
        let said = said.trim_end_matches(['\\', ' ']);
        if close.is_empty() { format!("{open} {said}") } else { format!("{open} {said} {close}") }
    };
    let added: Vec<String> = match asked {
        None => vec![comment(&sentence(language, path, text, WIDTH - open.len() - close.len() - 2))],
        Some(asked) => {
            let said = asked.lines().map(|line| line.chars().filter(|each| !each.is_control()).collect::<String>());
            said.take(HEADER_LINES).map(|line| comment(line.trim())).collect()
        }
    };
    if added.iter().any(|line| !line.is_ascii()) && std::str::from_utf8(text).is_err() {
        return Outcome::left(format!("`{path}` is not in UTF-8, so I cannot write that text into it."));
    }
    let closes_early = !close.is_empty() && asked.is_some_and(|asked| asked.contains(close) || asked.contains("--"));
    if closes_early || open == "#" && added.iter().any(|line| is_magic(line.as_bytes())) {
        return Outcome::left(format!(
            "As a comment of `{path}` that text would mean something else, so I left it alone."
        ));
    }
    let is_there = match asked {
        None => has_comment(language, text, at),
        Some(_) => added.iter().all(|added| leading_comment(language, text, at).any(|line| line == added.as_bytes())),
    };
    if is_there {
        return Outcome::left(format!("`{path}` has a header comment already, so I left it alone."));
    }
    let said =
        format!("I added the header comment `{}` at the top of `{path}` and changed nothing else.", added.join(" "));
    Outcome::edited(insert(text, at, &added, false), said)
}

/// Where a header comment goes: after what has to be on the first lines. An error where it cannot go there.
fn after_magic(language: Language, text: &[u8]) -> Result<usize, &'static str> {
    let first = start(text);
    let mut at = first;
    let first_line = line(text, first).map(|(line, _)| line.to_ascii_lowercase()).unwrap_or_default();
    if let Language::Block("<!--", _) = language {
        let first_line = first_line.trim_ascii();
        if first_line.starts_with(b"---") || first_line.starts_with(b"<?") {
            return Err("starts with something that has to come first");
        }
        if !first_line.starts_with(b"<!doctype") {
            return Ok(at);
        }
        return match line(text, first) {
            Some((_, next)) if first_line.ends_with(b">") => Ok(next),
            _ => Err("has a document type that I cannot see the end of"),
        };
    }
    for (nth, (line, next)) in lines(text, first).take(3).enumerate() {
        let inner_attribute =
            language == Language::Rust && line[2.min(line.len())..].trim_ascii_start().starts_with(b"[");
        let shebang = nth == 0 && line.starts_with(b"#!") && !inner_attribute;
        let hash = language.comment() == Some(("#", ""));
        if shebang || hash && is_magic(line) {
            at = next;
        } else if !(hash && (is_blank(line) || line.trim_ascii_start().starts_with(b"#"))) {
            break;
        }
    }
    Ok(at)
}

/// Whether a comment is one that some program reads: an encoding, an editor's settings, a directive of a container file.
fn is_magic(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let Some(said) = line.trim_start().strip_prefix('#') else { return false };
    let directive = said.trim_start().split('=').next().map(str::trim_end).unwrap_or_default();
    said.contains("coding:")
        || said.contains("coding=")
        || said.contains("-*-")
        || said.contains("vim:")
        || said.contains("frozen_string_literal")
        || said.starts_with("compdef")
        || said.starts_with("autoload")
        || said.contains('=') && ["syntax", "escape", "check"].contains(&directive)
}

/// Whether the first thing from `at` on is a comment about the file.
fn has_comment(language: Language, text: &[u8], at: usize) -> bool {
    let mut lines = lines(text, at).map(|(line, _)| line.trim_ascii_start());
    let starts = |line: &[u8]| language.comment_starts().iter().any(|start| line.starts_with(start.as_bytes()));
    match language {
        // Other comments may stand before the one that documents the file.
        Language::Rust => {
            lines.take_while(|line| line.is_empty() || line.starts_with(b"//")).any(starts)
                || after_plain_comments(text, at).is_some_and(|line| starts(line) || line.starts_with(b"#![doc"))
        }
        _ => lines.find(|line| !line.is_empty()).is_some_and(starts),
    }
}

/// The first line that is not blank and no plain comment of Rust.
fn after_plain_comments(text: &[u8], at: usize) -> Option<&[u8]> {
    let lines = lines(text, at).map(|(line, _)| line.trim_ascii_start());
    lines.into_iter().find(|line| !line.is_empty() && !line.starts_with(b"//"))
}

/// The comment lines from `at` on.
fn leading_comment(language: Language, text: &[u8], at: usize) -> impl Iterator<Item = &[u8]> {
    let open = match language {
        Language::Rust => "//",
        other => other.comment().map_or("", |(open, _)| open),
    };
    lines(text, at).map(|(line, _)| line).take_while(move |line| is_blank(line) || line.starts_with(open.as_bytes()))
}

fn rename(language: Language, path: &str, text: &[u8], from: &str, to: &str) -> Outcome {
    let keyword = |name: &str| language.keywords().split(' ').any(|keyword| keyword == name);
    if from == to {
        return Outcome::left(format!("`{from}` is its name already, so I left `{path}` alone."));
    }
    if let Some(word) = [from, to].into_iter().find(|name| keyword(name)) {
        return Outcome::left(format!("`{word}` is a word of the language, so I left `{path}` alone."));
    }
    let whole = start(text)..text.len();
    let known = code(language, text);
    let spans = known.as_deref().unwrap_or(std::slice::from_ref(&whole));
    let dollar = language == Language::JavaScript;
    let found: Vec<usize> = spans.iter().flat_map(|span| names(text, span.clone(), from.as_bytes(), dollar)).collect();
    if found.is_empty() {
        return Outcome::left(format!("There is no `{from}` in `{path}`, so I left it alone."));
    }
    if spans.iter().any(|span| names(text, span.clone(), to.as_bytes(), dollar).next().is_some()) {
        return Outcome::left(format!("`{to}` is a name in `{path}` already, so I left it alone."));
    }
    let mut edited = Vec::with_capacity(text.len());
    let mut copied = 0;
    for at in &found {
        edited.extend(&text[copied..*at]);
        edited.extend(to.as_bytes());
        copied = at + from.len();
    }
    edited.extend(&text[copied..]);
    let everywhere = names(text, 0..text.len(), from.as_bytes(), dollar).count();
    let times = |count: usize| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let mut said =
        format!("I renamed `{from}` to `{to}` in `{path}`, {}, and changed nothing else.", times(found.len()));
    if everywhere > found.len() {
        let left = times(everywhere - found.len());
        said.push_str(&format!(" Strings and comments still say `{from}`, {left}."));
    }
    Outcome::edited(edited, said)
}

/// Where `name` stands as a name of its own in `span`.
fn names<'a>(
    text: &'a [u8],
    span: std::ops::Range<usize>,
    name: &'a [u8],
    dollar: bool,
) -> impl Iterator<Item = usize> + 'a {
    let within = move |byte: u8| is_word(byte) || dollar && byte == b'$';
    let first = start(text);
    let last = span.end.saturating_sub(name.len());
    (span.start..=last).filter(move |at| {
        let end = at + name.len();
        end <= text.len()
            && text[*at..end] == *name
            && (*at <= first || !within(text[at - 1]))
            && text.get(end).is_none_or(|after| !within(*after))
    })
}

fn all(language: Language, path: &str, text: &[u8]) -> Outcome {
    if language != Language::Python {
        return Outcome::left(format!("`__all__` is for Python, which `{path}` is not, so I left it alone."));
    }
    let masked = masked(language, text);
    if names(&masked, start(text)..masked.len(), b"__all__", false).next().is_some() {
        return Outcome::left(format!("`{path}` has `__all__` already, so I left it alone."));
    }
    let public: Vec<String> = definitions(language, text).into_iter().filter(|name| !name.starts_with('_')).collect();
    if public.is_empty() {
        return Outcome::left(format!("`{path}` defines no public names at its top level, so I left it alone."));
    }
    if !public.iter().all(|name| name.is_ascii()) {
        return Outcome::left(format!("`{path}` defines names that are not ASCII, so I left it alone."));
    }
    let quoted: Vec<String> = public.iter().map(|name| format!("\"{name}\"")).collect();
    let mut added = vec![format!("__all__ = [{}]", quoted.join(", "))];
    if added[0].len() > WIDTH {
        added = vec!["__all__ = [".to_owned()];
        added.extend(quoted.iter().map(|name| format!("    {name},")));
        added.push("]".to_owned());
    }
    let said = format!("I added `__all__` with {} to `{path}` and changed nothing else.", listed(&public, usize::MAX));
    Outcome::edited(insert(text, python::after_future(text), &added, true), said)
}

fn final_newline(path: &str, text: &[u8]) -> Outcome {
    if text.len() == start(text) || text.ends_with(b"\n") || text.ends_with(b"\r") {
        return Outcome::left(format!("`{path}` ends as it should already, so I left it alone."));
    }
    let edited = [text, newline(text)].concat();
    Outcome::edited(edited, format!("I ended the last line of `{path}` and changed nothing else."))
}

fn describe(language: Language, path: &str, text: &[u8]) -> String {
    let count = lines(text, 0).count();
    let mut said = format!("`{path}` has {count} {}", if count == 1 { "line" } else { "lines" });
    let names = definitions(language, text);
    if !names.is_empty() {
        said.push_str(&format!(" and defines {}", listed(&names, WIDTH)));
    }
    if language == Language::Python {
        said.push_str(if python::has_docstring(text) { "; it has a docstring" } else { "; it has no docstring" });
    }
    said.push('.');
    said
}

/// The names that a file defines at its top level, each once.
fn definitions(language: Language, text: &[u8]) -> Vec<String> {
    let Some(pattern) = language.definitions() else { return Vec::new() };
    let masked = masked(language, text);
    let mut names: Vec<String> = Vec::new();
    for found in pattern.captures_iter(&masked[start(text)..]) {
        let name = found.get(1).map_or(&b""[..], |name| name.as_bytes());
        let name = String::from_utf8_lossy(name).into_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// `a, b and c`; where that would be wider than `width`, `a, b and 3 more`.
fn listed(names: &[String], width: usize) -> String {
    for shown in (1..=names.len()).rev() {
        let more = names.len() - shown;
        let text = match (more, &names[..shown]) {
            (0, [one]) => one.clone(),
            (0, [first @ .., last]) => format!("{} and {last}", first.join(", ")),
            (more, shown) => format!("{} and {more} more", shown.join(", ")),
        };
        if text.len() <= width {
            return text;
        }
    }
    format!("{} names", names.len())
}

/// A sentence about a file, in ASCII and no wider than `width`: what it is called, and what it defines.
fn sentence(language: Language, path: &str, text: &[u8], width: usize) -> String {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let plain = |name: &str| {
        let simple = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-' | '.');
        (!name.is_empty() && name.len() <= 40 && name.chars().all(simple)).then(|| name.to_owned())
    };
    let subject = match (language, name.rsplit_once('.').map_or(name, |(stem, _)| stem)) {
        (Language::Python, "__init__") => {
            parts.next().and_then(plain).map_or("This package".to_owned(), |name| format!("The {name} package"))
        }
        (Language::Python, "__main__") => "The program of this package".to_owned(),
        (Language::Python, stem) => plain(stem).map_or("This module".to_owned(), |name| format!("The {name} module")),
        _ => plain(name).unwrap_or_else(|| "This file".to_owned()),
    };
    let mut names = definitions(language, text);
    names.retain(|name| name.is_ascii());
    let room = width.saturating_sub(subject.len() + 3);
    if names.is_empty() { format!("{subject}.") } else { format!("{subject}: {}.", listed(&names, room)) }
}
