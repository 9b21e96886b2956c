//! Flows that are TypeScript files, on fakes: the stripper and the runner that are in the program, under the real engine.

#![allow(clippy::unwrap_used, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "a test reads the flows that it runs")]

mod support;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::{clock::Clock, error::Kind, run::Flow as _};
use flowhost_engine::{Component, Engine, Limits, LoadError, Runner, Source};
use flowhost_tests::runners::{RUNNER, TYPESCRIPT};
use serde_json::json;
use support::*;

/// A flow of these files.
async fn loaded(engine: &Engine, main: &str, files: BTreeMap<String, Vec<u8>>) -> Result<Arc<Component>, LoadError> {
    let source = engine.strip(&Runner::of(TYPESCRIPT), Source::new(main, files)).await?;
    engine.load_source(&Runner::of(RUNNER), source).await
}

/// A flow of `guests-ts/`, with all that lies beside it.
async fn flow(main: &str) -> Arc<Component> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests-ts");
    let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.map(|path| (named(&path), std::fs::read(path).unwrap())).collect();
    loaded(engine(), main, files).await.unwrap()
}

fn one(text: &str) -> BTreeMap<String, Vec<u8>> {
    [("flow.ts".to_owned(), text.as_bytes().to_vec())].into()
}

/// What a flow of one file is refused for.
fn refused(text: &str) -> String {
    match runtime().block_on(loaded(engine(), "flow.ts", one(text))).unwrap_err() {
        LoadError::Source(why) => why,
        other => unreachable!("{text}: {other}"),
    }
}

#[test]
fn every_file_gets_a_session_two_at_a_time() {
    runtime().block_on(async {
        let fanout = flow("fanout.ts").await;
        assert_eq!(fanout.manifest().name, "fanout");
        let fake = Fake::new().last_word().delay(&Clock::system(), Duration::from_millis(10));
        let files = FakeEnv::new().command(["git", "ls-files", "*.py"], 0, "a.py\nb.py\nc.py\n", "");
        let said = Stage::new().agent("agent", &fake).env("workspace", files).play(&fanout, "annotate").await.unwrap();
        assert_eq!(said, json!({"a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py."}));
        assert_eq!((fake.sessions().len(), fake.peak_turns()), (3, 2));
    });
}

#[test]
fn types_of_every_kind_are_gone_and_what_is_left_is_as_it_was() {
    let mut stage = Stage::new();
    let said = runtime().block_on(async { stage.play(&flow("kinds.ts").await, "a task").await.unwrap() });
    let expected = json!({
        "value": 6, "later": 2, "made": "x", "template": "a-1", "call": 2, "less": false, "area": 9, "stack": 1,
        "steps": [0, 1, 2], "dog": ["woof", "WOOF", "rex", 1], "picked": ["a", 1], "text": true,
        "longer": "ab", "optional": 4, "instance": "i", "said": "words", "port": 80, "data": [1, 2],
    });
    assert_eq!(said, expected);
    assert_eq!(stage.kept.log(), ["caught"]);
}

