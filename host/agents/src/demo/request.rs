//! What a prompt asks for, read from its words: the first of the requests that `demo` knows.

use std::{collections::HashSet, sync::LazyLock};

use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// Something that `demo` can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A one-line docstring of the module; in other languages a header comment.
    Docstring,
    /// A header comment, with this text or one of its own.
    Header(Option<String>),
    /// Another name for something in the file.
    Rename { from: String, to: String },
    /// `__all__`.
    All,
    /// A line end at the end of the file.
    FinalNewline,
    /// A file that is not there yet.
    Create { path: String, text: Option<String> },
    /// To say what a file is like. Nothing is edited.
    Review,
    /// To say whether something is so. Nothing is edited.
    Judge,
    /// Something else.
    Unknown,
}

impl Request {
    /// Reads a prompt; `schema` is that of the answer, where there is one.
    pub(super) fn of(prompt: &str, schema: Option<&Value>) -> Self {
        let Some(words) = &*WORDS else { return Self::Unknown };
        // Who is asked a yes or no is not asked for an edit, whatever else the prompt quotes.
        if schema.is_some_and(asks_yes_or_no) || words.judge.is_match(prompt) {
            return Self::Judge;
        }
        let ways = [
            (&words.review, Self::Review),
            (&words.docstring, Self::Docstring),
            (&words.header, Self::Header(None)),
            (&words.rename, Self::Unknown),
            (&words.all, Self::All),
            (&words.final_newline, Self::FinalNewline),
            (&words.create, Self::Unknown),
        ];
        let found = ways.into_iter().filter_map(|(way, request)| Some((way.captures(prompt)?, request)));
        let Some((captures, request)) = found.min_by_key(|(captures, _)| captures.get(0).map(|whole| whole.start()))
        else {
            return Self::Unknown;
        };
        let part = |name| captures.name(name).map(|part| part.as_str().to_owned());
        if let (Some(from), Some(to)) = (part("from"), part("to")) {
            return Self::Rename { from, to };
        }
        if let Some(path) = part("path") {
            return Self::Create { path, text: part("text") };
        }
        if let Self::Header(_) = request {
            return Self::Header(part("text").or_else(|| part("rest")).filter(|text| !text.trim().is_empty()));
        }
        request
    }
}

/// The word that a prompt wants on a line of its own where nothing is left to do.
pub(super) fn word_for_nothing_left(prompt: &str) -> Option<&str> {
    let words = WORDS.as_ref()?;
    Some(words.nothing_left.captures(prompt)?.get(1)?.as_str())
}

/// The files that a prompt may name, the likeliest first; whether it says so of the first in as many words.
pub(super) fn named_paths(prompt: &str) -> (Vec<String>, bool) {
    let Some(words) = &*WORDS else { return (Vec::new(), false) };
    if let Some(said) = words.the_file_is.captures_iter(prompt).last() {
        return (vec![unquoted(&said[1]).to_owned()], true);
    }
    // A header's text is not where a file is named, nor is a part of what stands in quotes.
    let text = words.header.captures(prompt).and_then(|said| said.name("text").or_else(|| said.name("rest")));
    let mut taken: Vec<_> = text.iter().map(|text| text.range()).collect();
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    for pattern in [&words.quoted, &words.bare] {
        for found in pattern.captures_iter(prompt) {
            let Some(path) = found.iter().skip(1).flatten().next() else { continue };
            if taken.iter().any(|taken| taken.start < path.end() && path.start() < taken.end) {
                continue;
            }
            taken.push(path.range());
            let name = path.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            if !name.is_empty() && seen.insert(name) {
                paths.push(name.to_owned());
            }
        }
    }
    (paths, false)
}

