//! B3: what is passed must cover what the callee declares; it is handed exactly what it declared.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::AgentGrant,
    branch::Given,
    error::{Error, Result},
    manifest::{AgentRole, EnvRole, Manifest},
    place::EnvGrant,
};

/// What of `given` the flow is handed. Fails with `requirement` where it does not meet what `manifest` declares.
pub fn cover(manifest: &Manifest, given: Given) -> Result<Given> {
    let Given { agents, envs, params, limits, scratch } = given;
    let agents = roles(
        manifest,
        "agent",
        agents,
        manifest.agents.iter().map(|role| (&*role.name, role.optional, role)),
        narrow_agent,
    )?;
    let envs =
        roles(manifest, "env", envs, manifest.envs.iter().map(|role| (&*role.name, role.optional, role)), narrow_env)?;
    check_params(manifest, params.get())?;
    Ok(Given { agents, envs, params, limits, scratch })
}

fn roles<'a, Role: 'a, Grant>(
    manifest: &Manifest,
    what: &str,
    mut given: Vec<(Arc<str>, Grant)>,
    declared: impl Iterator<Item = (&'a str, bool, &'a Role)> + Clone,
    narrow: impl Fn(&Role, Grant) -> Result<Grant>,
) -> Result<Vec<(Arc<str>, Grant)>> {
    let flow = &manifest.name;
    if let Some((name, _)) = given.iter().find(|(name, _)| !declared.clone().any(|(role, ..)| role == &**name)) {
        let known: Vec<&str> = declared.map(|(role, ..)| role).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Error::requirement(format!("{flow} declares no {what} role {name}; its {what} roles: {known}")));
    }
    let mut handed = Vec::new();
    for (role, optional, declaration) in declared {
        match given.iter().position(|(name, _)| &**name == role) {
            Some(at) => {
                let (name, grant) = given.swap_remove(at);
                handed.push((name, narrow(declaration, grant)?));
            }
            None if optional => {}
            None => return Err(Error::requirement(format!("{flow} needs an {what} for its role {role}"))),
        }
    }
    Ok(handed)
}

fn narrow_agent(role: &AgentRole, grant: AgentGrant) -> Result<AgentGrant> {
    let (name, label) = (&role.name, &grant.label);
    if let Some(harness) = role.harness.as_ref().filter(|wanted| *wanted != grant.harness.name()) {
        return Err(Error::requirement(format!(
            "the role {name} takes the harness {harness} and no other, not {label}"
        )));
    }
    lacking(name, label, &role.capabilities, &grant.capabilities)?;
    if role.permission.is_some_and(|wanted| !grant.settings.permission.covers(&wanted)) {
        return Err(Error::requirement(format!("the role {name} needs a wider permission than {label} has")));
    }
    Ok(AgentGrant { capabilities: role.capabilities.clone().into(), ..grant })
}

fn narrow_env(role: &EnvRole, grant: EnvGrant) -> Result<EnvGrant> {
    lacking(&role.name, grant.env.directory(), &role.capabilities, &grant.capabilities)?;
    Ok(EnvGrant { capabilities: role.capabilities.clone().into(), ..grant })
}

fn lacking(role: &str, given: &str, wanted: &[String], has: &[String]) -> Result<()> {
    match wanted.iter().find(|each| !has.contains(each)) {
        Some(lacks) => Err(Error::requirement(format!("the role {role} needs {lacks}, which {given} does not offer"))),
        None => Ok(()),
    }
}

fn check_params(manifest: &Manifest, params: &str) -> Result<()> {
    let flow = &manifest.name;
    let value: Value = serde_json::from_str(params)
        .map_err(|error| Error::requirement(format!("the params for {flow} are not JSON: {error}")))?;
    let Some(schema) = &manifest.params else {
        let none = value.as_object().is_some_and(serde_json::Map::is_empty) || value.is_null();
        return if none { Ok(()) } else { Err(Error::requirement(format!("{flow} takes no params"))) };
    };
    schema
        .check(&value)
        .map_err(|wrong| Error::requirement(format!("the params for {flow} do not meet its schema: {wrong}")))
}
