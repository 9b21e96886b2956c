//! What `demo` makes of Python files, however they are written: each still parses, and differs by the asked edit alone. Python
//! itself says so, in one process for all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::disallowed_types, reason = "Python is asked")]

mod support;

use std::{
    fmt,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, LazyLock, Mutex},
};

use flowhost_agents::{demo::Demo, fake::FakeEnv};
use flowhost_core::{
    clock::Clock,
    harness::{Harness, Open, Settings},
    id::SessionId,
};
use futures::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Listener, prompt};

/// Reads one case a line and says `ok` or what is wrong with it.
const JUDGE: &str = r#"
import ast, io, json, re, sys, tokenize

def comments(source):
    return [each.string for each in tokenize.tokenize(io.BytesIO(source).readline) if each.type == tokenize.COMMENT]

def renamed(tree, old, new):
    "Every name of the tree, which is every text but that of constants."
    word = re.compile(rf"\b{old}\b")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, str):
                setattr(node, field, word.sub(new, value))
            elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
                setattr(node, field, [word.sub(new, each) for each in value])
    return tree

def same(one, other):
    return ast.dump(one) == ast.dump(other)

def judge(kind, before, after):
    try:
        old = ast.parse(before)
    except (SyntaxError, ValueError) as error:
        return f"the generator made no Python: {error}"
    try:
        new = ast.parse(after)
    except (SyntaxError, ValueError) as error:
        return f"it no longer parses: {error}"
    lone = re.search(rb"\r(?!\n)", before)
    if kind == "docstring":
        if before == after:
            return "ok" if ast.get_docstring(old) is not None else "there is no docstring, and it was left alone"
        if ast.get_docstring(old) is not None:
            return "there was a docstring, and another one was added"
        text = ast.get_docstring(new)
        if not text or "\n" in text or len(text) > 73:
            return f"the docstring is {text!r}"
        new.body.pop(0)
    elif kind == "all":
        body = [each for each in new.body if not (isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__")]
        names = [each.name for each in old.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        names = list(dict.fromkeys(name for name in names if not name.startswith("_")))
        if before == after:
            return "ok" if not names else f"there are {names}, and it was left alone"
        [added] = [each for each in new.body if each not in body]
        if ast.literal_eval(added.value) != names:
            return f"__all__ is {ast.unparse(added.value)}, and not {names}"
        where = new.body.index(added)
        above = new.body[1 if ast.get_docstring(new) is not None else 0:where]
        # What stands on the line of another statement stays there.
        if any(getattr(each, "module", "") != "__future__" and each.col_offset == 0 for each in above):
            return "__all__ stands too far down"
        new.body = body
    elif kind == "rename":
        old = renamed(old, "alpha", "omega")
        if before == after and re.search(rb"\balpha\b", before) and not same(old, ast.parse(before)):
            return "there is a name, and it was left alone"
    if not same(old, new):
        return "the code is not the same"
    if not lone:
        one, other = comments(before), comments(after)
        if kind == "header":
            if before != after:
                added = [each for each in other if each not in one or other.count(each) > one.count(each)]
                if len(other) != len(one) + 1 or not added:
                    return f"the comments are {other}"
        elif one != other:
            return f"the comments are not the same: {one} {other}"
    return "ok"

for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(judge(case["kind"], bytes.fromhex(case["before"]), bytes.fromhex(case["after"]))), flush=True)
"#;

struct Judge {
    _child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

static JUDGES: LazyLock<Mutex<Judge>> = LazyLock::new(|| {
    let mut child = Command::new("python3")
        .args(["-W", "ignore", "-c", JUDGE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    Mutex::new(Judge { _child: child, to, from })
});

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn judged(kind: &str, before: &[u8], after: &[u8]) -> String {
    let mut judge = JUDGES.lock().unwrap();
    let case = json!({"kind": kind, "before": hex(before), "after": hex(after)});
    writeln!(judge.to, "{case}").unwrap();
    let mut line = String::new();
    judge.from.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    said.as_str().unwrap().to_owned()
}

/// A piece of a line, with the names and the quotes that would mislead a careless reader.
fn expression() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("alpha"),
        Just("alphabet"),
        Just("_alpha"),
        Just("beta.alpha"),
        Just("alpha(alpha=1)"),
        Just("'alpha # \"'"),
        Just("\"it's alpha\""),
        Just("'''alpha\n\"def gone(): pass'''"),
        Just("\"\"\"alpha ' \\\"\"\" class\nGone: pass\"\"\""),
        Just("r'\\'alpha\\\\'"),
        Just("rb\"\\\"alpha\""),
        Just("b'alpha'"),
        Just("u'al\\\npha'"),
        Just("f'{alpha} alpha {{alpha}}'"),
        Just("f\"{alpha!r:>{alpha}} {'alpha'}\""),
        Just("rf'\\d{alpha}'"),
        Just("f'''{\nalpha} ' {beta[\"alpha\"]}'''"),
        Just("F'\\N{BULLET}{alpha:%H:%M}'"),
        Just("[alpha, # alpha's )\n 'beta']"),
        Just("{'alpha': alpha, 1: lambda alpha: alpha}"),
        Just("(yes := alpha != beta)"),
        Just("alpha[1:2]"),
        Just("0x1f + 1_000j"),
    ]
    .prop_map(str::to_owned);
    prop::collection::vec(atom, 1..3).prop_map(|atoms| format!("({})", atoms.join(", ")))
}

fn statement() -> impl Strategy<Value = String> {
    let suite = |head: &'static str| {
        (expression(), expression())
            .prop_map(move |(one, two)| format!("{head}:\n    x = {one}  # {{alpha\n\n    return {two}"))
    };
    prop_oneof![
        expression().prop_map(|value| format!("x = {value}")),
        expression().prop_map(|value| format!("x = \\\n  {value}; y = 1")),
        expression().prop_map(|value| format!("if x:\n\ty = {value}\nelse: pass")),
        suite("def alpha(beta, alpha=1)"),
        suite("async def run()"),
        suite("@alpha\ndef _hidden(*, alpha: alpha = 0) -> alpha"),
        suite("def  größe ( )"),
        expression().prop_map(|value| format!("class  Alpha ( alpha ):\n    '''alpha'''\n    alpha = {value}")),
        Just("alpha = __all = 1".to_owned()),
        Just("class Gone: pass".to_owned()),
        Just("import alpha.beta as alpha, gamma".to_owned()),
        Just("from .alpha import (beta, # alpha\n  alpha)".to_owned()),
        Just("# alpha: \"don't'''\\".to_owned()),
        Just(String::new()),
        Just("\x0c".to_owned()),
        Just("try: pass\nexcept alpha as alpha: pass".to_owned()),
    ]
}

/// A file, shown as text where a test fails.
#[derive(Clone)]
struct Source(Vec<u8>);

impl fmt::Debug for Source {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "b\"{}\"", self.0.escape_ascii())
    }
}

