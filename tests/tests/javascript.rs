//! Flows that are JavaScript files, on fakes: the runner that is in the program, under the real engine.

#![allow(clippy::unwrap_used, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "a test reads the flows that it runs")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use flowhost_agents::fake::{Fake, FakeEnv, Pattern, Said};
use flowhost_core::{
    clock::Clock,
    error::{Error, HarnessFault, Kind},
    harness::{Capabilities, Moment},
    run::Flow as _,
};
use flowhost_engine::{Component, Engine, Limits, LoadError, Runner, Source};
use flowhost_tests::{flows::FANOUT, runners::RUNNER};
use serde_json::{Value, json};
use support::*;
use tokio::sync::Barrier;
use wasmparser::{Parser, Payload};

/// A flow of `guests-js/`, with all that lies beside it.
async fn described(engine: &Engine, file: &str) -> Result<Arc<Component>, LoadError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests-js");
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        files.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap());
    }
    engine.load_source(&Runner::of(RUNNER), Source::new(file, files)).await
}

async fn flow(file: &str) -> Arc<Component> {
    described(engine(), file).await.unwrap()
}

/// Why a flow of `guests-js/` cannot be described.
fn refused(file: &str) -> String {
    runtime().block_on(async {
        match described(engine(), file).await.unwrap_err() {
            LoadError::Source(why) => why,
            other => unreachable!("{file}: {other}"),
        }
    })
}

/// A fake that can all that `lab` declares.
fn fake() -> Fake {
    let slow = Said::from("too late").after(Duration::from_secs(60));
    Fake::new()
        .can(Capabilities {
            steer: true,
            fork: true,
            goal: true,
            pure: true,
            moments: &Moment::ALL,
            ..Default::default()
        })
        .last_word()
        .when(Pattern::ends_with("slow"), slow)
        .when(Pattern::ends_with("bad"), Error::harness(HarnessFault::Other, "the CLI died mid-turn"))
}

fn ask_in(mut stage: Stage, task: &str) -> Result<Value, Error> {
    runtime().block_on(async {
        let lab = flow("lab.js").await;
        stage = stage.shelved("lab", &lab);
        stage.play(&lab, task).await
    })
}

fn ask(fake: &Fake, task: &str) -> Value {
    ask_in(Stage::new().agent("worker", fake), task).unwrap()
}

fn fails(task: &str) -> Error {
    ask_in(Stage::new().agent("worker", &fake()), task).unwrap_err()
}

fn four_files() -> FakeEnv {
    FakeEnv::new().command(["git", "ls-files", "*.py"], 0, "a.py\nb.py\nc.py\nd.py\n", "")
}

#[test]
fn every_file_gets_a_session_two_at_a_time() {
    runtime().block_on(async {
        let fanout = flow("fanout.js").await;
        for (gate, peak) in [(None, 2), (Some(4), 4)] {
            let fake = Fake::new().last_word().delay(&Clock::system(), Duration::from_millis(10));
            let params = gate.map_or(json!({}), |gate| json!({ "at-once": gate }));
            let mut stage = Stage::new().agent("agent", &fake).env("workspace", four_files()).params(params);
            let said = stage.play(&fanout, "annotate").await.unwrap();
            assert_eq!(said, json!({"a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py.", "d.py": "d.py."}));
            assert_eq!(fake.sessions().len(), 4);
            assert_eq!(fake.peak_turns(), peak, "a gate of {gate:?}");
        }
    });
}

#[test]
fn a_failed_turn_is_reported_and_the_rest_carry_on() {
    runtime().block_on(async {
        let fanout = flow("fanout.js").await;
        let died = Error::harness(HarnessFault::Other, "the CLI died mid-turn");
        let fake = Fake::new().reply("done").when(Pattern::ends_with("b.py."), died);
        let mut stage = Stage::new().agent("agent", &fake).env("workspace", four_files());
        let said = stage.play(&fanout, "annotate").await.unwrap();
        assert_eq!(said, json!({"a.py": "done", "c.py": "done", "d.py": "done"}));
        assert_eq!(stage.kept.log(), ["b.py: failed, the CLI died mid-turn"]);
    });
}

