//! A flow that misbehaves, for the tests of a host: the task is a word that says how, and perhaps a number.
//!
//! It speaks the contract by hand, since the SDK would not let most of this happen.

#![allow(unsafe_code, reason = "what a component exports, and handles that are dropped while they are borrowed")]
#![allow(clippy::panic, clippy::disallowed_methods, reason = "what a host does about it is tested")]

mod floods;

use flowhost::raw::flowhost::flow::agents::{Agent, TurnOptions, WhenBusy, get_agent};
use flowhost::raw::flowhost::flow::flows::{Handover, load};
use flowhost::raw::flowhost::flow::types::{ErrorKind, Limit, SpentLimit};
use flowhost::raw::flowhost::flow::{context, envs};
use flowhost::raw::{Error, Guest};

struct Hostile;

impl Guest for Hostile {
    fn describe() -> String {
        r#"{
            "contract": "0.1.0", "name": "hostile", "hidden": true,
            "description": "Misbehaves as the task says, for the tests of a host.",
            "agents": [{"name": "worker", "optional": true}],
            "envs": [{"name": "workspace", "optional": true, "capabilities": ["shell", "files"]}],
            "loads": ["hostile"]
        }"#
        .into()
    }

    async fn run(task: String) -> Result<String, Error> {
        let (word, number) = task.split_once(' ').unwrap_or((&task, ""));
        let number = number.parse().unwrap_or(0);
        match word {
            "well" => {}
            "spin" => spin(),
            "spin-later" => {
                context::sleep(20).await;
                spin();
            }
            "allocate" => allocate(),
            "recurse" => drop(recurse(number)),
            "panic" => panic!("a bug of the flow"),
            "escapes-panic" => panic!("{ESCAPES}"),
            "garbage" => return Ok("{not JSON".into()),
            "no-answer" => return Ok(String::new()),
            "escapes" => {
                context::log(ESCAPES);
                return Ok(format!("{ESCAPES:?}"));
            }
            "escapes-fail" => return Err(error(ErrorKind::Failed, ESCAPES)),
            "never" => context::sleep(u64::MAX).await,
            "go-on" => go_on().await,
            "wait-on" => loop {
                context::sleep(1).await;
            },
            "claims-stopped" => return Err(error(ErrorKind::Stopped, "the run was stopped")),
            "claims-budget" => {
                let spent = SpentLimit { limit: Limit::Cost, whose: "1".into() };
                return Err(error(ErrorKind::Budget(spent), "the budget is spent"));
            }
            "drops-borrowed" => drops_borrowed().await?,
            "tree" => tree(number).await?,
            "sessions" => floods::sessions()?,
            "turns" => floods::turns()?,
            "processes" => floods::processes()?,
            "calls" => floods::calls().await,
            "log" => floods::log(),
            "log-line" => floods::log_line(number),
            "stderr" => floods::stderr(),
            "prompt" => floods::prompt(number).await?,
            "write" => floods::write(number).await?,
            "answer" => return Ok(floods::answer(number)),
            "fail" => return Err(error(ErrorKind::Failed, &"x".repeat(number << 20))),
            other => return Err(error(ErrorKind::Failed, &format!("hostile knows no task {other:?}"))),
        }
        Ok("null".into())
    }
}

flowhost::raw::export!(Hostile with_types_in flowhost::raw);

/// What would clear a screen, rename a window, write to a clipboard and colour what follows.
const ESCAPES: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;b3duZWQ=\u{7}\u{1b}[31mred\r\u{8}\u{9b}31m\u{202e}desrever";

fn error(kind: ErrorKind, message: &str) -> Error {
    Error { kind, message: message.into() }
}

fn worker() -> Result<Agent, Error> {
    get_agent("worker")?.ok_or_else(|| error(ErrorKind::Failed, "nobody is the worker"))
}

fn options() -> TurnOptions {
    TurnOptions { schema: None, budget: None, expected_cost: None }
}

/// Works for ever and never waits.
fn spin() -> ! {
    let mut turn = 0_u64;
    loop {
        turn = std::hint::black_box(turn.wrapping_add(1));
    }
}

/// Takes memory until there is none.
fn allocate() -> ! {
    let mut held = Vec::new();
    loop {
        held.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
}

/// Calls itself until the stack is full.
#[allow(unconditional_recursion, reason = "the stack is to overflow")]
fn recurse(depth: usize) -> usize {
    let here = std::hint::black_box([depth; 64]);
    recurse(depth + 1) + here[depth % 64]
}

/// Asks on, whatever it is told.
async fn go_on() {
    loop {
        if let Ok(worker) = worker()
            && let Ok(session) = worker.spawn(None, None, WhenBusy::Refuse)
        {
            // Also when the run was stopped.
            let _ = session.run("on".into(), options()).await;
        }
    }
}

/// Drops a session while a call on it is out: the component model's own trap.
async fn drops_borrowed() -> Result<(), Error> {
    let session = worker()?.spawn(None, None, WhenBusy::Refuse)?;
    let handle = session.handle();
    let mut turn = Box::pin(session.run("slow".into(), options()));
    std::future::poll_fn(|cx| {
        let _ = turn.as_mut().poll(cx);
        std::task::Poll::Ready(())
    })
    .await;
    // SAFETY: it is not memory that this breaks but the component model's rule, which traps.
    drop(unsafe { flowhost::raw::flowhost::flow::agents::Session::from_handle(handle) });
    turn.await.map(drop)
}

/// Calls itself twice at each level: more branches than there is room for.
async fn tree(depth: usize) -> Result<(), Error> {
    let callee = load("hostile".into()).await?;
    let given = || Handover { agents: vec![], envs: vec![], params: "{}".into(), budget: None };
    let task = format!("tree {}", depth + 1);
    let branches = [callee.start(&task, &given())?, callee.start(&task, &given())?];
    for branch in &branches {
        branch.wait().await?;
    }
    Ok(())
}

/// A command that takes long.
fn sleeper() -> envs::Command {
    let argv = vec!["sleep".into(), "3600".into()];
    envs::Command { argv, vars: vec![], stdin: None, timeout_ms: None, keep: None, repeatable: false }
}