#[test]
fn what_nobody_caught_is_said_with_the_places_that_the_author_wrote() {
    for (task, file, code) in [("here", "fails.ts", "(settings as Settings)"), ("there", "settings.ts", ".port;")] {
        let error = runtime().block_on(async { Stage::new().play(&flow("fails.ts").await, task).await.unwrap_err() });
        assert!(matches!(error.kind, Kind::Failed), "{error:?}");
        let source =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("guests-ts").join(file)).unwrap();
        let (line, text) = source.lines().enumerate().find(|(_, line)| line.contains(code)).unwrap();
        let (_, rest) =
            error.message.split_once(&format!("({file}:{}:", line + 1)).unwrap_or_else(|| unreachable!("{error:?}"));
        let column: usize = rest.split_once(')').unwrap().0.parse().unwrap();
        let access = text.find(".port").unwrap();
        assert!((access..=access + 2).contains(&column), "column {column} of {text}: {error:?}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let said = refused("export default function (task: string) {\n  return [1, 2;\n}\n");
    assert!(said.starts_with("SyntaxError: ") && said.ends_with("\n    at flow.ts:2:15"), "{said}");
    let said = refused("const s: string = 'é👍', t: = 1;\nexport default () => s;\n");
    assert!(said.ends_with("\n    at flow.ts:1:29"), "{said}");
    let cases = [
        ("export default () => 1;\nenum Color { Red }\n", "`const Color = { red: \"red\" } as const`", 2, 1),
        ("export default () => 1;\n  const enum Color { Red }\n", "an enum is more than a type", 2, 3),
        ("export default () => 1;\nnamespace Away { export const x = 1; }\n", "a namespace is more than a type", 2, 1),
        ("export default () => 1;\nmodule Away { export const x = 1; }\n", "a file of its own", 2, 1),
        (
            "class A {\n  constructor(private name: string) {}\n}\nexport default () => 1;\n",
            "assign it in the constructor",
            2,
            23,
        ),
        ("import fs = require('fs');\nexport default () => 1;\n", "import x from", 1, 1),
        ("const x = 1;\nexport = x;\n", "export default", 2, 1),
        ("const x: any = 1;\nexport default () => <string>x;\n", "value as Type", 2, 22),
    ];
    for (text, says, line, column) in cases {
        let said = refused(text);
        assert!(said.starts_with("SyntaxError: ") && said.contains(says), "{text}: {said}");
        assert!(said.ends_with(&format!("\n    at flow.ts:{line}:{column}")), "{text}: {said}");
    }
    let said = refused("@sealed\nclass A {}\nexport default () => A;\n");
    assert!(said.starts_with("SyntaxError: ") && said.contains("at flow.ts:1:1"), "{said}");
    let said = refused("import { Answer } from 'flowhost';\nexport default (said: Answer) => said.text;\n");
    assert!(said.contains("Answer") && said.contains("import type"), "{said}");
    let said = refused("import { x } from './nowhere.ts';\nexport default () => x;\n");
    assert!(said.contains(r#"flow.ts imports "./nowhere.ts": nowhere.ts: no such file beside the flow"#), "{said}");
}

#[test]
fn a_file_beside_it_that_is_wrong_is_so_when_it_is_imported() {
    let files = |imports: &str| -> BTreeMap<String, Vec<u8>> {
        let flow = format!("{imports}\nexport default (task: string): string => task;\n");
        [("flow.ts", &*flow), ("wrong.ts", "\nenum Color { Red }\n"), ("bytes.ts", "")]
            .into_iter()
            .map(|(name, text)| (name.to_owned(), if text.is_empty() { vec![0xff, 0xfe] } else { text.into() }))
            .collect()
    };
    runtime().block_on(async {
        loaded(engine(), "flow.ts", files("")).await.unwrap();
        for (import, says) in [("import './wrong.ts';", "at wrong.ts:2:1"), ("import './bytes';", "not UTF-8")] {
            let error = loaded(engine(), "flow.ts", files(import)).await.unwrap_err();
            assert!(matches!(&error, LoadError::Source(why) if why.contains(says)), "{error:?}");
        }
    });
}

#[test]
fn the_digest_is_of_what_the_author_wrote() {
    runtime().block_on(async {
        let digest = async |text: &str| loaded(engine(), "flow.ts", one(text)).await.unwrap().digest().clone();
        let typed = digest("export default (task: string) => task;\n").await;
        assert_eq!(typed, digest("export default (task: string) => task;\n").await);
        assert_ne!(typed, digest("export default (task: number) => task;\n").await);
        assert_ne!(typed, digest("export default (task        ) => task;\n").await);
    });
}

#[test]
fn x2_text_that_a_parser_cannot_take_is_an_error_that_names_the_file() {
    let engine = engine_with(Limits { cpu_time: Duration::from_secs(2), memory: 256 << 20, ..Limits::default() });
    let nested = |open: &str, inner: &str, close: &str| {
        let times = 100_000;
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let texts = [
        format!("export default {};", nested("(", "1", ")")),
        format!("export default {};", nested("[", "", "]")),
        format!("type A = {};", nested("[", "", "]")),
        format!("type A = {};", nested("A<", "A", ">")),
        format!("type A = {};", "A extends A ? A : ".repeat(100_000) + "A"),
        nested("{", "", "}"),
        format!("export default {};", nested("`${", "1", "}`")),
        format!("export default {};", "1 + ".repeat(500_000) + "1"),
        format!("export default {};", "!".repeat(1_000_000) + "1"),
        format!("export default {};", "async () => ".repeat(100_000) + "1"),
        format!("export default {};", "a<".repeat(100_000)),
        format!("export default {};", "(a, ".repeat(50_000)),
        format!("if (a) {{}} {}", "else if (a) {}\n".repeat(70_000)),
    ];
    for text in texts {
        let began = Instant::now();
        let shown = &text[..60];
        let stripped = runtime().block_on(engine.strip(&Runner::of(TYPESCRIPT), Source::new("flow.ts", one(&text))));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(30), "{shown}: {took:?}");
        match &stripped {
            // What it can take after all, or finds wrong, is for whoever imports it.
            Ok(_) => {}
            Err(LoadError::Source(why)) => assert!(why.starts_with("flow.ts: what takes its types out"), "{why}"),
            Err(LoadError::Exceeded(why)) => assert!(why.starts_with("while the types of flow.ts"), "{why}"),
            Err(other) => unreachable!("{shown}: {other:?}"),
        }
    }
}
