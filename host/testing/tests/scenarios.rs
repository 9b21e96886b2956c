//! Scenarios played on flows that are plain functions: what is seen of them, what differs, and how time goes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::{
    collections::HashMap,
    future::Future,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use flowhost_agents::fake::{Fake, Said};
use flowhost_core::{
    branch::Branch,
    error::{Error, Kind, Result},
    manifest::Manifest,
    record::{Json, LogSource},
    run::{Ended, Flow},
    session::WhenBusy,
    turn::TurnOptions,
};
use flowhost_testing::{Case, Change, Outcome, Scenario, ScenarioFile, Unplayable, compare, update};
use futures::future::{BoxFuture, join_all};
use insta::assert_snapshot;
use serde_json::{Value, json};

type Body = dyn Fn(Arc<Branch>, Arc<str>) -> BoxFuture<'static, Result<Json, Ended>> + Send + Sync;

struct Plain(Manifest, Arc<str>, Box<Body>);

#[async_trait::async_trait]
impl Flow for Plain {
    fn manifest(&self) -> &Manifest {
        &self.0
    }
    fn digest(&self) -> &Arc<str> {
        &self.1
    }
    async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended> {
        (self.2)(branch, task).await
    }
}

/// A flow with the roles `agent` and `workspace`.
fn flow<F>(body: impl Fn(Arc<Branch>, Arc<str>) -> F + Send + Sync + 'static) -> Arc<dyn Flow>
where
    F: Future<Output = Result<Value>> + Send + 'static,
{
    let manifest = r#"{"contract": "0.1.0", "name": "plain", "agents": [{"name": "agent", "capabilities": ["question"]}],
        "envs": [{"name": "workspace", "capabilities": ["files", "shell"]}]}"#;
    let body = move |branch, task| -> BoxFuture<'static, Result<Json, Ended>> {
        let ended = body(branch, task);
        Box::pin(async move {
            let value = ended.await.map_err(Ended::Raised)?;
            Ok(serde_json::value::to_raw_value(&value).unwrap().into())
        })
    };
    Arc::new(Plain(Manifest::read(manifest).unwrap(), "digest".into(), Box::new(body)))
}

async fn ask(branch: &Arc<Branch>, prompt: String) -> Result<String> {
    let session = branch.agent("agent")?.unwrap().spawn(None, WhenBusy::Refuse)?.handle();
    Ok(session.start(prompt.into(), TurnOptions::default())?.wait().await?.text.to_string())
}

/// Asks once a word of the task, all at once; logs and answers what was said.
fn each_word() -> Arc<dyn Flow> {
    flow(|branch, task| async move {
        let turns = task.split_whitespace().map(|word| ask(&branch, format!("What of {word}?")));
        let said = join_all(turns).await.into_iter().collect::<Result<Vec<_>>>()?;
        for line in &said {
            branch.log(line, LogSource::Log);
        }
        Ok(json!(said))
    })
}

fn read(text: &str) -> Case {
    let file =
        ScenarioFile::read(Path::new("x.test.toml"), text.to_owned()).unwrap_or_else(|problem| panic!("{problem}"));
    file.cases.into_iter().next().unwrap()
}

fn play(case: &Case, flow: &Arc<dyn Flow>) -> Outcome {
    case.scenario.play_on(flow, &HashMap::new()).unwrap()
}

