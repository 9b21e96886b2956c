//! `fake`: what it is told to do, and what it says it was asked.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::{sync::Arc, time::Duration};

use flowhost_agents::fake::{Fake, FakeEnv, Pattern, Said, Scripted, Then};
use flowhost_core::{
    clock::Clock,
    env::{Command, EntryKind, Env, EnvKind},
    error::{EnvFault, Error, HarnessFailure, HarnessFault, Kind, Limit, Result, SessionFault, SpentLimit},
    harness::{Capabilities, Conversation, Event, Harness, Moment, Open, Reply, Settings, Verdict},
    id::SessionId,
    usage::{CostSource, Usage, Usd},
};
use futures::future::join_all;
use serde_json::json;
use support::{Listener, prompt};

fn open_as(session: u32, env: &FakeEnv) -> Open {
    let settings = Arc::new(Settings::default());
    Open { session: SessionId(session), env: Arc::new(env.clone()), settings, vars: Vec::new() }
}

async fn open(fake: &Fake, session: u32) -> Box<dyn Conversation> {
    fake.open(open_as(session, &FakeEnv::new())).await.unwrap()
}

async fn ask(fake: &Fake, text: &str) -> Result<Reply> {
    open(fake, 1).await.turn(prompt(text), &Listener::new()).await
}

async fn say(fake: &Fake, text: &str) -> String {
    ask(fake, text).await.unwrap().text
}

fn died() -> Error {
    Error::harness(HarnessFault::Other, "the CLI died mid-turn")
}

fn from(text: &str) -> Fake {
    Fake::from_text(text, &Clock::driven()).unwrap()
}

#[tokio::test]
async fn it_replies_as_it_is_told() {
    assert_eq!(say(&Fake::new(), "x").await, "done");
    assert_eq!(say(&Fake::new().reply("hm"), "x").await, "hm");
    assert_eq!(say(&Fake::new().last_word(), "The file is a.py.\n").await, "a.py.");
    assert_eq!(ask(&Fake::new().reply(json!({"met": true})), "x").await.unwrap().value, Some(json!({"met": true})));
    let listed = Fake::new().replies(["a", "b"], Then::Repeat);
    assert_eq!([say(&listed, "").await, say(&listed, "").await, say(&listed, "").await], ["a", "b", "b"]);
    let listed = Fake::new().replies(["a"], Then::Fail);
    say(&listed, "").await;
    assert_eq!(ask(&listed, "").await.unwrap_err().message, "this fake has 1 answers and was asked for more");
    let function = Fake::new().reply_with(|question| format!("{} in {}", question.prompt, question.directory));
    assert_eq!(say(&function, "x").await, "x in /workspace");
    let function = Fake::new().reply_with_async(|question| async move { Ok::<_, Error>(question.turn) });
    assert_eq!(say(&function, "x").await, "t40");
}

#[tokio::test]
async fn the_first_pattern_that_fits_counts() {
    let fake = Fake::new()
        .when(Pattern::ends_with("b.py."), died())
        .when_times(2, Pattern::contains("again"), "so often")
        .when(Pattern::matches("^[0-9]+$").unwrap(), "a number")
        .when(Pattern::starts_with("12"), "never reached")
        .reply("else");
    assert_eq!(ask(&fake, "The file is b.py.").await.unwrap_err(), died());
    assert_eq!(say(&fake, "123").await, "a number");
    assert_eq!(say(&fake, "12x").await, "never reached");
    assert_eq!(
        [say(&fake, "again").await, say(&fake, "again").await, say(&fake, "again").await],
        ["so often", "so often", "else"]
    );
}

