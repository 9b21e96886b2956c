//! Git in a directory that nobody trusts (W2).
//!
//! A repository's own configuration and attributes name programs: hooks, the fsmonitor, filters, diff and merge
//! drivers, pagers, editors, helpers. Whoever wrote to the workspace wrote these too.
//!
//! * [`branch`](flowhost_core::env::Env::branch_name) is read from `HEAD`, without git.
//! * What the host itself asks git, it asks through [`git`]: all of these are off.
//! * A command of a flow runs git as it likes, within what the flow may do anyway; but a plain `git status` or `git
//!   ls-files` does not run hooks and the fsmonitor, and nothing waits at a prompt.
//!
//! **Another user's repository.** Git refuses to work in it ("dubious ownership"), since its configuration could run programs,
//! unless `safe.directory` names it; and of a person's own settings nothing is read here, since HOME is a scratch
//! directory. The person did name this directory, by `-e` or by standing in it, and what git is afraid of is off or confined. So exactly the
//! directory that was opened and the repository that it lies in are named as safe: never `*`, and no other repository
//! inside, for which git goes on refusing and says so.

use std::{
    fs::File,
    io::Read,
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use flowhost_core::{
    env::{Command, Env, Output},
    error::Result,
};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use crate::{
    environment::Environment,
    ground::{Identity, SEARCH},
};

/// Set for the host's own calls. Where a setting names a command, `false` is the program of that name, which fails: what was
/// taken away must not look as if it had worked.
const OFF: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.askPass", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "true"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("credential.helper", ""),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// Commands that show differences, for which a repository may name programs by kind of file.
const SHOW_DIFFERENCES: &[&str] = &["diff", "diff-files", "diff-index", "diff-tree", "format-patch", "log", "show"];

/// Runs git for the host itself, in an env of this machine: with hooks, fsmonitor, filters, drivers, prompts, transports and the settings of
/// system and user off, and `--` before `names`, so that a name is never an option (W2).
///
/// Git is never found inside the repository. Fails as [`Env::exec`] does; a status that is not 0 is no error.
pub async fn git(env: &dyn Env, arguments: &[&str], names: &[&str]) -> Result<Output> {
    let directory = Path::new(env.directory());
    let outside = repository(directory).unwrap_or(directory);
    let program = Environment::of_host().find_program_outside("git", Some(outside))?;
    let program = program.to_string_lossy();
    let list = ["config", "--null", "--name-only", "--get-regexp", DRIVERS];
    let listed = env.exec(command(&program, &[], &list, &[])).await?;
    let drivers = drivers_off(&String::from_utf8_lossy(&listed.stdout));
    env.exec(command(&program, &drivers, arguments, names)).await
}

/// Programs that a repository names for kinds of files.
const DRIVERS: &str = r"^(filter|merge|diff)\..*\.(clean|smudge|process|driver|command|textconv)$";

fn command(program: &str, settings: &[(String, String)], arguments: &[&str], names: &[&str]) -> Command {
    let mut argv = vec![program.to_owned(), "--no-pager".to_owned()];
    let off = OFF.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    for (key, value) in off.chain(settings.iter().cloned()) {
        argv.extend(["-c".to_owned(), format!("{key}={value}")]);
    }
    let mut arguments = arguments.iter();
    if let Some(&first) = arguments.next() {
        argv.push(first.to_owned());
        if SHOW_DIFFERENCES.contains(&first) {
            argv.extend(["--no-ext-diff".to_owned(), "--no-textconv".to_owned()]);
        }
    }
    argv.extend(arguments.map(|&argument| argument.to_owned()));
    if !names.is_empty() {
        argv.push("--".to_owned());
        argv.extend(names.iter().map(|&name| name.to_owned()));
    }
    let vars = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("LC_ALL", "C.UTF-8"),
    ];
    let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Command { argv, vars, ..Command::default() }
}

/// Settings that take away the programs of these settings.
fn drivers_off(listed: &str) -> Vec<(String, String)> {
    let mut off = Vec::new();
    for key in listed.split('\0') {
        let (Some((kind, _)), Some((driver, _))) = (key.split_once('.'), key.rsplit_once('.')) else { continue };
        match kind {
            "filter" => {
                off.extend(["clean", "smudge", "process"].map(|each| (format!("{driver}.{each}"), String::new())));
                off.push((format!("{driver}.required"), "false".to_owned()));
            }
            "merge" => off.push((format!("{driver}.driver"), "false".to_owned())),
            _ => {}
        }
    }
    off
}

