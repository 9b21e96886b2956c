//! What flows in C, and flows that are built of source text, are made with: the contract's bindings, and the types of components.

use std::path::Path;

use anyhow::Context as _;
use flowhost_sdk_build::{Error, variable, watch, write_changed};
use wit_bindgen_core::{Files, wit_parser};
use wit_component::StringEncoding;

/// The component that hands the source of a flow to its runner.
const FILES: &str = "package flowhost:files;\nworld files { export flowhost:flow/source@0.1.0; }\n";

/// Writes into `OUT_DIR`: `c/flow.h` and `c/flow.c`, which bind the contract; `flow.type` and `files.type`, custom sections that
/// say what component a core module is to become; and `files.wasm`, such a module for the second.
pub(crate) fn write(contract: &Path) -> Result<(), Error> {
    watch(contract);
    let out = variable("OUT_DIR")?;
    generate(contract, Path::new(&out)).map_err(|error| format!("{}: {error:#}", contract.display()).into())
}

fn generate(contract: &Path, out: &Path) -> anyhow::Result<()> {
    let written = |name: &str, bytes: &[u8]| {
        write_changed(&out.join(name), bytes).map_err(|error| anyhow::anyhow!("{name}: {error}"))
    };
    std::fs::create_dir_all(out.join("c"))?;
    let mut resolve = wit_parser::Resolve::default();
    let (package, _) = resolve.push_dir(contract)?;
    let world = resolve.select_world(&[package], Some("flow"))?;
    // The type is added to the module that was linked, so that a linker need not carry it.
    let mut options = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
    // Straight-line code: the export blocks where an import does.
    options.async_.push("export:run");
    let mut files = Files::default();
    options.build().generate(&mut resolve, world, &mut files)?;
    for (name, bytes) in files.iter() {
        written(&format!("c/{name}"), bytes)?;
    }

    let mut resolve = ::wit_parser::Resolve::default();
    let (package, _) = resolve.push_dir(contract)?;
    let world = resolve.select_world(&[package], Some("flow"))?;
    written("flow.type", &wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None)?)?;
    let package = resolve.push_str("files.wit", FILES)?;
    let world = resolve.select_world(&[package], Some("files"))?;
    written("files.type", &wit_component::metadata::encode(&resolve, world, StringEncoding::UTF8, None)?)?;
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build/files.wat");
    watch(&text);
    written("files.wasm", &wat::parse_file(&text).context("files.wat")?)
}