#[tokio::test]
async fn it_fails_in_every_way() {
    for kind in [
        Kind::Harness(HarnessFailure { fault: HarnessFault::Throttled, retry_after_ms: Some(5) }),
        Kind::Env(EnvFault::Denied),
        Kind::Budget(SpentLimit { limit: Limit::Cost, whose: "1".into() }),
        Kind::Stopped,
        Kind::Other,
    ] {
        let error = Error::new(kind, "why");
        assert_eq!(ask(&Fake::new().reply(error.clone()), "x").await.unwrap_err(), error);
        let refused = Fake::new().refuses_to_open(error.clone()).open(open_as(1, &FakeEnv::new())).await;
        assert_eq!(refused.err().unwrap(), error);
    }
}

#[tokio::test]
async fn it_counts_what_goes_at_once() {
    let clock = Clock::driven();
    let fake = Fake::new().last_word().delay(&clock, Duration::from_millis(10));
    let turns = (0..5).map(|session| {
        let fake = fake.clone();
        tokio::spawn(
            async move { open(&fake, session).await.turn(prompt(&session.to_string()), &Listener::new()).await },
        )
    });
    let turns: Vec<_> = turns.collect();
    while clock.sleepers() < 5 {
        tokio::task::yield_now().await;
    }
    assert_eq!((fake.going_turns(), fake.open_sessions()), (5, 5));
    clock.advance(Duration::from_millis(10));
    let said: Vec<_> = join_all(turns).await.into_iter().map(|turn| turn.unwrap().unwrap().text).collect();
    assert_eq!(said, ["0", "1", "2", "3", "4"]);
    assert_eq!((fake.turns(), fake.going_turns(), fake.peak_turns()), (5, 0, 5));
    assert_eq!((fake.open_sessions(), fake.peak_sessions(), fake.interrupted()), (0, 5, 0));
    say(&fake.clone().delay(&clock, Duration::ZERO), "x").await;
    assert_eq!((fake.turns(), fake.peak_turns()), (6, 5));
}

#[tokio::test]
async fn it_writes_down_what_it_was_asked() {
    let can = Capabilities { fork: true, resume: true, ..Capabilities::default() };
    let fake = Fake::new().can(can);
    let env = FakeEnv::at("/srv/project").file("sub/x", "");
    let mut first = fake.open(open_as(1, &env)).await.unwrap();
    first.turn(prompt("one"), &Listener::new()).await.unwrap();
    let sub = env.subdir("sub").await.unwrap();
    let mut fork = first.fork(Open { env: sub, ..open_as(2, &env) }).await.unwrap();
    fork.turn(prompt("two"), &Listener::new()).await.unwrap();
    first.close().await;
    let resumed = fake.resume(open_as(3, &env), "fake-s9").await.unwrap();
    assert_eq!(resumed.native().as_deref(), Some("fake-s9"));
    assert_eq!(fork.native().as_deref(), Some("fake-s2"));
    let asked: Vec<_> =
        fake.prompts().into_iter().map(|asked| (asked.session.0, asked.prompt, asked.directory.to_string())).collect();
    assert_eq!(asked, [(1, "one".into(), "/srv/project".into()), (2, "two".to_owned(), "/srv/project/sub".to_owned())]);
    assert_eq!(fake.forks(), [(SessionId(1), SessionId(2))]);
    assert_eq!(fake.closed(), [SessionId(1)]);
    assert_eq!(fake.sessions()[2].resumed.as_deref(), Some("fake-s9"));
    assert_eq!(fake.sessions().len(), 3);
    let silent = fake.clone().without_record();
    say(&silent, "three").await;
    assert_eq!((fake.prompts().len(), fake.turns()), (2, 3));
}

#[tokio::test]
async fn a_fork_knows_how_many_turns_were_taken() {
    let can = Capabilities { fork: true, ..Capabilities::default() };
    let fake = Fake::new().can(can).reply_with(|question| question.taken.to_string());
    let mut first = open(&fake, 1).await;
    for turn in ["0", "1"] {
        assert_eq!(first.turn(prompt("x"), &Listener::new()).await.unwrap().text, turn);
    }
    let mut fork = first.fork(open_as(2, &FakeEnv::new())).await.unwrap();
    assert_eq!(fork.turn(prompt("x"), &Listener::new()).await.unwrap().text, "2");
    let fixed = Fake::new();
    assert!(open(&fixed, 1).await.fork(open_as(2, &FakeEnv::new())).await.is_err());
}

