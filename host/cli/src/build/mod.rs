//! From a flow as its author writes it to a component: one file a language, and what they share.

mod bind;
mod c;
mod component;
mod files;
pub(crate) mod rust;
mod script;
mod zig;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use flowhost_engine::Engine;
use tokio::runtime::Runtime;

use crate::{exit::Failure, source::Language};

/// What a flow is called that is a file in a folder of its own, without its ending.
const IN_FOLDER: &str = "flow";

/// A flow to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Project {
    /// A package of cargo's, by its manifest.
    Rust(PathBuf),
    /// Files of C, all in one folder.
    C { folder: PathBuf, files: Vec<PathBuf> },
    /// Source text that a runner runs, by its own file.
    Script(PathBuf, Language),
}

/// What a build may use and whom it tells.
pub(crate) struct Workshop<'a> {
    /// Compiles and describes, with nothing granted.
    pub engine: &'a Engine,
    /// Where it does that.
    pub runtime: &'a Runtime,
    /// Told what begins.
    pub say: &'a mut dyn FnMut(&str),
}

impl fmt::Debug for Workshop<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Workshop").finish_non_exhaustive()
    }
}

impl Project {
    /// The flow at a path: a folder, or the file that it begins with. What is none, or several, is refused.
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::refused(format!("{shown}: no such file or folder")),
            _ => Failure::refused(format!("{shown}: {error}")),
        });
        if metadata?.is_dir() {
            return Self::within(path);
        }
        Self::of_file(path)?.ok_or_else(|| {
            let ends = path.extension().and_then(|ends| ends.to_str());
            if ends == Some("wasm") {
                return Failure::refused(format!("{shown}: it is built already"))
                    .hint("`flowhost check` shows what it is");
            }
            Failure::refused(format!("{shown}: not a file that a flow begins with")).hint(BEGINS)
        })
    }

    /// The one that lies in a folder.
    fn within(folder: &Path) -> Result<Self, Failure> {
        let named = std::iter::once("Cargo.toml".to_owned())
            .chain(["c"].into_iter().chain(Language::EXTENSIONS).map(|ends| format!("{IN_FOLDER}.{ends}")));
        let found: Vec<String> = named.filter(|name| folder.join(name).is_file()).collect();
        let shown = folder.display();
        match &found[..] {
            [] => Err(Failure::refused(format!("{shown}: there is no flow in this folder")).hint(BEGINS)),
            [name] if name == "flow.c" => {
                let files = beside(folder).map_err(|error| Failure::refused(format!("{shown}: {error}")))?;
                Ok(Self::C { folder: folder.to_owned(), files })
            }
            [name] => match Self::of_file(&folder.join(name))? {
                Some(project) => Ok(project),
                None => Err(Failure::refused(format!("{shown}: there is no flow in this folder")).hint(BEGINS)),
            },
            [first, ..] => {
                let hint = format!("Name the one that you mean: flowhost build {}", folder.join(first).display());
                Err(Failure::refused(format!("{shown}: it has {}", found.join(" and "))).hint(hint))
            }
        }
    }

    fn of_file(path: &Path) -> Result<Option<Self>, Failure> {
        if path.file_name().is_some_and(|name| name == "Cargo.toml") {
            return Ok(Some(Self::Rust(path.to_owned())));
        }
        if path.extension().is_some_and(|ends| ends == "c") {
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            return Ok(Some(Self::C { folder: parent(path).to_owned(), files: vec![name] }));
        }
        Ok(Language::of(path).map(|language| Self::Script(path.to_owned(), language)))
    }

    /// The folder that it lies in, and its component belongs into.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Rust(manifest) => parent(manifest),
            Self::C { folder, .. } => folder,
            Self::Script(main, _) => parent(main),
        }
    }

    /// Its component.
    pub(crate) fn build(&self, workshop: &mut Workshop<'_>) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Rust(manifest) => rust::build(manifest, workshop.say),
            Self::C { folder, files } => c::build(folder, files, workshop.say),
            Self::Script(main, language) => script::build(main, *language, workshop),
        }
    }
}

/// What a flow may begin with, for a person.
const BEGINS: &str = "A flow to build is a folder with a Cargo.toml, a flow.c, a flow.py, a flow.js or a flow.ts in it, or such a file itself; \
                      `flowhost new` makes one";

/// The files of C in a folder, in order.
fn beside(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = PathBuf::from(entry?.file_name());
        if name.extension().is_some_and(|ends| ends == "c") && folder.join(&name).is_file() {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// A bare name lies where the person stands.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            fs::write(folder.path().join(name), "").unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_is_what_lies_in_it() {
        let rust = folder(&["Cargo.toml", "words.py"]);
        assert_eq!(Project::at(rust.path()).unwrap(), Project::Rust(rust.path().join("Cargo.toml")));
        let c = folder(&["words.c", "flow.c", "words.h"]);
        let files = vec!["flow.c".into(), "words.c".into()];
        assert_eq!(Project::at(c.path()).unwrap(), Project::C { folder: c.path().to_owned(), files });
        let script = folder(&["flow.mjs", "words.mjs"]);
        let main = script.path().join("flow.mjs");
        assert_eq!(Project::at(script.path()).unwrap(), Project::Script(main.clone(), Language::JavaScript));
        assert_eq!(Project::at(&main).unwrap().folder(), script.path());
    }

    #[test]
    fn a_file_is_meant_alone() {
        let both = folder(&["one.c", "two.c", "one.py"]);
        let one = Project::at(&both.path().join("one.c")).unwrap();
        assert_eq!(one, Project::C { folder: both.path().to_owned(), files: vec!["one.c".into()] });
        assert_eq!(parent(Path::new("one.c")), Path::new("."));
    }

    #[test]
    fn none_and_several_are_refused_with_what_to_do() {
        let said = |path: &Path| {
            let failure = Project::at(path).unwrap_err();
            assert_eq!(failure.exit.code(), 2);
            (failure.message.to_string(), failure.hint.unwrap_or_default().to_string())
        };
        let empty = folder(&["notes.txt", "done.wasm"]);
        assert!(said(empty.path()).0.ends_with("there is no flow in this folder"));
        assert!(said(&empty.path().join("notes.txt")).1.contains("flowhost new"));
        assert!(said(&empty.path().join("done.wasm")).0.ends_with("it is built already"));
        assert!(said(&empty.path().join("nowhere")).0.ends_with("no such file or folder"));
        let both = folder(&["flow.py", "flow.js"]);
        let (message, hint) = said(both.path());
        assert!(message.ends_with("it has flow.py and flow.js"), "{message}");
        assert!(hint.ends_with("/flow.py"), "{hint}");
    }
}
