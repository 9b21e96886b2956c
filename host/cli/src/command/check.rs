//! `flowhost check FLOW`: what a flow is and what it will touch, without running it.

use anyhow::Context as _;
use flowhost_core::run::Flow as _;
use serde_json::json;

use super::describe;
use crate::{args::Check, catalog::Catalog, escape, exit::Exit, terminal};

/// Writes it to stdout. What is no flow is refused.
pub(super) fn run(args: &Check) -> anyhow::Result<Exit> {
    let standing = std::env::current_dir().context("the directory that you stand in")?;
    let runtime = super::runtime()?;
    let _guard = runtime.enter();
    let catalog = Catalog::new(&standing, flowhost_engine::Limits::default())?;
    let loaded = runtime.block_on(catalog.load_aloud(&args.flow))?;
    let component = &loaded.component;
    let text = if args.json {
        let object = json!({
            "from": loaded.origin.to_string(),
            "digest": &**component.digest(),
            "size": component.size(),
            "files": component.files(),
            "imports": component.imports(),
            "manifest": component.manifest(),
        });
        escape::json(&object.to_string()) + "\n"
    } else {
        describe::component(&loaded)
    };
    terminal::print(&text)?;
    Ok(Exit::Answered)
}
