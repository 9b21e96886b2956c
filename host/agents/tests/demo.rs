//! `demo`, as the host sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::{sync::Arc, time::Duration};

use flowhost_agents::{demo::Demo, fake::FakeEnv};
use flowhost_core::{
    clock::Clock,
    env::Env,
    error::{Error, HarnessFailure, HarnessFault, Kind, Result},
    harness::{Conversation, Event, Harness, Open, Prompt, Reply, Settings},
    id::SessionId,
    usage::{CostSource, Usage},
};
use futures::FutureExt;
use serde_json::json;
use support::{Listener, prompt};

const TASK: &str = "Add a one-line module docstring to this file. Change nothing else.";

fn open(env: &FakeEnv) -> Open {
    Open {
        session: SessionId(1),
        env: Arc::new(env.clone()),
        settings: Arc::new(Settings::default()),
        vars: Vec::new(),
    }
}

async fn session(env: &FakeEnv) -> Box<dyn Conversation> {
    Demo::new(Clock::driven()).speed(0.0).open(open(env)).await.unwrap()
}

async fn ask(env: &FakeEnv, text: &str) -> String {
    session(env).await.turn(prompt(text), &Listener::new()).await.unwrap().text
}

fn text(env: &FakeEnv, path: &str) -> String {
    String::from_utf8(env.files()[path].clone()).unwrap()
}

fn calc() -> FakeEnv {
    FakeEnv::new().file("calc.py", "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n")
}

#[tokio::test]
async fn a_docstring_goes_where_it_belongs_and_is_said_in_events_as_a_real_harness_says_it() {
    let (env, host) = (calc(), Listener::new());
    let before = text(&env, "calc.py");
    let mut conversation = session(&env).await;
    let reply = conversation.turn(prompt(&format!("{TASK}\n\nThe file is calc.py.")), &host).await.unwrap();
    assert_eq!(text(&env, "calc.py"), format!("\"\"\"The calc module: add and sub.\"\"\"\n\n{before}"));
    assert_eq!(
        reply.text,
        "I added the one-line docstring `\"\"\"The calc module: add and sub.\"\"\"` at the top of `calc.py` and changed nothing else."
    );
    let start = |tool: &str, name: &str| Event::ToolStart {
        tool: tool.into(),
        name: name.into(),
        label: format!("{name}(calc.py)"),
    };
    let end = |tool: &str| Event::ToolEnd { tool: tool.into(), ok: true };
    let (said, usages): (Vec<_>, Vec<_>) =
        host.events().into_iter().partition(|event| !matches!(event, Event::Usage { .. }));
    let expected = [
        Event::Text { text: "I will look at `calc.py`.".into() },
        start("1", "Read"),
        end("1"),
        start("2", "Edit"),
        end("2"),
        Event::Text { text: reply.text.clone() },
    ];
    assert_eq!(said, expected);
    let usages: Vec<Usage> =
        usages.into_iter().map(|event| if let Event::Usage { usage } = event { usage } else { panic!() }).collect();
    assert!(usages.len() >= 3);
    for pair in usages.windows(2) {
        assert!(pair[0].output_tokens < pair[1].output_tokens && pair[0].cost < pair[1].cost);
    }
    let last = usages.last().unwrap();
    assert_eq!((last.turns, last.cost_source, reply.usage), (0, CostSource::MadeUp, None));
    assert!((0.01..0.03).contains(&last.cost.dollars()), "{}", last.cost.dollars());
}

#[tokio::test]
async fn asking_again_changes_nothing() {
    let env = calc().file("run.sh", "#!/bin/sh\nbuild() { :; }\n").file("lib.rs", "pub fn add() {}\n");
    for (path, task) in [
        ("calc.py", TASK),
        ("run.sh", TASK),
        ("lib.rs", TASK),
        ("calc.py", "Add a header comment"),
        ("calc.py", "Add a header comment saying \"Part of calc.\""),
        ("lib.rs", "Add a header comment saying \"Part of calc.\""),
        ("calc.py", "Add `__all__`"),
        ("calc.py", "Rename `add` to `plus`"),
        ("calc.py", "Make sure it ends with a newline."),
    ] {
        let task = format!("{task}\n\nThe file is {path}.");
        ask(&env, &task).await;
        let once = env.files();
        let said = ask(&env, &task).await;
        assert_eq!(env.files(), once, "{task}");
        assert!(said.contains("left it alone"), "{said}");
    }
    assert_eq!(
        text(&env, "calc.py"),
        "# Part of calc.\n\n# The calc module: add and sub.\n\n\"\"\"The calc module: add and sub.\"\"\"\n\n__all__ = [\"add\", \"sub\"]\n\n\
         def plus(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
    );
    assert_eq!(text(&env, "run.sh"), "#!/bin/sh\n# run.sh: build.\n\nbuild() { :; }\n");
    assert_eq!(text(&env, "lib.rs"), "// Part of calc.\n\n//! lib.rs: add.\n\npub fn add() {}\n");
}

