//! The programs in `SCRIPT.md`, as they stand there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::Arc;

use flowhost_agents::script::{JsonScript, Script};
use flowhost_core::{
    error::{Error, HarnessFault},
    harness::Harness,
};
use serde_json::json;
use support::{Listener, Machine, prompt};

/// Writes the example of this name into a directory; gives its path.
fn example(machine: &Arc<Machine>, name: &str) -> Vec<String> {
    let page = include_str!("../SCRIPT.md");
    let mark = format!("# {name}: ");
    let block = page.split("```").find(|block| block.lines().nth(2).is_some_and(|line| line.starts_with(&mark)));
    let text = block.expect("an example of this name").split_once('\n').unwrap().1;
    assert!(text.lines().count() <= 30, "{name} is about twenty lines");
    vec![machine.program(name, text)]
}

#[tokio::test]
async fn count_sh() {
    let (machine, host) = (Machine::new(), Listener::new());
    machine.write("a b.py", "x\ny\n");
    let mut conversation = Script::new(example(&machine, "count.sh")).open(machine.open()).await.unwrap();
    let reply = conversation.turn(prompt("How long?\n\nThe file is a b.py."), &host).await.unwrap();
    assert_eq!(reply.text, "a b.py has 2 lines");
    let error = conversation.turn(prompt("How long?"), &host).await.unwrap_err();
    assert_eq!(error, Error::harness(HarnessFault::Other, "count.sh ended with status 1: the prompt names no file"));
}

#[tokio::test]
async fn strip_py() {
    let (machine, host) = (Machine::new(), Listener::new());
    machine.write("a.py", "x = 1  \r\ny\t\nz");
    let mut conversation = Script::new(example(&machine, "strip.py")).open(machine.open()).await.unwrap();
    let reply = conversation.turn(prompt("Strip it.\n\nThe file is a.py."), &host).await.unwrap();
    assert_eq!(reply.text, "a.py: 3 blanks removed");
    assert_eq!(machine.read("a.py").unwrap(), "x = 1\r\ny\nz");
}

#[tokio::test]
async fn parrot_sh() {
    let machine = Machine::new();
    let mut conversation = JsonScript::new(example(&machine, "parrot.sh")).open(machine.open()).await.unwrap();
    for (nth, text) in ["a \"b\" \\ c\n\td", "Größe {\"text\":\"x\"}", ""].into_iter().enumerate() {
        let host = Listener::new();
        assert_eq!(conversation.turn(prompt(text), &host).await.unwrap().text, text);
        assert_eq!(host.notices(), [format!("prompt {}", nth + 1)]);
    }
    conversation.close().await;
}

#[tokio::test]
async fn names_py() {
    let (machine, host) = (Machine::new(), Listener::new());
    machine.write("calc.py", "def add(): pass\nclass Sum: pass\n");
    let mut conversation = JsonScript::new(example(&machine, "names.py")).open(machine.open()).await.unwrap();
    let reply = conversation.turn(prompt("What is in it?\n\nThe file is calc.py."), &host).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.value), ("add, Sum", Some(json!(["add", "Sum"]))));
    assert_eq!(host.events().len(), 3);
    let error = conversation.turn(prompt("The file is no.py."), &host).await.unwrap_err();
    assert!(error.message.starts_with("no Python file to read: "), "{error}");
    conversation.close().await;
}
