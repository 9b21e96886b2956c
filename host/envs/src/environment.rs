//! The clean environment that a program gets, and where programs are found.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use flowhost_core::error::{EnvFault, Error, Result};
use rustix::{
    fs::{Access, AtFlags, CWD, accessat},
    io::Errno,
};

/// Where programs are where nobody says.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What every program gets whatever the host's own environment is: PATH, LANG, TERM, TMPDIR and HOME.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    path: OsString,
    lang: OsString,
}

impl Environment {
    /// Takes what it takes from the host's environment: PATH, without what is relative in it, and LANG.
    pub(crate) fn of_host() -> Self {
        Self::new(std::env::var_os("PATH"), std::env::var_os("LANG"))
    }

    fn new(path: Option<OsString>, lang: Option<OsString>) -> Self {
        // A relative entry would mean another directory in each env, and somebody else's programs.
        let entries = std::env::split_paths(path.as_deref().unwrap_or_default()).filter(|entry| entry.is_absolute());
        let path = std::env::join_paths(entries).ok().filter(|path| !path.is_empty()).unwrap_or_else(|| PATH.into());
        Self { path, lang: lang.filter(|lang| !lang.is_empty()).unwrap_or_else(|| "C.UTF-8".into()) }
    }

    /// The variables, `added` among them and before the host's, those of an equal name the last.
    pub(crate) fn variables(&self, scratch: &Path, added: &[(String, String)]) -> Result<Vec<(OsString, OsString)>> {
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), self.path.clone()),
            ("LANG".into(), self.lang.clone()),
            ("TERM".into(), "dumb".into()),
            ("HOME".into(), scratch.join("home").into()),
            ("TMPDIR".into(), scratch.join("tmp").into()),
        ];
        for (name, value) in added {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!("{name:?}: no name of a variable, or a NUL byte in it or in its value");
                return Err(Error::env(EnvFault::NotStarted, message));
            }
            match variables.iter_mut().find(|(known, _)| known == OsStr::new(name)) {
                Some((_, known)) => *known = value.into(),
                None => variables.push((name.into(), value.into())),
            }
        }
        Ok(variables)
    }

    /// The file to start for a program: itself where it has a slash, which is relative to the env's directory where it
    /// is relative; else found on PATH, and never where the env happens to be.
    pub(crate) fn find_program(&self, name: &str) -> Result<PathBuf> {
        if name.contains('/') {
            return Ok(name.into());
        }
        self.find_program_outside(name, None)
    }

    /// The same for a bare name, never inside this directory.
    pub(crate) fn find_program_outside(&self, name: &str, directory: Option<&Path>) -> Result<PathBuf> {
        let is_inside = |entry: &Path| {
            directory
                .is_some_and(|directory| std::fs::canonicalize(entry).is_ok_and(|entry| entry.starts_with(directory)))
        };
        let mut not_permitted = None;
        for entry in std::env::split_paths(&self.path) {
            if name.is_empty() || is_inside(&entry) {
                continue;
            }
            let candidate = entry.join(name);
            if !candidate.is_file() {
                continue;
            }
            match accessat(CWD, &candidate, Access::EXEC_OK, AtFlags::empty()) {
                Ok(()) => return Ok(candidate),
                Err(_) => not_permitted = Some(candidate),
            }
        }
        let message = match not_permitted {
            Some(found) => format!("{name}: {} is not executable", found.display()),
            None => {
                let path = self.path.to_string_lossy();
                format!("{name}: no such program on PATH ({path}); install it, or give the path to it")
            }
        };
        Err(Error::env(EnvFault::NotStarted, message))
    }
}

/// Why the system did not start a program.
pub(crate) fn not_started(program: &str, directory: &str, errno: Errno) -> Error {
    let message = match errno {
        Errno::NOENT => {
            format!(
                "{program}: no such program in {directory}, or what its first line says to run it with is not there"
            )
        }
        Errno::ACCESS | Errno::PERM => format!("{program}: not executable, in {directory}"),
        Errno::NOEXEC => format!("{program}: no program that this machine runs, in {directory}"),
        Errno::TOOBIG => {
            format!(
                "{program}: more arguments and variables than the system takes; give the data on stdin or in a file"
            )
        }
        errno => format!("{program}: {}, in {directory}", std::io::Error::from(errno)),
    };
    Error::env(EnvFault::NotStarted, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_relative_stays_on_path() {
        let environment = Environment::new(Some("bin::/usr/bin:./x:/bin".into()), None);
        assert_eq!(environment.path, "/usr/bin:/bin");
        assert_eq!(Environment::new(Some(".".into()), None).path, PATH);
        assert_eq!(Environment::new(None, Some("de_DE.UTF-8".into())).lang, "de_DE.UTF-8");
    }

    #[test]
    fn w2_a_program_of_the_host_is_never_found_inside_the_directory() {
        use std::os::unix::fs::PermissionsExt;
        let outer = tempfile::TempDir::new().unwrap();
        let (inside, outside) = (outer.path().join("project/bin"), outer.path().join("bin"));
        for directory in [&inside, &outside] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join("git"), "").unwrap();
            std::fs::set_permissions(directory.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = std::env::join_paths([&inside, &outside]).unwrap();
        let environment = Environment::new(Some(path), None);
        assert_eq!(environment.find_program("git").unwrap(), inside.join("git"));
        let project = std::fs::canonicalize(outer.path().join("project")).unwrap();
        assert_eq!(environment.find_program_outside("git", Some(&project)).unwrap(), outside.join("git"));
    }

    #[test]
    fn what_is_given_replaces_what_is_there() {
        let environment = Environment::new(Some("/bin".into()), None);
        let given = [("TERM".to_owned(), "xterm".to_owned()), ("A".to_owned(), "1".to_owned())];
        let variables = environment.variables(Path::new("/scratch"), &given).unwrap();
        let get = |name: &str| {
            variables.iter().filter(|(known, _)| known == name).map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(get("TERM"), ["xterm"]);
        assert_eq!(get("A"), ["1"]);
        assert_eq!(get("HOME"), ["/scratch/home"]);
        for wrong in ["", "A=B", "A\0"] {
            assert!(environment.variables(Path::new("/"), &[(wrong.to_owned(), String::new())]).is_err());
        }
    }
}
