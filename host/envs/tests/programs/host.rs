//! A small host for the tests: it has a guardian, as the program has, and is killed.
//!
//! `guardian` is the guardian. `hold DIR SCRIPT…` starts each script with bash in the directory, says `started` and waits
//! to be killed; `wait DIR SCRIPT…` waits for their ends instead and then ends by itself. `rights DIR` says what it is refused.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test's program")]

use std::{io::Write, path::Path, process::ExitCode};

use flowhost_core::env::Program;
use flowhost_envs::{Guardian, Limits, Local};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["guardian"] => flowhost_envs::guardian::serve(),
        [how @ ("hold" | "wait"), directory, scripts @ ..] => {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(host(directory, scripts, *how == "hold"));
            ExitCode::SUCCESS
        }
        ["rights", directory] => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(rights(directory));
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

async fn rights(directory: &str) {
    let guardian = Guardian::new(&std::env::current_exe().unwrap(), &["guardian".into()]);
    let env = Local::open(Path::new(directory), guardian, Limits::default()).unwrap();
    let mut stdout = std::io::stdout();
    let mut say = |what: &str, error: Option<flowhost_core::error::Error>| {
        let message = error.map_or_else(|| "permitted".to_owned(), |error| error.message);
        let message = message.split(", in ").next().unwrap().to_owned();
        writeln!(stdout, "{what}: {message}").unwrap();
    };
    say("read unreadable", env.read("unreadable", None).await.err());
    say("write readonly", env.write("readonly", b"y".to_vec()).await.err());
    say("append readonly", env.append("readonly", b"y".to_vec()).await.err());
    say("write open/new", env.write("open/new", b"y".to_vec()).await.err());
    say("remove open/f", env.remove("open/f").await.err());
    say("make-dir open/d", env.make_dir("open/d").await.err());
    say("read closed/f", env.read("closed/f", None).await.err());
    say("find", env.find(".", "**").await.err());
    // The directory itself may be opened; what is in it may not.
    let subdir = match env.subdir("closed").await {
        Ok(subdir) => subdir.find(".", "*").await.err(),
        Err(error) => Some(error),
    };
    let is_denied = subdir.is_some_and(|error| error.message.contains("permission denied"));
    writeln!(stdout, "subdir closed: {}", if is_denied { "denied" } else { "permitted" }).unwrap();
}

async fn host(directory: &str, scripts: &[&str], for_ever: bool) {
    let guardian = Guardian::new(&std::env::current_exe().unwrap(), &["guardian".into()]);
    let env = Local::open(Path::new(directory), guardian, Limits::default()).unwrap();
    let mut children = Vec::new();
    for script in scripts {
        let argv = ["bash", "-c", script].map(str::to_owned).to_vec();
        children.push(env.spawn(Program { argv, vars: Vec::new() }).await.unwrap());
    }
    let mut stdout = std::io::stdout();
    stdout.write_all(b"started\n").unwrap();
    stdout.flush().unwrap();
    if for_ever {
        std::future::pending::<()>().await;
    }
    for child in &mut children {
        child.process.wait().await.unwrap();
    }
}