fn unquoted(text: &str) -> &str {
    ['`', '"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

/// Whether an answer of this shape says whether something is so.
fn asks_yes_or_no(schema: &Value) -> bool {
    let is_boolean = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "boolean");
    let properties = schema.get("properties").and_then(Value::as_object);
    is_boolean(schema)
        || properties.is_some_and(|all| all.iter().any(|(name, schema)| is_boolean(schema) && says_it_is_so(name)))
}

/// Whether a property of this name is the one that says yes.
pub(super) fn says_it_is_so(name: &str) -> bool {
    const YES: [&str; 17] = [
        "met",
        "done",
        "ok",
        "okay",
        "pass",
        "passed",
        "passes",
        "approved",
        "success",
        "succeeded",
        "complete",
        "completed",
        "finished",
        "satisfied",
        "true",
        "valid",
        "correct",
    ];
    // isMet, is_met, is-met
    let mut spaced = String::new();
    let mut was_lower = false;
    for each in name.chars() {
        if was_lower && each.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = each.is_lowercase();
        spaced.extend(each.to_lowercase());
    }
    spaced.split(|each: char| !each.is_alphanumeric()).any(|word| YES.contains(&word))
}

struct Words {
    judge: Regex,
    review: Regex,
    docstring: Regex,
    header: Regex,
    rename: Regex,
    all: Regex,
    final_newline: Regex,
    create: Regex,
    nothing_left: Regex,
    the_file_is: Regex,
    quoted: Regex,
    bare: Regex,
}

/// None only where a pattern below is none; a test compiles them.
static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| Words::new().ok());

