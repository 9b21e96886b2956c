//! What stands in `#[flow(..)]`, as text of the manifest.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitFloat, LitInt, LitStr, Result, Token, Type, parenthesized, token};

use crate::json;

/// What a role of an agent may use.
const AGENT_CAPABILITIES: [&str; 16] = [
    "steer",
    "fork",
    "goal",
    "tools",
    "skills",
    "session-start",
    "prompt-submit",
    "pre-tool-use",
    "permission-request",
    "question",
    "notification",
    "offered-tool",
    "stop",
    "session-end",
    "subagent-start",
    "subagent-stop",
];

/// What a role of an environment may use.
const ENV_CAPABILITIES: [&str; 7] = ["shell", "bash", "files", "worktree", "copy", "scratch", "snapshot"];

/// The attribute's arguments.
#[derive(Default)]
pub(crate) struct Declaration {
    pub(crate) name: Option<LitStr>,
    pub(crate) hidden: bool,
    pub(crate) agents: Vec<Role>,
    pub(crate) envs: Vec<Role>,
    pub(crate) params: Option<Type>,
    pub(crate) loads: Vec<LitStr>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) skills: Vec<Skill>,
}

/// A role, as JSON of the manifest.
pub(crate) struct Role {
    pub(crate) json: String,
}

/// A tool that the flow offers.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) input: Type,
    pub(crate) description: LitStr,
}

/// A skill that the flow brings.
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) files: Vec<(LitStr, LitStr)>,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut declared = Self::default();
        let mut seen = HashSet::new();
        while !input.is_empty() {
            let what = input.call(Ident::parse_any)?;
            if !seen.insert(what.to_string()) {
                return Err(Error::new(what.span(), format!("`{what}` is said twice")));
            }
            match what.to_string().as_str() {
                "agents" => declared.agents = roles(input, &AGENT)?,
                "envs" => declared.envs = roles(input, &ENV)?,
                "params" => declared.params = Some(assigned(input)?),
                "loads" => declared.loads = listed(input)?,
                "tools" => declared.tools = listed(input)?,
                "skills" => declared.skills = listed(input)?,
                "name" => declared.name = Some(assigned(input)?),
                "hidden" => declared.hidden = true,
                other => {
                    let all = ["agents", "envs", "params", "loads", "tools", "skills", "name", "hidden"];
                    return Err(unknown(what.span(), "a flow declares no", other, &all));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(declared)
    }
}

/// What follows a `=`.
fn assigned<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// What stands in parentheses, with commas between.
fn listed<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let inner;
    parenthesized!(inner in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inner)?.into_iter().collect())
}

/// One of the two kinds of role.
struct Kind {
    what: &'static str,
    capabilities: &'static [&'static str],
    /// What may stand in its parentheses beside the permission.
    own: &'static [&'static str],
}

const AGENT: Kind = Kind { what: "agent", capabilities: &AGENT_CAPABILITIES, own: &["harness"] };
const ENV: Kind = Kind { what: "env", capabilities: &ENV_CAPABILITIES, own: &["image", "cpus", "memory"] };

