//! What `demo` makes of files in other languages. Rust is parsed; shells and JavaScript are asked where they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::disallowed_types, reason = "interpreters are asked")]
#![allow(clippy::print_stderr, reason = "a test says what it was skipped for")]

mod support;

use std::{
    io::Write,
    process::{Command, Stdio},
    sync::Arc,
};

use flowhost_agents::{demo::Demo, fake::FakeEnv};
use flowhost_core::{
    clock::Clock,
    harness::{Harness, Open, Settings},
    id::SessionId,
};
use futures::FutureExt;
use proptest::prelude::*;
use support::{Listener, prompt};

fn asked(path: &str, task: &str, before: &str) -> String {
    let env = FakeEnv::new().file(path, before);
    let open = Open {
        session: SessionId(1),
        env: Arc::new(env.clone()),
        settings: Arc::new(Settings::default()),
        vars: Vec::new(),
    };
    let demo = Demo::new(Clock::driven()).speed(0.0);
    let turn = async {
        let mut conversation = demo.open(open).await.unwrap();
        conversation.turn(prompt(&format!("{task}\n\nThe file is {path}.")), &Listener::new()).await.unwrap()
    };
    turn.now_or_never().unwrap();
    String::from_utf8(env.files().remove(path).unwrap()).unwrap()
}

type Pieces = Vec<(bool, &'static str)>;

/// A file made of pieces: code in which `alpha` is a name, and text in which it is none. A piece that ends in `= ` and the one
/// after it stand together.
fn pieces(language: &'static [(bool, &'static str)]) -> impl Strategy<Value = Pieces> {
    prop::collection::vec(0..language.len(), 0..12).prop_map(|chosen| {
        let opens = |at: usize| language[at].1.ends_with("= ");
        let mut pieces = Pieces::new();
        for at in chosen {
            if at > 0 && opens(at - 1) {
                pieces.push(language[at - 1]);
            }
            pieces.push(language[at]);
            if opens(at) {
                pieces.push(language[at + 1]);
            }
        }
        pieces
    })
}

fn joined(pieces: &[(bool, &str)]) -> String {
    pieces.iter().map(|(_, text)| *text).collect()
}

/// The name in code is another one, and everything else is as it was.
fn check_rename(path: &str, pieces: &[(bool, &str)]) -> Result<String, TestCaseError> {
    let word = regex::Regex::new(r"\balpha\b").unwrap();
    let expected: String = pieces
        .iter()
        .map(|(code, text)| if *code { word.replace_all(text, "omega").into_owned() } else { (*text).to_owned() })
        .collect();
    let after = asked(path, "Rename `alpha` to `omega`.", &joined(pieces));
    prop_assert_eq!(&after, &expected);
    Ok(after)
}

/// One line is added, after `first` where the file starts with it, and what follows is apart.
fn check_header(path: &str, before: &str, first: &str, line: &str) -> Result<String, TestCaseError> {
    let after = asked(path, "Add a one-line docstring.", before);
    let rest = before.strip_prefix(first).unwrap();
    if after == before {
        let start = rest.trim_start();
        prop_assert!(["//", "/*", "#"].iter().any(|comment| start.starts_with(comment)), "{}", before);
        return Ok(after);
    }
    let added = after.strip_prefix(first).unwrap();
    prop_assert!(added.starts_with(line), "{}", after);
    let apart = if rest.is_empty() || rest.lines().next().unwrap().trim().is_empty() { "" } else { "\n" };
    prop_assert_eq!(added.split_once('\n').unwrap().1, format!("{apart}{rest}"));
    prop_assert_eq!(asked(path, "Add a one-line docstring.", &after), after.clone());
    Ok(after)
}

