//! The SDK of Rust as it stands beside a flow that is built elsewhere: its crates, the contract that they bind, and a workspace of
//! these alone, with the versions that this workspace has.

use std::{collections::BTreeSet, fs, path::Path};

use flowhost_sdk_build::{Error, watch};

/// The crates of it, from the root of the workspace.
pub(crate) const CRATES: [&str; 2] = ["guest-sdk/rust", "guest-sdk/rust/macros"];

/// The workspace's manifest with these crates alone, without profiles: those are the flow's own.
pub(crate) fn manifest(root: &Path) -> Result<String, Error> {
    let path = root.join("Cargo.toml");
    watch(&path);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut reduced = String::new();
    let mut left_out = false;
    for line in text.lines() {
        if line.starts_with('[') {
            left_out = line.starts_with("[profile.");
        }
        match line.split_once(" = ").map(|(key, _)| key) {
            Some("members") => reduced.push_str(&format!("members = {CRATES:?}\n")),
            Some("default-members") => {}
            _ if left_out || line.starts_with('#') => {}
            _ => reduced.push_str(&format!("{line}\n")),
        }
    }
    if reduced.contains(&format!("members = {CRATES:?}")) {
        return Ok(reduced);
    }
    Err(format!("{}: it names no members", path.display()).into())
}

/// The packages of the workspace's lock file that the SDK is made of, without the head of the file.
pub(crate) fn locked(root: &Path) -> Result<String, Error> {
    let path = root.join("Cargo.lock");
    watch(&path);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let packages: Vec<Package<'_>> = text.split("[[package]]\n").skip(1).filter_map(Package::read).collect();
    let mut wanted = BTreeSet::new();
    let mut todo = vec!["flowhost-sdk"];
    while let Some(dependency) = todo.pop() {
        // `NAME`, or `NAME VERSION` where there are several.
        let (name, version) =
            dependency.split_once(' ').map_or((dependency, None), |(name, version)| (name, Some(version)));
        for (at, package) in packages.iter().enumerate() {
            let meant = package.name == name && version.is_none_or(|version| version == package.version);
            if meant && wanted.insert(at) {
                todo.extend(&package.dependencies);
            }
        }
    }
    if wanted.is_empty() {
        return Err(format!("{}: flowhost-sdk is not in it", path.display()).into());
    }
    Ok(wanted.into_iter().map(|at| format!("[[package]]\n{}\n\n", packages[at].text)).collect())
}

struct Package<'a> {
    name: &'a str,
    version: &'a str,
    dependencies: Vec<&'a str>,
    text: &'a str,
}

impl<'a> Package<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        let listed = text.lines().filter_map(|line| line.strip_prefix(" \"")?.strip_suffix("\","));
        Some(Self {
            name: value("name")?,
            version: value("version")?,
            dependencies: listed.collect(),
            text: text.trim_end(),
        })
    }
}
