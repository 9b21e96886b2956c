//! Files: read, write, append, make-dir, stat, remove.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use flowhost_core::{
    env::EntryKind,
    error::EnvFault::{Conflict, Denied, NotFound, Outside, TooLarge},
};
use flowhost_envs::{Limits, Local};

use crate::fixture::{fault, guardian, place, place_with};

#[tokio::test]
async fn what_is_written_is_read() {
    let place = place();
    let env = &place.env;
    env.write("süß und leer/ä b.txt", b"one".to_vec()).await.unwrap();
    assert_eq!(env.read("süß und leer/ä b.txt", None).await.unwrap(), b"one");
    env.append("süß und leer/ä b.txt", b", two".to_vec()).await.unwrap();
    env.append("logs/new", b"made".to_vec()).await.unwrap();
    assert_eq!(fs::read(place.root.join("süß und leer/ä b.txt")).unwrap(), b"one, two");
    assert_eq!(fs::read(place.root.join("logs/new")).unwrap(), b"made");
    env.write("süß und leer/ä b.txt", Vec::new()).await.unwrap();
    assert_eq!(env.read("süß und leer/ä b.txt", None).await.unwrap(), b"");
    assert_eq!(fs::read_dir(place.root.join("süß und leer")).unwrap().count(), 1, "nothing temporary is left");
}

#[tokio::test]
async fn an_absolute_path_inside_is_the_same_path() {
    let place = place();
    let absolute = place.root.join("a/b").to_str().unwrap().to_owned();
    place.env.write(&absolute, b"x".to_vec()).await.unwrap();
    assert_eq!(place.env.read("a/b", None).await.unwrap(), b"x");
    assert_eq!(place.env.stat(&absolute).await.unwrap().path, "a/b");
    let above = format!("{}/../elsewhere/secret", place.root.display());
    assert_eq!(fault(place.env.read(&above, None).await), Outside);
    let beside = format!("{}-other/x", place.root.display());
    assert_eq!(fault(place.env.read(&beside, None).await), Outside, "a longer name is not inside");
}

#[tokio::test]
async fn an_env_that_was_opened_through_a_link_takes_both_spellings() {
    let place = place();
    place.put("f", "x");
    let link = place.elsewhere.join("link");
    std::os::unix::fs::symlink(&place.root, &link).unwrap();
    let env = Local::open(&link, guardian(), Limits::default()).unwrap();
    assert_eq!(env.directory(), place.root.to_str().unwrap());
    for spelling in [&link, &place.root] {
        assert_eq!(env.read(spelling.join("f").to_str().unwrap(), None).await.unwrap(), b"x");
    }
    env.verify().await.unwrap();
}

#[tokio::test]
async fn ranges_end_with_the_file() {
    let place = place();
    place.put("f", "0123456789");
    for (range, expected) in [
        ((0, 4), "0123"),
        ((8, 10), "89"),
        ((10, 1), ""),
        ((u64::MAX, 5), ""),
        ((3, 0), ""),
        ((0, u32::MAX), "0123456789"),
    ] {
        assert_eq!(place.env.read("f", Some(range)).await.unwrap(), expected.as_bytes(), "{range:?}");
    }
}

#[tokio::test]
async fn x2_more_than_one_read_carries_is_too_large() {
    let place = place_with(Limits { read: 4, ..Limits::default() });
    place.put("f", "01234");
    assert_eq!(fault(place.env.read("f", None).await), TooLarge);
    assert_eq!(fault(place.env.read("f", Some((0, 5))).await), TooLarge);
    assert_eq!(place.env.read("f", Some((1, 4))).await.unwrap(), b"1234");
    let error = place.env.read("f", None).await.unwrap_err();
    assert_eq!(error.message, "f: 5 bytes, and one read carries at most 4; read it in ranges");
}