const RUST: &[(bool, &str)] = &[
    (true, "fn alpha<'a>(alpha: &'a str) -> &'a str { alpha }\n"),
    (true, "struct S { alpha: u8, alphabet: u8 }\n"),
    (true, "const C: u8 = b'x' + alpha::<{ 1 }>() + r#alpha;\n"),
    (true, "static D: char = "),
    (false, "'\"';\n"),
    (false, "// alpha's \"\n"),
    (false, "/* alpha /* \" */ ' */\n"),
    (false, "/// alpha `'`\nfn f() {}\n"),
    (true, "static E: &str = "),
    (false, "\"alpha \\\" // alpha\";\n"),
    (true, "static F: &[u8] = "),
    (false, "br##\"alpha \"# \"##;\n"),
    (true, "mod m { use super::alpha; }\n"),
    (false, "impl<'alpha> T<'alpha> {}\n"),
    (false, "#[doc = \"alpha\"]\nfn g() {}\n"),
    (false, "\n"),
];

const JAVASCRIPT: &[(bool, &str)] = &[
    (true, "function alpha(alphabet) { return alpha / alphabet / 2 }\n"),
    (true, "x = { alpha: alpha, y: y.alpha };\n"),
    (false, "$alpha = alpha$;\n"),
    (false, "'alpha \\' //';\n"),
    (false, "\"alpha it's\";\n"),
    (false, "// alpha's `\n"),
    (false, "/* alpha \" */\n"),
    (false, "`alpha \\` ${"),
    (false, "x = /alpha[/'\"]\\//g;\n"),
    (true, "if (alpha > 1) { alpha++ }\n"),
    (false, "\n"),
];

fn javascript() -> impl Strategy<Value = Pieces> {
    pieces(JAVASCRIPT).prop_map(|pieces| {
        let mut whole = Pieces::new();
        for piece in pieces {
            whole.push(piece);
            if piece.1.ends_with("${") {
                whole.extend([(true, "alpha + {b: alpha}.b"), (false, "} alpha`;\n")]);
            }
        }
        whole
    })
}

const C: &[(bool, &str)] = &[
    (true, "int alpha(int alphabet) { return alpha(1); }\n"),
    (true, "#define BETA alpha\n"),
    (false, "#include <alpha.h>\n"),
    (false, "// alpha's \\\n alpha too\n"),
    (false, "/* alpha \" */\n"),
    (true, "char *s = "),
    (false, "\"alpha \\\" /*\";\n"),
    (true, "char c = "),
    (false, "'\"';\n"),
    (false, "\n"),
];

const GO: &[(bool, &str)] = &[
    (true, "func alpha(alphabet int) int { return alpha(1) }\n"),
    (false, "`alpha \\`"),
    (false, "\"alpha \\\" `\""),
    (false, "// alpha's\n"),
    (false, "'`'"),
    (true, " + alpha.alpha\n"),
];

const JAVA: &[(bool, &str)] = &[
    (true, "class alpha { int alphabet = alpha.size(); }\n"),
    (false, "\"\"\"\nalpha \"x\" \\\"\"\" alpha\"\"\"\n"),
    (false, "\"alpha \\\" //\" "),
    (false, "/* alpha's */"),
    (true, "alpha();\n"),
];

const SHELL: &[(bool, &str)] = &[
    (true, "build() { echo \"$1\"; }\n"),
    (true, "function_name=alpha\n"),
    (false, "# a comment's \" text\n"),
    (false, "cat <<'END'\nbuild() { \"\nEND\n"),
    (false, "\n"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rust_still_parses_and_differs_by_its_edit_alone(pieces in pieces(RUST), shebang in any::<bool>()) {
        let first = if shebang { "#!/usr/bin/env run\n" } else { "" };
        let before = format!("{first}{}", joined(&pieces));
        let old = syn::parse_file(&before).unwrap();
        let after = check_header("src/lib.rs", &before, first, "//! lib.rs")?;
        let mut new = syn::parse_file(&after).unwrap();
        if after != before {
            prop_assert!(new.attrs.remove(0).path().is_ident("doc"));
        }
        prop_assert_eq!(&old, &new);
        let renamed = check_rename("src/lib.rs", &pieces)?;
        prop_assert!(syn::parse_file(&renamed).is_ok());
    }

    #[test]
    fn javascript_differs_by_its_edit_alone(pieces in javascript()) {
        check_rename("a.mjs", &pieces)?;
        check_rename("a.tsx", &pieces)?;
        check_header("a.js", &joined(&pieces), "", "// a.js")?;
    }

    #[test]
    fn c_go_and_java_differ_by_their_edits_alone(c in pieces(C), go in pieces(GO), java in pieces(JAVA)) {
        check_rename("a.c", &c)?;
        check_rename("a.go", &go)?;
        check_rename("A.java", &java)?;
        check_header("a.c", &joined(&c), "", "// a.c")?;
    }
}

fn is_there(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        // What was skipped is told to whoever runs all tests, and said aloud.
        eprintln!("skipped: {program}");
        if let Some(skips) = std::env::var_os("FLOWHOST_SKIPS") {
            let mut skips = std::fs::OpenOptions::new().append(true).create(true).open(skips).unwrap();
            writeln!(skips, "skipped: {program}").unwrap();
        }
    }
    there
}