/// Variables for the commands of flows.
pub(crate) fn settings(safe: &[PathBuf]) -> Vec<(String, String)> {
    let mut settings = vec![("core.fsmonitor", "false".to_owned()), ("core.hooksPath", "/dev/null".to_owned())];
    settings.extend(safe.iter().filter_map(|path| Some(("safe.directory", path.to_str()?.to_owned()))));
    let mut vars = vec![
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
        ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string()),
    ];
    for (nth, (key, value)) in settings.into_iter().enumerate() {
        vars.push((format!("GIT_CONFIG_KEY_{nth}"), key.to_owned()));
        vars.push((format!("GIT_CONFIG_VALUE_{nth}"), value));
    }
    vars
}

/// Of the directory and the repository that it lies in, those that git takes for another user's. Nothing for a person's own.
pub(crate) fn of_other_users(directory: &Path) -> Vec<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let is_others = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.uid() != me);
    let repository = repository(directory).unwrap_or(directory);
    if [directory, repository, &repository.join(".git")].iter().any(|path| is_others(path)) {
        let mut safe = vec![directory.to_owned(), repository.to_owned()];
        safe.dedup();
        return safe;
    }
    Vec::new()
}

/// The directory of the repository that one lies in, as far as names go.
fn repository(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// Directories above one in which a repository is looked for.
const ABOVE: usize = 128;
/// Bytes of a `HEAD` or `.git` file.
const POINTER: u64 = 4096;

/// The branch that is checked out in the repository that a directory lies in: found upwards by handles, without
/// running anything. None where there is no repository, no branch, or a name that git would not take.
pub(crate) fn branch(directory: impl AsFd) -> Option<String> {
    let mut here = openat(&directory, ".", SEARCH, Mode::empty()).ok()?;
    for _ in 0..ABOVE {
        match read_pointer(&here, Path::new(".git")) {
            // A worktree or a submodule says where its own folder is.
            Some(pointer) => {
                let folder = pointer.strip_prefix("gitdir:")?.trim();
                let folder = openat(&here, folder, SEARCH, Mode::empty()).ok()?;
                return branch_of(&read_pointer(&folder, Path::new("HEAD"))?);
            }
            None => {
                if let Some(head) = read_pointer(&here, Path::new(".git/HEAD")) {
                    return branch_of(&head);
                }
            }
        }
        // A bare one.
        let is_there = |name| openat(&here, name, SEARCH, Mode::empty()).is_ok();
        if is_there("objects")
            && is_there("refs")
            && let Some(head) = read_pointer(&here, Path::new("HEAD"))
        {
            return branch_of(&head);
        }
        let above = openat(&here, "..", SEARCH, Mode::empty()).ok()?;
        if Identity::of(&fstat(&above).ok()?) == Identity::of(&fstat(&here).ok()?) {
            return None;
        }
        here = above;
    }
    None
}

fn branch_of(head: &str) -> Option<String> {
    let name = head.trim_end().strip_prefix("ref:")?.trim_start().strip_prefix("refs/heads/")?;
    let is_odd =
        |character: char| character.is_control() || character.is_whitespace() || "~^:?*[\\".contains(character);
    // `.invalid` stands where the references are kept another way.
    (!name.is_empty() && !name.contains(is_odd) && name != ".invalid").then(|| name.to_owned())
}

/// A small file, and never anything that blocks or is none.
fn read_pointer(directory: impl AsFd, path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = openat(directory, path, flags, Mode::empty()).ok()?;
    if FileType::from_raw_mode(fstat(&handle).ok()?.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = String::new();
    File::from(handle).take(POINTER).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_git_takes_are_branches() {
        assert_eq!(branch_of("ref: refs/heads/topic/ü\n").as_deref(), Some("topic/ü"));
        for none in ["4b825dc642cb6eb9a060e54bf8d69288fbee4904\n", "ref: refs/heads/\n", "ref: refs/heads/.invalid"] {
            assert_eq!(branch_of(none), None);
        }
        assert_eq!(branch_of("ref: refs/heads/a\x1b[31m"), None);
        assert_eq!(branch_of("ref: refs/tags/a"), None);
    }

    #[test]
    fn w2_every_driver_that_is_named_is_taken_away() {
        let off = drivers_off("filter.a.b.clean\0merge.x.driver\0diff.y.command\0");
        assert!(off.contains(&("filter.a.b.process".to_owned(), String::new())));
        assert!(off.contains(&("merge.x.driver".to_owned(), "false".to_owned())));
        assert_eq!(off.len(), 5);
    }

    #[test]
    fn w2_names_come_after_two_dashes() {
        let command = command("/bin/git", &[], &["log"], &["--exec=x"]);
        let tail: Vec<&str> = command.argv.iter().rev().take(3).map(String::as_str).collect();
        assert_eq!(tail, ["--exec=x", "--", "--no-textconv"]);
        assert!(command.argv.contains(&"core.fsmonitor=false".to_owned()));
    }
}
