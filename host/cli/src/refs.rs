//! Finds the flow that a reference means: a name (the project's, the user's, built in) or a path.

use std::{
    borrow::Cow,
    fmt, fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::{built_in, exit::Failure, project, values::near};

/// A component's file name ends so.
const EXTENSION: &str = "wasm";
/// Says that the built-in flow is meant, whatever the project calls its own.
const BUILT_IN: &str = "built-in:";

/// Where flows are looked for by name.
#[derive(Debug)]
pub struct Places {
    standing: PathBuf,
    project: PathBuf,
    user: Option<PathBuf>,
    built_in: &'static [(&'static str, &'static [u8])],
    /// Bytes that a component may have.
    largest: u64,
}

/// A flow that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it comes from. Only that decides whether it is trusted: never its name, nor what it says of itself.
    pub origin: Origin,
    /// Its component.
    pub component: Cow<'static, [u8]>,
    /// Whether a built-in flow has the same name.
    pub shadows: bool,
}

/// Where a flow comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This program.
    BuiltIn,
    /// The project's folder of flows.
    Project(PathBuf),
    /// The user's folder of flows.
    User(PathBuf),
    /// A path that the person wrote.
    Path(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => to.write_str("built in"),
            Self::Project(path) => write!(to, "this project's {}", path.display()),
            Self::User(path) => write!(to, "your own {}", path.display()),
            Self::Path(path) => write!(to, "{}", path.display()),
        }
    }
}

/// A flow that can be run by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether a built-in flow has the same name.
    pub shadows: bool,
}

impl Places {
    /// Those of somebody who stands at `standing`; `largest` is how many bytes a component may have.
    pub fn of(standing: &Path, largest: u64) -> Self {
        Self {
            standing: standing.to_owned(),
            project: project::root(standing).join(project::STATE).join("flows"),
            user: project::user_flows(),
            built_in: built_in::flows(),
            largest,
        }
    }

    /// The flow that the person means.
    pub fn find(&self, reference: &str) -> Result<Found, Failure> {
        if let Some(name) = reference.strip_prefix(BUILT_IN) {
            return self.find_built_in(name);
        }
        if is_path(reference) {
            let path = self.standing.join(reference);
            let component = self.read(&path).map_err(|error| self.unread(reference, &error))?;
            return Ok(Found { origin: Origin::Path(path), component, shadows: false });
        }
        if !is_name(reference) {
            return Err(Failure::refused(format!("{reference:?}: neither a flow's name nor a path"))
                .hint("A name is lower-case letters, digits and `-`; a path has a `/` or ends in .wasm"));
        }
        let shadows = self.built_in(reference).is_some();
        for (folder, origin) in self.folders() {
            let path = folder.join(reference).with_extension(EXTENSION);
            match self.read(&path) {
                Ok(component) => return Ok(Found { origin: origin(path), component, shadows }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.unread(&path.display().to_string(), &error)),
            }
        }
        self.find_built_in(reference)
    }

    /// The built-in flow of this name: what a built-in flow means by a name, whatever the project calls its own.
    pub fn find_built_in(&self, name: &str) -> Result<Found, Failure> {
        let component = self.built_in(name).ok_or_else(|| self.unknown(name))?;
        Ok(Found { origin: Origin::BuiltIn, component: component.into(), shadows: false })
    }

    /// All that can be run by name: the project's, the user's, then those built in; one that is hidden by another is left out.
    pub fn list(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        for (folder, origin) in self.folders() {
            let mut names: Vec<String> = fs::read_dir(folder)
                .into_iter()
                .flatten()
                .filter_map(|entry| {
                    let path = entry.ok()?.path();
                    let name = path.file_stem()?.to_str().filter(|name| is_name(name))?;
                    (path.extension()? == EXTENSION && path.is_file()).then(|| name.to_owned())
                })
                .collect();
            names.sort();
            for name in
                names.into_iter().filter(|name| !listed.iter().any(|each| each.name == *name)).collect::<Vec<_>>()
            {
                let path = folder.join(&name).with_extension(EXTENSION);
                let shadows = self.built_in(&name).is_some();
                listed.push(Listed { name, origin: origin(path), shadows });
            }
        }
        for (name, _) in self.built_in {
            if !listed.iter().any(|each| each.name == *name) {
                listed.push(Listed { name: (*name).into(), origin: Origin::BuiltIn, shadows: false });
            }
        }
        listed
    }

    fn folders(&self) -> impl Iterator<Item = (&Path, fn(PathBuf) -> Origin)> {
        let project: (&Path, fn(PathBuf) -> Origin) = (&self.project, Origin::Project);
        std::iter::once(project).chain(self.user.as_deref().map(|user| (user, Origin::User as fn(PathBuf) -> Origin)))
    }

