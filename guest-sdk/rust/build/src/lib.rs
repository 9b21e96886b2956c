//! Compiles flows that are crates of this workspace, for the build script of a crate that carries them.
//!
//! A build script calls [`Guests::below`] for each folder of flows, [`Guests::compile`], and writes what it wants to include:
//!
//! ```no_run
//! use flowhost_sdk_build::{Guests, run, table, write_output};
//!
//! fn main() -> std::process::ExitCode {
//!     run(|| {
//!         let flows = Guests::of_workspace("../..")?.below("flows")?.compile()?;
//!         write_output("flows.rs", &table("FLOWS", "The flows, by name.", &flows))
//!     })
//! }
//! ```
//!
//! What a guest does at its every start can be done once, while it is built: [`Guests::prepare`].
//!
//! All guests of all build scripts share one target directory beside the outer one, so each is compiled once and then
//! only when it changed. The target `wasm32-wasip2` is added where rustup can and it is missing.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script works on the files of its build, starts cargo, and speaks to the outer one on stdout"
)]

mod prepare;
mod toolchain;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The target that flows are compiled for.
pub const TARGET: &str = "wasm32-wasip2";

/// What went wrong, as a build script shows it.
pub type Error = Box<dyn std::error::Error>;

/// Runs a build script, and hands its error to cargo as one that a person reads.
pub fn run(script: impl FnOnce() -> Result<(), Error>) -> ExitCode {
    match script() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.to_string().lines().for_each(|line| tell_cargo("error", line));
            ExitCode::FAILURE
        }
    }
}

/// Crates to compile.
#[derive(Debug)]
pub struct Guests {
    root: PathBuf,
    folders: Vec<PathBuf>,
    /// Names of guests, each with the function that is run while it is built.
    prepare: Vec<(String, String)>,
}

/// A guest that was compiled.
#[derive(Clone, Debug)]
pub struct Component {
    /// The folder of its crate, whose name is the crate's.
    pub name: String,
    /// The component, in the build script's own `OUT_DIR`.
    pub path: PathBuf,
}

impl Guests {
    /// Guests of the workspace whose root is at this path from the build script's crate; none yet.
    pub fn of_workspace(root: &str) -> Result<Self, Error> {
        let root = Path::new(&variable("CARGO_MANIFEST_DIR")?).join(root);
        let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(Self { root, folders: Vec::new(), prepare: Vec::new() })
    }

    /// Adds each crate that lies in a folder, given relative to the root. The folder's name is the package's.
    pub fn below(mut self, folder: &str) -> Result<Self, Error> {
        let folder = self.root.join(folder);
        watch(&folder);
        let listed = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in listed {
            let path = entry?.path();
            if path.join("Cargo.toml").is_file() {
                self.folders.push(path);
            }
        }
        self.folders.sort();
        Ok(self)
    }

    /// Runs a function of this guest's core module while it is built, and keeps its memory as it is then.
    #[must_use]
    pub fn prepare(mut self, name: &str, function: &str) -> Self {
        self.prepare.push((name.to_owned(), function.to_owned()));
        self
    }

    /// Compiles them all by one `cargo`, small and stripped, and copies them into the build script's `OUT_DIR`.
    pub fn compile(self) -> Result<Vec<Component>, Error> {
        for each in ["guest-sdk/rust", "wit", "Cargo.toml", "Cargo.lock"] {
            watch(&self.root.join(each));
        }
        toolchain::ensure_target()?;
        let out = PathBuf::from(variable("OUT_DIR")?);
        let target = shared_target(&out)?;
        let names = self.folders.iter().map(|folder| name_of(folder)).collect::<Result<Vec<_>, _>>()?;

        let mut cargo = Command::new(variable("CARGO")?);
        cargo.current_dir(&self.root).args(["build", "--locked", "--profile", "guest", "--target", TARGET]);
        cargo.arg("--target-dir").arg(&target);
        for name in &names {
            cargo.args(["--package", name]);
        }
        toolchain::forget_the_outer_build(&mut cargo);
        let output = cargo.output().map_err(|error| format!("cargo did not start: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the flows do not compile for {TARGET}:\n{said}").into());
        }

        fs::create_dir_all(out.join("guests"))?;
        let copy = |name: String| -> Result<Component, Error> {
            let from = target.join(TARGET).join("guest").join(name.replace('-', "_")).with_extension("wasm");
            let path = out.join("guests").join(&name).with_extension("wasm");
            let mut wasm = fs::read(&from).map_err(|error| format!("{}: {error}", from.display()))?;
            for (_, function) in self.prepare.iter().filter(|(guest, _)| *guest == name) {
                let prepared = prepare::prepared(&wasm, function);
                wasm = prepared.map_err(|error| format!("{name}: `{function}` was not run: {error}"))?;
            }
            write_changed(&path, &wasm)?;
            Ok(Component { name, path })
        };
        names.into_iter().map(copy).collect()
    }
}

/// Rust source of a table of components, each with its name and its bytes.
pub fn table(name: &str, docs: &str, components: &[Component]) -> String {
    let mut source = format!("/// {docs}\npub static {name}: &[(&str, &[u8])] = &[\n");
    for Component { name, path } in components {
        // Writing to a string does not fail.
        let _ = writeln!(source, "    ({name:?}, include_bytes!({path:?})),");
    }
    source.push_str("];\n");
    source
}

/// Rust source of a constant for each component, named after it, and a table of all.
pub fn constants(components: &[Component]) -> String {
    let mut source = String::new();
    for Component { name, path } in components {
        let constant = name.replace('-', "_").to_uppercase();
        // Writing to a string does not fail.
        let _ =
            writeln!(source, "/// The bytes of `{name}`.\npub static {constant}: &[u8] = include_bytes!({path:?});");
    }
    source.push_str(&table("ALL", "All of them, in order of name.", components));
    source
}

/// Writes source into `OUT_DIR`, for the crate to `include!`.
pub fn write_output(name: &str, source: &str) -> Result<(), Error> {
    write_changed(&Path::new(&variable("OUT_DIR")?).join(name), source.as_bytes())
}

/// Writes a file, and leaves it alone where it is the same: what includes it is not compiled again.
pub fn write_changed(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// A variable that cargo sets for build scripts.
pub fn variable(name: &str) -> Result<String, Error> {
    std::env::var(name).map_err(|_| format!("{name} is not set: this runs from a build script").into())
}

/// Runs the build script again when something at this path changes.
pub fn watch(path: &Path) {
    tell_cargo("rerun-if-changed", &path.display().to_string());
}

fn tell_cargo(key: &str, value: &str) {
    // A closed stdout is cargo gone: there is nobody left to tell.
    let _ = writeln!(std::io::stdout(), "cargo::{key}={value}");
}

fn name_of(folder: &Path) -> Result<String, Error> {
    let name = folder.file_name().and_then(|name| name.to_str());
    Ok(name.ok_or_else(|| format!("{}: not a name of a crate", folder.display()))?.to_owned())
}

/// The target directory that all guests share: `guests` beside the profile's folder, which holds `build/PACKAGE/out`.
fn shared_target(out: &Path) -> Result<PathBuf, Error> {
    let target = out.ancestors().nth(4).ok_or("OUT_DIR is not inside a target directory")?;
    Ok(target.join("guests"))
}
