//! Flows that are source text: which files belong to one, and which language it is in.
//!
//! A flow may import what lies beside it: the files of its language directly in its folder. They are read once, before the flow is described, and
//! it sees these and nothing else, so that the digest that a person consents to covers every line that can run.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use flowhost_engine::Source;

/// Files that a flow may have beside it.
const MOST_FILES: usize = 256;
/// Bytes that all of them may have.
const MOST_BYTES: u64 = 4 << 20;

/// A language whose source this program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript.
    JavaScript,
    /// TypeScript: JavaScript, once its types are taken out.
    TypeScript,
}

impl Language {
    /// How the file of a flow in any of them may end.
    pub const EXTENSIONS: [&str; 5] = ["py", "js", "mjs", "ts", "mts"];

    /// That of a flow's own file, by how its name ends.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "py" => Some(Self::Python),
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            _ => None,
        }
    }

    /// Its name in commands and paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
        }
    }

    /// Whether one in this language may import a file of this name.
    fn imports(self, name: &str) -> bool {
        let ends = Path::new(name).extension().and_then(|ends| ends.to_str()).unwrap_or_default();
        match self {
            Self::Python => ends == "py",
            Self::JavaScript => matches!(ends, "js" | "mjs" | "json"),
            Self::TypeScript => match ends {
                // What only declares has nothing to import.
                "ts" | "mts" => !name.ends_with(".d.ts") && !name.ends_with(".d.mts"),
                _ => Self::JavaScript.imports(name),
            },
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
        })
    }
}

/// Reads the flow whose own file this is, with what lies beside it.
///
/// # Errors
/// `NotFound` and the like of its own file; `FileTooLarge` where there is too much beside it.
pub fn read(main: &Path, language: Language) -> io::Result<Source> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "not a name that a module can have");
    let name = main.file_name().and_then(|name| name.to_str()).ok_or_else(invalid)?;
    let folder = folder_of(main);
    let mut left = MOST_BYTES;
    let mut files = BTreeMap::new();
    // The person's own word: it may be a link to somewhere else.
    files.insert(name.to_owned(), contents(fs::File::open(main)?, folder, &mut left)?);
    for (beside, file) in beside(folder, language)? {
        if beside == name {
            continue;
        }
        if files.len() == MOST_FILES {
            return Err(too_much(folder));
        }
        files.insert(beside, contents(file, folder, &mut left)?);
    }
    Ok(Source::new(name, files))
}

/// Paths of the files beside a flow that it may import, as they are now; none where it is no source text.
pub fn beside_paths(main: &Path) -> Vec<PathBuf> {
    let folder = folder_of(main);
    let Some(found) = Language::of(main).and_then(|language| beside(folder, language).ok()) else { return Vec::new() };
    found.into_iter().map(|(name, _)| folder.join(name)).filter(|path| path != main).collect()
}

/// A bare name lies where the person stands.
fn folder_of(main: &Path) -> &Path {
    main.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The files beside a flow that it may import. What is no regular file is left out: a link could lead out of the folder.
fn beside(folder: &Path, language: Language) -> io::Result<Vec<(String, fs::File)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_module = language.imports(&name) && entry.file_type()?.is_file();
        if is_module && found.len() <= MOST_FILES {
            // Not followed where it has become a link, and not waited for where it has become a pipe.
            let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
            let flags = i32::try_from(flags).map_err(io::Error::other)?;
            found.push((name, fs::File::options().read(true).custom_flags(flags).open(entry.path())?));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

fn contents(file: fs::File, folder: &Path, left: &mut u64) -> io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut bytes = Vec::new();
    file.take(*left + 1).read_to_end(&mut bytes)?;
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| too_much(folder))?;
    Ok(bytes)
}

fn too_much(folder: &Path) -> io::Error {
    let message = format!(
        "{} has more than a flow can import, {MOST_FILES} files and {} MiB of its language; give the flow a folder of its own",
        folder.display(),
        MOST_BYTES >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn source(main: &str, files: &[(&str, &str)]) -> Source {
        Source::new(main, files.iter().map(|(name, text)| ((*name).into(), text.as_bytes().to_vec())).collect())
    }

    #[test]
    fn a_flow_is_its_file_and_the_modules_beside_it() {
        let folder = folder(&[
            ("flow.py", "import other"),
            ("other.py", "x = 1"),
            ("notes.txt", "no"),
            ("flow.js", "import './other.mjs'"),
            ("other.mjs", "1"),
            ("data.json", "{}"),
            ("flow.ts", "import './other.mts'"),
            ("other.mts", "2"),
            ("flowhost.d.ts", "no"),
        ]);
        fs::create_dir(folder.path().join("folder.py")).unwrap();
        let python = read(&folder.path().join("flow.py"), Language::Python).unwrap();
        assert_eq!(python, source("flow.py", &[("flow.py", "import other"), ("other.py", "x = 1")]));
        let script = read(&folder.path().join("flow.js"), Language::JavaScript).unwrap();
        let files = [("data.json", "{}"), ("flow.js", "import './other.mjs'"), ("other.mjs", "1")];
        assert_eq!(script, source("flow.js", &files));
        let typed = read(&folder.path().join("flow.ts"), Language::TypeScript).unwrap();
        let files = [files[0], files[1], ("flow.ts", "import './other.mts'"), files[2], ("other.mts", "2")];
        assert_eq!(typed, source("flow.ts", &files));
    }

    #[test]
    fn a_link_beside_it_is_no_module() {
        let folder = folder(&[("flow.py", "")]);
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("secret.py")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe.py"), 0o600.into()).unwrap();
        let read = read(&folder.path().join("flow.py"), Language::Python).unwrap();
        assert_eq!(read, source("flow.py", &[("flow.py", "")]));
    }

    #[test]
    fn a_folder_with_too_much_is_refused_by_name() {
        let folder = folder(&[("flow.py", "")]);
        for nth in 0..MOST_FILES {
            fs::write(folder.path().join(format!("m{nth}.py")), "").unwrap();
        }
        let error = read(&folder.path().join("flow.py"), Language::Python).unwrap_err();
        assert!(error.to_string().contains("give the flow a folder of its own"), "{error}");
        fs::remove_file(folder.path().join("m0.py")).unwrap();
        read(&folder.path().join("flow.py"), Language::Python).unwrap();
        let large = fs::File::create(folder.path().join("m1.py")).unwrap();
        large.set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(
            read(&folder.path().join("flow.py"), Language::Python).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
    }
}