#[test]
fn the_first_failure_cancels_the_rest() {
    runtime().block_on(async {
        let first_failure = flow("first-failure.js").await;
        let died = Error::harness(HarnessFault::Other, "the CLI died mid-turn");
        let long = Said::from("late").after(Duration::from_secs(60));
        let fake =
            Fake::new().reply("done").when(Pattern::ends_with("b.py."), died).when(Pattern::ends_with("a.py."), long);
        let mut stage = Stage::new().agent("agent", &fake).env("workspace", four_files());
        let error = stage.play(&first_failure, "annotate").await.unwrap_err();
        assert_eq!(error.message, "the CLI died mid-turn");
        assert!(matches!(error.kind, Kind::Harness(_)), "{error:?}");
        assert_eq!(stage.kept.log(), ["1 failed, 0 answered, 1 cancelled"]);
        assert_eq!((fake.turns(), fake.interrupted()), (2, 1));
    });
}

#[test]
fn an_actor_and_a_reviewer_work_at_the_same_time() {
    runtime().block_on(async {
        let pair = flow("pair.js").await;
        // Neither is answered until both have been asked.
        let both = Arc::new(Barrier::new(2));
        let meets = |word: &'static str| {
            let both = both.clone();
            Fake::new().reply_with_async(move |_| {
                let both = both.clone();
                async move {
                    both.wait().await;
                    Said::from(word)
                }
            })
        };
        let (actor, reviewer) = (meets("acted"), meets("reviewed"));
        let mut stage =
            Stage::new().agent("actor", &actor).agent("reviewer", &reviewer).env("workspace", FakeEnv::new());
        let said = stage.play(&pair, "fix it").await.unwrap();
        assert_eq!(said, json!({ "actor": "acted", "reviewer": "reviewed" }));
        assert!(reviewer.prompts()[0].prompt.ends_with("\n\nfix it"));
    });
}

#[test]
fn a_flow_calls_flows_of_its_own_language_and_of_another() {
    runtime().block_on(async {
        for fanout in [flow("fanout.js").await, load(engine(), FANOUT).await] {
            let fake = Fake::new().last_word();
            let mut stage =
                Stage::new().agent("agent", &fake).env("workspace", four_files()).shelved("fanout", &fanout);
            let said = stage.play(&flow("parts.js").await, "one\n\ntwo\n").await.unwrap();
            let each = json!({"a.py": "a.py.", "b.py": "b.py.", "c.py": "c.py.", "d.py": "d.py."});
            assert_eq!(said, json!([each, each]));
            assert_eq!(fake.turns(), 8);
        }
    });
}