fn roles(input: ParseStream<'_>, kind: &Kind) -> Result<Vec<Role>> {
    let inner;
    parenthesized!(inner in input);
    let mut names = HashSet::new();
    let mut roles = Vec::new();
    while !inner.is_empty() {
        let (name, span) = kebab(&inner)?;
        if !names.insert(name.clone()) {
            return Err(Error::new(span, format!("the {} role `{name}` is declared twice", kind.what)));
        }
        roles.push(role(&inner, kind, &name)?);
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    Ok(roles)
}

/// A role from after its name: `? (..) : capability + capability`.
fn role(input: ParseStream<'_>, kind: &Kind, name: &str) -> Result<Role> {
    let mut members = vec![("name", json::string(name))];
    if input.parse::<Option<Token![?]>>()?.is_some() {
        members.push(("optional", "true".to_owned()));
    }
    let needs = if input.peek(token::Paren) { needs(input, kind)? } else { vec![] };
    if input.parse::<Option<Token![:]>>()?.is_some() {
        let mut capabilities = Vec::new();
        loop {
            let (capability, span) = kebab(input)?;
            if !kind.capabilities.contains(&capability.as_str()) {
                let no = format!("an {} has no capability", kind.what);
                return Err(unknown(span, &no, &capability, kind.capabilities));
            }
            if capabilities.contains(&capability) {
                return Err(Error::new(span, format!("`{capability}` is said twice")));
            }
            capabilities.push(capability);
            if input.parse::<Option<Token![+]>>()?.is_none() {
                break;
            }
        }
        members.push(("capabilities", json::list(capabilities.iter().map(|each| json::string(each)))));
    }
    members.extend(needs);
    Ok(Role { json: json::object(members) })
}

/// What a role needs: the parentheses after its name.
fn needs(input: ParseStream<'_>, kind: &Kind) -> Result<Vec<(&'static str, String)>> {
    let inner;
    parenthesized!(inner in input);
    let mut members = Vec::new();
    let mut permission = Permission::default();
    while !inner.is_empty() {
        let (key, span) = kebab(&inner)?;
        inner.parse::<Token![=]>()?;
        match key.as_str() {
            "harness" if kind.own.contains(&"harness") => members.push(("harness", text(&inner)?)),
            "image" if kind.own.contains(&"image") => members.push(("image", text(&inner)?)),
            "cpus" if kind.own.contains(&"cpus") => members.push(("cpus", number(&inner)?)),
            "memory" if kind.own.contains(&"memory") => {
                members.push(("memory", inner.parse::<LitInt>()?.base10_parse::<u64>()?.to_string()));
            }
            "workdir" => permission.set().workdir = access(&inner)?,
            "home" => permission.set().home = access(&inner)?,
            "system" => permission.set().system = access(&inner)?,
            "network" => permission.set().network = inner.parse::<LitBool>()?.value,
            other => {
                let all: Vec<_> = kind.own.iter().copied().chain(["workdir", "home", "system", "network"]).collect();
                return Err(unknown(span, &format!("an {} role needs no", kind.what), other, &all));
            }
        }
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    if permission.said {
        members.push(("permission", permission.json()));
    }
    Ok(members)
}

/// What a role must be permitted. What is not said is what every flow gets without asking.
struct Permission {
    said: bool,
    workdir: String,
    home: String,
    system: String,
    network: bool,
}

impl Default for Permission {
    fn default() -> Self {
        Self { said: false, workdir: "all".into(), home: "none".into(), system: "read".into(), network: false }
    }
}

impl Permission {
    fn set(&mut self) -> &mut Self {
        self.said = true;
        self
    }

    fn json(&self) -> String {
        json::object([
            ("workdir", json::string(&self.workdir)),
            ("home", json::string(&self.home)),
            ("system", json::string(&self.system)),
            ("network", self.network.to_string()),
        ])
    }
}

fn access(input: ParseStream<'_>) -> Result<String> {
    let (word, span) = kebab(input)?;
    let all = ["none", "read", "all"];
    if all.contains(&word.as_str()) { Ok(word) } else { Err(unknown(span, "no access is called", &word, &all)) }
}

fn text(input: ParseStream<'_>) -> Result<String> {
    Ok(json::string(&input.parse::<LitStr>()?.value()))
}

fn number(input: ParseStream<'_>) -> Result<String> {
    let value = if input.peek(LitInt) {
        input.parse::<LitInt>()?.base10_parse::<f64>()?
    } else {
        input.parse::<LitFloat>()?.base10_parse::<f64>()?
    };
    Ok(value.to_string())
}

/// A name of the contract: an identifier with `_` for `-`, or a string as it is.
fn kebab(input: ParseStream<'_>) -> Result<(String, Span)> {
    if input.peek(LitStr) {
        let name: LitStr = input.parse()?;
        let good = name.value().starts_with(|first: char| first.is_ascii_lowercase())
            && name.value().chars().all(|each| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '-');
        return if good {
            Ok((name.value(), name.span()))
        } else {
            Err(Error::new(name.span(), "a name is lower-case letters, digits and `-`"))
        };
    }
    let name = input.call(Ident::parse_any)?;
    let text = name.unraw().to_string().replace('_', "-");
    if text.chars().any(|each| each.is_uppercase()) || !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(Error::new(name.span(), "a name is lower-case letters, digits and `_` (which stands for `-`)"));
    }
    Ok((text, name.span()))
}

impl Parse for Tool {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (name, _) = kebab(input)?;
        input.parse::<Token![:]>()?;
        let of = input.parse()?;
        Ok(Self { name, input: of, description: assigned(input)? })
    }
}

impl Parse for Skill {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (name, _) = kebab(input)?;
        let files: Vec<File> = listed(input)?;
        Ok(Self { name, files: files.into_iter().map(|File(path, from)| (path, from)).collect() })
    }
}

/// A file of a skill: its path there, and where it is read from.
struct File(LitStr, LitStr);

impl Parse for File {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Self(input.parse()?, assigned(input)?))
    }
}

/// An error that names what there is, and first what was perhaps meant.
fn unknown(span: Span, no: &str, word: &str, all: &[&str]) -> Error {
    let meant = all.iter().map(|each| (distance(word, each), *each)).filter(|(far, _)| *far <= 2).min();
    let meant = meant.map(|(_, each)| format!(" Did you mean `{each}`?")).unwrap_or_default();
    Error::new(span, format!("{no} `{word}`.{meant} There are: {}", all.join(", ")))
}

/// How many letters must be put in, left out or changed to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (down, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], down + 1);
        for (across, beside) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *beside);
            diagonal = row[across + 1];
            row[across + 1] = changed.min(diagonal + 1).min(row[across] + 1);
        }
    }
    row[other.len()]
}
