//! B5: a host that is killed with SIGKILL takes everything that it started with it, within 5 s.

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::fixture::{PROGRAM, Place, place, within};

/// A host with these scripts in this place; its temporary files are in `elsewhere`.
fn host(place: &Place, scripts: &[String]) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg("hold").arg(&place.root).args(scripts).env("TMPDIR", &place.elsewhere).stdout(Stdio::piped());
    let mut host = command.spawn().unwrap();
    let mut started = [0; 8];
    host.stdout.as_mut().unwrap().read_exact(&mut started).unwrap();
    host
}

fn sizes(directory: &Path) -> BTreeMap<PathBuf, u64> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.path(), file.metadata().unwrap().len())).collect()
}

/// Kills the host while all `writers` write, and sees that all have stopped 5 s later.
fn killed(place: &Place, mut host: Child, writers: usize) {
    within(Duration::from_secs(10), "all write", || {
        let sizes = sizes(&place.root);
        sizes.len() == writers && sizes.values().all(|size| *size > 0)
    });
    host.kill().unwrap();
    host.wait().unwrap();
    within(Duration::from_secs(5), "nothing is left", || place.inhabitants().is_empty());
    let before = sizes(&place.root);
    std::thread::sleep(Duration::from_millis(350));
    assert_eq!(sizes(&place.root), before, "somebody still writes");
    let scratch = || fs::read_dir(&place.elsewhere).unwrap().count();
    within(Duration::from_secs(5), "the scratch directory is removed", || scratch() == 2);
}

#[test]
fn b5_six_agents_with_children_in_sessions_of_their_own_that_write_every_100_ms() {
    let place = place();
    let script = |nth: u32| {
        let write = format!("trap \"\" TERM HUP INT PIPE; while :; do echo x >> {nth}; sleep 0.1; done");
        match nth {
            0 | 1 => format!("setsid bash -c '{write}'; sleep 1000"),
            2 => format!("setsid bash -c '{write}' & sleep 1000"),
            3 => format!("(env -i PATH=$PATH setsid bash -c '{write}' &); sleep 1000"),
            4 => format!("(setsid setsid bash -c '({write}) & wait' &); exec sleep 1000"),
            _ => format!(
                "trap '' TERM; setsid bash -c 'setsid bash -c '\\''{write}'\\'' >/dev/null 2>&1 <&1 &' ; sleep 1000"
            ),
        }
    };
    let scripts: Vec<String> = (0..6).map(script).collect();
    let host = host(&place, &scripts);
    killed(&place, host, 6);
}

#[test]
fn b5_the_same_where_a_command_has_killed_the_guardian_before() {
    let place = place();
    let writes = "while :; do echo x >> writer; sleep 0.1; done";
    let script = format!("trap '' TERM; setsid bash -c '{writes}' & kill -9 $(ps -o ppid= -p $PPID); sleep 1000");
    let host = host(&place, &[script]);
    within(Duration::from_secs(10), "it writes", || sizes(&place.root).len() == 1);
    let mut host = host;
    host.kill().unwrap();
    host.wait().unwrap();
    within(Duration::from_secs(5), "nothing is left", || place.inhabitants().is_empty());
}

#[test]
fn b5_the_same_where_a_command_has_halted_its_shim_before() {
    let place = place();
    let script =
        "setsid bash -c 'while :; do echo x >> writer; sleep 0.1; done' & sleep 0.3; kill -STOP $PPID; sleep 1000";
    let host = host(&place, &[script.to_owned()]);
    killed(&place, host, 1);
}

#[test]
fn x1_what_stops_the_host_from_the_terminal_is_not_for_the_guardian() {
    let place = place();
    let script = "echo $(ps -o ppid= -p $PPID) > guardian.tmp; mv guardian.tmp guardian; sleep 1000";
    let mut host = host(&place, &[script.to_owned()]);
    let path = place.root.join("guardian");
    within(Duration::from_secs(10), "it says who the guardian is", || path.exists());
    let guardian = fs::read_to_string(path).unwrap().trim().to_owned();
    for signal in ["-INT", "-HUP", "-TERM", "-QUIT", "-PIPE"] {
        assert!(Command::new("kill").args([signal, &guardian]).status().unwrap().success());
    }
    let stat = fs::read_to_string(format!("/proc/{guardian}/stat")).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap();
    assert_eq!(session, guardian, "it leads a session of its own");
    let mut standard = ["0", "1", "2"].map(|nth| fs::read_link(format!("/proc/{guardian}/fd/{nth}")).unwrap());
    standard.sort();
    assert_eq!(standard, ["/dev/null"; 3].map(PathBuf::from), "it holds nothing of the terminal");
    assert!(!place.inhabitants().is_empty(), "and it goes on");
    host.kill().unwrap();
    host.wait().unwrap();
    within(Duration::from_secs(5), "nothing is left", || place.inhabitants().is_empty());
}

#[test]
fn a_host_that_ends_by_itself_leaves_no_guardian() {
    let place = place();
    let script = "echo $(ps -o ppid= -p $PPID) > guardian";
    let mut command = Command::new(PROGRAM);
    command.arg("wait").arg(&place.root).arg(script).env("TMPDIR", &place.elsewhere).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let guardian = fs::read_to_string(place.root.join("guardian")).unwrap().trim().to_owned();
    let is_gone = || fs::read_to_string(format!("/proc/{guardian}/stat")).is_err();
    within(Duration::from_secs(5), "the guardian is gone", is_gone);
    assert_eq!(fs::read_dir(&place.elsewhere).unwrap().count(), 2, "nor its scratch directory");
}

#[test]
fn a_program_may_open_as_many_files_as_the_host_might_before_it_raised_that() {
    let place = place();
    let script = format!("ulimit -Sn 300; exec {PROGRAM} wait {} 'ulimit -Sn > files'", place.root.display());
    let status =
        Command::new("bash").args(["-c", &script]).env("TMPDIR", &place.elsewhere).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read_to_string(place.root.join("files")).unwrap(), "300\n");
}