#[test]
fn what_a_flow_declares_is_read_without_running_it() {
    runtime().block_on(async {
        let fanout = flow("fanout.js").await;
        let manifest = fanout.manifest();
        assert_eq!(manifest.name, "fanout");
        assert_eq!(manifest.env("workspace").unwrap().capabilities, ["shell"]);
        let lab = flow("lab.js").await;
        let judge = lab.manifest().agent("judge").unwrap();
        assert_eq!((judge.optional, &judge.capabilities[..]), (true, &["question".to_owned()][..]));
        assert_eq!(flow("pair.js").await.manifest().agents.len(), 2);
        assert_eq!(flow("first-failure.js").await.manifest().name, "first-failure");
    });
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let said = refused("syntax.js");
    assert!(said.starts_with("SyntaxError: ") && said.ends_with("\n    at syntax.js:2:15"), "{said}");
    let said = refused("missing-import.js");
    assert!(said.contains(r#"missing-import.js imports "./help.js": help.js: no such file beside the flow"#), "{said}");
    let said = refused("package-import.js");
    assert!(
        said.contains(r#"package-import.js imports "node:fs": a flow imports "flowhost" and files beside it"#),
        "{said}"
    );
    let said = refused("no-such-export.js");
    assert!(said.contains("gatherAll"), "{said}");
    let said = refused("no-flow.js");
    assert!(said.contains("the file exports no flow: `export default async function (task, cx)"), "{said}");
    let said = refused("calls-at-import.js");
    assert!(said.contains("sleep is called while the file is imported: call it in the flow's function"), "{said}");
    assert!(said.contains("calls-at-import.js:4:"), "{said}");
    let said = refused("throws-at-import.js");
    assert!(said.starts_with("ReferenceError: settings is not defined\n    at port (throws-at-import.js:2:"), "{said}");
    assert!(said.contains("\n    at <main> (throws-at-import.js:5:"), "{said}");
    let said = refused("using.js");
    assert!(said.ends_with("this engine has no `using`: close it in `finally { … }`\n    at using.js:5:9"), "{said}");
    let said = refused("broken-json.js");
    assert!(said.contains("broken.json"), "{said}");
}

#[test]
fn x2_a_file_that_never_ends_is_cut_while_it_is_described() {
    let limits = Limits { cpu_time: Duration::from_millis(300), ..Limits::default() };
    let error = runtime().block_on(described(&engine_with(limits), "loops.js")).unwrap_err();
    assert!(matches!(&error, LoadError::Exceeded(why) if why.contains("cpu-time")), "{error:?}");
}

#[test]
fn a_flow_imports_what_lies_beside_it() {
    runtime().block_on(async {
        let said = Stage::new().play(&flow("neighbours.js").await, "").await.unwrap();
        assert_eq!(said, json!({ "said": "GRÜSS DICH!", "same": true }));
    });
}

#[test]
fn a_flow_knows_its_call_and_its_roles() {
    let stage = Stage::new().agent("worker", &fake()).params(json!({ "more": [1] }));
    let said = ask_in(stage, "params").unwrap();
    assert_eq!(said["params"], json!({ "more": [1], "n": 10 }), "defaults of the schema are filled in");
    assert_eq!((&said["path"], &said["spent"], &said["resumed"]), (&json!(["lab"]), &json!(0), &json!(false)));
    assert_eq!(said["left"], json!({ "cost": null, "outputTokens": null, "turns": null, "durationMs": null }));
    let said = ask(&fake(), "agent");
    assert_eq!((&said["role"], &said["can"], &said["none"]), (&json!("worker"), &json!(true), &json!(null)));
    assert_eq!(
        (&said["refused"]["name"], &said["refused"]["kind"]),
        (&json!("NotGrantedError"), &json!("not-granted"))
    );
    assert_eq!(said["empty"]["message"], "no agent fills the role judge");
}

#[test]
fn ten_thousand_turns_go_at_once() {
    for n in [1_000, 10_000] {
        // Nobody is answered until everybody has asked.
        let all = Arc::new(Barrier::new(n));
        let fake = Fake::new().reply_with_async(move |question| {
            let all = all.clone();
            async move {
                all.wait().await;
                Said::from(&*question.prompt)
            }
        });
        let fake =
            fake.can(Capabilities { steer: true, fork: true, goal: true, moments: &Moment::ALL, ..Default::default() });
        let stage = Stage::new().agent("worker", &fake).params(json!({ "n": n }));
        let said = ask_in(stage, "fan").unwrap();
        assert_eq!(said, json!({ "last": format!("t{}", n - 1), "turns": n, "distinct": n }));
        assert_eq!(fake.peak_turns(), n as u64);
    }
}

#[test]
fn s8_a_batch_keeps_failures_in_their_places_or_says_the_first() {
    let throttled = Error::harness(HarnessFault::Throttled, "slow down");
    let fake = fake().when(Pattern::ends_with("t2"), throttled);
    let stage = Stage::new().agent("worker", &fake).params(json!({ "n": 4 }));
    let said = ask_in(stage, "batch").unwrap();
    assert_eq!(said["kept"], json!(["t0", "t1", "throttled", "t3"]));
    assert_eq!((&said["first"]["kind"], &said["first"]["fault"]), (&json!("harness"), &json!("throttled")));
}

#[test]
fn s1_a_second_turn_is_refused_or_queued() {
    let said = ask(&fake().delay(&Clock::system(), Duration::from_millis(20)), "busy");
    assert_eq!((&said[0]["name"], &said[0]["fault"], &said[1]), (&json!("SessionError"), &json!("busy"), &json!("t0")));
    assert_eq!(ask(&fake(), "queue"), json!(["t0", "t1", "t2", "t3"]));
}

#[test]
fn a_turn_may_have_a_structured_answer() {
    let said = ask(&fake().when(Pattern::contains("is it"), Said::from(r#"{"good": true}"#)), "structured");
    assert_eq!(said, json!({ "value": { "good": true }, "turns": 1, "source": "made-up" }));
}

#[test]
fn handles_are_waited_for_and_steered_and_forked() {
    let fake = fake().delay(&Clock::system(), Duration::from_millis(20));
    let said = ask(&fake, "handles");
    assert_eq!((&said["before"], &said["after"], &said["texts"]), (&json!(false), &json!(true), &json!(["t0", "t0"])));
    assert!(!said["ready"].as_array().unwrap().is_empty(), "{said}");
    assert_eq!(said["nothing"], json!([]));
    let said = ask(&fake, "steer");
    assert_eq!((&said["idle"], &said["never"]), (&json!("idle"), &json!("never-ran")));
    assert_eq!((&said["fork"], &said["apart"]), (&json!("t1"), &json!(true)));
    assert_eq!(fake.steers().len(), 1);
}

#[test]
fn an_objective_is_pursued() {
    let met = Pattern::starts_with("Has this objective been met");
    let said = ask(&fake().when(met, Said::from(json!({ "met": true }))), "pursue");
    assert_eq!(said["turns"], 2, "{said}");
}

#[test]
fn a_watch_blocks_a_tool_and_its_occasions_are_answered_once() {
    let asking = fake().asks(Moment::PreToolUse, json!({ "tool": "bash" }));
    let said = ask(&asking, "watch");
    let seen = json!([["pre-tool-use", { "tool": "bash" }, "string"], "idle"]);
    assert_eq!((&said["seen"], &said["guard"]), (&seen, &json!("closed")), "{said}");
    assert!(format!("{:?}", asking.verdicts()).contains("not here"), "{:?}", asking.verdicts());
    ask(&asking, "unanswered");
    assert_eq!(asking.verdicts().len(), 2);
}

#[test]
fn s7_a_signal_a_timeout_and_a_handle_interrupt_the_turn_and_the_session_goes_on() {
    let fake = fake();
    let said = ask(&fake, "abort");
    assert_eq!(said["first"]["name"], "AbortError");
    assert_eq!(
        (&said["next"], &said["gone"], &said["late"], &said["after"]),
        (&json!("t1"), &json!("AbortError"), &json!("TimeoutError"), &json!("t3"))
    );
    assert_eq!(fake.interrupted(), 2);
    assert_eq!(ask(&fake, "cancel"), json!({ "turn": "interrupted", "next": "t1" }));
    let said = ask(&fake, "timeout");
    assert_eq!(said["late"], json!({ "name": "TimeoutError", "message": "not done within 10 ms" }));
    assert_eq!((&said["inTime"], &said["race"]), (&json!("t1"), &json!("the clock")));
    assert_eq!(fake.going_turns(), 0);
}

#[test]
fn a_group_cancels_the_rest_and_gather_keeps_all() {
    let fake = fake();
    let said = ask(&fake, "group");
    assert_eq!((&said["all"], &said["failed"], &said["none"]), (&json!(["a", "b", "c"]), &json!(true), &json!([])));
    assert_eq!((&said["answered"], &said["cancelled"]), (&json!(1), &json!(2)));
    assert_eq!(said["errors"][0]["message"], "the CLI died mid-turn");
    let said = ask(&fake.delay(&Clock::system(), Duration::from_millis(3)), "gather");
    assert_eq!(said["said"], json!(["t0", "t1", "t2", "t3", "odd one", "t5", "t6", "t7", "t8"]));
    assert_eq!((&said["peak"], &said["none"]), (&json!(3), &json!([])));
}

#[test]
fn files_and_commands_of_an_environment() {
    let env = FakeEnv::new().command(["printf", "hi"], 0, "hi", "");
    let said = ask_in(Stage::new().agent("worker", &fake()).env("workspace", env), "env").unwrap();
    assert_eq!(
        (&said["text"], &said["bytes"], &said["range"]),
        (&json!("grüße!"), &json!([0x63, 0xe9]), &json!([0xe9]))
    );
    assert_eq!(said["notText"]["message"], "raw is not UTF-8 text");
    assert_eq!((&said["missing"]["kind"], &said["missing"]["fault"]), (&json!("env"), &json!("not-found")));
    assert_eq!(said["stat"], json!({ "path": "raw", "kind": "file", "size": 2 }));
    assert_eq!(said["found"], json!(["notes/ü.txt"]));
    assert_eq!(
        said["ran"],
        json!({ "status": 0, "stdout": "hi", "stderr": "", "truncated": false, "success": true, "bytes": 2 })
    );
    assert_eq!(said["unknown"], 127);
    assert!(said["checked"]["message"].as_str().unwrap().starts_with("`nonsense` ended with status 127"), "{said}");
    assert_eq!(said["removed"]["fault"], "not-found");
}

#[test]
fn flows_are_called_started_cancelled_and_fail_as_they_raised() {
    let said = ask(&fake(), "call");
    assert_eq!((&said["name"], &said["path"]), (&json!("lab"), &json!(["lab", "lab"])));
    assert_eq!(
        (&said["started"], &said["ready"], &said["stopped"]),
        (&json!("slept"), &json!([1]), &json!("interrupted"))
    );
    let raised = json!({ "name": "HarnessError", "kind": "harness", "fault": "throttled", "message": "slow down", "retryAfterMs": 1500 });
    assert_eq!(said["raised"], raised);
    assert_eq!(said["threw"]["kind"], "failed");
    assert!(said["threw"]["message"].as_str().unwrap().contains("(lab.js:"), "{said}");
    assert_eq!(
        (&said["nowhere"]["fault"], &said["undeclared"]["kind"]),
        (&json!("not-found"), &json!("not-granted")),
        "{said}"
    );
    assert_eq!(said["unmet"]["kind"], "requirement");
}

#[test]
fn what_nobody_caught_is_said_with_the_authors_own_places() {
    let error = fails("throw");
    assert!(matches!(error.kind, Kind::Failed), "{error:?}");
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("guests-js/lab.js")).unwrap();
    let line = source.lines().position(|line| line.contains("settings.port")).unwrap() + 1;
    assert!(error.message.starts_with("TypeError: "), "{}", error.message);
    assert!(error.message.contains(&format!("\n    at throw (lab.js:{line}:")), "{}", error.message);
    assert!(!error.message.contains("flowhost:") && !error.message.contains("native"), "{}", error.message);
    let error = fails("throwElsewhere");
    assert!(error.message.contains("\n    at fails (shout.js:6:"), "{}", error.message);
    assert_eq!(fails("throwString").message, r#""words" was thrown"#);
    let error = fails("uncaughtTurn");
    assert!(matches!(error.kind, Kind::Harness(_)), "{error:?}");
    assert_eq!(error.message, "the CLI died mid-turn");
    assert_eq!(fails("nonsense").message, "the lab has no nonsense");
    let said = ask(&fake(), "stack");
    let line = source.lines().position(|line| line.contains("const error = await cx.agent")).unwrap() + 1;
    assert_eq!(said["known"], true);
    assert!(said["stack"].as_str().unwrap().contains(&format!("at stack (lab.js:{line}:")), "{said}");
}

#[test]
fn an_argument_of_the_wrong_type_is_a_type_error_and_never_a_trap() {
    let said = ask(&fake(), "types");
    for (at, said) in said.as_array().unwrap().iter().enumerate() {
        assert!(said.as_str().unwrap().starts_with("TypeError: "), "{at}: {said}");
    }
    assert_eq!(said[0], "TypeError: a prompt must be a string, not 42");
    assert_eq!(
        said[1],
        r#"TypeError: session.run has no option "schemas"; it has signal, schema, budget, expectedCost"#
    );
    assert_eq!(said[3], r#"TypeError: grace must be one of "finish" "cut", not "soon""#);
}

#[test]
fn unicode_and_large_answers_cross_whole() {
    let mut stage = Stage::new().agent("worker", &fake());
    runtime().block_on(async {
        let lab = flow("lab.js").await;
        let said = stage.play(&lab, "unicode").await.unwrap();
        assert_eq!(said, json!({ "said": "\u{fffd}", "kept": "naïve 👍 日本" }));
        assert_eq!(stage.kept.log(), ["torn \u{fffd} { ü: [\"👍\", null] }"]);
    });
    let said = ask(&fake(), "large");
    assert_eq!(said.as_str().unwrap().len(), 5_000_000);
}

#[test]
fn recursion_without_end_is_an_error() {
    for task in ["deep", "deepMap"] {
        let error = fails(task);
        assert!(matches!(error.kind, Kind::Failed), "{task}: {error:?}");
        assert!(error.message.contains("recursive"), "{task}: {}", error.message);
        assert!(error.message.contains("lab.js"), "{task}: {}", error.message);
    }
    for way in [
        "replace",
        "sort",
        "json",
        "revive",
        "getter",
        "proxy",
        "construct",
        "spread",
        "reduce",
        "apply",
        "text",
        "from",
        "species",
        "eval",
    ] {
        let stage = Stage::new().agent("worker", &fake()).params(json!({ "way": way }));
        let error = ask_in(stage, "deepNative").unwrap_err();
        assert!(error.message.contains("recursive"), "{way}: {error:?}");
    }
    assert_eq!(ask(&fake(), "deepData").to_string().len(), 2 * 101);
}

#[test]
fn what_people_expect_of_an_engine_is_there() {
    let mut stage = Stage::new().agent("worker", &fake());
    let said = runtime().block_on(async { stage.play(&flow("lab.js").await, "globals").await.unwrap() });
    assert_eq!(said["order"], json!(["now", "microtask", "timeout"]));
    for what in ["intervals", "cloned", "time"] {
        assert_eq!(said[what], true, "{what}: {said}");
    }
    assert_eq!(
        (&said["encoded"], &said["decoded"], &said["fatal"]),
        (&json!([0xc3, 0xbc]), &json!("ü"), &json!("TypeError"))
    );
    assert_eq!((&said["any"], &said["nothing"]), (&json!("why"), &json!(["undefined", "undefined", "undefined"])));
    let log = stage.kept.log();
    assert_eq!(log[0], r#"a { b: [1, "c"] } null undefined Map(1) { 1 => Set(1) { 2 } } [function (anonymous)]"#);
    assert!(log[1].starts_with("TypeError: shown") && log[1].contains("lab.js:"), "{log:?}");
}

#[test]
fn b5_what_is_left_ends_with_the_flow_and_failures_that_nobody_heard_are_said() {
    let fake = fake();
    let mut stage = Stage::new().agent("worker", &fake);
    let said = runtime().block_on(async { stage.play(&flow("lab.js").await, "orphans").await.unwrap() });
    assert_eq!(said, "left");
    assert_eq!((fake.going_turns(), fake.open_sessions()), (0, 0));
    let log = stage.kept.log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].starts_with("a promise failed and nobody waited for it: Error: nobody hears"), "{log:?}");
}

#[test]
fn an_answer_is_what_json_has_and_an_endless_wait_is_an_error() {
    assert_eq!(ask(&fake(), "nothing"), Value::Null);
    assert!(fails("cyclic").message.starts_with("TypeError: "));
    assert!(fails("bigint").message.starts_with("TypeError: "));
    assert!(fails("stuck").message.contains("a promise that nothing is going to settle"));
}

#[test]
fn x2_a_flow_that_spins_or_hoards_is_cut() {
    let limits = Limits { cpu_time: Duration::from_millis(500), memory: 256 << 20, ..Limits::default() };
    let engine = engine_with(limits);
    for (task, limit) in [("spins", "cpu-time"), ("gigabyte", "memory")] {
        let error = runtime().block_on(async {
            let lab = described(&engine, "lab.js").await.unwrap();
            Stage::new().agent("worker", &fake()).play(&lab, task).await.unwrap_err()
        });
        assert!(error.message.contains(limit), "{task}: {error:?}");
    }
}

#[test]
fn the_engine_was_made_ready_when_the_runner_was_built() {
    let exports = |payload| match payload {
        Payload::ExportSection(exports) => exports.into_iter().map(|export| export.unwrap().name.to_owned()).collect(),
        _ => Vec::new(),
    };
    let names: Vec<String> = Parser::new(0).parse_all(RUNNER).flat_map(|payload| exports(payload.unwrap())).collect();
    assert!(names.iter().any(|name| name == "describe"), "{names:?}");
    // Once it has run it is taken away: see `Guests::prepare`.
    assert!(!names.iter().any(|name| name == "prepare"), "{names:?}");
}

/// What `flowhost.d.ts` declares: values by name, each with its methods, properties or functions.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let types = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-sdk/js/flowhost.d.ts");
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut inside = None;
    for line in std::fs::read_to_string(types).unwrap().lines() {
        let word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned();
        if let Some(name) = ["export class ", "export function ", "export namespace "]
            .iter()
            .find_map(|keyword| line.strip_prefix(keyword))
        {
            declared.entry(word(name)).or_default();
            inside = line.ends_with('{').then(|| word(name));
        } else if line == "}" {
            inside = None;
        } else if let (Some(class), Some(member)) = (&inside, line.strip_prefix("  ")) {
            let member = member.trim_start_matches("readonly ").trim_start_matches("function ");
            let member = match member.strip_prefix('[') {
                Some(symbol) => format!("[{}]", symbol.split(']').next().unwrap()),
                None => word(member),
            };
            if !["", "private", "constructor"].contains(&member.as_str()) {
                declared.get_mut(class).unwrap().insert(member);
            }
        }
    }
    declared
}

#[test]
fn the_types_for_editors_are_those_of_the_module() {
    let said = runtime().block_on(async { Stage::new().play(&flow("exports.js").await, "").await.unwrap() });
    let exported: BTreeMap<String, BTreeSet<String>> = serde_json::from_value(said).unwrap();
    let declared = declared();
    let names = |of: &BTreeMap<String, BTreeSet<String>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&declared), names(&exported));
    for (name, members) in &declared {
        // What an object has of its own, such as `message` and `fault`, is not its class's to say.
        let own = |member: &String| !exported[name].contains(member);
        let has_fields = name.ends_with("Error") || name == "Output";
        assert!(has_fields || !members.iter().any(own), "{name} declares {members:?}, and has {:?}", exported[name]);
        for member in exported[name].iter().filter(|member| !["constructor", "name"].contains(&member.as_str())) {
            assert!(members.contains(member), "{name}.{member} is not declared");
        }
    }
}

#[test]
fn the_flow_of_the_sdks_readme_does_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-sdk/js/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```js\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let source = Source::new("survey.js", [("survey.js".to_owned(), text.as_bytes().to_vec())].into());
    runtime().block_on(async {
        let survey = engine().load_source(&Runner::of(RUNNER), source).await.unwrap();
        let fake =
            Fake::new().last_word().when(Pattern::contains("bad"), Error::harness(HarnessFault::Other, "it broke"));
        let said = Stage::new().agent("agent", &fake).play(&survey, "one a\nbad b\none c").await.unwrap();
        assert_eq!(said, json!(["a", "failed, it broke", "c"]));
    });
}
