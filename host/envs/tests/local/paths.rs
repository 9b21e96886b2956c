//! W1: whatever a path looks like, it means what a slow and simple reading of it means, and nothing outside is reached.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use proptest::prelude::*;

use crate::fixture::{Place, place};

/// A place with every kind of link in it.
fn tangled() -> Place {
    let place = place();
    for path in ["f", "a/f", "a/b/f", "a/b/c/f", ".flowhost/f"] {
        place.put(path, path);
    }
    let (root, elsewhere) = (place.root.clone(), place.elsewhere.clone());
    for directory in ["", "a/", "a/b/"] {
        let link = |name: &str, target: &Path| place.link(&format!("{directory}{name}"), target);
        link("up", Path::new(".."));
        link("down", Path::new("b/c"));
        link("hop", Path::new("../a/./up"));
        link("loop", Path::new("loop"));
        link("inside", &root.join("a"));
        link("out", &elsewhere);
        link("away", Path::new("../../../elsewhere"));
        link("hidden", &root.join(".flowhost"));
        link("dangling", Path::new("b/new"));
    }
    place
}

/// What a path means, one name after another with nothing but `lstat` and `readlink`; none where it leaves, leads into
/// what is hidden, or names nothing. For a place that holds still.
fn slowly(root: &Path, path: &str) -> Option<PathBuf> {
    let inside = |path: &str| {
        if !path.starts_with('/') {
            return Some(path.to_owned());
        }
        let mut parts = path.split('/').filter(|part| !["", "."].contains(part));
        root.to_str()?
            .split('/')
            .skip(1)
            .all(|part| parts.next() == Some(part))
            .then(|| parts.collect::<Vec<_>>().join("/"))
    };
    let parts = |path: &str| path.split('/').rev().map(str::to_owned).collect::<Vec<_>>();
    let mut ahead = parts(&inside(path)?);
    let mut here: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                here.pop()?;
                continue;
            }
            name if name.eq_ignore_ascii_case(".flowhost") => return None,
            name => here.push(name.to_owned()),
        }
        let path = root.join(here.join("/"));
        let metadata = path.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            links += 1;
            if links > 40 {
                return None;
            }
            here.pop();
            let target = fs::read_link(path).ok()?.to_str()?.to_owned();
            if target.starts_with('/') {
                here.clear();
            }
            ahead.extend(parts(&inside(&target)?));
        } else if !metadata.is_dir() && ahead.iter().any(|part| !part.is_empty() && part != ".") {
            return None;
        }
    }
    Some(root.join(here.join("/")))
}

/// All that must stay as it is.
fn around(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut seen = BTreeMap::new();
    let mut ahead = vec![place.elsewhere.clone(), place.root.join(".flowhost")];
    while let Some(path) = ahead.pop() {
        let is_dir = path.symlink_metadata().unwrap().is_dir();
        seen.insert(path.clone(), if is_dir { Vec::new() } else { fs::read(&path).unwrap() });
        if is_dir {
            ahead.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    seen
}

fn any_path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "f",
        "up",
        "down",
        "hop",
        "loop",
        "inside",
        "out",
        "away",
        "hidden",
        "dangling",
        "..",
        "..",
        ".",
        "",
        ".flowhost",
        ".FLOWHOST",
        "secret",
        "directory",
        "elsewhere",
        "project",
        "none",
        "ü",
        " ",
        "f\u{202e}",
        "...",
    ]);
    let before = prop::sample::select(vec!["", "", "", "/", "ROOT/", "ROOT", "OUTER/", "/proc/self/cwd/", "/etc/"]);
    (before, prop::collection::vec(name, 0..9)).prop_map(|(before, names)| before.to_owned() + &names.join("/"))
}

fn at(place: &Place, path: &str) -> String {
    let outer = place.root.parent().unwrap();
    path.replace("ROOT", place.root.to_str().unwrap()).replace("OUTER", outer.to_str().unwrap())
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| tokio::runtime::Runtime::new().unwrap());

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn w1_a_path_is_read_as_a_slow_reading_of_it(path in any_path()) {
        static PLACE: LazyLock<Place> = LazyLock::new(tangled);
        let path = at(&PLACE, &path);
        let read = RUNTIME.block_on(PLACE.env.read(&path, None)).ok();
        let expected = slowly(&PLACE.root, &path).filter(|_| !path.is_empty()).and_then(|path| fs::read(path).ok());
        prop_assert_eq!(read, expected, "{:?}", path);
    }

    #[test]
    fn w1_a_subdir_is_what_a_slow_reading_of_its_path_is(path in any_path()) {
        static PLACE: LazyLock<Place> = LazyLock::new(tangled);
        let path = at(&PLACE, &path);
        let subdir = RUNTIME.block_on(PLACE.env.subdir(&path)).ok().map(|env| PathBuf::from(env.directory()));
        let expected = slowly(&PLACE.root, &path).filter(|found| !path.is_empty() && found.is_dir());
        prop_assert_eq!(subdir, expected.map(|path| path.components().collect()), "{:?}", path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn w1_whatever_is_changed_nothing_around_is(
        steps in prop::collection::vec((0..4_u8, any_path()), 1..12),
    ) {
        let place = tangled();
        let before = around(&place);
        for (what, path) in &steps {
            let (env, path) = (&place.env, at(&place, path));
            RUNTIME.block_on(async {
                let _ = match what {
                    0 => env.write(&path, b"written".to_vec()).await,
                    1 => env.append(&path, b"added".to_vec()).await,
                    2 => env.make_dir(&path).await,
                    _ => env.remove(&path).await,
                };
            });
        }
        prop_assert_eq!(around(&place), before, "{:?}", steps);
        let names = fs::read_dir(place.root.parent().unwrap()).unwrap().count();
        prop_assert_eq!(names, 2, "{:?}", steps);
    }
}
