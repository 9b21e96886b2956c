//! More of something than there is room for.

use std::io::Write;

use flowhost::raw::Error;
use flowhost::raw::flowhost::flow::agents::WhenBusy;
use flowhost::raw::flowhost::flow::envs::get_env;
use flowhost::raw::flowhost::flow::{context, types};

use crate::{error, options, sleeper, worker};

/// Opens sessions without end, and holds them.
pub(crate) fn sessions() -> Result<(), Error> {
    let worker = worker()?;
    let mut held = Vec::new();
    loop {
        held.push(worker.spawn(None, None, WhenBusy::Refuse)?);
    }
}

/// Starts turns without end, and holds them.
pub(crate) fn turns() -> Result<(), Error> {
    let worker = worker()?;
    let mut held = Vec::new();
    loop {
        let session = worker.spawn(None, None, WhenBusy::Refuse)?;
        held.push(session.start("slow", &options())?);
    }
}

/// Starts commands without end, and holds them.
pub(crate) fn processes() -> Result<(), Error> {
    let none = || error(types::ErrorKind::Failed, "no workspace");
    let env = get_env("workspace")?.ok_or_else(none)?;
    let mut held = Vec::new();
    loop {
        held.push(env.start(&sleeper())?);
    }
}

/// Waits for more and more at once.
pub(crate) async fn calls() {
    let mut held = Vec::new();
    std::future::poll_fn::<(), _>(|cx| {
        loop {
            let mut call = Box::pin(context::sleep(u64::MAX));
            let _ = call.as_mut().poll(cx);
            held.push(call);
        }
    })
    .await;
}

/// Says line after line.
pub(crate) fn log() {
    let line = "all work and no play ".repeat(50);
    loop {
        context::log(&line);
    }
}

/// Says one line of so many MiB.
pub(crate) fn log_line(mebibytes: usize) {
    context::log(&"x".repeat(mebibytes << 20));
}

/// Writes to its standard error without end.
pub(crate) fn stderr() {
    let line = "all work and no play ".repeat(50);
    // A host that takes no more closes the stream, and the flow goes on all the same.
    while writeln!(std::io::stderr(), "{line}").is_ok() {}
    loop {
        std::hint::spin_loop();
    }
}

/// Sends a prompt of so many MiB.
pub(crate) async fn prompt(mebibytes: usize) -> Result<(), Error> {
    let session = worker()?.spawn(None, None, WhenBusy::Refuse)?;
    session.run("x".repeat(mebibytes << 20), options()).await.map(drop)
}

/// Writes a file of so many MiB.
pub(crate) async fn write(mebibytes: usize) -> Result<(), Error> {
    let none = || error(types::ErrorKind::Failed, "no workspace");
    let env = get_env("workspace")?.ok_or_else(none)?;
    env.write("flood".into(), vec![b'x'; mebibytes << 20]).await
}

/// An answer of so many MiB.
pub(crate) fn answer(mebibytes: usize) -> String {
    let mut answer = String::from("\"");
    answer.push_str(&"x".repeat(mebibytes << 20));
    answer.push('"');
    answer
}
