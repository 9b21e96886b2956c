//! `flowhost agents`: the harnesses that can fill a role.

use flowhost_agents::{Row, registry::Takes, table};
use serde_json::json;

use super::columns::columns;
use crate::{args::Agents, exit::Exit, terminal};

/// Writes the table to stdout.
pub(super) fn run(args: &Agents) -> anyhow::Result<Exit> {
    let rows = table().filter(|row| !row.hidden);
    if args.json {
        let lines = rows.map(|row| {
            let Row { name, about, capabilities, .. } = row;
            let can = capabilities.names();
            let object = json!({ "name": name, "about": about, "as": written(row), "capabilities": can, "spends": capabilities.spends });
            format!("{object}\n")
        });
        terminal::print(&lines.collect::<String>())?;
        return Ok(Exit::Answered);
    }
    let mut lines = vec![["WRITTEN AS", "CAN", "COSTS", "WHAT IT IS"].map(String::from).to_vec()];
    lines.extend(rows.map(|row| {
        let can = row.capabilities.names().join(" ");
        let costs = if row.capabilities.spends { "money" } else { "nothing" };
        vec![written(row), can, costs.into(), row.about.into()]
    }));
    terminal::print(&columns(&lines))?;
    Ok(Exit::Answered)
}

/// How one is written after `-a ROLE=`.
fn written(row: &Row) -> String {
    let name = row.name;
    match row.takes {
        Takes::Model { accounts: true, .. } => format!("{name}[@ACCOUNT][/MODEL[:EFFORT]]"),
        Takes::Model { accounts: false, .. } => format!("{name}[/MODEL[:EFFORT]]"),
        Takes::Rest(_) => format!("{name}:PROGRAM"),
        Takes::Either => format!("{name}[:…]"),
    }
}
