//! Finds the flow that a reference means: a name (the project's, the user's, built in) or a path.

use std::{
    borrow::Cow,
    fmt, fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use flowhost_engine::Source;

use crate::{
    built_in,
    exit::Failure,
    project,
    source::{self, Language},
    values::near,
};

/// A component's file name ends so.
const EXTENSION: &str = "wasm";
/// What a flow's file is called that is a folder with what it imports.
const IN_FOLDER: &str = "flow";
/// Says that the built-in flow is meant, whatever the project calls its own.
pub(crate) const BUILT_IN: &str = "built-in:";

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
    /// What it is.
    pub form: Form,
    /// Whether a built-in flow has the same name.
    pub shadows: bool,
}

/// What a flow is, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A component.
    Component(Cow<'static, [u8]>),
    /// Source text.
    Source(Language, Source),
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

impl Origin {
    /// What the person writes to mean it: a name, or the path as it was found. None where it is built in, which is called what it
    /// calls itself.
    pub fn reference(&self) -> Option<String> {
        let called = match self {
            Self::BuiltIn => return None,
            Self::Path(path) => path.as_os_str(),
            Self::Project(path) | Self::User(path) => {
                let whole = path.file_stem().unwrap_or_default();
                let folder = path.parent().and_then(Path::file_name).filter(|_| whole == IN_FOLDER);
                folder.unwrap_or(whole)
            }
        };
        Some(called.to_string_lossy().into_owned())
    }
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
            let path = own_file(self.standing.join(reference));
            let form = self.read(&path).map_err(|error| self.unread(reference, &error))?;
            return Ok(Found { origin: Origin::Path(path), form, shadows: false });
        }
        if !is_name(reference) {
            return Err(Failure::refused(format!("{reference:?}: neither a flow's name nor a path")).hint(
                "A name is lower-case letters, digits and `-`; a path has a `/` or ends in .wasm, .py, .js, .mjs, .ts or .mts",
            ));
        }
        let shadows = self.built_in(reference).is_some();
        for (folder, origin) in self.folders() {
            for path in files(&folder.join(reference)) {
                match self.read(&path) {
                    Ok(form) => return Ok(Found { origin: origin(path), form, shadows }),
                    Err(error) if is_nothing(&error) => {}
                    Err(error) => return Err(self.unread(&path.display().to_string(), &error)),
                }
            }
        }
        self.find_built_in(reference)
    }

    /// The file that a reference means, also where it is no flow, or not there yet. None where it is built in, or nothing is called so.
    pub fn file(&self, reference: &str) -> Option<PathBuf> {
        if is_path(reference) {
            return Some(own_file(self.standing.join(reference)));
        }
        let called = |(folder, _): (&Path, _)| files(&folder.join(reference)).find(|path| path.is_file());
        if is_name(reference) { self.folders().find_map(called) } else { None }
    }

    /// The built-in flow of this name: what a built-in flow means by a name, whatever the project calls its own.
    pub fn find_built_in(&self, name: &str) -> Result<Found, Failure> {
        let component = self.built_in(name).ok_or_else(|| self.unknown(name))?;
        Ok(Found { origin: Origin::BuiltIn, form: Form::Component(component.into()), shadows: false })
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
                    Some(path.file_stem()?.to_str().filter(|name| is_name(name))?.to_owned())
                })
                .collect();
            names.sort();
            names.dedup();
            for name in names {
                let path = files(&folder.join(&name)).find(|path| path.is_file());
                if let Some(path) = path.filter(|_| !listed.iter().any(|each| each.name == name)) {
                    let shadows = self.built_in(&name).is_some();
                    listed.push(Listed { name, origin: origin(path), shadows });
                }
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
        let beside = files(&self.standing.join(name)).find(|path| path.is_file());
        let hint = match beside.as_ref().and_then(|path| path.strip_prefix(&self.standing).ok()) {
            Some(beside) => format!("For the file beside you write ./{}", beside.display()),
            None => near::hint("flows", name, &names),
        };
        Failure::refused(format!("{name}: there is no flow of this name")).hint(hint)
    }

    fn unread(&self, written: &str, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::NotFound
            && let Some(source) = self.unbuilt(written)
        {
            let message = format!("{written}: it is not built yet");
            let command = format!("flowhost build {source}");
            return Failure::refused(message).hint(format!("`{}` makes it", command.trim_end()));
        }
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "`flowhost flows list` shows what can be run by name",
            io::ErrorKind::FileTooLarge => "A flow is a component of a few MB at most, or a few files of source",
            _ => {
                "A flow is a .wasm, .py, .js, .mjs, .ts or .mts file that you can read, or a folder with one that is called flow"
            }
        };
        let why = match error.kind() {
            io::ErrorKind::NotFound => "no such file".into(),
            _ => error.to_string(),
        };
        Failure::refused(format!("{written}: {why}")).hint(hint)
    }

    /// The folder of a component that is not there, where what it is built from is.
    fn unbuilt(&self, written: &str) -> Option<String> {
        let written = Path::new(written);
        let folder = written.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_component = written.extension().is_some_and(|ends| ends == EXTENSION);
        let built_from = ["Cargo.toml", "flow.c"].iter().any(|name| self.standing.join(folder).join(name).is_file());
        (is_component && built_from)
            .then(|| folder.strip_prefix(&self.standing).unwrap_or(folder).display().to_string())
    }

    fn read(&self, path: &Path) -> io::Result<Form> {
        // Opening a pipe that nobody writes to would wait for ever.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        if let Some(language) = Language::of(path) {
            return Ok(Form::Source(language, source::read(path, language)?));
        }
        let mut component = Vec::new();
        fs::File::open(path)?.take(self.largest + 1).read_to_end(&mut component)?;
        if component.len() as u64 > self.largest {
            let message = format!("larger than the limit component-size, {} bytes", self.largest);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(Form::Component(component.into()))
    }
}

