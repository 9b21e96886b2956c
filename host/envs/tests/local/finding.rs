//! `find`.

use flowhost_core::{
    env::EntryKind,
    error::EnvFault::{NotFound, Other, TooLarge},
};
use flowhost_envs::Limits;

use crate::fixture::{Place, fault, place, place_with};

async fn paths(place: &Place, path: &str, glob: &str) -> Vec<String> {
    place.env.find(path, glob).await.unwrap().into_iter().map(|entry| entry.path).collect()
}

fn python() -> Place {
    let place = place();
    for path in ["a.py", "b.txt", "src/c.py", "src/deep/er/d.py", "src.d/e.py", "ü b/f.py", ".git/g.py"] {
        place.put(path, "12");
    }
    place
}

#[tokio::test]
async fn a_star_stays_within_a_directory_and_two_cross() {
    let place = python();
    assert_eq!(paths(&place, ".", "*.py").await, ["a.py"]);
    assert_eq!(paths(&place, ".", "*/*.py").await, [".git/g.py", "src.d/e.py", "src/c.py", "ü b/f.py"]);
    assert_eq!(paths(&place, ".", "src/**/*.py").await, ["src/c.py", "src/deep/er/d.py"]);
    assert_eq!(paths(&place, ".", "./src/*.py").await, ["src/c.py"]);
    assert_eq!(paths(&place, ".", "{a,b}.{py,txt}").await, ["a.py", "b.txt"]);
    assert_eq!(paths(&place, ".", "?.py").await, ["a.py"]);
    assert_eq!(paths(&place, "src", "**/*.py").await, ["src/c.py", "src/deep/er/d.py"], "below a path, from the env");
    assert_eq!(paths(&place, "src/../src/deep", "**").await, ["src/deep/er", "src/deep/er/d.py"]);
    assert_eq!(paths(&place, ".", "none/**").await, [""; 0]);
}

#[tokio::test]
async fn entries_come_in_order_of_path_with_kind_and_size() {
    let place = python();
    let all = place.env.find(".", "**/*").await.unwrap();
    let mut sorted = all.clone();
    sorted.sort_by(|one, two| one.path.cmp(&two.path));
    assert_eq!(all, sorted);
    assert_eq!(all.len(), 13);
    let file = all.iter().find(|entry| entry.path == "src/c.py").unwrap();
    assert_eq!((file.kind, file.size), (EntryKind::File, 2));
    assert_eq!(all.iter().find(|entry| entry.path == "src").unwrap().kind, EntryKind::Directory);
}

#[tokio::test]
async fn w1_links_are_shown_and_not_followed() {
    let place = python();
    place.link("src/out", &place.elsewhere);
    place.link("src/up", "..");
    assert_eq!(paths(&place, "src", "**/secret").await, [""; 0]);
    let links = place.env.find("src", "*").await.unwrap();
    let links: Vec<_> = links.iter().filter(|entry| entry.kind == EntryKind::Link).map(|entry| &entry.path).collect();
    assert_eq!(links, ["src/out", "src/up"]);
    place.link("inside", "src/deep");
    assert_eq!(
        paths(&place, "inside", "**/*.py").await,
        ["src/deep/er/d.py"],
        "where it begins is a path like any other"
    );
}

#[tokio::test]
async fn x2_a_search_is_bounded_and_says_how_to_narrow_it() {
    let place = place_with(Limits { entries: 10, visited: 50, ..Limits::default() });
    for nth in 0..12 {
        place.put(&format!("d/{nth}"), "");
    }
    assert_eq!(fault(place.env.find(".", "d/*").await), TooLarge);
    assert_eq!(place.env.find(".", "d/1*").await.unwrap().len(), 3);
    let message = place.env.find(".", "**").await.unwrap_err().message;
    let directory = place.env.directory();
    let expected = format!("more than 10 entries in {directory}; look in a smaller directory or for a narrower glob");
    assert_eq!(message, expected);
    for nth in 0..60 {
        place.put(&format!("many/{nth}"), "");
    }
    assert!(place.env.find(".", "**/none").await.unwrap_err().message.contains("more than 50 entries to look at"));
    assert_eq!(place.env.find(".", "d/none").await.unwrap().len(), 0, "where a glob cannot match is not looked at");
}

#[tokio::test]
async fn what_is_no_glob_and_no_directory_is_said() {
    let place = python();
    for glob in ["", "/etc/*", "../*", "a/../b", "[", "{a", "./"] {
        assert_eq!(fault(place.env.find(".", glob).await), Other, "{glob:?}");
    }
    assert_eq!(fault(place.env.find(".", &"*".repeat(5000)).await), TooLarge);
    assert_eq!(fault(place.env.find("a.py", "*").await), NotFound);
    assert_eq!(fault(place.env.find("none", "*").await), NotFound);
}
