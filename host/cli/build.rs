//! Compiles the flows that are part of the program, each folder of `flows/`, and what runs flows that are JavaScript; takes in what
//! Python's runner is made of.

#![allow(clippy::disallowed_methods, reason = "a build script works on the files of its build")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use flowhost_sdk_build::{Error, Guests, constants, run, table, watch, write_output};

fn main() -> ExitCode {
    run(|| {
        let flows = Guests::of_workspace("../..")?.below("flows")?.compile()?;
        write_output("flows.rs", &table("BUILT_IN", "The flows of this program, in order of name.", &flows))?;
        // By a cargo of its own, so that it is the same component whatever is compiled beside it.
        let runners = Guests::of_workspace("../..")?.below("guest-sdk/js")?.compile()?;
        write_output("runners.rs", &constants(&runners))?;
        write_output("python.rs", &sources()?)
    })
}

/// Rust source of a table of all files of the Python SDK and of the contract, by the path that each has where they are built.
fn sources() -> Result<String, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for (folder, within) in [("guest-sdk/python", ""), ("wit", "wit/")] {
        collect(&root.join(folder), within, &mut files)?;
    }
    files.sort();
    let mut source =
        String::from("/// What the runner is made of: paths and texts.\nstatic SOURCES: &[(&str, &str)] = &[\n");
    for (name, path) in files {
        source.push_str(&format!("    ({name:?}, include_str!({path:?})),\n"));
    }
    source.push_str("];\n");
    Ok(source)
}

fn collect(folder: &Path, within: &str, files: &mut Vec<(String, PathBuf)>) -> Result<(), Error> {
    watch(folder);
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path().canonicalize()?;
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file whose name is no text")?.to_owned();
        if path.is_dir() {
            if !name.starts_with(['_', '.']) {
                collect(&path, &format!("{within}{name}/"), files)?;
            }
        } else if matches!(path.extension().and_then(|ends| ends.to_str()), Some("py" | "wit")) {
            files.push((format!("{within}{name}"), path));
        }
    }
    Ok(())
}
