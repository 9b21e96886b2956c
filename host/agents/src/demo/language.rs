//! What `demo` knows of languages: how they write comments, and whether it can tell their code from their text.

use regex::bytes::Regex;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Rust,
    JavaScript,
    C,
    Java,
    Go,
    Shell,
    /// Another one whose comments start with this.
    Line(&'static str),
    /// Another one whose comments stand between these.
    Block(&'static str, &'static str),
    /// Anything else: text without comments.
    Plain,
}

impl Language {
    /// By the file's name, or else by its first line.
    pub(super) fn of(path: &str, text: &[u8]) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        if matches!(
            name,
            "Makefile" | "makefile" | "GNUmakefile" | "Dockerfile" | "Justfile" | "justfile" | ".gitignore"
        ) {
            return Self::Line("#");
        }
        match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension) {
            Some("py" | "pyi" | "pyw") => Self::Python,
            Some("rs") => Self::Rust,
            Some("js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => Self::JavaScript,
            Some("c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp") => Self::C,
            Some("java") => Self::Java,
            Some("go") => Self::Go,
            Some("sh" | "bash" | "ksh" | "zsh") => Self::Shell,
            Some(
                "rb" | "pl" | "pm" | "r" | "R" | "yaml" | "yml" | "toml" | "mk" | "cmake" | "ex" | "exs" | "jl" | "nix",
            ) => Self::Line("#"),
            Some("sql" | "lua" | "hs" | "elm") => Self::Line("--"),
            Some("kt" | "kts" | "swift" | "scala" | "cs" | "dart" | "zig" | "proto") => Self::Line("//"),
            Some("css") => Self::Block("/*", "*/"),
            Some("html" | "htm" | "md") => Self::Block("<!--", "-->"),
            Some(_) => Self::Plain,
            None => Self::of_shebang(text),
        }
    }

    fn of_shebang(text: &[u8]) -> Self {
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(line) = line.strip_prefix(b"#!") else { return Self::Plain };
        let line = String::from_utf8_lossy(line);
        let program = line
            .split_whitespace()
            .map(|word| word.rsplit('/').next().unwrap_or(word))
            .find(|word| !word.is_empty() && *word != "env" && !word.starts_with('-'));
        match program.unwrap_or_default().trim_end_matches(|last: char| last.is_ascii_digit() || last == '.') {
            "python" | "pypy" => Self::Python,
            "sh" | "bash" | "dash" | "ksh" | "zsh" | "ash" => Self::Shell,
            "node" | "deno" | "bun" => Self::JavaScript,
            "ruby" | "perl" | "make" => Self::Line("#"),
            _ => Self::Plain,
        }
    }

    /// What a comment on a line of its own stands between; none where there are no comments. Of Rust, the one that documents
    /// the file.
    pub(super) fn comment(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Python | Self::Shell => Some(("#", "")),
            Self::Rust => Some(("//!", "")),
            Self::JavaScript | Self::C | Self::Java | Self::Go => Some(("//", "")),
            Self::Line(open) => Some((open, "")),
            Self::Block(open, close) => Some((open, close)),
            Self::Plain => None,
        }
    }

    /// What a comment may start with at the top of a file.
    pub(super) fn comment_starts(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Shell | Self::Line("#") => &["#"],
            Self::Rust => &["//!", "/*!"],
            Self::JavaScript | Self::C | Self::Java | Self::Go | Self::Line("//") => &["//", "/*"],
            Self::Line(_) => &["--"],
            Self::Block("/*", _) => &["/*"],
            Self::Block(..) => &["<!--"],
            Self::Plain => &[],
        }
    }

    /// Words that cannot be names; none where the language is not known.
    pub(super) fn keywords(self) -> &'static str {
        match self {
            Self::Python => {
                "False None True and as assert async await break class continue def del elif else except finally for from \
                 global if import in is lambda nonlocal not or pass raise return try while with yield"
            }
            Self::Rust => {
                "as async await box break const continue crate dyn else enum extern false final fn for gen if impl in let loop \
                 macro match mod move mut override priv pub ref return self Self static struct super trait true try type \
                 typeof union unsafe unsized use virtual where while yield abstract become do _"
            }
            Self::JavaScript => {
                "arguments await break case catch class const continue debugger default delete do else enum eval export extends \
                 false finally for function if implements import in instanceof interface let new null package private \
                 protected public return static super switch this throw true try typeof undefined var void while with yield"
            }
            Self::C => {
                "auto bool break case catch char class const continue default delete do double else enum extern false float for \
                 friend goto if inline int long namespace new nullptr operator private protected public register restrict \
                 return short signed sizeof static struct switch template this throw true try typedef typename union unsigned \
                 using virtual void volatile while"
            }
            Self::Java => {
                "abstract assert boolean break byte case catch char class const continue default do double else enum extends \
                 false final finally float for goto if implements import instanceof int interface long native new null \
                 package private protected public return short static super switch synchronized this throw throws transient \
                 true try void volatile while _"
            }
            Self::Go => {
                "break case chan const continue default defer else fallthrough false for func go goto if import interface map \
                 nil package range return select struct switch true type var _"
            }
            Self::Shell | Self::Line(_) | Self::Block(..) | Self::Plain => "",
        }
    }

    /// Finds the names that a file defines at its top level, where their text starts a line.
    pub(super) fn definitions(self) -> Option<Regex> {
        // What is not ASCII belongs to a name, in whatever encoding.
        const NAME: &str = r"((?-u:[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*))";
        let before = match self {
            Self::Python => r"(?:async[ \t]+def|def|class)[ \t]+",
            Self::Rust => {
                r"(?:pub(?:\([a-z]+\))?[ \t]+)?(?:(?:async|unsafe|const)[ \t]+)*(?:fn|struct|enum|trait)[ \t]+"
            }
            Self::JavaScript => r"(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?(?:function\*?|class)[ \t]+",
            Self::C => r"[A-Za-z_][A-Za-z0-9_ \t*]*?[ \t*]",
            Self::Java => r"(?:(?:public|final|abstract|sealed)[ \t]+)*(?:class|interface|enum|record)[ \t]+",
            Self::Go => r"(?:func|type)[ \t]+",
            Self::Shell => r"(?:function[ \t]+)?",
            Self::Line(_) | Self::Block(..) | Self::Plain => return None,
        };
        let after = match self {
            Self::C => r"[ \t]*\([^;\r\n]*$",
            Self::Shell => r"[ \t]*\(\)",
            _ => "",
        };
        Regex::new(&format!("(?mR)^{before}{NAME}{after}")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name_or_its_first_line() {
        for (path, text, language) in [
            ("a.py", "", Language::Python),
            ("src/a.b.rs", "", Language::Rust),
            ("run", "#!/usr/bin/env python3\n", Language::Python),
            ("run", "#!/usr/bin/env -S python3.11 -u\n", Language::Python),
            ("run", "#!/bin/bash\n", Language::Shell),
            ("run", "hello", Language::Plain),
            ("a.json", "", Language::Plain),
            (".py", "", Language::Plain),
            ("Makefile", "", Language::Line("#")),
        ] {
            assert_eq!(Language::of(path, text.as_bytes()), language, "{path}");
        }
    }

    #[test]
    fn every_pattern_of_definitions_is_one() {
        use Language::*;
        for (language, text, name) in [
            (Python, "async def a(): pass", "a"),
            (Rust, "pub(crate) async fn a() {}", "a"),
            (JavaScript, "export default function a() {}", "a"),
            (C, "static int *a(int b) {", "a"),
            (Java, "public final class a {", "a"),
            (Go, "func a() {", "a"),
            (Shell, "a() {", "a"),
        ] {
            let found = language.definitions().unwrap().captures(text.as_bytes()).unwrap()[1].to_vec();
            assert_eq!(found, name.as_bytes(), "{language:?}");
        }
    }
}
