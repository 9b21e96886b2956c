//! Finding a script's program, once and up front: from where the person stands or on PATH, never in a session's directory.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, FileType, access, stat};

use crate::registry::{Refusal, RegistryOptions};

/// Program and arguments of `rest`; the program an absolute path of an executable file.
///
/// `rest` as a whole is tried first, so that a path with spaces needs no quotes; else it is split as a shell would. A name
/// without a slash is looked for on PATH before it is looked for where the person stands: what a repository happens to hold
/// never takes the place of an installed program.
pub(crate) fn find(harness: &str, rest: &str, options: &RegistryOptions) -> Result<Vec<String>, Refusal> {
    let rest = rest.trim();
    let (here, path) = (options.where_the_person_stands.as_path(), options.path.as_os_str());
    let refuse = |why: String| Refusal::new(format!("{harness}:{rest}: {why}"));
    if let Some(found) = locate(rest, here, path) {
        return checked(found).map(|program| vec![program]).map_err(|(why, hint)| refuse(why).hint(hint));
    }
    let mut words = shell_words::split(rest).map_err(|_| refuse("a quote is not closed".to_owned()))?;
    let Some(first) = words.first_mut() else { return Err(refuse("no program is named".to_owned())) };
    let Some(found) = locate(first, here, path) else {
        let why = if first.contains('/') {
            format!("{} is not there", at(here, first).display())
        } else {
            format!("{first} is neither on PATH nor in {}", here.display())
        };
        return Err(refuse(why).hint(format!("Give the program's path, as in {harness}:./agent.sh.")));
    };
    *first = checked(found).map_err(|(why, hint)| refuse(why).hint(hint))?;
    Ok(words)
}

/// Where `word` is, whatever it is.
fn locate(word: &str, here: &Path, path: &OsStr) -> Option<PathBuf> {
    if word.is_empty() || word.contains('\0') {
        return None;
    }
    if !word.contains('/') {
        // A relative entry of PATH would mean another program in every directory.
        let installed = env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(word));
        if let Some(found) =
            installed.into_iter().find(|file| kind(file) == Some(FileType::RegularFile) && is_executable(file))
        {
            return Some(found);
        }
    }
    Some(at(here, word)).filter(|file| kind(file).is_some())
}

/// `word` as seen from `here`, without the dots that mean nothing.
fn at(here: &Path, word: &str) -> PathBuf {
    here.join(word).components().collect()
}

/// What is at this path, links followed; none where nothing is.
fn kind(file: &Path) -> Option<FileType> {
    stat(file).ok().map(|stat| FileType::from_raw_mode(stat.st_mode))
}

fn is_executable(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok()
}

/// The path as text, if it is that of a program.
fn checked(file: PathBuf) -> Result<String, (String, String)> {
    let shown = file.display().to_string();
    let kind = kind(&file);
    if kind == Some(FileType::Directory) {
        return Err((format!("{shown} is a directory"), "Name the program in it.".to_owned()));
    }
    if kind != Some(FileType::RegularFile) || !is_executable(&file) {
        return Err((format!("{shown} is not executable"), format!("Try chmod +x {}.", shell_words::quote(&shown))));
    }
    file.into_os_string()
        .into_string()
        .map_err(|_| (format!("{shown} is not a name in UTF-8"), "Give the program a name that is.".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use flowhost_core::clock::Clock;
    use tempfile::TempDir;

    use super::*;

    struct Place {
        dir: TempDir,
        options: RegistryOptions,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let here = dir.path().join("here");
            let bin = dir.path().join("bin");
            for each in [&here, &bin] {
                fs::create_dir(each).unwrap();
            }
            let path = env::join_paths([Path::new("relative"), &bin]).unwrap();
            let options =
                RegistryOptions { clock: Clock::driven(), demo_speed: 1.0, where_the_person_stands: here, path };
            Self { dir, options }
        }

        fn put(&self, path: &str, mode: u32) -> String {
            let file = self.dir.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            file.to_str().unwrap().to_owned()
        }

        fn find(&self, rest: &str) -> Result<Vec<String>, Refusal> {
            find("script", rest, &self.options)
        }
    }

    #[test]
    fn a_program_is_found_from_where_the_person_stands_or_on_path_and_made_absolute() {
        let place = Place::new();
        let (local, installed) = (place.put("here/agent.sh", 0o755), place.put("bin/tool", 0o755));
        assert_eq!(place.find("./agent.sh").unwrap(), [local.as_str()]);
        assert_eq!(place.find("agent.sh").unwrap(), [local.as_str()]);
        assert_eq!(place.find(&local).unwrap(), [local.as_str()]);
        assert_eq!(place.find("tool -v 'a b' c").unwrap(), [&installed, "-v", "a b", "c"]);
    }

    #[test]
    fn an_installed_program_goes_before_one_of_the_same_name_in_the_repository() {
        let place = Place::new();
        let installed = place.put("bin/tool", 0o755);
        let local = place.put("here/tool", 0o755);
        assert_eq!(place.find("tool").unwrap(), [installed.as_str()]);
        assert!(place.find("./tool").unwrap()[0].ends_with("here/tool"), "{local}");
    }

    #[test]
    fn a_path_with_spaces_needs_no_quotes() {
        let place = Place::new();
        let spaced = place.put("here/my agent.sh", 0o755);
        assert_eq!(place.find("my agent.sh").unwrap(), [spaced.as_str()]);
        assert_eq!(place.find("'my agent.sh' now").unwrap(), [&spaced, "now"]);
    }

    #[test]
    fn a_relative_entry_of_path_is_not_searched() {
        let place = Place::new();
        place.put("here/relative/tool", 0o755);
        assert!(place.find("tool").is_err());
    }

    #[test]
    fn what_is_no_program_is_refused_with_what_to_do() {
        let place = Place::new();
        let here = place.options.where_the_person_stands.display().to_string();
        let plain = place.put("here/plain.sh", 0o644);
        fs::create_dir(place.options.where_the_person_stands.join("dir")).unwrap();
        for (rest, message, hint) in [
            (
                "./no.sh",
                format!("script:./no.sh: {here}/no.sh is not there"),
                "Give the program's path, as in script:./agent.sh.".to_owned(),
            ),
            (
                "no-such -x",
                format!("script:no-such -x: no-such is neither on PATH nor in {here}"),
                "Give the program's path, as in script:./agent.sh.".to_owned(),
            ),
            ("plain.sh", format!("script:plain.sh: {plain} is not executable"), format!("Try chmod +x {plain}.")),
            ("dir", format!("script:dir: {here}/dir is a directory"), "Name the program in it.".to_owned()),
        ] {
            let refusal = place.find(rest).unwrap_err();
            assert_eq!((refusal.message, refusal.hint), (message, Some(hint)));
        }
        assert_eq!(place.find("tool 'x").unwrap_err().message, "script:tool 'x: a quote is not closed");
    }
}