#[tokio::test]
async fn what_is_odd_about_a_file_is_kept() {
    let latin = b"# coding: latin-1\r\nx = '\xe9'\r\ndef f(): pass".to_vec();
    let env = FakeEnv::new()
        .file("crlf.py", latin)
        .file("bom.py", "\u{feff}x = 1")
        .file("empty.py", "")
        .file("tabs.py", "#!/usr/bin/env python\n#\tc\n\n\tx = 1\n")
        .file("mac.py", "import a\rimport b\r")
        .file("pkg/__init__.py", "from __future__ import annotations\n");
    for path in env.files().keys() {
        ask(&env, &format!("{TASK}\n\nThe file is {path}.")).await;
    }
    let expected: [(&str, &[u8]); 6] = [
        ("bom.py", b"\xef\xbb\xbf\"\"\"The bom module.\"\"\"\n\nx = 1"),
        ("crlf.py", b"# coding: latin-1\r\n\"\"\"The crlf module: f.\"\"\"\r\n\r\nx = '\xe9'\r\ndef f(): pass"),
        ("empty.py", b"\"\"\"The empty module.\"\"\"\n"),
        ("mac.py", b"\"\"\"The mac module.\"\"\"\r\rimport a\rimport b\r"),
        ("pkg/__init__.py", b"\"\"\"The pkg package.\"\"\"\n\nfrom __future__ import annotations\n"),
        ("tabs.py", b"#!/usr/bin/env python\n#\tc\n\"\"\"The tabs module.\"\"\"\n\n\tx = 1\n"),
    ];
    for (path, bytes) in expected {
        let is = &env.files()[path];
        assert_eq!(is, bytes, "{path}: {}", String::from_utf8_lossy(is));
    }
}

#[tokio::test]
async fn what_cannot_be_edited_is_left_alone_and_said() {
    let big = "x = 1\n".repeat(200_000);
    let env = calc()
        .file("data.bin", b"a\0b".to_vec())
        .file("data.json", "{}")
        .file("big.py", big)
        .file("doc.py", "# c\n(\n'''there'''\n)\n")
        .file("ümläut.py", "def größe(): pass\n")
        .file("twice/calc.py", "")
        .file("dir/only.py", "x = 1\n");
    let before = env.files();
    for (task, said) in [
        (format!("{TASK}\n\nThe file is data.bin."), "`data.bin` is not text that I can read, so I left it alone."),
        (
            format!("{TASK}\n\nThe file is data.json."),
            "I do not know how comments are written in `data.json`, so I left it alone.",
        ),
        (format!("{TASK}\n\nThe file is big.py."), "I cannot read `big.py`: it has more than 1 MiB."),
        (format!("{TASK}\n\nThe file is doc.py."), "`doc.py` has a docstring already, so I left it alone."),
        (format!("{TASK}\n\nThe file is dir."), "`dir` is a directory, so I left it alone."),
        (format!("{TASK}\n\nThe file is no.py."), "There is no file `no.py` here."),
        (format!("{TASK}\n\nThe file is ../x.py."), "I cannot reach `../x.py`: /x.py is not inside /workspace."),
        (TASK.to_owned(), "Which file? Name one, as in \"The file is calc.py.\""),
        ("Rename `add` to `sub` in calc.py".to_owned(), "`sub` is a name in `calc.py` already, so I left it alone."),
        (
            "Rename `add` to `class` in calc.py".to_owned(),
            "`class` is a word of the language, so I left `calc.py` alone.",
        ),
        (
            "Add a header comment saying \"coding: rot13\" to calc.py".to_owned(),
            "As a comment of `calc.py` that text would mean something else, so I left it alone.",
        ),
        (
            "Add `__all__` to `ümläut.py`".to_owned(),
            "`ümläut.py` defines names that are not ASCII, so I left it alone.",
        ),
        ("Create `calc.py` with the text \"x\"".to_owned(), "`calc.py` is there already, so I left it alone."),
        ("Create `../calc.py`".to_owned(), "I cannot reach `../calc.py`: /calc.py is not inside /workspace."),
    ] {
        assert_eq!(ask(&env, &task).await, said);
        assert_eq!(env.files(), before, "{task}");
    }
    assert!(ask(&env, "Make it faster. The file is calc.py.").await.starts_with("I am the demo agent and no model"));
}

