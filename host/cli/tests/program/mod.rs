//! The program as a person has it: started for real, in a directory of its own.
#![allow(dead_code, unreachable_pub, reason = "each test file uses some of it")]
#![allow(clippy::print_stderr, reason = "what is skipped is said aloud")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

pub mod building;
pub mod python;

/// A directory to stand in.
pub struct Place {
    folder: TempDir,
    directory: PathBuf,
}

/// What the program left.
#[derive(Debug)]
pub struct Done {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// A directory of this name, without a repository.
    pub fn plain(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("flowhost-test-").tempdir().unwrap();
        let directory = folder.path().join(name);
        fs::create_dir(&directory).unwrap();
        Self { folder, directory }
    }

    /// A repository with these files, committed.
    pub fn repository(name: &str, files: &[(&str, &str)]) -> Self {
        let place = Self::plain(name);
        place.git(&["init", "--quiet"]);
        for (path, text) in files {
            place.write(path, text);
        }
        place.git(&["add", "--all"]);
        place.git(&["commit", "--quiet", "--allow-empty", "--message", "start"]);
        place
    }

    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// The directory above it.
    pub fn above(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A program in it.
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(path, &format!("#!/bin/sh\n{text}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.directory.join(path)).unwrap()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@flowhost.invalid"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(&self.directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program with these words, not started yet.
    pub fn program(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowhost"));
        command
            .args(words)
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            // What is compiled once serves all tests.
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub fn flowhost(&self, words: &[&str]) -> Done {
        Done::of(self.program(words).output().unwrap())
    }

    /// The runs that left a record.
    pub fn runs(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.directory.join(".flowhost/runs")).into_iter().flatten();
        let mut runs: Vec<_> = listed.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        runs.sort();
        runs
    }
}

impl Done {
    pub fn of(output: std::process::Output) -> Self {
        Self {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The answer, as JSON.
    pub fn answer(&self) -> serde_json::Value {
        assert_eq!(self.exit, 0, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// Stderr, with this directory's own name left out.
    pub fn said(&self, place: &Place) -> String {
        self.stderr.replace(place.above().to_str().unwrap(), "…")
    }
}

/// What a test does without is told to whoever runs all tests, and said aloud. False, for who asks whether it is there.
pub fn skipped(program: &str) -> bool {
    use std::io::Write as _;
    eprintln!("skipped: {program}");
    if let Some(skips) = std::env::var_os("FLOWHOST_SKIPS") {
        let mut skips = fs::OpenOptions::new().append(true).create(true).open(skips).unwrap();
        writeln!(skips, "skipped: {program}").unwrap();
    }
    false
}

/// The words of `exec -f fanout -a agent=demo --budget cost=1 TASK`, as fast as it goes.
pub const DOCSTRING: &str = "Add a one-line module docstring to this file. Change nothing else.";

pub fn fanout<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["exec", "-f", "fanout", "-a", "agent=demo", "--budget", "cost=1", "--demo-speed", "10"];
    words.extend(more);
    words.push(DOCSTRING);
    words
}