#[tokio::test]
async fn a_write_keeps_the_mode_and_lets_go_of_set_user_id() {
    let place = place();
    place.put("run.sh", "old");
    let path = place.root.join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    place.env.write("run.sh", b"new".to_vec()).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    place.env.append("run.sh", b"er".to_vec()).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn a_file_is_replaced_whole_for_everybody_who_reads() {
    let place = place();
    place.put("f", "a".repeat(100_000));
    let (env, path) = (place.env.clone(), place.root.join("f"));
    let reader = std::thread::spawn(move || {
        (0..300).all(|_| {
            let data = fs::read(&path).unwrap();
            data.len() == 100_000 && data.iter().all(|byte| *byte == data[0])
        })
    });
    let mut letters = (b'a'..=b'z').cycle();
    while !reader.is_finished() {
        env.write("f", vec![letters.next().unwrap(); 100_000]).await.unwrap();
    }
    assert!(reader.join().unwrap());
}

#[tokio::test]
async fn a_write_through_a_link_inside_keeps_the_link() {
    let place = place();
    place.put("real", "old");
    place.link("link", "real");
    place.link("dangling", "not/yet");
    place.env.write("link", b"new".to_vec()).await.unwrap();
    assert_eq!(fs::read_link(place.root.join("link")).unwrap().to_str(), Some("real"));
    assert_eq!(fs::read(place.root.join("real")).unwrap(), b"new");
    place.env.write("dangling", b"now".to_vec()).await.unwrap();
    assert_eq!(fs::read(place.root.join("not/yet")).unwrap(), b"now");
}

#[tokio::test]
async fn w1_nothing_is_written_or_removed_through_a_link_that_leaves() {
    let place = place();
    place.link("out", &place.elsewhere);
    place.link("file", place.elsewhere.join("secret"));
    place.link("new", place.elsewhere.join("new"));
    let env = &place.env;
    for path in ["out/secret", "file", "new", "out/x/y"] {
        assert_eq!(fault(env.write(path, b"x".to_vec()).await), Outside, "{path}");
        assert_eq!(fault(env.append(path, b"x".to_vec()).await), Outside, "{path}");
        assert_eq!(fault(env.read(path, None).await), Outside, "{path}");
    }
    assert_eq!(fault(env.make_dir("out/made").await), Outside);
    assert_eq!(fault(env.remove("out/directory").await), Outside);
    assert_eq!(fault(env.stat("out/secret").await), Outside);
    assert_eq!(env.stat("out").await.unwrap().kind, EntryKind::Link);
    env.remove("out").await.unwrap();
    env.remove("file").await.unwrap();
    assert_eq!(fs::read(place.elsewhere.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&place.elsewhere).unwrap().count(), 2);
}

#[tokio::test]
async fn directories_are_made_with_those_above_and_may_be_there() {
    let place = place();
    let env = &place.env;
    for path in ["a/b/c", "a/b/c", "a", ".", "a/../d"] {
        env.make_dir(path).await.unwrap();
    }
    assert!(place.root.join("a/b/c").is_dir() && place.root.join("d").is_dir());
    place.put("f", "");
    assert_eq!(fault(env.make_dir("f").await), Conflict);
    assert_eq!(fault(env.make_dir("f/x").await), NotFound);
}

#[tokio::test]
async fn stat_says_what_a_path_is() {
    let place = place();
    place.put("d/f", "four");
    place.link("l", "d/f");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root.join("p"), 0o666.into()).unwrap();
    let stat = async |path: &str| {
        let entry = place.env.stat(path).await.unwrap();
        (entry.path, entry.kind, entry.size)
    };
    assert_eq!(stat("d/./f").await, ("d/f".into(), EntryKind::File, 4));
    assert_eq!(stat("l").await, ("l".into(), EntryKind::Link, 3));
    assert_eq!(stat("p").await.1, EntryKind::Other);
    assert_eq!((stat(".").await.0, stat(".").await.1), (".".into(), EntryKind::Directory));
    assert_eq!((stat("d/..").await.0, stat("d/..").await.1), (".".into(), EntryKind::Directory));
    assert_eq!(fault(place.env.stat("none").await), NotFound);
}

#[tokio::test]
async fn what_is_no_file_is_refused_and_holds_nobody_up() {
    let place = place();
    let env = &place.env;
    place.put("d/f", "");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root.join("fifo"), 0o666.into()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.root.join("socket")).unwrap();
    let all = async {
        for path in ["fifo", "socket"] {
            assert_eq!(fault(env.read(path, None).await), Denied);
            assert_eq!(fault(env.write(path, b"x".to_vec()).await), Denied);
            assert_eq!(fault(env.append(path, b"x".to_vec()).await), Denied);
        }
        for path in ["d", ".", "d/.."] {
            assert_eq!(fault(env.read(path, None).await), Conflict);
            assert_eq!(fault(env.write(path, b"x".to_vec()).await), Conflict);
        }
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.expect("it waited for the other end of a pipe");
}

