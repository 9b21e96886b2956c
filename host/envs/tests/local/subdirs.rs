//! Directories to open sessions in (S5).

use std::{fs, sync::Arc};

use flowhost_core::{
    env::{Env, EnvKind},
    error::EnvFault::{NotFound, Outside},
};
use flowhost_envs::{Limits, Local};

use crate::fixture::{fault, guardian, place, refusal};

#[tokio::test]
async fn s5_a_directory_that_is_not_there_is_refused_in_these_words() {
    let place = place();
    place.put("file", "");
    place.link("dangling", "nowhere");
    let root = place.root.display();
    for path in ["nowhere", "file", "file/below", "a/b/c"] {
        assert_eq!(refusal(place.env.subdir(path).await), format!("{root}/{path}: no directory to open a session in"));
    }
    // Where a link leads is what is not there.
    let message = format!("{root}/nowhere: no directory to open a session in");
    assert_eq!(refusal(place.env.subdir("dangling").await), message);
    assert_eq!(refusal(place.env.subdir("/srv/nowhere").await), "/srv/nowhere: no directory to open a session in");
    assert_eq!(fault(place.env.subdir("").await), NotFound);
    assert_eq!(fault(place.env.subdir("a\0").await), NotFound);
}

#[tokio::test]
async fn s5_a_directory_outside_is_refused_in_these_words() {
    let place = place();
    let (root, elsewhere) = (place.root.display(), place.elsewhere.display());
    let message = format!("{elsewhere} is not inside {root}, which is the workspace this agent's turns land in");
    place.link("link", &place.elsewhere);
    place.link("relative", "../elsewhere");
    for path in [place.elsewhere.to_str().unwrap(), "../elsewhere", "link", "relative", "./../elsewhere/./"] {
        assert_eq!(refusal(place.env.subdir(path).await), message, "{path}");
    }
    assert_eq!(
        refusal(place.env.subdir("link/directory").await),
        message.replacen("elsewhere", "elsewhere/directory", 1)
    );
}

#[tokio::test]
async fn s5_the_env_of_a_person_is_refused_in_the_same_words() {
    let place = place();
    place.put("file", "");
    for path in ["file", "nowhere"] {
        let path = place.root.join(path);
        let message = refusal(Local::open(&path, guardian(), Limits::default()));
        assert_eq!(message, format!("{}: no directory to open a session in", path.display()));
    }
}

#[tokio::test]
async fn a_subdir_is_an_env_of_its_own() {
    let place = place();
    place.put("a b/ü/f", "x");
    place.put("g", "y");
    let subdir = place.env.subdir("a b").await.unwrap();
    assert_eq!(subdir.kind(), EnvKind::Subdir);
    assert_eq!(subdir.directory(), place.root.join("a b").to_str().unwrap());
    assert_eq!(subdir.read("ü/f", None).await.unwrap(), b"x");
    assert_eq!(subdir.read(place.root.join("a b/ü/f").to_str().unwrap(), None).await.unwrap(), b"x");
    assert_eq!(fault(subdir.read("../g", None).await), Outside);
    assert_eq!(fault(subdir.read(place.root.join("g").to_str().unwrap(), None).await), Outside);
    let deeper = subdir.subdir("ü").await.unwrap();
    assert_eq!(deeper.find(".", "*").await.unwrap()[0].path, "f");
    let message = refusal(deeper.subdir("..").await);
    let (inner, outer) = (deeper.directory(), subdir.directory());
    assert_eq!(message, format!("{outer} is not inside {inner}, which is the workspace this agent's turns land in"));
    let message = refusal(deeper.subdir(place.elsewhere.to_str().unwrap()).await);
    assert!(message.contains(&format!("is not inside {}, which", place.root.display())), "{message}");
    assert_eq!(place.env.subdir(".").await.unwrap().kind(), EnvKind::Workspace);
}

#[tokio::test]
async fn s5_a_directory_that_was_swapped_or_is_gone_is_refused_before_a_turn() {
    let place = place();
    fs::create_dir(place.root.join("d")).unwrap();
    let subdir = place.env.subdir("d").await.unwrap();
    subdir.verify().await.unwrap();
    let gone = format!("{}: no directory to open a session in", place.root.join("d").display());

    fs::rename(place.root.join("d"), place.root.join("e")).unwrap();
    assert_eq!(refusal(subdir.verify().await), gone);
    fs::create_dir(place.root.join("d")).unwrap();
    assert_eq!(refusal(subdir.verify().await), gone, "another one in its place");
    fs::remove_dir(place.root.join("d")).unwrap();
    place.link("d", &place.elsewhere);
    let (root, elsewhere) = (place.root.display(), place.elsewhere.display());
    let outside = format!("{elsewhere} is not inside {root}, which is the workspace this agent's turns land in");
    assert_eq!(refusal(subdir.verify().await), outside);

    fs::remove_file(place.root.join("d")).unwrap();
    fs::rename(place.root.join("e"), place.root.join("d")).unwrap();
    subdir.verify().await.unwrap();

    let moved = place.root.with_file_name("moved");
    fs::rename(&place.root, &moved).unwrap();
    assert!(refusal(place.env.verify().await).ends_with("project: no directory to open a session in"));
    assert_eq!(refusal(subdir.verify().await), gone);
    place.env.write("still", b"by its handle".to_vec()).await.unwrap();
    assert!(moved.join("still").exists());
}

#[tokio::test]
async fn s3_ten_thousand_sessions_at_one_directory_share_its_handle() {
    let place = place();
    fs::create_dir(place.root.join("d")).unwrap();
    let open = || {
        fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
            entry.as_ref().is_ok_and(|entry| fs::read_link(entry.path()).is_ok_and(|path| path == place.root.join("d")))
        })
    };
    let mut all: Vec<Arc<dyn Env>> = Vec::new();
    for _ in 0..10_000 {
        all.push(place.env.subdir("d").await.unwrap());
    }
    assert!(all.iter().all(|each| Arc::ptr_eq(each, &all[0])));
    assert_eq!(open().count(), 1);
    drop(all);
    assert_eq!(open().count(), 0, "and lets go of it");
    for nth in 0..1000 {
        fs::create_dir(place.root.join(nth.to_string())).unwrap();
        place.env.subdir(&nth.to_string()).await.unwrap();
    }
}
