//! What a flow is and what it will touch, for a person.

use std::fmt::Write as _;

use flowhost_core::{
    harness::{Access, Permission},
    manifest::Manifest,
    run::Flow as _,
};

use crate::{
    catalog::Loaded,
    escape,
    refs::Origin,
    terminal::{BOLD, DIM, styled},
    values::params,
};

/// Columns of one line of foreign text: it is escaped and may not fill the screen. What honest authors write is shorter.
const LINE: usize = 400;

/// What it declares, in lines.
pub(super) fn flow(loaded: &Loaded) -> String {
    let manifest = loaded.component.manifest();
    let mut out = String::new();
    let name = styled(BOLD, &line(&manifest.name));
    let _ = writeln!(out, "{name}  {}", styled(DIM, &line(&loaded.origin.to_string())));
    if !manifest.description.is_empty() {
        let _ = writeln!(out, "{}", line(&manifest.description));
    }
    roles(manifest, &mut out);
    if let Some(schema) = &manifest.params {
        list(
            &mut out,
            "params",
            params::list(schema.value()).iter().map(|param| {
                let mut text = format!("{} ({})", param.name, param.types);
                match (&param.default, param.required) {
                    (_, true) => text.push_str(", required"),
                    (Some(default), _) => text.push_str(&format!(", {default} if unsaid")),
                    _ => {}
                }
                if param.description.is_empty() { text } else { format!("{text}: {}", param.description) }
            }),
        );
    }
    list(&mut out, "loads", manifest.loads.iter().cloned());
    list(
        &mut out,
        "offers its agents the tools",
        manifest.tools.iter().map(|tool| format!("{}: {}", tool.name, tool.description)),
    );
    list(&mut out, "brings the skills", manifest.skills.keys().cloned());
    if manifest.agents.iter().any(|role| !role.optional) || !manifest.agents.is_empty() {
        let agents: String = manifest
            .agents
            .iter()
            .filter(|role| !role.optional)
            .map(|role| format!(" -a {}=demo", line(&role.name)))
            .collect();
        let reference = line(loaded.origin.reference().as_ref().unwrap_or(&manifest.name));
        let grant = if loaded.origin == Origin::BuiltIn { "" } else { " --grant unconfined" };
        let command = format!("flowhost exec -f {reference}{agents} --budget cost=1{grant} \"…\"");
        let _ = writeln!(out, "\n{}", styled(DIM, &command));
    }
    out
}

/// The same, with what it is made of.
pub(super) fn component(loaded: &Loaded) -> String {
    let component = &loaded.component;
    let mut out = flow(loaded);
    let _ = writeln!(out, "\ncontract  {}", line(&component.manifest().contract));
    let _ = writeln!(out, "digest    {}", component.digest());
    let _ = writeln!(out, "size      {} bytes", component.size());
    list(&mut out, "files", component.files().into_iter().map(String::from));
    list(&mut out, "imports", component.imports().iter().cloned());
    let _ = writeln!(out, "\n{}", line(consent(loaded)));
    out
}

/// What running it takes.
fn consent(loaded: &Loaded) -> &'static str {
    match loaded.origin {
        Origin::BuiltIn => "It is built in: it runs without asking.",
        _ => "It is not built in: this build runs it only with --grant unconfined.",
    }
}

fn roles(manifest: &Manifest, out: &mut String) {
    list(
        out,
        "agents",
        manifest.agents.iter().map(|role| {
            let harness = role.harness.as_ref().map(|harness| format!("the harness {harness}"));
            role_line(&role.name, role.optional, &role.capabilities, harness, role.permission)
        }),
    );
    list(
        out,
        "envs",
        manifest.envs.iter().map(|role| {
            let image = role.image.as_ref().map(|image| format!("the image {image}"));
            role_line(&role.name, role.optional, &role.capabilities, image, role.permission)
        }),
    );
}

fn role_line(
    name: &str,
    optional: bool,
    capabilities: &[String],
    only: Option<String>,
    permission: Option<Permission>,
) -> String {
    let mut text = name.to_owned();
    if optional {
        text.push_str(", optional");
    }
    if !capabilities.is_empty() {
        text.push_str(&format!(": uses {}", capabilities.join(", ")));
    }
    if let Some(only) = only {
        text.push_str(&format!("; takes {only} and no other"));
    }
    if let Some(permission) = permission {
        text.push_str(&format!("; asks for {}", asks(permission)));
    }
    text
}

fn asks(permission: Permission) -> String {
    let access = |access| match access {
        Access::None => "none",
        Access::Read => "read",
        Access::All => "all",
    };
    let Permission { workdir, home, system, network } = permission;
    let network = if network { "all" } else { "none" };
    format!("workdir={}, home={}, system={}, network={network}", access(workdir), access(home), access(system))
}

fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for each in lines {
        let _ = writeln!(out, "  {}", line(&each));
    }
}

fn line(text: &str) -> String {
    escape::line(text, LINE)
}