/// What differs, in lines.
fn differences(text: &str, flow: &Arc<dyn Flow>) -> String {
    let case = read(text);
    let all = compare(&case.expected, &play(&case, flow));
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_that_a_scenario_can_expect_holds_for_what_came() {
    let text = r#"
        flow = "x"
        task = "a b c"
        [agents.agent]
        reply = { echo = "last-word" }
        delay = "1h"
        cost = 0.1
        input-tokens = 5
        output-tokens = 7
        occasions = [{ moment = "question", details = { which = 1 } }]
        [envs.workspace]
        files = { "a.txt" = "here" }
        [expect]
        result = ["a?", "b?", "c?"]
        log = ["a?", { matches = "^b" }, "c?"]
        log-contains = ["c"]
        prompts-any-order = [{ contains = "of" }, "What of a?", { ends-with = "c?" }]
        prompts-contain = ["What"]
        sessions = 3
        turns = { at-least = 2, at-most = 3 }
        peak = 3
        interrupted = 0
        branches = 1
        spending = { cost = 0.3, input-tokens = 15, output-tokens = 21, turns = 3 }
        duration = "1h"
        files = { "a.txt" = "here", "b.txt" = false }
        commands = []
        [expect.agents.agent]
        prompts = ["What of a?", "What of b?", "What of c?"]
        verdicts = ["pass", "pass", "pass"]
        steers = []
        sessions = 3
        turns = 3
        peak = 3
        peak-sessions = 3
        interrupted = 0
        [expect.envs.workspace]
        files = { "a.txt" = { starts-with = "h" } }
    "#;
    assert_eq!(differences(text, &each_word()), "");
}

#[test]
fn each_of_them_is_a_difference_where_it_does_not_hold() {
    let text = r#"
flow = "x"
task = "a b"
agents.agent = { reply = "yes", delay = "90s" }
[expect]
result = ["yes", "no"]
log = ["yes"]
log-contains = ["maybe"]
prompts-any-order = ["What of b?", "What of z?"]
sessions = 1
peak = { at-least = 3 }
spending = { cost = 1 }
duration = { at-most = "1m" }
files = { "a.txt" = "x" }
commands = ["ls"]
agents.agent.verdicts = ["allow"]
agents.judge.turns = 1
"#;
    assert_snapshot!(differences(text, &each_word()), @r#"
    result (line 6)
      [
        "yes",
    -   "no"
    +   "yes"
      ]
    log (line 7)
      "yes"
    + "yes"
    log-contains (line 8): of 2 there is none like these
    - contains "maybe"
      "yes"
      "yes"
    prompts-any-order (line 9)
    - "What of z?"
    + "What of a?"
    sessions (line 10): it is 2, and 1 is wanted
    peak (line 11): it is 2, and at least 3 is wanted
    spending.cost (line 12): it is 0, and 1 is wanted
    duration (line 13): it is 1m30s, and at most 1m is wanted
    files.a.txt (line 14): there is no such file
    commands (line 15)
    - "ls"
    agents.agent.verdicts (line 16)
    - "allow"
    agents.judge.turns (line 17): the scenario has no agent judge
    "#);
    let text = "flow = \"x\"\nagents.agent.reply = { fail = \"no\", fault = \"hung\" }\ntask = \"a\"\n";
    assert_snapshot!(differences(text, &each_word()), @"result: the flow failed (harness, hung): no");
    assert_snapshot!(differences(&format!("{text}expect.result = []"), &each_word()), @"
    result (line 4): the flow failed: no
    - []
    ");
    let text = "flow = \"x\"\nagents.agent.reply = \"a\"\ntask = \"a\"\nexpect.error = \"failed\"\n";
    assert_snapshot!(differences(text, &each_word()), @r#"error (line 4): the flow did not fail; it answered ["a"]"#);
    let text =
        "flow = \"x\"\nagents.agent.reply = \"a\"\ntask = \"a\"\nexpect.result-like = [{ \"$matches\" = \"b\" }]\n";
    assert_snapshot!(differences(text, &each_word()), @r#"result-like (line 4): [0]: what matches "b" is wanted, and it is "a""#);
}

#[test]
fn an_update_makes_what_was_exact_right() {
    let text = "flow = \"x\"\ntask = \"a b\"\nagents.agent.reply = \"yes\"\n\n[expect] # all\nresult = []\nlog = [\"no\"]\nsessions = 7\nduration = \"1s\"\n";
    let case = read(text);
    let all = compare(&case.expected, &play(&case, &each_word()));
    let changes: Vec<_> = all.iter().filter_map(|difference| Change::of(case.place, difference)).collect();
    assert_eq!(changes.len(), 4);
    let updated = update(text, &changes).unwrap();
    assert_eq!(differences(&updated, &each_word()), "");
    assert_snapshot!(updated, @r#"
    flow = "x"
    task = "a b"
    agents.agent.reply = "yes"

    [expect] # all
    result = ["yes", "yes"]
    log = ["yes", "yes"]
    sessions = 2
    duration = "0s"
    "#);
}

#[test]
fn a_scenario_counts_before_the_base_of_its_file() {
    let text = r#"
        flow = "x"
        task = "a"
        [agents.agent]
        reply = "base"
        delay = "1s"
        [envs.workspace.files]
        one = "1"
        two = "2"
        [expect]
        result = ["base"]
        duration = "1s"
        [[scenario]]
        name = "as the base"
        [[scenario]]
        name = "another reply and file"
        agents.agent.reply = "own"
        envs.workspace.files.two = "II"
        expect.result-like = [{ "$is" = "own" }]
        expect.files = { one = "1", two = "II" }
        [[scenario]]
        name = "a failure in the place of an answer"
        agents.agent.reply = { fail = "no" }
        expect.error = { kind = "harness", fault = "other", message = "no" }
    "#;
    let file = ScenarioFile::read(Path::new("x.test.toml"), text.to_owned()).unwrap();
    assert_eq!(file.cases.len(), 3);
    for case in &file.cases {
        let all = compare(&case.expected, &play(case, &each_word()));
        assert!(all.is_empty(), "{}: {}", case.name, all[0]);
    }
}

/// The refusal of a file, with its line and hint.
fn refusal(text: &str) -> String {
    let problem = ScenarioFile::read(Path::new("x.test.toml"), text.to_owned()).unwrap_err();
    format!("{problem}\n{}", problem.hint.as_deref().unwrap_or_default())
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line_and_key() {
    let base = "flow = \"x\"\n";
    let all = [
        "",
        "flow = 1",
        "flow = \"x",
        "flow = \"x\"\ntusk = \"a\"",
        "flow = \"x\"\n[agents.agent]\nreply = { txt = \"a\" }",
        "flow = \"x\"\n[agents.agent]\nreply = { text = \"a\", fail = \"b\" }",
        "flow = \"x\"\n[agents.agent]\nreply = { fail = \"b\", fault = \"throtled\" }",
        "flow = \"x\"\n[agents.agent]\ndelay = 10",
        "flow = \"x\"\n[agents.agent]\ncapabilities = [\"stear\"]",
        "flow = \"x\"\n[[agents.agent.when]]\ncontains = \"a\"\nmatches = \"b\"\nreply = \"c\"",
        "flow = \"x\"\n[[agents.agent.when]]\nmatches = \"(\"\nreply = \"c\"",
        "flow = \"x\"\n[agents.agent]\noccasions = [\n  { moment = \"questoin\" },\n]",
        "flow = \"x\"\n[[envs.workspace.commands]]\nargv = \"ls\"",
        "flow = \"x\"\n[envs.workspace]\nfiles = { \"../a\" = \"b\" }",
        "flow = \"x\"\n[envs.workspace]\nfolder = \"nowhere\"",
        "flow = \"x\"\n[limits]\nmemroy = \"1GiB\"",
        "flow = \"x\"\n[budget]\nturns = -1",
        "flow = \"x\"\n[expect]\nresult = 1\nerror = \"failed\"",
        "flow = \"x\"\n[expect]\nerror = \"fialed\"",
        "flow = \"x\"\n[expect]\nsessions = \"many\"",
        "flow = \"x\"\n[[scenario]]\ntask = \"a\"",
        "flow = \"x\"\n[[scenario]]\nname = \"a\"\n[[scenario]]\nname = \"a\"",
        "flow = \"x\"\nat-once = 0",
    ];
    let said: Vec<String> = all.iter().map(|text| refusal(text)).collect();
    assert_snapshot!(said.join("\n"), @r#"
    1: flow: nothing is said
    flow = "NAME", or the path of a component from this file
    1: flow: it is a whole number, and a string is wanted

    1: not TOML: invalid basic string, expected `"`

    2: tusk: there is no such key
    Did you mean task?
    3: agents.agent.reply.txt: there is no such key
    Did you mean text?
    3: agents.agent.reply: not one reply
    A reply is a string, or a table with text, value, json, fail or never = true
    3: agents.agent.reply.fault: "throtled" is no fault
    Did you mean throttled?
    3: agents.agent.delay: a time has a unit, such as "10s" or "10ms"

    3: agents.agent.capabilities: no capability is called stear
    Did you mean steer?
    4: agents.agent.when[0]: contains and matches do not go together
    Leave one out
    3: agents.agent.when[0].matches: not a regular expression: error: unclosed group

    4: agents.agent.occasions[0].moment: "questoin" is no moment
    Did you mean question?
    3: envs.workspace.commands[0].argv: it is a string, and a list is wanted

    3: envs.workspace.files.../a: a file's path is from its environment, and stays in it

    3: envs.workspace.folder: nowhere: No such file or directory (os error 2)

    3: limits.memroy: there is no such limit
    Did you mean memory?
    3: budget.turns: -1 is less than nothing

    4: expect: result and error do not go together
    Leave one out
    3: expect.error: "fialed" is no kind of error
    Did you mean failed?
    3: expect.sessions: many: not a whole number, such as 50, 200k or 1.5m

    2: scenario[0]: it has no name
    name = "…", which is what a report says
    4: scenario[1].name: line 2 has the same

    2: at-once: no turn could ever go
    "#);
    assert!(ScenarioFile::read(Path::new("x.test.toml"), base.to_owned()).is_ok());
}

#[test]
fn a_flow_that_waits_for_what_never_comes_is_found_out_at_once() {
    let began = Instant::now();
    let said = differences("flow = \"x\"\ntask = \"a\"\nagents.agent.reply = { never = true }", &each_word());
    assert_snapshot!(said, @r#"end: the flow never returns; still going: turn t1, asked "What of a?""#);
    let nothing = flow(|_, _| async { std::future::pending().await });
    assert_snapshot!(differences("flow = \"x\"\nagents.agent.reply = \"a\"", &nothing), @"end: the flow never returns; no turn and no command is going");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_flow_that_goes_on_for_ever_is_stopped_for_the_time_it_takes_on_the_machine() {
    let forever = flow(|branch, _| async move {
        loop {
            ask(&branch, "again".into()).await?;
        }
    });
    let scenario = Scenario::new(forever).agent("agent", |_| Fake::new()).real_time(Duration::from_millis(200));
    let outcome = scenario.play().unwrap();
    assert_eq!(outcome.result, Err(Error::stopped()));
    assert_eq!(outcome.stuck.as_deref(), Some("it took more than 200ms on this machine"));
}

#[test]
fn a_year_of_sleeps_passes_in_no_time_and_in_order() {
    let began = Instant::now();
    let sleeps = flow(|branch, _| async move {
        let each = |days: u64| {
            let branch = branch.clone();
            async move {
                branch.sleep(Duration::from_secs(days * 86_400)).await;
                branch.log(&format!("day {days}"), LogSource::Log);
            }
        };
        join_all([300, 1, 360, 40].map(each)).await;
        Ok(json!(branch.now_ms()))
    });
    let outcome = Scenario::new(sleeps).agent("agent", |_| Fake::new()).play().unwrap();
    assert_eq!(outcome.log, ["day 1", "day 40", "day 300", "day 360"]);
    assert_eq!(outcome.took, Duration::from_secs(360 * 86_400));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn time_stands_still_while_work_goes_on_in_another_thread() {
    let works = flow(|branch, _| async move {
        let sleeping = branch.sleep(Duration::from_secs(1));
        let working = async {
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(50))).await.unwrap();
            branch.now_ms()
        };
        let began = branch.now_ms();
        let ((), worked) = tokio::join!(sleeping, working);
        Ok(json!(worked - began))
    });
    let outcome = Scenario::new(works).agent("agent", |_| Fake::new()).play().unwrap();
    assert_eq!(outcome.result, Ok(json!(0)));
    assert_eq!(outcome.took, Duration::from_secs(1));
}

#[test]
fn the_run_can_be_stopped_from_outside() {
    let text = "flow = \"x\"\ntask = \"a\"\nstopped-after = \"5m\"\nagents.agent = { reply = \"a\", delay = \"1h\" }\n";
    let more = "expect = { error = \"stopped\", interrupted = 1, duration = \"5m\" }";
    assert_eq!(differences(&format!("{text}{more}"), &each_word()), "");
}

#[test]
fn what_a_reply_writes_is_there_and_each_turn_of_a_list_is_its_own() {
    let text = r#"
        flow = "x"
        task = "a b c"
        [agents.agent]
        reply = { list = [
            { text = "one", writes = { "out/a" = "1" }, delay = "3s", cost = 1 },
            { value = { two = 2 }, delay = "2s" },
            { json = "[null]", delay = "1s", occasions = [{ moment = "question" }] },
        ], then = "fail" }
        [expect]
        result = ["one", "{\"two\":2}", "[null]"]
        files = { "out/a" = "1" }
        spending = { cost = 1 }
        duration = "3s"
        agents.agent.verdicts = ["pass"]
    "#;
    assert_eq!(differences(text, &each_word()), "");
}

#[test]
fn a_scenario_is_made_by_code_and_played_as_often_as_one_likes() {
    let scenario = Scenario::new(each_word()).task("a b").agent("agent", |clock| {
        Fake::new().reply(Said::from("yes").after(Duration::from_secs(60))).delay(clock, Duration::ZERO)
    });
    for _ in 0..2 {
        let outcome = scenario.play().unwrap();
        assert_eq!((outcome.result, outcome.sessions), (Ok(json!(["yes", "yes"])), 2));
        assert_eq!(outcome.took, Duration::from_secs(60));
    }
    let failed = scenario.agent("judge", |_| Fake::new()).play().unwrap().result.unwrap_err();
    assert_eq!(failed.kind, Kind::Requirement);
}

#[test]
fn what_is_no_flow_is_no_outcome() {
    assert!(matches!(Scenario::new("/nowhere.wasm").play(), Err(Unplayable::Unread { .. })));
    assert!(matches!(Scenario::new(&b"no component"[..]).play(), Err(Unplayable::NotAFlow { .. })));
}
