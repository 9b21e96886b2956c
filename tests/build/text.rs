//! Guests that are written as WebAssembly text.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flowhost_sdk_build::{Component, Error, variable, watch, write_changed};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve};

/// The `.wat` files of a folder, each assembled.
///
/// With a contract, a core module is made a component of its world `flow`, or of the world that its first line names:
/// `;; world: NAME`. One whose first line is `;; as it is` stays a module. A text that is a component already is assembled and no more.
pub(crate) fn below(folder: &Path, contract: Option<&Path>) -> Result<Vec<Component>, Error> {
    watch(folder);
    let out = PathBuf::from(variable("OUT_DIR")?).join(folder.file_name().ok_or("a folder has a name")?);
    fs::create_dir_all(&out)?;
    let mut components = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let (Some(name), Some("wat")) = (path.file_stem(), path.extension().and_then(|end| end.to_str())) else {
            continue;
        };
        let name = name.to_string_lossy().into_owned();
        let bytes = assembled(&path, contract).map_err(|error| format!("{}: {error:#}", path.display()))?;
        let path = out.join(&name).with_extension("wasm");
        write_changed(&path, &bytes)?;
        components.push(Component { name, path });
    }
    components.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(components)
}

/// A component that imports everything of a contract and does nothing.
pub(crate) fn everything(contract: &Path) -> Result<Component, Error> {
    let bytes = dummy(contract).map_err(|error| format!("{}: {error:#}", contract.display()))?;
    let path = Path::new(&variable("OUT_DIR")?).join("everything.wasm");
    write_changed(&path, &bytes)?;
    Ok(Component { name: "everything".into(), path })
}

fn dummy(contract: &Path) -> anyhow::Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(contract)?;
    let world = resolve.select_world(&[package], Some("flow"))?;
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(LiftLowerAbi::AsyncCallback));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.validate(true).encode()
}

fn assembled(path: &Path, contract: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let text = fs::read_to_string(path)?;
    let bytes = wat::parse_str(&text)?;
    let first = text.lines().next().unwrap_or_default();
    let Some(contract) = contract.filter(|_| first != ";; as it is") else { return Ok(bytes) };
    let world = first.strip_prefix(";; world: ").unwrap_or("flow");
    component(bytes, contract, world)
}

/// Makes a core module that imports and exports what a world says a component of that world.
fn component(mut module: Vec<u8>, contract: &Path, world: &str) -> anyhow::Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let (mut package, _) = resolve.push_dir(contract).context("the contract")?;
    let own =
        Path::new(&variable("CARGO_MANIFEST_DIR").map_err(|error| anyhow::anyhow!("{error}"))?).join("wat/worlds.wit");
    if resolve.select_world(&[package], Some(world)).is_err() {
        package = resolve.push_file(&own).context("the worlds of the tests")?;
    }
    let world = resolve.select_world(&[package], Some(world))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    ComponentEncoder::default().module(&module)?.validate(true).encode()
}
