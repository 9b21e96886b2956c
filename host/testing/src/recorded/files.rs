//! The files that a recorded run read, whose paths the record has only as parts of keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flowhost_core::{
    env::EntryKind,
    outcome::Bytes,
    record::{Key, Outcome},
};

use super::{LONGEST, Seen};

/// How many texts are tried as paths.
const PATHS: usize = 50_000;
/// How often one path may have been read.
const TIMES: u32 = 16;

impl Seen {
    /// The files that were read or listed, and how many reads are of files that nobody names.
    pub(super) fn files(&self) -> (BTreeMap<String, String>, usize) {
        let mut files = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.kind == EntryKind::File) {
            files.insert(entry.path.clone(), String::new());
        }
        let mut wanted: HashMap<Key, &Bytes> = self.reads.iter().map(|(_, key, bytes)| (*key, bytes)).collect();
        for path in self.paths() {
            if wanted.is_empty() {
                break;
            }
            for ((_, branch), (role, _)) in
                self.branches.iter().flat_map(|branch| self.envs.iter().map(move |env| (branch, env)))
            {
                let env = Key::of(&[&branch.0, b"env", role.as_bytes()]);
                let key = Key::of(&[&branch.0, &env.0, b"env.read", path.as_bytes(), b""]);
                for nth in 0..TIMES {
                    let Some(bytes) = wanted.remove(&key.occurrence(nth)) else { break };
                    if nth == 0 && bytes.0.len() <= LONGEST {
                        files.insert(path.to_owned(), String::from_utf8_lossy(&bytes.0).into_owned());
                    }
                }
            }
        }
        (files, wanted.len())
    }

    /// What may be paths of files.
    fn paths(&self) -> BTreeSet<&str> {
        let texts = self.turns.iter().map(|turn| &*turn.prompt).chain(self.log.iter().map(|line| &**line));
        let texts = texts.chain(self.root.iter().flat_map(|root| [&*root.task, root.params.get()]));
        let outputs = self.calls.iter().filter_map(|call| match &call.end {
            Some((_, Outcome::Ok(json))) => Some(json.get()),
            _ => None,
        });
        let mut paths: BTreeSet<&str> = self.entries.iter().map(|entry| entry.path.as_str()).collect();
        for text in texts {
            paths.extend(words(text));
        }
        for output in outputs {
            // Lines of a JSON string are parted by the two characters of `\n`.
            paths.extend(output.split(['"', '\\']).map(|line| line.strip_prefix('n').unwrap_or(line)));
        }
        paths.into_iter().filter(|path| !path.is_empty()).take(PATHS).collect()
    }
}

/// The words of a text without what stands around them, and again without the point that may end a sentence.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let around = |each: char| each.is_whitespace() || "\"'`()[]{}<>,;:".contains(each);
    text.split(around).flat_map(|word| [word, word.trim_end_matches(['.', '!', '?'])])
}
