//! The compiler of C: Zig's, as the package index has it, in a virtual environment of its own that is kept.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::FlockOperation;

use super::parent;
use crate::{exit::Failure, project, venv};

/// Which.
const VERSION: &str = "0.17.1";

/// It, ready to be called.
#[derive(Debug)]
pub(super) struct Zig {
    python: PathBuf,
    /// Where it keeps what it has compiled.
    cache: PathBuf,
}

impl Zig {
    /// Finds it, or installs it, which is done once on a machine: some 450 MB.
    pub(super) fn find(say: &mut dyn FnMut(&str)) -> Result<Self, Failure> {
        let folder = project::cache().ok_or_else(|| {
            Failure::refused("nobody says where the C compiler is to be kept: neither XDG_CACHE_HOME nor HOME is set")
        })?;
        let environment = folder.join(format!("zig-{VERSION}"));
        let zig = Self { python: environment.join("bin/python"), cache: folder.join("zig-cache") };
        if environment.is_dir() {
            return Ok(zig);
        }
        let unwritten = |path: &Path, error: std::io::Error| {
            Failure::refused(format!("{}: {error}", path.display()))
                .hint("XDG_CACHE_HOME says where the C compiler is kept")
        };
        fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, error))?;
        let lock_path = folder.join("zig.lock");
        let lock = fs::File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| unwritten(&lock_path, error))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| unwritten(&lock_path, error.into()))?;
        // Somebody else may have made it while this waited.
        if environment.is_dir() {
            return Ok(zig);
        }
        say("there is no C compiler for flows on this machine yet; this takes a minute and some 450 MB, once");
        let draft =
            tempfile::Builder::new().prefix("zig-").tempdir_in(&folder).map_err(|error| unwritten(&folder, error))?;
        let made = draft.path().join("environment");
        let otherwise = "flows in Rust, JavaScript and Python need no C compiler";
        venv::make(&made, &format!("ziglang=={VERSION}"), otherwise, say)?;
        // A Python in it finds its packages from where it is, so the whole can be moved.
        fs::rename(&made, &environment).map_err(|error| unwritten(&environment, error))?;
        Ok(zig)
    }

    /// `zig cc`, in a folder.
    pub(super) fn cc(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "ziglang", "cc"]).current_dir(folder);
        command.env("ZIG_GLOBAL_CACHE_DIR", &self.cache).env("ZIG_LOCAL_CACHE_DIR", &self.cache);
        // It would take the site-packages of an environment that the person is in for its own.
        command.env_remove("VIRTUAL_ENV").env_remove("PYTHONHOME").env_remove("PYTHONPATH");
        command
    }

    /// Where files lie that are compiled again and again: from the same place the compiler finds what it made of them.
    pub(super) fn shelf(&self, name: &str) -> PathBuf {
        parent(&self.cache).join(name)
    }
}