#[tokio::test]
async fn a_file_is_found_by_its_name_alone_where_there_is_one() {
    let env = FakeEnv::new().file("src/deep/only.py", "x = 1\n").file("a/two.py", "").file("b/two.py", "");
    ask(&env, &format!("{TASK}\n\nThe file is only.py.")).await;
    assert!(text(&env, "src/deep/only.py").starts_with("\"\"\"The only module.\"\"\""));
    assert_eq!(ask(&env, &format!("{TASK}\n\nThe file is two.py.")).await, "There is no file `two.py` here.");
    ask(&env, "Add docstrings to `a/two.py` and `b/two.py`.").await;
    assert!(
        text(&env, "a/two.py") == "\"\"\"The two module.\"\"\"\n" && text(&env, "b/two.py") == text(&env, "a/two.py")
    );
}

#[tokio::test]
async fn a_rename_leaves_strings_and_comments() {
    let env = FakeEnv::new().file("a.py", "def add(): return f'{add} add'  # add\nadded = add() + x.add\n");
    let said = ask(&env, "Rename the function add() to plus in a.py.").await;
    assert_eq!(text(&env, "a.py"), "def plus(): return f'{plus} add'  # add\nadded = plus() + x.plus\n");
    assert_eq!(
        said,
        "I renamed `add` to `plus` in `a.py`, 4 times, and changed nothing else. Strings and comments still say `add`, 2 times."
    );
    let env = FakeEnv::new().file("notes.txt", "add, added: add\n");
    ask(&env, "Rename `add` to `plus` in notes.txt").await;
    assert_eq!(text(&env, "notes.txt"), "plus, added: plus\n");
}

#[tokio::test]
async fn it_says_so_where_nothing_is_left_to_do() {
    let env = calc();
    let task = format!(
        "{TASK}\n\nThe file is calc.py.\n\nDo one thing. If nothing is left, answer DONE on a line of its own."
    );
    let is_done = |said: &str| said.lines().any(|line| line == "DONE");
    assert!(!is_done(&ask(&env, &task).await));
    assert!(is_done(&ask(&env, &task).await));
    assert!(!is_done(&ask(&env, "Make it faster. If nothing is left, answer DONE on a line of its own.").await));
}

#[tokio::test]
async fn a_file_is_created_with_what_it_is_to_say() {
    let env = FakeEnv::new();
    assert_eq!(
        ask(&env, "Create a file `notes/READ ME.md` with the text \"Hello.\"").await,
        "I created `notes/READ ME.md`."
    );
    assert_eq!(text(&env, "notes/READ ME.md"), "Hello.\n");
}

#[tokio::test]
async fn who_reviews_edits_nothing_and_says_something_sensible() {
    let env = calc();
    let before = env.files();
    let said = ask(&env, &format!("Review this.\n\n{TASK}\n\nThe file is calc.py.")).await;
    assert_eq!(said, "`calc.py` has 6 lines and defines add and sub; it has no docstring. I see nothing to object to.");
    let schema = json!({"type": "object", "properties": {"met": {"type": "boolean"}, "next": {"type": "string"}}, "required": ["met"]});
    let judge = Prompt { schema: Some(&schema), ..prompt("Has it been met?\n\nAdd a docstring to calc.py") };
    let reply = session(&env).await.turn(judge, &Listener::new()).await.unwrap();
    assert_eq!(reply.value.unwrap()["met"], json!(true));
    assert_eq!(env.files(), before);
}

