//! Everything that is checked before anything starts: a run that passes here fails only for reasons of its own.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flowhost_agents::{Registry, RegistryOptions, Spec};
use flowhost_core::{
    agent::AgentGrant,
    clock::Clock,
    harness::{Access, Permission},
    manifest::{AgentRole, EnvRole, Manifest},
    place::EnvGrant,
    record::Json,
    run::Flow as _,
    shape::Shape,
    usage::Limits,
};
use flowhost_envs::{Guardian, Local};

use crate::{
    args::Exec,
    catalog::{Callees, Catalog, Loaded},
    exit::Failure,
    refs::Origin,
    values::{
        budget::Budget,
        grant::Grant,
        limit,
        params::{self, Written},
        role::{Given, local_dir},
    },
};

/// What this build's environments can.
const LOCAL_CAPABILITIES: [&str; 3] = ["shell", "bash", "files"];

/// A run that may start.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The flow, as it was referred to.
    pub(crate) reference: Arc<str>,
    pub(crate) flow: Loaded,
    pub(crate) callees: Callees,
    pub(crate) agents: Vec<(Arc<str>, AgentGrant)>,
    pub(crate) envs: Vec<(Arc<str>, EnvGrant)>,
    pub(crate) params: Json,
    pub(crate) limits: Limits,
    /// By role, as the person wrote them.
    pub(crate) wrote: Wrote,
}

/// Agents and environments by role, as the person wrote them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wrote {
    pub(crate) agents: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) envs: Vec<(Arc<str>, Arc<str>)>,
}

/// What the command line says, apart from the flow that it is for.
struct Said {
    agents: Vec<Given>,
    envs: Vec<Given>,
    written: Written,
    budget: Budget,
    grants: Vec<Grant>,
}

/// The limits that `--limit` asks for.
pub(crate) fn engine_limits(args: &[String]) -> Result<flowhost_engine::Limits, Failure> {
    use flowhost_engine::{Limits, Unit};

    use crate::values::measure;

    let mut limits = Limits::default();
    let names = Limits::TABLE.map(|(name, ..)| name);
    for text in args {
        let (name, value) = limit::split(text, &names)?;
        let unit = Limits::TABLE.iter().find(|(each, ..)| *each == name).map_or(Unit::Count, |(_, unit, _)| *unit);
        let value = match unit {
            Unit::Bytes => measure::bytes(value),
            Unit::Count => measure::count(value),
            Unit::Time => measure::duration(value).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        };
        let value = value.map_err(|why| limit::wrong(name, &why))?;
        // The name is out of its own table.
        let _ = limits.set(name, value);
    }
    Ok(limits)
}

/// Checks all of `args` for somebody who stands at `standing`. `note` is told what the person should know beforehand.
pub(crate) async fn check(
    args: &Exec,
    standing: &Path,
    catalog: Arc<Catalog>,
    guardian: &Guardian,
    clock: &Clock,
    note: &mut impl FnMut(String),
) -> Result<Ready, Failure> {
    let said = Said::read(args)?;
    let flow = if args.json { catalog.load(&args.flow).await? } else { catalog.load_aloud(&args.flow).await? };
    if flow.shadows {
        note(format!(
            "{}: {} is run, which has the name of a built-in flow; built-in:{0} is that one",
            args.flow, flow.origin
        ));
    }
    let granted = said.grants.iter().filter_map(|grant| match grant {
        Grant::Flow(reference) => Some(reference.clone()),
        _ => None,
    });
    let callees = Callees::new(catalog, granted.collect());
    consent(&args.flow, &flow, &callees, &said.grants)?;

    let manifest = flow.component.manifest();
    let permission = permission(&flow.origin, &said.grants);
    let agents = agents(manifest, &said, permission, args, standing, clock)?;
    let envs = envs(manifest, &said, permission, standing, guardian)?;
    let params = params::build(&manifest.name, manifest.params.as_ref().map(Shape::value), &said.written.params)?;
    let params = serde_json::value::to_raw_value(&params).map_err(|error| Failure::refused(error.to_string()))?;
    budget(&said, &agents)?;

    let wrote = Wrote {
        agents: said.agents.iter().map(|each| (each.role.as_str().into(), each.with.as_str().into())).collect(),
        envs: envs
            .iter()
            .map(|(role, directory, _)| (role.clone(), format!("local:{}", directory.display()).into()))
            .collect(),
    };
    let envs = envs.into_iter().map(|(role, _, grant)| (role, grant)).collect();
    let reference = args.flow.as_str().into();
    Ok(Ready { reference, flow, callees, agents, envs, params: params.into(), limits: said.budget.limits(), wrote })
}