fn extensions() -> impl Iterator<Item = &'static str> {
    std::iter::once(EXTENSION).chain(Language::EXTENSIONS)
}

/// The files that a flow may be which is called so, without an ending: the first that is there is meant.
fn files(called: &Path) -> impl Iterator<Item = PathBuf> {
    let whole = called.to_owned();
    let inside = called.join(IN_FOLDER);
    // The name has no point, so nothing of it is taken for an ending.
    extensions()
        .map(move |ends| whole.with_extension(ends))
        .chain(extensions().map(move |ends| inside.with_extension(ends)))
}

/// The flow's own file, where the path is that of its folder.
fn own_file(path: PathBuf) -> PathBuf {
    let inside = path.join(IN_FOLDER);
    let found = extensions().map(|ends| inside.with_extension(ends)).find(|file| file.is_file());
    found.unwrap_or(path)
}

/// Whether nothing is there: also where a file stands in the place of a folder.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a reference is a path, and no name.
pub(crate) fn is_path(reference: &str) -> bool {
    let ends = Path::new(reference).extension().and_then(|ends| ends.to_str());
    reference.contains('/')
        || matches!(reference, "." | "..")
        || ends.is_some_and(|ends| extensions().any(|each| each == ends))
}

/// Whether it is a name that a flow can have.
pub(crate) fn is_name(reference: &str) -> bool {
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
        assert_eq!(fanout.form, Form::Component(b"project".into()));
        assert!(matches!(places.find("pair").unwrap().origin, Origin::User(_)));
        let meant = places.find("built-in:fanout").unwrap();
        assert_eq!((meant.origin, meant.form), (Origin::BuiltIn, Form::Component(b"built in".into())));
        let names: Vec<_> = places.list().into_iter().map(|each| (each.name, each.shadows)).collect();
        assert_eq!(names, [("fanout".into(), true), ("pair".into(), true)]);
    }

    #[test]
    fn a_path_is_taken_from_where_the_person_stands() {
        let (_folder, places) = with(&[("here/mine.wasm", "mine")]);
        for written in ["mine.wasm", "./mine.wasm"] {
            let found = places.find(written).unwrap();
            assert!(matches!(found.origin, Origin::Path(_)));
            assert_eq!(found.form, Form::Component(b"mine".into()));
        }
    }

    #[test]
    fn a_flow_is_a_file_of_source_too_or_a_folder_with_one() {
        let (root, places) = with(&[
            ("here/.flowhost/flows/fanout.py", "project"),
            ("here/.flowhost/flows/README.md", ""),
            ("user/survey.js", "user"),
            ("here/other.py", "beside"),
        ]);
        for folder in ["here/.flowhost/flows/deep", "here/mine", "user/empty"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("here/.flowhost/flows/deep/flow.js"), "deep").unwrap();
        fs::write(root.path().join("here/mine/flow.py"), "mine").unwrap();
        let names: Vec<_> = places.list().into_iter().map(|each| (each.name, each.shadows)).collect();
        assert_eq!(
            names,
            [("deep".into(), false), ("fanout".into(), true), ("survey".into(), false), ("pair".into(), false)]
        );
        let found = |reference: &str, main: &str, text: &str| {
            let Form::Source(_, source) = places.find(reference).unwrap().form else { panic!("{reference}") };
            assert_eq!(source, Source::new(main, [(main.to_owned(), text.as_bytes().to_vec())].into()), "{reference}");
        };
        let called = |reference: &str| places.find(reference).unwrap().origin.reference();
        assert_eq!(called("deep").as_deref(), Some("deep"));
        assert_eq!(called("fanout").as_deref(), Some("fanout"));
        assert_eq!(called("built-in:fanout"), None);
        let file =
            |reference: &str| places.file(reference).map(|path| path.strip_prefix(root.path()).unwrap().to_owned());
        assert_eq!(file("deep"), Some("here/.flowhost/flows/deep/flow.js".into()));
        assert_eq!(file("./mine"), Some("here/./mine/flow.py".into()));
        assert_eq!(file("./later.ts"), Some("here/./later.ts".into()));
        assert_eq!((file("pair"), file("built-in:fanout")), (None, None));
        assert!(is_path(".") && is_path(".."), "where somebody stands is a place, as it is for the shell");
        found("fanout", "fanout.py", "project");
        found("survey", "survey.js", "user");
        found("deep", "flow.js", "deep");
        found("./mine", "flow.py", "mine");
        found("mine/", "flow.py", "mine");
        found("other.py", "other.py", "beside");
        assert_snapshot!(refusal(&places, "other"), @"
        error: other: there is no flow of this name
        Hint: For the file beside you write ./other.py
        ");
        assert_snapshot!(refusal(&places, "empty"), @"
        error: empty: there is no flow of this name
        Hint: The flows are deep, fanout, survey, pair
        ");
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
        Hint: A name is lower-case letters, digits and `-`; a path has a `/` or ends in .wasm, .py, .js, .mjs, .ts or .mts
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
        Hint: A flow is a component of a few MB at most, or a few files of source
        ");
        fs::create_dir(folder.path().join("here/dir.wasm")).unwrap();
        assert_snapshot!(refusal(&places, "dir.wasm"), @"
        error: dir.wasm: not a file
        Hint: A flow is a .wasm, .py, .js, .mjs, .ts or .mts file that you can read, or a folder with one that is called flow
        ");
    }
}
