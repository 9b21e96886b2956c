//! What is refused before anything starts: exit 2, one line and a hint.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use insta::assert_snapshot;
use program::Place;

fn refused(words: &[&str]) -> String {
    let place = Place::repository("repo", &[("a.py", "x = 1\n")]);
    refused_at(&place, words)
}

fn refused_at(place: &Place, words: &[&str]) -> String {
    let done = place.flowhost(words);
    assert_eq!(done.exit, 2, "{words:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{words:?}");
    assert!(!place.path().join(".flowhost/runs").exists(), "{words:?}: nothing may have started");
    let starts: Vec<_> = done.stderr.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert!(starts.ends_with(&["error:", "Hint:"]) && starts.len() == 2, "{words:?}: {}", done.stderr);
    done.said(place)
}

#[test]
fn roles_and_agents() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agnet=demo", "x"]), @r#"
    error: fanout: no agent role is called "agnet"
    Hint: Did you mean agent?
    "#);
    assert_snapshot!(refused(&["exec", "-f", "fanout", "x"]), @"
    error: fanout: nobody fills its agent role agent
    Hint: Say who: -a agent=demo, for instance; `flowhost agents` shows the harnesses that there are
    ");
    assert_snapshot!(refused(&["exec", "-f", "pair", "-a", "actor=demo", "x"]), @"
    error: pair: nobody fills its agent role reviewer
    Hint: Say who: -a reviewer=demo, for instance; `flowhost agents` shows the harnesses that there are
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=dmeo", "x"]), @"
    error: -a agent=dmeo: dmeo: no harness is called that
    Hint: Did you mean demo?
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "demo", "x"]), @"
    error: -a demo: not of the form ROLE=…
    Hint: Such as -a agent=demo
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-a", "agent=demo", "x"]), @"
    error: -a agent=…: the role is given twice; fallbacks are not in this build
    Hint: Give it once
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=script:./nobody.sh", "x"]), @"
    error: -a agent=script:./nobody.sh: script:./nobody.sh: …/repo/nobody.sh is not there
    Hint: Give the program's path, as in script:./agent.sh.
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=claude", "x"]), @"
    error: -a agent=claude: claude: this build has no such harness yet; it has demo, script, script+json
    Hint: script:PROGRAM makes an agent of any program that reads a prompt.
    ");
}

#[test]
fn flows() {
    assert_snapshot!(refused(&["exec", "-f", "fanuot", "-a", "agent=demo", "x"]), @"
    error: fanuot: there is no flow of this name
    Hint: Did you mean fanout?
    ");
    assert_snapshot!(refused(&["exec", "-f", "./nothing.wasm", "-a", "agent=demo", "x"]), @"
    error: ./nothing.wasm: no such file
    Hint: `flowhost flows list` shows what can be run by name
    ");
    let place = Place::plain("here");
    place.write("text.wasm", "no component");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "text.wasm", "-a", "agent=demo", "x"]), @"
    error: text.wasm: it is not a WebAssembly component: these bytes are not WebAssembly at all
    Hint: A flow is a WebAssembly component that exports flowhost:flow; a core module is made one by `wasm-tools component new`
    ");
}

#[test]
fn envs() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=local:nowhere", "x"]), @"
    error: …/repo/nowhere: no directory to open a session in
    Hint: -e workspace=local:DIR names a directory that is there
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=local:a.py", "x"]), @"
    error: …/repo/a.py: no directory to open a session in
    Hint: -e workspace=local:DIR names a directory that is there
    ");
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspac=local:.", "x"]), @r#"
    error: fanout: no env role is called "workspac"
    Hint: Did you mean workspace?
    "#);
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-e", "workspace=ssh:host:/srv", "x"]), @"
    error: -e workspace=ssh:host:/srv: ssh environments are not in this build
    Hint: Use a directory of this machine: -e workspace=local:DIR
    ");
}

#[test]
fn params_and_limits() {
    assert_snapshot!(refused(&["exec", "-f", "fanout", "-a", "agent=demo", "-p", "width=3", "x"]), @r#"
    error: fanout: no param is called "width"
    Hint: The params of fanout are at-once
    "#);
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "-p", "at-once=many", "x"]), @r#"
    error: lines: the param "at-once": "many" is not of types "null", "integer"
    Hint: The params of lines are at-once (integer), suppress (boolean, false if unsaid)
    "#);
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "-p", "at-onec=3", "x"]), @r#"
    error: lines: no param is called "at-onec"
    Hint: Did you mean at-once?
    "#);
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--limit", "memroy=1GiB", "x"]), @r#"
    error: --limit: nothing is called "memroy"
    Hint: Did you mean memory?
    "#);
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--limit", "memory=much", "x"]), @"
    error: --limit memory=much: not a size, such as 512MiB or 1GiB
    Hint: `flowhost exec --help` lists the limits with their defaults
    ");
    assert_snapshot!(refused(&["exec", "-f", "lines", "-a", "agent=demo", "--grant", "hom=read", "x"]), @r#"
    error: --grant: nothing is called "hom"
    Hint: Did you mean home?
    "#);
}