#[tokio::test]
async fn paths_that_name_nothing_say_so() {
    let place = place();
    let env = &place.env;
    place.link("loop", "loop");
    for path in ["", "\0", "a\0b", "none", "none/x", &"n".repeat(300), &"d/".repeat(3000)] {
        assert_eq!(fault(env.read(path, None).await), NotFound, "{path:?}");
        assert_eq!(fault(env.remove(path).await), NotFound, "{path:?}");
    }
    for path in ["..", "../elsewhere/secret", "/", "/etc/passwd", "a/../../project/f", "//etc/passwd"] {
        place.env.make_dir("a").await.unwrap();
        assert_eq!(fault(env.read(path, None).await), Outside, "{path:?}");
        assert_eq!(fault(env.find(path, "*").await), Outside, "{path:?}");
    }
    assert!(env.read("loop", None).await.unwrap_err().message.contains("too many links"));
    assert_eq!(env.read("none", None).await.unwrap_err().message, format!("none: no such path in {}", env.directory()));
}

#[tokio::test]
async fn removing_takes_all_that_is_in_a_directory_and_no_link() {
    let place = place();
    for path in ["d/a/b/c", "d/a/f", "d/.hidden", "keep"] {
        place.put(path, "x");
    }
    place.link("d/out", &place.elsewhere);
    place.link("d/in", "../keep");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root.join("d/fifo"), 0o666.into()).unwrap();
    place.env.remove("d").await.unwrap();
    assert!(!place.root.join("d").exists());
    assert!(place.root.join("keep").exists() && place.elsewhere.join("directory/secret").exists());
    for path in [".", "keep/..", place.root.to_str().unwrap()] {
        let result = place.env.remove(path).await;
        assert!(matches!(fault(result), Denied | NotFound), "{path}");
    }
    assert!(place.root.join("keep").exists());
}

#[tokio::test]
async fn a_tree_that_is_deeper_than_any_path_is_found_and_removed() {
    let place = place();
    let name = "deep".repeat(50);
    place.says(&format!("for i in $(seq 100); do mkdir {name} && cd -P {name} || exit 1; done; touch end")).await;
    let found = place.env.find(".", "**/end").await.unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].path.len() > 20_000);
    place.env.remove(&name).await.unwrap();
    assert_eq!(fs::read_dir(&place.root).unwrap().count(), 0);
}

#[tokio::test]
async fn what_the_host_keeps_is_out_of_reach_through_any_path() {
    let place = place();
    place.put(".flowhost/runs/x", "secret");
    place.put("nested/.flowhost/y", "secret");
    place.put("nested/f", "");
    place.link("link", ".flowhost");
    place.link("deep", ".flowhost/runs");
    let env = &place.env;
    let absolute = place.root.join(".flowhost/runs/x");
    for path in [
        ".flowhost",
        ".flowhost/runs/x",
        "./.flowhost/runs",
        "nested/../.flowhost/runs/x",
        "link/runs/x",
        "deep/x",
        ".FlowHost/runs/x",
        "nested/.flowhost/y",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(fault(env.read(path, None).await), Denied, "{path}");
        assert_eq!(fault(env.write(path, b"x".to_vec()).await), Denied, "{path}");
        assert_eq!(fault(env.append(path, b"x".to_vec()).await), Denied, "{path}");
        assert_eq!(fault(env.find(path, "*").await), Denied, "{path}");
        assert_eq!(fault(env.subdir(path).await), Denied, "{path}");
        assert_eq!(fault(env.stat(path).await), Denied, "{path}");
        assert_eq!(fault(env.make_dir(path).await), Denied, "{path}");
        assert_eq!(fault(env.remove(path).await), Denied, "{path}");
    }
    let found: Vec<_> = env.find(".", "**").await.unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(found, ["deep", "link", "nested", "nested/f"]);
    assert_eq!(fault(env.remove("nested").await), Denied);
    assert_eq!(fs::read(place.root.join("nested/.flowhost/y")).unwrap(), b"secret");
    assert_eq!(fs::read(absolute).unwrap(), b"secret");
}