fn source() -> impl Strategy<Value = Source> {
    let top = prop_oneof![
        3 => Just(vec![]),
        2 => Just(vec!["#!/usr/bin/env python3"]),
        1 => Just(vec!["#!/usr/bin/env python3", "# -*- coding: utf-8 -*-"]),
        1 => Just(vec!["", "# coding: latin-1"]),
        2 => Just(vec!["# Copyright alpha", "#", "", "# about alpha"]),
        1 => Just(vec!["", "", "  # indented"]),
    ];
    let first = prop_oneof![
        4 => Just(""),
        1 => Just("'''There already, alpha.'''"),
        1 => Just("(\n# alpha\n'there' \"too\"\n)"),
        1 => Just("u'there'; import beta"),
        1 => Just("b'not one'"),
        1 => Just("f'nor {1}'"),
        1 => Just("'nor' 'this' + ''"),
        1 => Just("\\\n'there'"),
    ];
    let future = prop_oneof![
        3 => Just(""),
        1 => Just("from __future__ import annotations"),
        1 => Just("from __future__ import (\n    annotations, # alpha\n)\n\nfrom __future__ import division; import beta"),
    ];
    let line_end = prop_oneof![3 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")];
    let statements = prop::collection::vec(statement(), 0..7);
    (any::<bool>(), top, first, future, statements, line_end, any::<bool>()).prop_map(
        |(mark, top, first, future, statements, line_end, ended)| {
            let latin = top.contains(&"# coding: latin-1");
            let mut lines: Vec<String> = top.into_iter().map(str::to_owned).collect();
            lines.extend([first, future].iter().filter(|text| !text.is_empty()).map(|text| (*text).to_owned()));
            lines.extend(statements);
            let mut text = lines.join("\n");
            if ended && !text.is_empty() {
                text.push('\n');
            }
            let text = text.replace('\n', line_end);
            if latin {
                return Source(text.chars().map(|each| each as u8).collect());
            }
            let mark: &[u8] = if mark { b"\xef\xbb\xbf" } else { b"" };
            Source([mark, text.as_bytes()].concat())
        },
    )
}

/// The file as it is after a turn that was asked this, and that others are as they were.
fn asked(task: &str, before: &[u8]) -> Vec<u8> {
    let env = FakeEnv::new().file("some/calc.py", before).file("other.py", before).file("calc.rs", before);
    let open = Open {
        session: SessionId(1),
        env: Arc::new(env.clone()),
        settings: Arc::new(Settings::default()),
        vars: Vec::new(),
    };
    let demo = Demo::new(Clock::driven()).speed(0.0);
    let turn = async {
        let mut conversation = demo.open(open).await.unwrap();
        conversation.turn(prompt(&format!("{task}\n\nThe file is some/calc.py.")), &Listener::new()).await.unwrap()
    };
    turn.now_or_never().unwrap();
    let mut files = env.files();
    let after = files.remove("some/calc.py").unwrap();
    assert!(files.len() == 2 && files.values().all(|file| file == before));
    after
}

fn check(kind: &str, task: &str, before: &[u8]) -> Result<Vec<u8>, TestCaseError> {
    let after = asked(task, before);
    prop_assert_eq!(judged(kind, before, &after), "ok", "{}", String::from_utf8_lossy(&after));
    // Asking again changes nothing.
    prop_assert_eq!(&asked(task, &after), &after, "{}", String::from_utf8_lossy(&after));
    let ends = |text: &[u8]| text.ends_with(b"\n") || text.ends_with(b"\r");
    prop_assert!(kind == "newline" || before.len() <= 3 || ends(before) == ends(&after));
    Ok(after)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_docstring_is_all_that_is_added(Source(before) in source()) {
        check("docstring", "Add a one-line module docstring to this file. Change nothing else.", &before)?;
    }

    #[test]
    fn a_header_comment_is_all_that_is_added(Source(before) in source(), text in "[a-z '\\\\.]{0,20}[a-z]") {
        check("header", "Add a header comment.", &before)?;
        check("header", &format!("Add a header comment saying \"Part {text}\"."), &before)?;
    }

    #[test]
    fn all_is_all_that_is_added(Source(before) in source()) {
        prop_assume!(!String::from_utf8_lossy(&before).contains("gr"));
        check("all", "Add `__all__`.", &before)?;
    }

    #[test]
    fn a_name_is_all_that_is_changed(Source(before) in source()) {
        let after = check("rename", "Rename `alpha` to `omega`.", &before)?;
        // Back again is where it came from.
        prop_assert_eq!(asked("Rename `omega` to `alpha`.", &after), before);
    }

    #[test]
    fn a_last_line_end_is_all_that_is_added(Source(before) in source()) {
        let after = check("newline", "Make the file end with a newline.", &before)?;
        prop_assert!(after.starts_with(&before) && after.len() <= before.len() + 2);
    }
}