#[test]
fn dollar_4_what_can_cost_money_has_a_budget() {
    let place = Place::plain("here");
    place.script("agent.sh", "cat >/dev/null\n");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "lines", "-a", "agent=script+json:./agent.sh", "x"]), @"
    error: -a agent=script+json: it can cost money, and nothing is said about how much
    Hint: Say --budget cost=1, for instance, or --budget none
    ");
    assert_snapshot!(refused_at(&place, &["exec", "-f", "lines", "-a", "agent=demo", "--budget", "costs=1", "x"]), @r#"
    error: budget: nothing is called "costs"
    Hint: Did you mean cost?
    "#);
}

#[test]
fn words_that_are_misspelt() {
    assert_snapshot!(refused(&["exce"]), @r#"
    error: flowhost: no command is called "exce"
    Hint: Did you mean exec?
    "#);
    assert_snapshot!(refused(&["exec", "-f", "fanout", "--bugdet", "cost=1", "x"]), @"
    error: flowhost exec: no flag is called --bugdet
    Hint: Did you mean --budget?
    ");
    assert_snapshot!(refused(&["flows", "shwo", "fanout"]), @r#"
    error: flowhost flows: no command is called "shwo"
    Hint: Did you mean show?
    "#);
}

/// A flow that is not built in, called as one that is: the project's own `fanout` is `lines`.
fn shadowed() -> Place {
    let place = Place::repository("repo", &[("a.py", "x = 1\n")]);
    put(&place, ".flowhost/flows/fanout.wasm", "lines");
    place
}

fn put(place: &Place, path: &str, flow: &str) {
    let (_, component) = flowhost::built_in::flows().iter().find(|(name, _)| *name == flow).unwrap();
    let path = place.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, component).unwrap();
}

#[test]
fn a_flow_that_is_not_built_in_runs_only_with_the_grant_that_says_what_it_means() {
    let place = shadowed();
    let done = place.flowhost(&["exec", "-f", "fanout", "-a", "agent=demo", "x"]);
    assert_eq!((done.exit, done.stdout.as_str()), (2, ""));
    assert!(place.runs().is_empty());
    assert_snapshot!(done.said(&place), @"
    Note: fanout: this project's …/repo/.flowhost/flows/fanout.wasm is run, which has the name of a built-in flow; built-in:fanout is that one
    error: fanout: this project's …/repo/.flowhost/flows/fanout.wasm is not built in, and this build does not confine yet what the agents and commands of a flow do
    Hint: If you trust it as you would trust a script that you run, say --grant unconfined: what it tells agents to do, and the commands that it runs, then have all of your rights
    ");
    let granted =
        ["exec", "-f", "fanout", "--grant", "unconfined", "-a", "agent=demo", "--demo-speed", "0", "one\ntwo"];
    assert_eq!(place.flowhost(&granted).answer().as_array().unwrap().len(), 2, "the project's own was run");
    let meant = ["exec", "-f", "built-in:fanout", "-a", "agent=demo", "--demo-speed", "0", program::DOCSTRING];
    assert!(place.flowhost(&meant).answer().is_object(), "the built-in one was run");
}

#[test]
fn a_built_in_flow_never_means_what_a_project_put_in_place_of_another() {
    let place = shadowed();
    let words = [
        "exec",
        "-f",
        "parts",
        "-a",
        "agent=demo",
        "--demo-speed",
        "0",
        "Add a one-line module docstring to this file.",
    ];
    let done = place.flowhost(&words);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert!(place.read("a.py").starts_with("\"\"\""), "the built-in fanout was called: {}", done.stderr);
}

#[test]
fn a_flow_that_is_not_built_in_loads_others_only_with_a_grant_for_each() {
    let place = shadowed();
    put(&place, "mine.wasm", "parts");
    let words = ["exec", "-f", "./mine.wasm", "--grant", "unconfined", "-a", "agent=demo", "--demo-speed", "0", "x"];
    assert_snapshot!(refused_at(&place, &words), @"
    error: ./mine.wasm: it loads fanout, a flow that is not built in
    Hint: If you trust that one too, say --grant flow=fanout
    ");
    let mut granted = words.to_vec();
    granted.splice(5..5, ["--grant", "flow=fanout"]);
    let done = place.flowhost(&granted);
    // What it loaded is the project's own, which answers what `parts` does not expect of `fanout`.
    assert_eq!(done.exit, 1);
    assert!(done.stderr.contains("error: the answer of lines is not what was expected"), "{}", done.stderr);
}