#[tokio::test]
async fn it_spends_what_it_is_told_and_says_so_in_steps() {
    let clock = Clock::driven();
    let usage =
        Usage { output_tokens: 100, cost: Usd::from_dollars(0.6), cost_source: CostSource::MadeUp, ..Usage::default() };
    let fake = Fake::new().spends(usage).steps(4).delay(&clock, Duration::from_millis(40));
    let host = Arc::new(Listener::new());
    let (told, fake_) = (host.clone(), fake.clone());
    let turn = tokio::spawn(async move { open(&fake_, 1).await.turn(prompt("x"), &*told).await });
    let mut seen = Vec::new();
    while !turn.is_finished() {
        if clock.sleepers() > 0 {
            seen.push(host.events().len());
            clock.advance(Duration::from_millis(10));
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(turn.await.unwrap().unwrap().usage, Some(usage));
    assert_eq!(seen, [0, 1, 2, 3]);
    let costs: Vec<_> = host
        .events()
        .into_iter()
        .map(|event| if let Event::Usage { usage } = event { (usage.cost.0, usage.output_tokens) } else { panic!() })
        .collect();
    assert_eq!(costs, [(150_000_000, 25), (300_000_000, 50), (450_000_000, 75), (600_000_000, 100)]);
    // What a failed turn has spent counts too.
    let host = Listener::new();
    open(&Fake::new().reply(died()).cost(0.6), 1).await.turn(prompt("x"), &host).await.unwrap_err();
    assert!(matches!(host.events()[..], [Event::Usage { usage: Usage { cost: Usd(600_000_000), .. } }]));
    let reply = ask(&Fake::new().cost(9.0).when(Pattern::any(), Said::from("x").costing(0.1)), "x").await.unwrap();
    assert_eq!(reply.usage.unwrap().cost, Usd::from_dollars(0.1));
}

#[tokio::test]
async fn s7_it_ends_when_it_is_interrupted_unless_it_is_stubborn() {
    for said in [Said::never(), Said::from("x").after(Duration::from_secs(1))] {
        let fake = Fake::new().delay(&Clock::driven(), Duration::ZERO).reply(said);
        let host = Listener::new();
        let mut conversation = open(&fake, 1).await;
        let (result, ()) = tokio::join!(conversation.turn(prompt("x"), &host), async { host.interrupt() });
        assert_eq!(result.unwrap_err(), Error::harness(HarnessFault::Interrupted, "the turn was interrupted"));
        assert_eq!((fake.interrupted(), fake.going_turns()), (1, 0));
    }
    let fake = Fake::new().reply(Said::never()).stubborn();
    let host = Listener::new();
    host.interrupt();
    {
        let mut conversation = open(&fake, 1).await;
        let turn = conversation.turn(prompt("x"), &host);
        assert!(futures::FutureExt::now_or_never(turn).is_none());
    }
    assert_eq!((fake.interrupted(), fake.going_turns()), (1, 0));
}

#[tokio::test]
async fn s9_words_reach_it_where_it_takes_them() {
    let clock = Clock::driven();
    let can = Capabilities { steer: true, ..Capabilities::default() };
    let fake = Fake::new().last_word().delay(&clock, Duration::from_secs(1)).can(can);
    let host = Listener::new();
    host.steer("go left", true);
    let said = open(&fake, 1).await.turn(prompt("x"), &host).await.unwrap().text;
    assert_eq!((said.as_str(), fake.steers().len(), clock.elapsed()), ("left", 1, Duration::ZERO));
}

#[tokio::test]
async fn it_asks_and_does_as_it_is_told() {
    let fake = Fake::new().asks(Moment::Question, json!({"question": "which?"}));
    for (verdict, said) in [
        (Verdict::Pass, "done"),
        (Verdict::Allow, "done"),
        (Verdict::Block("no".into()), "blocked: no"),
        (Verdict::Reply("that".into()), "that"),
    ] {
        let host = Listener::with_verdict(verdict.clone());
        assert_eq!(open(&fake, 1).await.turn(prompt("x"), &host).await.unwrap().text, said);
        assert_eq!(host.asked(), [(Moment::Question, json!({"question": "which?"}))]);
        assert_eq!(fake.verdicts().last(), Some(&(SessionId(1), verdict)));
    }
}

#[tokio::test]
async fn events_of_its_own_come_before_its_answer() {
    let notice = Event::Notice { text: "retrying".into() };
    let host = Listener::new();
    open(&Fake::new().reply(Said::from("x").with(notice.clone())), 1).await.turn(prompt("x"), &host).await.unwrap();
    assert_eq!(host.events(), [notice]);
}

#[tokio::test]
async fn a_fake_is_read_from_text() {
    assert_eq!(say(&from("hello there"), "x").await, "hello there");
    assert_eq!(say(&from("{}"), "x").await, "done");
    let fake = from(
        r#"{"reply":{"echo":"last-word"},"cost":0.6,"output-tokens":7,"capabilities":["steer","pre-tool-use"],"name":"claude",
            "fail":[{"ends-with":"b.py.","message":"the CLI died mid-turn"},
                    {"contains":"slow","message":"later","fault":"throttled","retry-after-ms":9,"times":1},
                    {"contains":"spent","error":{"kind":"budget","fault":{"limit":"cost","whose":"1"},"message":"no"}}],
            "when":[{"contains":"judge","reply":{"value":{"met":true}},"cost":0.1}]}"#,
    );
    assert_eq!(fake.name(), "claude");
    let can = fake.capabilities();
    assert_eq!((can.names(), can.pure, can.spends), (vec!["steer", "pre-tool-use"], true, false));
    let reply = ask(&fake, "The file is a.py.").await.unwrap();
    let usage = reply.usage.unwrap();
    assert_eq!((reply.text.as_str(), usage.cost, usage.output_tokens), ("a.py.", Usd::from_dollars(0.6), 7));
    assert_eq!(usage.cost_source, CostSource::MadeUp);
    assert_eq!(ask(&fake, "The file is b.py.").await.unwrap_err(), died());
    let throttled = HarnessFailure { fault: HarnessFault::Throttled, retry_after_ms: Some(9) };
    assert_eq!(ask(&fake, "slow").await.unwrap_err(), Error::new(Kind::Harness(throttled), "later"));
    assert_eq!(say(&fake, "slow").await, "slow");
    assert!(matches!(ask(&fake, "spent").await.unwrap_err().kind, Kind::Budget(_)));
    let reply = ask(&fake, "judge").await.unwrap();
    assert_eq!((reply.value, reply.usage.unwrap().cost), (Some(json!({"met": true})), Usd::from_dollars(0.1)));
    let listed = from(r#"{"reply":{"list":["a","b"],"then":"fail"},"pure":false}"#);
    assert_eq!([say(&listed, "").await, say(&listed, "").await], ["a", "b"]);
    assert!(ask(&listed, "").await.is_err() && !listed.capabilities().pure);
    let host = Listener::with_verdict(Verdict::Block("no".into()));
    let asks = from(r#"{"occasions":[{"moment":"question"}]}"#);
    assert_eq!(open(&asks, 1).await.turn(prompt("x"), &host).await.unwrap().text, "blocked: no");
}

#[test]
fn text_that_cannot_be_read_says_why() {
    for (text, why) in [
        ("{", "fake:{: EOF while parsing an object at line 1 column 1"),
        (r#"{"dalay-ms":1}"#, "unknown field `dalay-ms`"),
        (r#"{"delay-ms":-1}"#, "-1: not a number of milliseconds"),
        (r#"{"reply":7}"#, "7: a reply is a string or {\"value\": JSON}"),
        (r#"{"fail":[{"contains":"x"}]}"#, "an entry of fail has a message, or an error"),
        (r#"{"fail":[{"message":"m","fault":"odd"}]}"#, "unknown variant `odd`"),
        (r#"{"when":[{"contains":"x"}]}"#, "an entry of when has a reply, or is never answered"),
        (r#"{"when":[{"contains":"x","ends-with":"y","reply":"z"}]}"#, "an entry has one of contains"),
        (r#"{"when":[{"matches":"(","reply":"z"}]}"#, "regex parse error"),
        (r#"{"capabilities":["fly"]}"#, "no capability is called fly"),
    ] {
        let refusal = Fake::from_text(text, &Clock::driven()).unwrap_err();
        assert!(refusal.message.contains(why), "{refusal}");
    }
}

#[tokio::test]
async fn a_fake_environment_has_files_and_a_table_of_commands() {
    let env = FakeEnv::new().file("a.py", "x").command(["git", "ls-files", "*.py"], 0, "a.py\n", "");
    let run = |argv: &[&str]| {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        env.exec(Command { argv, ..Command::default() })
    };
    let output = run(&["git", "ls-files", "*.py"]).await.unwrap();
    assert_eq!((output.status, output.stdout), (0, b"a.py\n".to_vec()));
    let output = run(&["git", "status"]).await.unwrap();
    assert_eq!((output.status, output.stderr), (127, b"git: command not found\n".to_vec()));
    assert_eq!(env.commands().len(), 2);
    let keep =
        Command { argv: vec!["git".into(), "ls-files".into(), "*.py".into()], keep: Some(2), ..Command::default() };
    let output = env.exec(keep.clone()).await.unwrap();
    assert_eq!((output.stdout, output.truncated), (b"a.".to_vec(), true));
    let slow = env.clone().delay(&Clock::system(), Duration::from_secs(60));
    let error = slow.exec(Command { timeout: Some(Duration::from_millis(1)), ..keep }).await.unwrap_err();
    assert_eq!(error.kind, Kind::Env(EnvFault::TimedOut));
}

#[tokio::test]
async fn the_files_of_a_fake_environment_are_as_those_of_a_machine() {
    let env = FakeEnv::new().file("src/a.py", "one");
    env.write("src/deep/b.py", b"two".to_vec()).await.unwrap();
    env.append("src/a.py", b" more".to_vec()).await.unwrap();
    env.append("c.txt", b"new".to_vec()).await.unwrap();
    assert_eq!(env.read("/workspace/src/a.py", None).await.unwrap(), b"one more");
    assert_eq!(env.read("src/./deep/../a.py", Some((4, 3))).await.unwrap(), b"mor");
    assert_eq!(env.read("src/a.py", Some((99, 3))).await.unwrap(), b"");
    assert_eq!(env.stat("src").await.unwrap().kind, EntryKind::Directory);
    assert_eq!(env.stat("src/a.py").await.unwrap().size, 8);
    let found = |below: &'static str, glob: &'static str| {
        let env = env.clone();
        async move { env.find(below, glob).await.unwrap().into_iter().map(|entry| entry.path).collect::<Vec<_>>() }
    };
    assert_eq!(found(".", "*").await, ["c.txt", "src"]);
    assert_eq!(found(".", "**/*.py").await, ["src/a.py", "src/deep/b.py"]);
    assert_eq!(found("src", "*.py").await, ["src/a.py"]);
    for (kind, result) in [
        (EnvFault::NotFound, env.read("no", None).await.map(drop)),
        (EnvFault::Outside, env.read("../x", None).await.map(drop)),
        (EnvFault::Outside, env.write("/etc/passwd", Vec::new()).await),
        (EnvFault::Other, env.write("src", Vec::new()).await),
        (EnvFault::Other, env.write("c.txt/x", Vec::new()).await),
        (EnvFault::Conflict, env.make_dir("c.txt").await),
        (EnvFault::Denied, env.remove(".").await),
        (EnvFault::NotFound, env.remove("no").await),
        (EnvFault::NotStarted, env.spawn(Default::default()).await.map(drop)),
    ] {
        assert_eq!(result.unwrap_err().kind, Kind::Env(kind));
    }
    env.make_dir("empty/dir").await.unwrap();
    env.remove("src").await.unwrap();
    assert_eq!(found(".", "**").await, ["c.txt", "empty", "empty/dir"]);
}

#[tokio::test]
async fn s5_a_directory_that_is_not_there_or_not_inside_is_refused_in_its_words() {
    let env = FakeEnv::at("/srv/project").file("sub/x", "");
    let sub = env.subdir("sub").await.unwrap();
    assert_eq!((sub.kind(), sub.directory()), (EnvKind::Subdir, "/srv/project/sub"));
    let refused = |message: &str| Error::session(SessionFault::RefusedDir, message);
    assert_eq!(env.subdir("no").await.unwrap_err(), refused("/srv/project/no: no directory to open a session in"));
    assert_eq!(
        env.subdir("sub/x").await.unwrap_err(),
        refused("/srv/project/sub/x: no directory to open a session in")
    );
    let outside = "/tmp/elsewhere is not inside /srv/project, which is the workspace this agent's turns land in";
    assert_eq!(env.subdir("/tmp/elsewhere").await.unwrap_err(), refused(outside));
    env.remove("sub").await.unwrap();
    assert_eq!(sub.verify().await.unwrap_err(), refused("/srv/project/sub: no directory to open a session in"));
    env.vanish();
    assert!(env.verify().await.is_err());
}

#[tokio::test]
async fn a_scripted_command_takes_its_time_fails_and_fits_so_many_times() {
    let clock = Clock::driven();
    let tests = || Scripted::line("cargo test");
    let env = FakeEnv::new()
        .delay(&clock, Duration::ZERO)
        .scripted(tests().status(101).stderr("1 failed").times(2))
        .scripted(tests().stdout("ok"))
        .scripted(Scripted::line_start("cargo publish").fails(Error::env(EnvFault::NotStarted, "no")))
        .scripted(Scripted::argv(["hang"]).never());
    let run = |line: &str, timeout| {
        let argv = line.split(' ').map(Into::into).collect();
        env.exec(Command { argv, timeout, ..Command::default() })
    };
    for status in [101, 101, 0, 0] {
        assert_eq!(run("cargo test", None).await.unwrap().status, status);
    }
    assert_eq!(run("cargo publish --dry-run", None).await.unwrap_err(), Error::env(EnvFault::NotStarted, "no"));
    let waking = async {
        tokio::task::yield_now().await;
        assert_eq!(clock.next_due(), Some(Duration::from_secs(3)));
        clock.advance(Duration::from_secs(3));
    };
    let (late, ()) = tokio::join!(run("hang", Some(Duration::from_secs(3))), waking);
    assert_eq!(late.unwrap_err(), Error::env(EnvFault::TimedOut, "hang took longer than 3000 ms"));
}

#[tokio::test]
async fn one_answer_may_write_files_and_ask() {
    let env = FakeEnv::new();
    let said = Said::from("written").writing("out/a.txt", "text").asking(Moment::Question, json!({ "which": 1 }));
    let fake =
        Fake::new().when(Pattern::is("write"), said).when(Pattern::is("leave"), Said::from("").writing("../x", ""));
    let mut talk = fake.open(open_as(1, &env)).await.unwrap();
    let listener = Listener::new();
    assert_eq!(talk.turn(prompt("write"), &listener).await.unwrap().text, "written");
    assert_eq!(fake.verdicts(), [(SessionId(1), Verdict::Pass)]);
    assert_eq!(env.files()["out/a.txt"], b"text");
    assert_eq!(talk.turn(prompt("write it"), &listener).await.unwrap().text, "done");
    let left = talk.turn(prompt("leave"), &listener).await.unwrap_err();
    assert!(matches!(left.kind, Kind::Env(EnvFault::Outside)), "{left:?}");
}
