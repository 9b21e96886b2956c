//! `flowhost flows list` and `flowhost flows show`.

use std::sync::Arc;

use anyhow::Context as _;
use flowhost_core::run::Flow as _;
use serde_json::json;

use super::{columns::columns, describe};
use crate::{
    args::Flows,
    catalog::Catalog,
    exit::{Exit, Failure},
    refs::{Listed, Origin},
    terminal,
};

/// Writes to stdout what was asked for.
pub(super) fn run(args: &Flows) -> anyhow::Result<Exit> {
    let standing = std::env::current_dir().context("the directory that you stand in")?;
    let runtime = super::runtime()?;
    let _guard = runtime.enter();
    let catalog = Arc::new(Catalog::new(&standing, flowhost_engine::Limits::default())?);
    match args {
        Flows::List { json } => runtime.block_on(list(catalog, *json)),
        Flows::Show { flow, json } => {
            let loaded = runtime.block_on(catalog.load_aloud(flow))?;
            let text = if *json {
                let manifest = serde_json::to_string_pretty(loaded.component.manifest())?;
                crate::escape::json(&manifest) + "\n"
            } else {
                describe::flow(&loaded)
            };
            terminal::print(&text)?;
            Ok(Exit::Answered)
        }
    }
}

async fn list(catalog: Arc<Catalog>, json: bool) -> anyhow::Result<Exit> {
    let listed = catalog.places().list();
    let described = listed.iter().map(|each| {
        let (catalog, each) = (catalog.clone(), each.clone());
        tokio::spawn(async move {
            let reference = match each.origin {
                Origin::BuiltIn => format!("built-in:{}", each.name),
                _ => each.name.clone(),
            };
            catalog.load(&reference).await
        })
    });
    let described: Vec<_> = described.collect();
    let mut rows = vec![["NAME", "FROM", "WHAT IT DOES"].map(String::from).to_vec()];
    let mut lines = String::new();
    for (each, loaded) in listed.iter().zip(described) {
        let loaded = loaded.await.context("a flow was being described")?;
        // What stands in the place of another flow is never hidden.
        if !each.shadows && loaded.as_ref().is_ok_and(|loaded| loaded.component.manifest().hidden) {
            continue;
        }
        let what = match &loaded {
            Ok(loaded) => loaded.component.manifest().description.clone(),
            Err(failure) => format!("cannot be run: {}", failure.message),
        };
        let object = object(each, &loaded, &what);
        lines.push_str(&(crate::escape::json(&object.to_string()) + "\n"));
        rows.push(vec![each.name.clone(), from(each), what]);
    }
    terminal::print(&if json { lines } else { columns(&rows) })?;
    Ok(Exit::Answered)
}

fn object(each: &Listed, loaded: &Result<crate::catalog::Loaded, Failure>, what: &str) -> serde_json::Value {
    let (digest, error) = match loaded {
        Ok(loaded) => (Some(loaded.component.digest().to_string()), None),
        Err(failure) => (None, Some(failure.message.to_string())),
    };
    json!({ "name": each.name, "from": from(each), "description": what, "digest": digest, "error": error })
}

fn from(each: &Listed) -> String {
    let from = match each.origin {
        Origin::BuiltIn => "built in",
        Origin::Project(_) => "project",
        Origin::User(_) => "yours",
        Origin::Path(_) => "path",
    };
    if each.shadows { format!("{from}, over built in") } else { from.into() }
}