impl Said {
    fn read(args: &Exec) -> Result<Self, Failure> {
        let given = |texts: &[String], flag: &str, example: &str| {
            texts.iter().map(|text| Given::read(text, flag, example)).collect::<Result<Vec<_>, _>>()
        };
        let agents = given(&args.agents, "-a", "agent=demo")?;
        let envs = given(&args.envs, "-e", "workspace=local:.")?;
        for (given, flag, all) in [(&agents, "-a", "fallbacks are"), (&envs, "-e", "more than one env for a role is")] {
            let twice = |(at, each): &(usize, &Given)| given[..*at].iter().any(|before| before.role == each.role);
            if let Some((_, each)) = given.iter().enumerate().find(twice) {
                return Err(Failure::refused(format!(
                    "{flag} {}=…: the role is given twice; {all} not in this build",
                    each.role
                ))
                .hint("Give it once"));
            }
        }
        let written = Written::read(args.params.iter().map(String::as_str))?;
        let budget = Budget::read(args.budget.iter().map(String::as_str), &written.budget)?;
        let grants = args.grants.iter().map(|text| Grant::read(text)).collect::<Result<_, _>>()?;
        Ok(Self { agents, envs, written, budget, grants })
    }
}

/// A flow that is not built in runs only with the person's consent, which says what it means here.
fn consent(reference: &str, flow: &Loaded, callees: &Callees, grants: &[Grant]) -> Result<(), Failure> {
    if flow.origin == Origin::BuiltIn {
        return Ok(());
    }
    if !grants.contains(&Grant::Unconfined) {
        return Err(Failure::refused(format!(
            "{reference}: {} is not built in, and this build does not confine yet what the agents and commands of a flow do",
            flow.origin
        ))
        .hint(
            "If you trust it as you would trust a script that you run, say --grant unconfined: \
             what it tells agents to do, and the commands that it runs, then have all of your rights",
        ));
    }
    match callees.missing_grant(&flow.component.manifest().loads) {
        None => Ok(()),
        Some(loads) => Err(Failure::refused(format!("{reference}: it loads {loads}, a flow that is not built in"))
            .hint(format!("If you trust that one too, say --grant flow={loads}"))),
    }
}

/// What the person lets the flow's agents and commands do.
fn permission(origin: &Origin, grants: &[Grant]) -> Permission {
    // Built-in flows also have the network.
    let mut permission = Permission { network: *origin == Origin::BuiltIn, ..Permission::default() };
    for grant in grants {
        match grant {
            Grant::Workdir(access) => permission.workdir = *access,
            Grant::Home(access) => permission.home = *access,
            Grant::System(access) => permission.system = *access,
            Grant::Network(network) => permission.network = *network,
            _ => {}
        }
    }
    permission
}

/// Refuses where a role asks for more than is granted, with the grant that would do.
fn covers(flow: &str, role: &str, wanted: Option<Permission>, granted: Permission) -> Result<(), Failure> {
    let Some(wanted) = wanted.filter(|wanted| !granted.covers(wanted)) else { return Ok(()) };
    let access = |name: &str, wanted: Access, granted: Access| {
        let named = if wanted == Access::All { "all" } else { "read" };
        (wanted > granted).then(|| format!("{name}={named}"))
    };
    let grant = access("workdir", wanted.workdir, granted.workdir)
        .or_else(|| access("home", wanted.home, granted.home))
        .or_else(|| access("system", wanted.system, granted.system))
        .unwrap_or_else(|| "network=all".into());
    Err(Failure::refused(format!(
        "{flow}: its role {role} asks for {grant}, which is more than it gets without asking"
    ))
    .hint(format!("If you want that, say --grant {grant}")))
}

