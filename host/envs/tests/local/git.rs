//! W2: git in a repository that nobody trusts.

use std::{fs, os::unix::fs::PermissionsExt};

use flowhost_core::error::EnvFault::NotStarted;
use flowhost_envs::git::git;

use crate::fixture::{Place, command, fault, is_root, place, text};

const COMMIT: &str = "git -c user.name=t -c user.email=t@t commit -qm";

/// A repository with one commit whose configuration runs `./touched NAME` for everything that can be configured.
async fn hostile() -> Place {
    let place = place();
    place.put("touched", "#!/bin/sh\necho \"$1\" >> \"$(dirname \"$0\")/marks\"\ncat 2>/dev/null\nexit 0\n");
    fs::set_permissions(place.root.join("touched"), fs::Permissions::from_mode(0o755)).unwrap();
    place.put(".gitattributes", "*.py filter=evil diff=evil merge=evil\n");
    place.put("a.py", "one\n");
    place.says(&format!("git init -qb main . && git add a.py .gitattributes && {COMMIT} first")).await;
    let touched = place.root.join("touched");
    let touched = touched.display();
    for hook in
        ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-commit", "pre-auto-gc"]
    {
        let path = place.root.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{touched} {hook}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let settings = [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "diff.external",
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "core.sshCommand",
        "core.askPass",
        "credential.helper",
        "gpg.program",
        "pager.log",
        "pager.diff",
        "core.alternateRefsCommand",
    ];
    let mut config = fs::read_to_string(place.root.join(".git/config")).unwrap();
    for setting in settings {
        let (section, key) = setting.rsplit_once('.').unwrap();
        let section = match section.split_once('.') {
            Some((section, of)) => format!("{section} \"{of}\""),
            None => section.to_owned(),
        };
        config.push_str(&format!("[{section}]\n\t{key} = {touched} {setting}\n"));
    }
    config
        .push_str("[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[filter \"evil\"]\n\trequired = true\n");
    fs::write(place.root.join(".git/config"), config).unwrap();
    place
}

fn marks(place: &Place) -> String {
    fs::read_to_string(place.root.join("marks")).unwrap_or_default()
}

#[tokio::test]
async fn w2_what_the_host_asks_git_runs_nothing_that_the_repository_names() {
    let place = hostile().await;
    let env = &*place.env;
    place.put("a.py", "two\n");
    place.put("--output=owned", "x");
    let as_somebody = ["-c", "user.name=t", "-c", "user.email=t@t"];
    let run = async |arguments: &[&str], names: &[&str]| {
        let output = git(env, arguments, names).await.unwrap();
        assert_eq!(output.status, 0, "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(run(&["status", "--porcelain"], &[]).await.contains("M a.py"));
    assert!(run(&["diff"], &["a.py"]).await.contains("+two"));
    assert_eq!(run(&["diff"], &["--output=owned"]).await, "", "a name is never an option");
    run(&["add"], &["a.py"]).await;
    let tree = run(&["write-tree"], &[]).await;
    let mut commit = vec!["commit-tree", "-m", "second", tree.trim(), "-p", "HEAD"];
    for (at, argument) in as_somebody.iter().enumerate() {
        commit.insert(at, argument);
    }
    let second = run(&commit, &[]).await;
    run(&["update-ref", "refs/heads/other", second.trim()], &[]).await;
    assert!(run(&["log", "-p", "other"], &["a.py"]).await.contains("-one"));
    assert!(run(&["show", "other"], &[]).await.contains("+two"));
    run(&["worktree", "add", "-q", "../elsewhere/tree", "other"], &[]).await;
    assert_eq!(fs::read(place.elsewhere.join("tree/a.py")).unwrap(), b"two\n");
    run(&["checkout", "-q", "-f", "HEAD"], &["a.py"]).await;
    assert_eq!(marks(&place), "");
}

#[tokio::test]
async fn w2_the_hostile_repository_does_run_its_programs_without_that() {
    let place = hostile().await;
    place.put("a.py", "two\n");
    let with_all = "unset ${!GIT_*}; git status; git diff; git add a.py; git checkout -f HEAD -- a.py";
    let _ = place.bash(with_all).await.unwrap();
    for what in ["core.fsmonitor", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "post-index-change"]
    {
        assert!(
            marks(&place).contains(what),
            "{what} was not run, so nothing is shown by its absence: {}",
            marks(&place)
        );
    }
}

#[tokio::test]
async fn w2_a_flows_own_git_runs_no_hooks_and_no_fsmonitor() {
    let place = hostile().await;
    assert_eq!(place.says("git ls-files '*.py'").await, "a.py");
    let listed = place.env.exec(command(&["git", "ls-files", "*.py"])).await.unwrap();
    assert_eq!(text(&listed.stdout), "a.py\n");
    place.says("git status --porcelain; git update-index --refresh; git checkout -q -b topic").await;
    let marks = marks(&place);
    assert!(!marks.contains("core.fsmonitor") && !marks.contains("post-") && !marks.contains("reference"), "{marks}");
}

#[tokio::test]
async fn the_branch_is_read_without_git_whatever_the_repository_looks_like() {
    let place = hostile().await;
    fs::create_dir_all(place.root.join("sub/dir")).unwrap();
    let of = async |path: &str| place.env.subdir(path).await.unwrap().branch_name();
    assert_eq!(place.env.branch_name().as_deref(), Some("main"));
    assert_eq!(of("sub/dir").await.as_deref(), Some("main"));
    place.says("git init -q --bare -b trunk bare.git && git init -qb süß unborn && git init -qb x odd").await;
    assert_eq!(of("bare.git").await.as_deref(), Some("trunk"));
    assert_eq!(of("unborn").await.as_deref(), Some("süß"), "no commit yet");
    let git_off = "export GIT_CONFIG_COUNT=0; git -c core.hooksPath=/dev/null -c core.fsmonitor=false";
    place.says(&format!("{git_off} worktree add -q -b topic/one 'a ü tree'")).await;
    assert_eq!(of("a ü tree").await.as_deref(), Some("topic/one"));
    place.says(&format!("{git_off} -C 'a ü tree' checkout -q --detach")).await;
    assert_eq!(of("a ü tree").await, None);
    for head in ["", "ref: refs/heads/a\x1b[2J", "ref: refs/heads/../../x y", "\0\0"] {
        fs::write(place.root.join("odd/.git/HEAD"), head).unwrap();
        assert_eq!(of("odd").await, None, "{head:?}");
    }
    fs::remove_file(place.root.join("odd/.git/HEAD")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.root.join("odd/.git/HEAD"), 0o666.into()).unwrap();
    of("odd").await;
    let outside = crate::fixture::place();
    assert_eq!(outside.env.branch_name(), None, "no repository at all");
}

#[tokio::test]
async fn a_repository_of_another_user_that_the_person_named_works_and_others_in_it_do_not() {
    if !is_root() {
        // Only root can give a repository to another user.
        return;
    }
    let place = hostile().await;
    place.says("git init -q nested && chown -R 12345 . nested").await;
    let env =
        flowhost_envs::Local::open(&place.root, crate::fixture::guardian(), flowhost_envs::Limits::default()).unwrap();
    let listed = env.exec(command(&["git", "ls-files", "*.py"])).await.unwrap();
    assert_eq!(text(&listed.stdout), "a.py\n", "{}", text(&listed.stderr));
    let nested = env.exec(command(&["git", "-C", "nested", "status"])).await.unwrap();
    assert!(text(&nested.stderr).contains("dubious ownership"), "{}", text(&nested.stderr));
    fs::create_dir(place.root.join("sub")).unwrap();
    let below = flowhost_envs::Local::open(
        &place.root.join("sub"),
        crate::fixture::guardian(),
        flowhost_envs::Limits::default(),
    );
    let status = below.unwrap().exec(command(&["git", "status", "--porcelain", "-uno"])).await.unwrap();
    assert_eq!(status.status, 0, "{}", text(&status.stderr));
}

#[tokio::test]
async fn no_git_on_path_is_one_clear_line() {
    let place = place();
    let error = place.env.exec(command(&["git-that-is-not-there"])).await.unwrap_err();
    assert!(!error.message.contains('\n') && error.message.contains("no such program on PATH"), "{error}");
    assert_eq!(fault::<()>(Err(error)), NotStarted);
    let output = place.env.exec(command(&["git", "ls-files"])).await.unwrap();
    assert_eq!(output.status, 128);
    assert!(text(&output.stderr).starts_with("fatal: not a git repository"), "{}", text(&output.stderr));
}