impl Words {
    fn new() -> Result<Self, regex::Error> {
        let regex = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build();
        const SAYING: &str = r"(?:\s*(?:,|that says|that reads|saying|with the text|with|containing|reading|:))+\s*";
        const KIND: &str = "function|method|class|variable|constant|identifier|name|symbol|type|struct|field|module|parameter|argument";
        Ok(Self {
            judge: regex(
                r"(?:objective|goal|condition|task)\s+(?:(?:is|was|has been)\s+)?(?:met|reached|done|fulfilled)\b|\byes or no\b|\byou are (?:the|a) judge\b|^\s*judge\b",
            )?,
            review: regex(
                r"\breview(?:er|s|ing)?\b|\bchange nothing(?: yourself\b|[.,;])|\b(?:describe|summari[sz]e|explain|critici[sz]e|assess)\b",
            )?,
            docstring: regex(r"\bdoc-?strings?\b|\bdoc comments?\b|\bmodule docs?\b")?,
            header: regex(&format!(
                r#"\b(?:(?:header|license) comment|(?:comment|license|file) header)\b(?:{SAYING}["`](?<text>[^"`\n]+)["`]|\s*:\s*(?<rest>[^\n"`]+))?"#
            ))?,
            rename: regex(&format!(
                r#"\brename\s+(?:the\s+)?(?:(?:{KIND})\s+)?[`"']?(?<from>[A-Za-z_][A-Za-z0-9_]*)[`"']?(?:\(\))?\s+(?:to|as|into)\s+[`"']?(?<to>[A-Za-z_][A-Za-z0-9_]*)"#
            ))?,
            all: regex(r"\b__all__\b")?,
            final_newline: regex(
                r"\b(?:trailing|final) (?:newline|line end|line break)\b|\bnewline at (?:the |its )?end\b|\bends? (?:\w+ ){0,3}(?:in|with) (?:a|one) newline\b",
            )?,
            create: regex(&format!(
                r#"\b(?:create|write|make)\s+(?:a |the )?(?:new |empty )?(?:text )?(?:file )?(?:called |named )?[`"'](?<path>[^`"'\n]+)[`"'](?:{SAYING}(?:the text )?["`](?<text>[^"`\n]*)["`])?"#
            ))?,
            nothing_left: regex(r"\bnothing is left\b.*\banswer (\w+) on a line of its own")?,
            the_file_is: regex(r"(?m)^[ \t]*The file is (.+?)\.?[ \t]*\r?$")?,
            quoted: regex(r#"`([^`\n]+)`|"([^"\n]+)"|'([^'\n ]+)'"#)?,
            bare: regex(r"(?:^|[\s(])([\w.+@~-]*[./][\w./+@~-]*\w)")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(prompt: &str) -> Request {
        Request::of(prompt, None)
    }

    #[test]
    fn a_request_is_known_by_its_words() {
        let task = "Add a one-line module docstring to this file. Change nothing else.\n\nThe file is a.py.";
        assert_eq!(of(task), Request::Docstring);
        assert_eq!(of("Give `a.py` a header comment."), Request::Header(None));
        let header = |text: &str| Request::Header(Some(text.to_owned()));
        assert_eq!(of("Add a header comment saying \"Copyright me\" to a.py"), header("Copyright me"));
        assert_eq!(of("Add a header comment with the text `Part of x.`"), header("Part of x."));
        assert_eq!(of("Add a header comment: Part of it\n\nThe file is a.py."), header("Part of it"));
        let rename = |from: &str, to: &str| Request::Rename { from: from.to_owned(), to: to.to_owned() };
        assert_eq!(of("Rename `add` to `plus` in calc.py"), rename("add", "plus"));
        assert_eq!(of("please rename the function add() to docstring_add."), rename("add", "docstring_add"));
        assert_eq!(of("Add `__all__` to a.py"), Request::All);
        assert_eq!(of("Make sure that a.py ends with a newline"), Request::FinalNewline);
        assert_eq!(of("Add a trailing newline"), Request::FinalNewline);
        let create =
            |path: &str, text: Option<&str>| Request::Create { path: path.into(), text: text.map(str::to_owned) };
        assert_eq!(of("Create a file `notes/x.md` with the text \"hello\""), create("notes/x.md", Some("hello")));
        assert_eq!(of("Create the file \"x.md\"."), create("x.md", None));
        assert_eq!(of("Rewrite it all in a better language"), Request::Unknown);
        assert_eq!(of(""), Request::Unknown);
    }

    #[test]
    fn who_reviews_or_judges_does_not_edit() {
        assert_eq!(of("Review this change.\n\nAdd a docstring to a.py"), Request::Review);
        assert_eq!(
            of("Objective: add a docstring to a.py.\n\nIs the objective met? Answer yes or no."),
            Request::Judge
        );
        assert_eq!(of("Say what a reviewer should look at.\n\nAdd a docstring to a.py"), Request::Review);
        assert_eq!(of("Look for yourself, and change nothing.\n\nAdd a docstring to a.py"), Request::Review);
        assert_eq!(of("Add a docstring to a.py. Change nothing else."), Request::Docstring);
        assert_eq!(of("You are the judge of: rename a to b"), Request::Judge);
        let schema = json!({"type": "object", "properties": {"met": {"type": "boolean"}}});
        assert_eq!(Request::of("Add a docstring to a.py", Some(&schema)), Request::Judge);
        let schema = json!({"type": "object", "properties": {"summary": {"type": "string"}}});
        assert_eq!(Request::of("Add a docstring to a.py", Some(&schema)), Request::Docstring);
    }

    #[test]
    fn the_first_request_counts() {
        assert_eq!(of("Add a docstring; the name of `__all__` stays"), Request::Docstring);
        assert_eq!(of("Add `__all__`, no docstring"), Request::All);
    }

    #[test]
    fn the_file_is_found_in_the_words() {
        let paths = |prompt| named_paths(prompt).0;
        assert_eq!(named_paths("x\n\nThe file is src/a b.py."), (vec!["src/a b.py".into()], true));
        assert_eq!(paths("The file is `a.py`.\r\n"), ["a.py"]);
        assert_eq!(paths("Add it to `x y.py` and src/b.py, then (c.rs)."), ["x y.py", "src/b.py", "c.rs"]);
        assert_eq!(paths("Add it to ./run.sh."), ["./run.sh"]);
        assert_eq!(paths("Add a header comment saying \"see b.py\" to a.py"), ["a.py"]);
        assert!(paths("Add a docstring.").is_empty());
    }

    #[test]
    fn a_property_says_yes_by_its_name() {
        for name in ["met", "is_met", "objectiveMet", "all-done", "OK"] {
            assert!(says_it_is_so(name), "{name}");
        }
        for name in ["metal", "summary", "blocked", ""] {
            assert!(!says_it_is_so(name), "{name}");
        }
    }
}
