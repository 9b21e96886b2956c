//! W1 against somebody who swaps directories, links and files while the host works.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::fixture::{Place, place};

/// How long each race goes on.
const RACE: Duration = Duration::from_millis(600);

/// Swaps two names for each other, over and over, while `work` is done over and over.
async fn race(place: &Place, one: &str, two: &str, mut work: impl AsyncFnMut()) {
    let (one, two) = (place.root.join(one), place.root.join(two));
    /// Says that it is over, also where the work panics: the scope waits for whoever swaps.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    let swap = |one: &Path, two: &Path| renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).is_ok();
    let swapped = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            let mut swapped = 0;
            while !over.load(Ordering::Relaxed) {
                swapped += u32::from(swap(&one, &two));
            }
            swapped
        });
        let began = Instant::now();
        let done = Over(&over);
        tokio::task::block_in_place(|| {
            let here = tokio::runtime::Handle::current();
            while began.elapsed() < RACE {
                here.block_on(work());
            }
        });
        drop(done);
        swapping.join().unwrap()
    });
    assert!(swapped > 100, "there was no race: {swapped}");
}

fn untouched(place: &Place) {
    assert_eq!(fs::read(place.elsewhere.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read(place.elsewhere.join("directory/secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&place.elsewhere).unwrap().count(), 2);
    assert_eq!(fs::read_dir(place.elsewhere.join("directory")).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn w1_a_directory_that_is_swapped_for_a_link_never_shows_what_is_outside() {
    let place = place();
    place.put("d/secret", "inside");
    place.put("d/deeper/secret", "inside");
    place.link("link", &place.elsewhere);
    fs::rename(place.elsewhere.join("directory"), place.elsewhere.join("deeper")).unwrap();
    let (mut inside, mut refused) = (0, 0);
    race(&place, "d", "link", async || {
        for path in ["d/secret", "d/deeper/secret", "d/deeper/../secret", "d/deeper/../deeper/secret"] {
            match place.env.read(path, None).await {
                Ok(data) => {
                    assert_eq!(data, b"inside");
                    inside += 1;
                }
                Err(_) => refused += 1,
            }
        }
    })
    .await;
    assert!(inside > 0 && refused > 0, "{inside} {refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn w1_a_file_that_is_swapped_for_a_link_never_shows_or_changes_what_is_outside() {
    let place = place();
    place.put("f", "inside");
    place.link("link", place.elsewhere.join("secret"));
    race(&place, "f", "link", async || {
        if let Ok(data) = place.env.read("f", None).await {
            assert!(data.starts_with(b"inside"));
        }
        let _ = place.env.append("f", b".".to_vec()).await;
        let _ = place.env.write("f", b"inside".to_vec()).await;
    })
    .await;
    untouched(&place);
}

#[tokio::test(flavor = "multi_thread")]
async fn w1_nothing_is_made_listed_or_removed_outside_while_directories_are_swapped() {
    let place = place();
    place.put("d/directory/secret", "inside");
    place.link("link", &place.elsewhere);
    race(&place, "d", "link", async || {
        let _ = place.env.write("d/new/file", b"x".to_vec()).await;
        let _ = place.env.make_dir("d/made").await;
        if let Ok(found) = place.env.find("d", "**").await {
            assert!(found.iter().all(|entry| entry.path.starts_with("d/") || entry.path.starts_with("link/")));
            assert!(found.iter().all(|entry| !entry.path.ends_with("d/secret")), "{found:?}");
        }
        let _ = place.env.remove("d/directory").await;
        let _ = place.env.remove("d/secret").await;
        let _ = place.env.write("d/directory/x", b"x".to_vec()).await;
    })
    .await;
    untouched(&place);
}

#[tokio::test(flavor = "multi_thread")]
async fn w1_removing_a_tree_whose_directories_are_swapped_stays_in_it() {
    let place = place();
    place.link("link", &place.elsewhere);
    place.put("tree/d/x", "");
    race(&place, "tree/d", "link", async || {
        let _ = place.env.remove("tree").await;
        let _ = place.env.write("tree/d/directory/secret", b"x".to_vec()).await;
        let _ = place.env.write("link/directory/secret", b"x".to_vec()).await;
        let _ = std::os::unix::fs::symlink(&place.elsewhere, place.root.join("link"));
    })
    .await;
    untouched(&place);
}

#[tokio::test(flavor = "multi_thread")]
async fn w1_a_command_starts_in_the_directory_that_was_opened_however_names_are_swapped() {
    let place = place();
    fs::create_dir(place.root.join("d")).unwrap();
    place.link("link", &place.elsewhere);
    place.put("d/mark", "");
    let subdir = place.env.subdir("d").await.unwrap();
    race(&place, "d", "link", async || {
        let listed = subdir.exec(crate::fixture::command(&["ls"])).await.unwrap();
        assert_eq!(listed.stdout, b"mark\n");
    })
    .await;
}