#[tokio::test]
async fn an_edit_with_a_schema_is_made_and_told_in_it() {
    let env = calc();
    let schema = json!({"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]});
    let task = format!("{TASK}\n\nThe file is calc.py.");
    let reply =
        session(&env).await.turn(Prompt { schema: Some(&schema), ..prompt(&task) }, &Listener::new()).await.unwrap();
    assert_eq!(reply.value.unwrap()["summary"], json!(reply.text));
    assert!(text(&env, "calc.py").starts_with("\"\"\""));
}

#[tokio::test]
async fn s9_a_fork_knows_what_the_conversation_was_about() {
    let env = calc();
    let mut conversation = session(&env).await;
    conversation.turn(prompt(&format!("{TASK}\n\nThe file is calc.py.")), &Listener::new()).await.unwrap();
    let elsewhere = calc();
    let mut fork = conversation.fork(open(&elsewhere)).await.unwrap();
    fork.turn(prompt("Rename `add` to `plus`."), &Listener::new()).await.unwrap();
    assert!(text(&elsewhere, "calc.py").starts_with("def plus"));
    assert!(text(&env, "calc.py").contains("def add"));
}

async fn timed(env: FakeEnv, clock: Clock, speed: f64, host: Arc<Listener>) -> tokio::task::JoinHandle<Result<Reply>> {
    let mut conversation = Demo::new(clock).speed(speed).open(open(&env)).await.unwrap();
    tokio::spawn(async move { conversation.turn(prompt(&format!("{TASK}\n\nThe file is calc.py.")), &*host).await })
}

/// How many milliseconds of a driven clock a turn takes.
async fn takes(speed: f64) -> u64 {
    let clock = Clock::driven();
    let turn = timed(calc(), clock.clone(), speed, Arc::new(Listener::new())).await;
    while !turn.is_finished() {
        if clock.sleepers() > 0 {
            clock.advance(Duration::from_millis(1));
        }
        tokio::task::yield_now().await;
    }
    turn.await.unwrap().unwrap();
    u64::try_from(clock.elapsed().as_millis()).unwrap()
}

#[tokio::test]
async fn a_turn_takes_a_while_that_the_speed_divides() {
    let usual = takes(1.0).await;
    assert!((100..=710).contains(&usual), "{usual}");
    assert_eq!(takes(1.0).await, usual);
    let slow = takes(0.5).await;
    assert!((usual * 2 - 20..=usual * 2 + 20).contains(&slow), "{usual} {slow}");
    assert_eq!(takes(0.0).await, 0);
}

#[tokio::test]
async fn s7_a_turn_can_be_interrupted_wherever_it_waits() {
    for after in [0, 30, 90] {
        let (clock, env, host) = (Clock::driven(), calc(), Arc::new(Listener::new()));
        let before = env.files();
        let turn = timed(env.clone(), clock.clone(), 1.0, host.clone()).await;
        for _ in 0..after {
            while clock.sleepers() == 0 {
                tokio::task::yield_now().await;
            }
            clock.advance(Duration::from_millis(1));
        }
        host.interrupt();
        let failure = HarnessFailure { fault: HarnessFault::Interrupted, retry_after_ms: None };
        assert_eq!(turn.await.unwrap().unwrap_err(), Error::new(Kind::Harness(failure), "the turn was interrupted"));
        assert_eq!(env.files(), before);
    }
}

#[tokio::test]
async fn s9_words_that_were_put_into_a_turn_are_in_its_answer() {
    let (clock, host) = (Clock::driven(), Arc::new(Listener::new()));
    let turn = timed(calc(), clock.clone(), 1.0, host.clone()).await;
    host.steer("be brief", false);
    while !turn.is_finished() {
        clock.advance(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    assert!(turn.await.unwrap().unwrap().text.ends_with("Meanwhile you said \"be brief\"; I have heard it."));
}

#[tokio::test]
async fn what_somebody_else_changed_meanwhile_is_not_undone() {
    let (clock, env) = (Clock::driven(), calc());
    let host = Arc::new(Listener::new());
    let turn = timed(env.clone(), clock.clone(), 1.0, host.clone()).await;
    while !turn.is_finished() {
        if host.events().iter().any(|event| matches!(event, Event::ToolStart { name, .. } if name == "Edit")) {
            env.write("calc.py", b"mine\n".to_vec()).await.unwrap();
        }
        clock.advance(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    assert_eq!(turn.await.unwrap().unwrap().text, "`calc.py` was changed while I worked on it, so I left it alone.");
    assert_eq!(text(&env, "calc.py"), "mine\n");
}

#[test]
fn the_same_prompt_and_file_come_to_the_same() {
    let run = || {
        let (env, host) = (calc(), Listener::new());
        let task = format!("{TASK}\n\nThe file is calc.py.");
        let reply = async { session(&env).await.turn(prompt(&task), &host).await }.now_or_never().unwrap().unwrap();
        (reply, host.events(), env.files())
    };
    assert_eq!(run(), run());
}