fn agents(
    manifest: &Manifest,
    said: &Said,
    permission: Permission,
    args: &Exec,
    standing: &Path,
    clock: &Clock,
) -> Result<Vec<(Arc<str>, AgentGrant)>, Failure> {
    let flow = &manifest.name;
    let roles: Vec<&str> = manifest.agents.iter().map(|role| role.name.as_str()).collect();
    let registry = Registry::new(RegistryOptions {
        clock: clock.clone(),
        demo_speed: args.demo_speed,
        where_the_person_stands: standing.to_owned(),
        path: std::env::var_os("PATH").unwrap_or_default(),
    });
    let mut agents = Vec::new();
    for given in &said.agents {
        given.known(flow, "agent", &roles)?;
        let refused = |refusal: flowhost_agents::Refusal| {
            let failure = Failure::refused(format!("-a {}={}: {}", given.role, given.with, refusal.message));
            match refusal.hint {
                Some(hint) => failure.hint(hint),
                None => failure.hint("`flowhost agents` shows the harnesses that there are"),
            }
        };
        let spec = Spec::parse(&given.with).map_err(refused)?;
        let harness = registry.build(&spec).map_err(refused)?;
        agents.push((given.role.as_str().into(), AgentGrant::new(harness, spec.settings(permission))));
    }
    for role in &manifest.agents {
        match agents.iter().find(|(name, _): &&(Arc<str>, _)| **name == *role.name) {
            Some((_, grant)) => fits(flow, role, grant, permission)?,
            None if role.optional => {}
            None => {
                return Err(Failure::refused(format!("{flow}: nobody fills its agent role {}", role.name)).hint(
                    format!(
                        "Say who: -a {}=demo, for instance; `flowhost agents` shows the harnesses that there are",
                        role.name
                    ),
                ));
            }
        }
    }
    Ok(agents)
}

fn fits(flow: &str, role: &AgentRole, grant: &AgentGrant, permission: Permission) -> Result<(), Failure> {
    let (name, label) = (&role.name, &grant.label);
    if let Some(harness) = role.harness.as_ref().filter(|wanted| *wanted != grant.harness.name()) {
        return Err(Failure::refused(format!(
            "{flow}: its role {name} takes the harness {harness} and no other, not {label}"
        ))
        .hint(format!("Say -a {name}={harness}…")));
    }
    if let Some(lacks) = role.capabilities.iter().find(|each| !grant.capabilities.contains(each)) {
        let able =
            flowhost_agents::table().filter(|row| !row.hidden && row.capabilities.names().contains(&lacks.as_str()));
        let able: Vec<&str> = able.map(|row| row.name).collect();
        let hint = match &able[..] {
            [] => "No harness of this build can".into(),
            able => format!("These can: {}", able.join(", ")),
        };
        return Err(
            Failure::refused(format!("{flow}: its role {name} needs {lacks}, which {label} cannot do")).hint(hint)
        );
    }
    covers(flow, name, role.permission, permission)
}

type Opened = (Arc<str>, PathBuf, EnvGrant);

fn envs(
    manifest: &Manifest,
    said: &Said,
    permission: Permission,
    standing: &Path,
    guardian: &Guardian,
) -> Result<Vec<Opened>, Failure> {
    let flow = &manifest.name;
    let roles: Vec<&str> = manifest.envs.iter().map(|role| role.name.as_str()).collect();
    for given in &said.envs {
        given.known(flow, "env", &roles)?;
    }
    let mut envs = Vec::new();
    for role in &manifest.envs {
        let given = said.envs.iter().find(|given| given.role == role.name);
        if given.is_none() && role.optional && lacking(role).is_some() {
            continue;
        }
        if let Some(lacks) = lacking(role) {
            return Err(Failure::refused(format!(
                "{flow}: its env role {} needs {lacks}, which no environment of this build offers",
                role.name
            ))
            .hint("`flowhost flows list` shows other flows"));
        }
        covers(flow, &role.name, role.permission, permission)?;
        let directory = match given {
            Some(given) => standing.join(local_dir(given)?),
            None => standing.to_owned(),
        };
        let env = Local::open(&directory, guardian.clone(), flowhost_envs::Limits::default()).map_err(|error| {
            Failure::refused(error.message).hint(format!("-e {}=local:DIR names a directory that is there", role.name))
        })?;
        let capabilities = LOCAL_CAPABILITIES.map(str::to_owned).into();
        envs.push((role.name.as_str().into(), directory, EnvGrant { env, capabilities }));
    }
    Ok(envs)
}

/// What a role needs that no environment of this build has.
fn lacking(role: &EnvRole) -> Option<&str> {
    if role.image.is_some() {
        return Some("a container");
    }
    role.capabilities.iter().map(String::as_str).find(|each| !LOCAL_CAPABILITIES.contains(each))
}

/// $4: what can cost money has a budget, or the person says that it has none.
fn budget(said: &Said, agents: &[(Arc<str>, AgentGrant)]) -> Result<(), Failure> {
    let spends = agents.iter().find(|(_, grant)| grant.harness.capabilities().spends);
    match (spends, said.budget) {
        (Some((role, grant)), Budget::Unsaid) => Err(Failure::refused(format!(
            "-a {role}={}: it can cost money, and nothing is said about how much",
            grant.harness.name()
        ))
        .hint("Say --budget cost=1, for instance, or --budget none")),
        _ => Ok(()),
    }
}
