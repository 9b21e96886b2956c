//! Compiles the flows that are part of the program, each folder of `flows/`, and what runs flows that are JavaScript or TypeScript; takes
//! in what Python's runner is made of, and what flows in C and in Rust are built with.

#![allow(clippy::disallowed_methods, reason = "a build script works on the files of its build")]

#[path = "build/bindings.rs"]
mod bindings;
#[path = "build/sdk.rs"]
mod sdk;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use flowhost_sdk_build::{Error, Guests, constants, run, table, variable, watch, write_changed, write_output};

fn main() -> ExitCode {
    run(|| {
        let flows = Guests::of_workspace("../..")?.below("flows")?.compile()?;
        write_output("flows.rs", &table("BUILT_IN", "The flows of this program, in order of name.", &flows))?;
        // By a cargo of its own, so that it is the same component whatever is compiled beside it.
        let runners = Guests::of_workspace("../..")?.below("guest-sdk/js")?.prepare("runner", "prepare").compile()?;
        write_output("runners.rs", &constants(&runners))?;

        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = PathBuf::from(variable("OUT_DIR")?);
        let mut python = Vec::new();
        collect(&root, "guest-sdk/python", "", &["py"], &mut python)?;
        collect(&root, "wit", "wit/", &["wit"], &mut python)?;
        write_output("python.rs", &sources(python))?;

        bindings::write(&root.join("wit"))?;
        let mut c = Vec::new();
        collect(&root, "guest-sdk/c", "", &["c", "h"], &mut c)?;
        c.extend(["flow.h", "flow.c"].map(|name| (format!("src/{name}"), out.join("c").join(name))));
        write_output("c.rs", &sources(c))?;

        let mut rust = Vec::new();
        for folder in sdk::CRATES.map(|each| format!("{each}/src")).iter().map(String::as_str).chain(["wit"]) {
            collect(&root, folder, &format!("{folder}/"), &["rs", "wit"], &mut rust)?;
        }
        for folder in sdk::CRATES {
            rust.push((format!("{folder}/Cargo.toml"), root.join(folder).join("Cargo.toml").canonicalize()?));
        }
        write_changed(&out.join("sdk.toml"), sdk::manifest(&root)?.as_bytes())?;
        rust.push(("Cargo.toml".into(), out.join("sdk.toml")));
        write_changed(&out.join("sdk.lock"), sdk::locked(&root)?.as_bytes())?;
        write_output("rust.rs", &sources(rust))
    })
}

/// Rust source of a table of files, by the path that each has where it is used.
fn sources(mut files: Vec<(String, PathBuf)>) -> String {
    files.sort();
    let mut source = String::from("/// Paths and texts.\nstatic SOURCES: &[(&str, &str)] = &[\n");
    for (name, path) in files {
        source.push_str(&format!("    ({name:?}, include_str!({path:?})),\n"));
    }
    source.push_str("];\n");
    source
}

/// All files of a folder, and of those in it, whose names end so.
fn collect(
    root: &Path,
    folder: &str,
    within: &str,
    endings: &[&str],
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Error> {
    let folder = root.join(folder);
    watch(&folder);
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path().canonicalize()?;
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file whose name is no text")?.to_owned();
        if path.is_dir() {
            if !name.starts_with(['_', '.']) {
                collect(&folder, &name, &format!("{within}{name}/"), endings, files)?;
            }
        } else if path.extension().and_then(|ends| ends.to_str()).is_some_and(|ends| endings.contains(&ends)) {
            files.push((format!("{within}{name}"), path));
        }
    }
    Ok(())
}