fn accepts(program: &str, arguments: &[&str], text: &str) -> bool {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait().unwrap().success()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_shell_script_still_parses_and_differs_by_its_edit_alone(pieces in pieces(SHELL), shebang in any::<bool>()) {
        let first = if shebang { "#!/bin/sh\n" } else { "" };
        let before = format!("{first}{}", joined(&pieces));
        let after = check_header("run.sh", &before, first, "# run.sh")?;
        prop_assert!(accepts("sh", &["-n"], &before) && accepts("sh", &["-n"], &after), "{}", after);
    }
}

#[test]
fn javascript_still_parses() {
    if !is_there("node") {
        return;
    }
    let all: Vec<_> = JAVASCRIPT.iter().filter(|(_, text)| !text.ends_with("${")).copied().collect();
    let before = format!(
        "#!/usr/bin/env node\n'use strict';\n{}`${{alpha}} alpha`;\n",
        joined(&all).replace("x = ", "var x = ").replace("$alpha =", "var alpha$, $alpha =")
    );
    for task in ["Add a one-line docstring.", "Rename `alpha` to `omega`."] {
        let after = asked("a.js", task, &before);
        assert_ne!(after, before);
        assert!(accepts("node", &["--check", "-"], &after), "{after}");
    }
}

#[test]
fn what_has_to_come_first_stays_first() {
    let header = "Add a header comment saying \"Part of it.\"";
    for (path, before, after) in [
        (
            "a.rb",
            "#!/usr/bin/ruby\n# frozen_string_literal: true\nputs 1\n",
            "#!/usr/bin/ruby\n# frozen_string_literal: true\n# Part of it.\n\nputs 1\n",
        ),
        (
            "Dockerfile",
            "# syntax=docker/dockerfile:1\nFROM x\n",
            "# syntax=docker/dockerfile:1\n# Part of it.\n\nFROM x\n",
        ),
        ("a.rs", "#![allow(x)]\n", "// Part of it.\n\n#![allow(x)]\n"),
        ("a.html", "<!doctype html>\n<p>\n", "<!doctype html>\n<!-- Part of it. -->\n\n<p>\n"),
        ("a.md", "---\ntitle: x\n---\n", "---\ntitle: x\n---\n"),
        ("a.css", "p {}\n", "/* Part of it. */\n\np {}\n"),
        ("a.sql", "select 1;", "-- Part of it.\n\nselect 1;"),
        ("a.json", "{}", "{}"),
        ("run", "#!/usr/bin/env node\nx()\n", "#!/usr/bin/env node\n// Part of it.\n\nx()\n"),
    ] {
        assert_eq!(asked(path, header, before), after);
    }
    // What would end its comment, or carry it on, is not let in.
    assert_eq!(asked("a.css", "Add a header comment saying \"a */ b\"", "p {}\n"), "p {}\n");
    assert_eq!(asked("a.c", "Add a header comment saying \"a \\\\\"", "int x;\n"), "// a\n\nint x;\n");
}
