//! `--watch`: again, whenever something changes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use super::{find, once, play::Players};
use crate::{
    args::Test,
    exit::{Exit, Failure},
    source,
    terminal::{self, DIM, styled},
};

/// How often is looked. The files are few, and looking works on every file system, also one that tells nobody of its changes.
const LOOK: Duration = Duration::from_millis(250);

/// Plays all, and again whenever a file of it changes, until it is stopped.
pub(super) fn on(standing: &Path, args: &Test, players: &mut Players) -> anyhow::Result<Exit> {
    let mut beside: Look = Look::new();
    loop {
        // Looked at before they are read: what changes while they are played is a change.
        let scenarios = scenarios(standing, args);
        let before = look(beside.keys());
        match once(standing, args, players) {
            Ok(done) => {
                beside = done.beside;
                for (path, seen) in before {
                    beside.entry(path).and_modify(|later| *later = seen);
                }
            }
            Err(error) => {
                terminal::complain(&Failure::of(&error));
                beside = before;
            }
        }
        terminal::say(&styled(DIM, "waiting for a change; ctrl-c ends it"));
        while self::scenarios(standing, args) == scenarios && look(beside.keys()) == beside {
            thread::sleep(LOOK);
        }
    }
}

/// Sizes and times of change by path; of a folder, all in it; of a flow, also what it may import.
pub(super) type Look = BTreeMap<PathBuf, Seen>;

/// What was seen of one path.
pub(super) type Seen = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// The files of scenarios. A new one is a change too.
fn scenarios(standing: &Path, args: &Test) -> Look {
    look(find::files(standing, &args.paths).unwrap_or_default().iter())
}

pub(super) fn look<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Look {
    paths.map(|path| (path.clone(), see(path))).collect()
}

pub(super) fn see(path: &Path) -> Seen {
    let mut seen = Vec::new();
    look_at(path, &mut seen);
    // What a flow of source text may import is part of it.
    source::beside_paths(path).iter().for_each(|beside| look_at(beside, &mut seen));
    seen.sort();
    seen
}

fn look_at(path: &Path, seen: &mut Seen) {
    let Ok(metadata) = fs::metadata(path) else {
        seen.push((path.to_owned(), 0, None));
        return;
    };
    seen.push((path.to_owned(), metadata.len(), metadata.modified().ok()));
    if metadata.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look_at(&entry.path(), seen);
        }
    }
}