    fn built_in(&self, name: &str) -> Option<&'static [u8]> {
        self.built_in.iter().find(|(each, _)| *each == name).map(|(_, component)| *component)
    }

    fn unknown(&self, name: &str) -> Failure {
        let listed = self.list();
        let names: Vec<&str> = listed.iter().map(|each| each.name.as_str()).collect();
        let beside = self.standing.join(name).with_extension(EXTENSION);
        let hint = if beside.is_file() {
            format!("For the file beside you write ./{name}.{EXTENSION}")
        } else {
            near::hint("flows", name, &names)
        };
        Failure::refused(format!("{name}: there is no flow of this name")).hint(hint)
    }

    fn unread(&self, written: &str, error: &io::Error) -> Failure {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "`flowhost flows list` shows what can be run by name",
            io::ErrorKind::FileTooLarge => "A flow is a component of a few MB at most",
            _ => "A flow is one .wasm file that you can read",
        };
        let why = match error.kind() {
            io::ErrorKind::NotFound => "no such file".into(),
            _ => error.to_string(),
        };
        Failure::refused(format!("{written}: {why}")).hint(hint)
    }

    fn read(&self, path: &Path) -> io::Result<Cow<'static, [u8]>> {
        // Opening a pipe that nobody writes to would wait for ever.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let mut component = Vec::new();
        fs::File::open(path)?.take(self.largest + 1).read_to_end(&mut component)?;
        if component.len() as u64 > self.largest {
            let message = format!("larger than the limit component-size, {} bytes", self.largest);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(component.into())
    }
}

fn is_path(reference: &str) -> bool {
    reference.contains('/') || reference.ends_with(&format!(".{EXTENSION}"))
}

fn is_name(reference: &str) -> bool {
    reference.starts_with(|first: char| first.is_ascii_lowercase())
        && reference.len() <= 64
        && reference.chars().all(|each| each.is_ascii_lowercase() || each.is_ascii_digit() || each == '-')
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn places(folder: &Path) -> Places {
        Places {
            standing: folder.join("here"),
            project: folder.join("here/.flowhost/flows"),
            user: Some(folder.join("user")),
            built_in: &[("fanout", b"built in"), ("pair", b"pair")],
            largest: 100,
        }
    }

    fn with(files: &[(&str, &str)]) -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("here/.flowhost/flows")).unwrap();
        fs::create_dir_all(folder.path().join("user")).unwrap();
        for (path, text) in files {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let places = places(folder.path());
        (folder, places)
    }

    fn refusal(places: &Places, reference: &str) -> String {
        let failure = places.find(reference).unwrap_err();
        assert_eq!(failure.exit.code(), 2);
        format!("error: {}\nHint: {}", failure.message, failure.hint.unwrap())
    }

    #[test]
    fn the_projects_flow_comes_before_the_users_and_both_before_what_is_built_in() {
        let (_folder, places) = with(&[
            ("here/.flowhost/flows/fanout.wasm", "project"),
            ("user/fanout.wasm", "user"),
            ("user/pair.wasm", "user"),
        ]);
        let fanout = places.find("fanout").unwrap();
        assert!(matches!(fanout.origin, Origin::Project(_)) && fanout.shadows);
        assert_eq!(&*fanout.component, b"project");
        assert!(matches!(places.find("pair").unwrap().origin, Origin::User(_)));
        let meant = places.find("built-in:fanout").unwrap();
        assert_eq!((meant.origin, &*meant.component), (Origin::BuiltIn, &b"built in"[..]));
        let names: Vec<_> = places.list().into_iter().map(|each| (each.name, each.shadows)).collect();
        assert_eq!(names, [("fanout".into(), true), ("pair".into(), true)]);
    }

    #[test]
    fn a_path_is_taken_from_where_the_person_stands() {
        let (_folder, places) = with(&[("here/mine.wasm", "mine")]);
        for written in ["mine.wasm", "./mine.wasm"] {
            let found = places.find(written).unwrap();
            assert!(matches!(found.origin, Origin::Path(_)));
            assert_eq!(&*found.component, b"mine");
        }
    }

    #[test]
    fn what_means_no_flow_is_refused_with_what_was_probably_meant() {
        let (folder, places) = with(&[("here/mine.wasm", "mine")]);
        assert_snapshot!(refusal(&places, "fanuot"), @"
        error: fanuot: there is no flow of this name
        Hint: Did you mean fanout?
        ");
        assert_snapshot!(refusal(&places, "deploy-it"), @"
        error: deploy-it: there is no flow of this name
        Hint: The flows are fanout, pair
        ");
        assert_snapshot!(refusal(&places, "mine"), @"
        error: mine: there is no flow of this name
        Hint: For the file beside you write ./mine.wasm
        ");
        assert_snapshot!(refusal(&places, "Fan Out"), @r#"
        error: "Fan Out": neither a flow's name nor a path
        Hint: A name is lower-case letters, digits and `-`; a path has a `/` or ends in .wasm
        "#);
        assert_snapshot!(refusal(&places, "./no.wasm"), @"
        error: ./no.wasm: no such file
        Hint: `flowhost flows list` shows what can be run by name
        ");
        assert_snapshot!(refusal(&places, "built-in:mine"), @"
        error: mine: there is no flow of this name
        Hint: For the file beside you write ./mine.wasm
        ");
        fs::write(folder.path().join("here/big.wasm"), [0; 101]).unwrap();
        assert_snapshot!(refusal(&places, "big.wasm"), @"
        error: big.wasm: larger than the limit component-size, 100 bytes
        Hint: A flow is a component of a few MB at most
        ");
        fs::create_dir(folder.path().join("here/dir.wasm")).unwrap();
        assert_snapshot!(refusal(&places, "dir.wasm"), @"
        error: dir.wasm: not a file
        Hint: A flow is one .wasm file that you can read
        ");
    }
}
