//! `exec`: commands that are run to their end.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use flowhost_core::{
    env::Command,
    error::EnvFault::{NotFound, NotStarted, TimedOut, TooLarge},
};
use flowhost_envs::Limits;

use crate::fixture::{command, fault, place, place_with, text};

#[tokio::test]
async fn a_command_gives_its_status_and_what_it_wrote() {
    let place = place();
    let output = place.bash("echo out; echo complaint >&2; exit 3").await.unwrap();
    assert_eq!((output.status, output.truncated), (3, false));
    assert_eq!((output.stdout, output.stderr), (b"out\n".to_vec(), b"complaint\n".to_vec()));
    assert_eq!(place.bash("kill -9 $$").await.unwrap().status, 137);
    assert_eq!(place.bash("kill -TERM $$").await.unwrap().status, 143);
    assert_eq!(place.env.exec(command(&["false"])).await.unwrap().status, 1);
}

#[tokio::test]
async fn a_command_starts_in_the_directory_with_a_clean_environment() {
    let place = place();
    assert_eq!(place.says("pwd -P").await, place.root.to_str().unwrap());
    let given = Command { vars: vec![("GIVEN".into(), "ü =".into())], ..command(&["env", "-0"]) };
    let output = place.env.exec(given).await.unwrap();
    let names: BTreeSet<&str> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .split_terminator('\0')
        .map(|each| each.split_once('=').unwrap().0)
        .collect();
    let (git, plain): (BTreeSet<_>, BTreeSet<_>) = names.into_iter().partition(|name| name.starts_with("GIT_"));
    assert_eq!(plain, BTreeSet::from(["FLOWHOST_PROCESS", "GIVEN", "HOME", "LANG", "PATH", "TERM", "TMPDIR"]));
    assert!(git.contains("GIT_CONFIG_NOSYSTEM") && git.contains("GIT_TERMINAL_PROMPT"));
    assert!(text(&output.stdout).contains("GIVEN=ü =\0"));
    assert!(text(&output.stdout).contains("TERM=dumb\0"));
    assert_eq!(place.says(r#"[ "$HOME" != ~root ] && touch $HOME/x $TMPDIR/y && ls $HOME"#).await, "x");
}

#[tokio::test]
async fn a_command_starts_with_signals_and_descriptors_as_programs_expect_them() {
    let place = place();
    // The one more is of the directory that `ls` reads.
    assert_eq!(place.says("exec ls /proc/self/fd").await, "0\n1\n2\n3");
    let signals = place.says("exec grep -E '^Sig(Blk|Ign)' /proc/self/status").await;
    for line in signals.lines() {
        let set = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        // 32 and 33 belong to the C library, which lets nobody set them.
        assert_eq!(set & !(0b11 << 31), 0, "{signals}");
    }
    assert_eq!(place.says("[ $(ps -o sid= -p $$) = $$ ] && ps -o tty= -p $$").await.trim(), "?");
    assert_eq!(place.says("readlink /proc/self/fd/0").await, "/dev/null");
}

#[tokio::test]
async fn a_program_is_found_on_path_or_by_its_path_and_never_where_the_env_is() {
    let place = place();
    place.put("only-here", "#!/bin/sh\necho ran $1\n");
    place.put("d/tool", "#!/bin/sh\npwd -P\n");
    for file in ["only-here", "d/tool"] {
        fs::set_permissions(place.root.join(file), fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.put("plain", "");
    place.put("broken", "#!/nowhere/interpreter\n");
    fs::set_permissions(place.root.join("broken"), fs::Permissions::from_mode(0o755)).unwrap();
    let message = async |argv: &[&str]| {
        let error = place.env.exec(command(argv)).await.unwrap_err();
        assert_eq!(fault::<()>(Err(error.clone())), NotStarted);
        error.message
    };
    assert!(message(&["only-here"]).await.starts_with("only-here: no such program on PATH (/"));
    assert_eq!(text(&place.env.exec(command(&["./only-here", "it"])).await.unwrap().stdout), "ran it\n");
    let output = place.env.exec(command(&["d/tool"])).await.unwrap();
    assert_eq!(text(&output.stdout).trim_end(), place.root.to_str().unwrap());
    assert!(message(&["./nowhere"]).await.starts_with("./nowhere: no such program in /"));
    assert!(message(&["./plain"]).await.starts_with("./plain: not executable, in /"));
    assert!(message(&["./broken"]).await.contains("its first line"));
    assert!(message(&["./d"]).await.starts_with("./d: not executable"));
    assert!(message(&[]).await.contains("argv is empty"));
    assert!(message(&[""]).await.contains("argv is empty"));
    assert!(message(&["echo", "a\0b"]).await.contains("NUL"));
    let odd = Command { vars: vec![("A=".into(), String::new())], ..command(&["true"]) };
    assert_eq!(fault(place.env.exec(odd).await), NotStarted);
}

#[tokio::test]
async fn arguments_of_megabytes_arrive() {
    let place = place();
    let argument = "x".repeat(900);
    let mut argv = vec!["bash", "-c", "echo $# ${#1}"];
    argv.extend(std::iter::repeat_n(argument.as_str(), 1901));
    assert_eq!(text(&place.env.exec(command(&argv)).await.unwrap().stdout), "1900 900\n");
    let message = place.env.exec(command(&["echo", &"x".repeat(1 << 20)])).await.unwrap_err().message;
    assert!(message.starts_with("echo: more arguments and variables than the system takes"), "{message}");
    argv.extend(std::iter::repeat_n(argument.as_str(), 1000));
    assert_eq!(fault(place.env.exec(command(&argv)).await), NotStarted);
}

#[tokio::test]
async fn stdin_is_what_was_given_and_holds_nobody_up() {
    let place = place_with(Limits { stdin: 10 << 20, ..Limits::default() });
    let with = |argv: &[&str], bytes: usize| Command { stdin: Some(vec![b'x'; bytes]), ..command(argv) };
    let counted = place.env.exec(with(&["wc", "-c"], 10 << 20)).await.unwrap();
    assert_eq!(text(&counted.stdout).trim(), "10485760");
    assert_eq!(place.env.exec(with(&["true"], 10 << 20)).await.unwrap().status, 0);
    assert_eq!(place.env.exec(with(&["head", "-c", "1"], 10 << 20)).await.unwrap().stdout, b"x");
    assert_eq!(place.env.exec(with(&["cat"], 0)).await.unwrap().stdout, b"");
    assert_eq!(fault(place.env.exec(with(&["cat"], (10 << 20) + 1)).await), TooLarge);
}

#[tokio::test]
async fn x2_a_flood_is_cut_drained_and_marked() {
    let place = place();
    let flood = Command { keep: Some(10), ..command(&["bash", "-c", "yes | head -c 30000000; echo end >&2"]) };
    let output = place.env.exec(flood).await.unwrap();
    assert_eq!((output.status, output.truncated), (0, true));
    assert_eq!(text(&output.stdout), "y\ny\ny\ny\ny\n\n[… 29999990 bytes cut]");
    assert_eq!(output.stderr, b"end\n");
    let unsaid = place.bash("head -c 2000000 /dev/zero").await.unwrap();
    assert!(unsaid.truncated && unsaid.stdout.ends_with("\n[… 951424 bytes cut]".as_bytes()));
    let exact = Command { keep: Some(3), ..command(&["echo", "ab"]) };
    let exact = place.env.exec(exact).await.unwrap();
    assert_eq!((exact.stdout, exact.truncated), (b"ab\n".to_vec(), false));
    let place = place_with(Limits { kept_output_most: 2, ..Limits::default() });
    let greedy = Command { keep: Some(u64::MAX), ..command(&["echo", "abc"]) };
    assert_eq!(text(&place.env.exec(greedy).await.unwrap().stdout), "ab\n[… 2 bytes cut]");
}

#[tokio::test]
async fn a_command_out_of_time_is_ended_with_all_that_it_started() {
    let place = place_with(Limits { grace: Duration::from_millis(200), ..Limits::default() });
    let script = "trap '' TERM; (setsid env -i sleep 1000 &); sleep 1000 & setsid bash -c \"trap '' TERM; sleep 1000; sleep 1000\"";
    let timeout = Some(Duration::from_millis(300));
    let error = place.env.exec(Command { timeout, ..command(&["bash", "-c", script]) }).await.unwrap_err();
    assert_eq!(place.inhabitants(), [0; 0]);
    assert!(error.message.starts_with("`bash -c trap '' TERM; (setsid env -i sleep"), "{error}");
    assert!(
        error
            .message
            .ends_with("took longer than 300ms and was ended, with all that it had started; give it more time")
    );
    assert_eq!(fault::<()>(Err(error)), TimedOut);
    let polite = Command { timeout, ..command(&["bash", "-c", "trap 'echo > bye; exit' TERM; sleep 1000 & wait"]) };
    assert_eq!(fault(place.env.exec(polite).await), TimedOut);
    assert!(place.root.join("bye").exists(), "it was told first");
    let quick = Command { timeout: Some(Duration::from_secs(60)), ..command(&["true"]) };
    assert_eq!(place.env.exec(quick).await.unwrap().status, 0);
}

#[tokio::test]
async fn a_flood_out_of_time_is_told_to_stop_and_can() {
    let place = place_with(Limits { grace: Duration::from_secs(20), ..Limits::default() });
    let began = Instant::now();
    // It stops once its last words are read; nobody reading them would leave it to the grace.
    let script = "trap 'head -c 1000000 /dev/zero; exit' TERM; while :; do head -c 100000 /dev/zero; done";
    let timeout = Some(Duration::from_millis(200));
    assert_eq!(fault(place.env.exec(Command { timeout, ..command(&["bash", "-c", script]) }).await), TimedOut);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn what_a_command_leaves_in_the_background_is_ended_and_does_not_hold_the_call() {
    let place = place();
    let began = Instant::now();
    let left = [
        "sleep 1000 & echo hi",
        "setsid sleep 1000 & echo hi",
        "(setsid env -i /bin/sleep 1000 &) ; echo hi",
        "(trap '' TERM HUP INT; exec setsid bash -c 'while :; do sleep 0.1; done') & sleep 0.2; echo hi",
        "coproc sleep 1000; echo hi",
        "(exec >&- 2>&-; setsid setsid sleep 1000 &) ; echo hi",
    ];
    for script in left {
        let output = place.bash(script).await.unwrap();
        assert_eq!((output.status, text(&output.stdout)), (0, "hi\n".to_owned()), "{script}");
        assert_eq!(place.inhabitants(), [0; 0], "{script}");
    }
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn the_end_of_a_pipe_is_waited_for_a_moment() {
    let place = place();
    // Bash does not wait for a process substitution.
    assert_eq!(place.says("exec > >(sleep 0.03; tr a-z A-Z); echo all of it").await, "ALL OF IT");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_commands_at_once() {
    let place = place();
    let all = (0..200).map(|nth| {
        let env = place.env.clone();
        tokio::spawn(async move { env.exec(command(&["bash", "-c", &format!("sleep 0.3; echo {nth}")])).await })
    });
    let all: Vec<_> = all.collect();
    for (nth, each) in all.into_iter().enumerate() {
        assert_eq!(text(&each.await.unwrap().unwrap().stdout), format!("{nth}\n"));
    }
    assert_eq!(place.inhabitants(), [0; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_commands_one_after_another_leave_nothing() {
    let place = place();
    let open = || {
        fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
            entry.as_ref().is_ok_and(|entry| fs::read_link(entry.path()).is_ok_and(|path| path == place.root))
        })
    };
    for _ in 0..300 {
        assert_eq!(place.env.exec(command(&["true"])).await.unwrap().status, 0);
    }
    // Of the guardian there are the first process and nothing below it.
    let guardian = place.says("ps -o ppid= -p $PPID").await;
    let below = place.says(&format!("ps -o pid= --ppid {guardian} | wc -l")).await;
    assert_eq!(below, "1", "the shim of this very command");
    assert_eq!(open().count(), 1, "the env's own handle");
}

#[tokio::test]
async fn a_directory_that_was_removed_runs_nothing() {
    let place = place();
    fs::create_dir(place.root.join("d")).unwrap();
    let subdir = place.env.subdir("d").await.unwrap();
    fs::remove_dir(place.root.join("d")).unwrap();
    assert_eq!(fault(subdir.exec(command(&["true"])).await), NotFound);
}
