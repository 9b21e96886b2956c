//! `flowhost agents`: the harnesses that can fill a role.

use flowhost_agents::{Row, registry::Takes, table};
use serde_json::json;

use super::columns::wrapped;
use crate::{
    args::Agents,
    exit::Exit,
    terminal::{self, BOLD, styled},
};

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
    let mut text = String::new();
    for row in rows {
        let can = match row.capabilities.names() {
            none if none.is_empty() => String::new(),
            names => format!("can {}; ", names.join(", ")),
        };
        let costs = if row.capabilities.spends { "can cost money" } else { "costs nothing" };
        text.push_str(&format!("{}\n", styled(BOLD, &written(row))));
        let room = terminal::answer_columns() - 4;
        for line in wrapped(row.about, room).into_iter().chain(wrapped(&format!("{can}{costs}"), room)) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    terminal::print(&text)?;
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
