//! `script+json:PROGRAM`, with real programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "a test looks at the machine with its own eyes")]

mod support;

use std::{sync::Arc, time::Duration};

use flowhost_agents::script::{ANSWER_LIMIT, JsonScript};
use flowhost_core::{
    error::{Error, HarnessFailure, HarnessFault, Kind},
    harness::{Conversation, Event, Harness, Moment, Prompt, Verdict},
    usage::{CostSource, Usd},
};
use serde_json::json;
use support::{Listener, Machine, prompt};

/// What every program below starts with.
const PRELUDE: &str = "
import json, os, signal, sys, time
def say(type, **fields):
    print(json.dumps({'type': type, **fields}), flush=True)
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
";

async fn open(machine: &Arc<Machine>, program: &str) -> Box<dyn Conversation> {
    let argv = machine.python(&format!("{PRELUDE}{program}"));
    JsonScript::new(argv).open(machine.open()).await.unwrap()
}

fn fault(error: &Error) -> HarnessFault {
    match error.kind {
        Kind::Harness(HarnessFailure { fault, .. }) => fault,
        ref other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_program_is_held_for_all_turns_of_a_session() {
    let machine = Machine::new();
    let program = "
say('hello', capabilities=[])
for turn in range(9):
    told = hear()
    say('answer', text=f\"{os.getpid()} {turn} {told['id']} {told['text']} {os.environ['FLOWHOST_SESSION']} {os.environ['FLOWHOST_TURN']}\")
";
    let mut conversation = open(&machine, program).await;
    let mut pids = Vec::new();
    for turn in 0..3 {
        let host = Listener::new();
        let id = format!("t{turn}");
        let reply = conversation.turn(Prompt { id: &id, text: "x\ny", schema: None }, &host).await.unwrap();
        let (pid, rest) = reply.text.split_once(' ').unwrap();
        assert_eq!(rest, format!("{turn} t{turn} x\ny s7 t0"));
        assert_eq!(host.events(), [Event::Text { text: reply.text.clone() }]);
        pids.push(pid.to_owned());
    }
    assert!(pids[0] == pids[1] && pids[1] == pids[2], "{pids:?}");
    conversation.close().await;
}

#[tokio::test]
async fn what_it_says_meanwhile_is_passed_on() {
    let (machine, host) = (Machine::new(), Listener::new());
    let program = "
told = hear()
say('text', text='hm')
say('thinking', text='well')
say('tool-start', tool=1, name='Read')
say('tool-end', tool=1, ok=False)
say('usage', **{'input-tokens': 5, 'output-tokens': 7, 'cost': 0.25})
say('answer', value={'got': told['schema']}, id=told['id'])
";
    let mut conversation = open(&machine, program).await;
    let schema = json!({"type": "object"});
    let reply = conversation.turn(Prompt { schema: Some(&schema), ..prompt("x") }, &host).await.unwrap();
    assert_eq!(reply.value, Some(json!({"got": {"type": "object"}})));
    assert_eq!(reply.text, r#"{"got":{"type":"object"}}"#);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost), (5, 7, Usd::from_dollars(0.25)));
    assert_eq!(usage.cost_source, CostSource::Reported);
    let expected = [
        Event::Text { text: "hm".into() },
        Event::Thinking { text: "well".into() },
        Event::ToolStart { tool: "1".into(), name: "Read".into(), label: "Read".into() },
        Event::ToolEnd { tool: "1".into(), ok: false },
        Event::Usage { usage },
        Event::Text { text: reply.text },
    ];
    assert_eq!(host.events(), expected);
}

#[tokio::test]
async fn an_error_ends_the_turn_and_not_the_program() {
    let machine = Machine::new();
    let program = "
hear(); say('error', message='slow down', fault='throttled', **{'retry-after-ms': 500})
hear(); say('answer', text='same')
";
    let mut conversation = open(&machine, program).await;
    let host = Listener::new();
    let error = conversation.turn(prompt("x"), &host).await.unwrap_err();
    let failure = HarnessFailure { fault: HarnessFault::Throttled, retry_after_ms: Some(500) };
    assert_eq!(error, Error::new(Kind::Harness(failure), "slow down"));
    assert_eq!(conversation.turn(prompt("x"), &host).await.unwrap().text, "same");
    assert!(host.notices().is_empty());
}

#[tokio::test]
async fn words_reach_a_turn_where_its_program_says_that_it_takes_them() {
    let machine = Machine::new();
    let program = "
say('hello', capabilities=['steer'])
hear()
say('text', text='ready')
say('answer', text=json.dumps([hear(), hear()]))
";
    let mut conversation = open(&machine, program).await;
    let host = Listener::new();
    let (reply, ()) = tokio::join!(conversation.turn(prompt("x"), &host), async {
        host.steer("left", false);
        host.steer("no, right", true);
    });
    let heard: serde_json::Value = serde_json::from_str(&reply.unwrap().text).unwrap();
    assert_eq!(
        heard,
        json!([
            {"type": "steer", "text": "left", "mode": "queued"},
            {"type": "steer", "text": "no, right", "mode": "interrupting"}
        ])
    );
}

#[tokio::test]
async fn words_for_a_program_that_does_not_take_them_are_said_to_be_lost() {
    let (machine, host) = (Machine::new(), Listener::new());
    let program = "
hear()
say('text', text='ready')
while not os.path.exists('go'): time.sleep(0.01)
say('answer', text='done')
";
    let mut conversation = open(&machine, program).await;
    host.steer("left", false);
    let (reply, ()) = tokio::join!(conversation.turn(prompt("x"), &host), async {
        host.happened(|event| matches!(event, Event::Notice { .. })).await;
        machine.write("go", "");
    });
    reply.unwrap();
    assert_eq!(host.notices(), ["env does not take words into a turn: its hello does not say steer"]);
}

#[tokio::test]
async fn s7_a_program_that_ends_its_interrupted_turn_keeps_its_session() {
    let machine = Machine::new();
    let program = "
while True:
    told = hear()
    if told['text'] == 'stay':
        say('text', text='staying')
        assert hear()['type'] == 'interrupt'
    say('answer', text=str(os.getpid()))
";
    let mut conversation = open(&machine, program).await;
    let first = conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text;
    let host = Listener::new();
    let (result, ()) = tokio::join!(conversation.turn(prompt("stay"), &host), async {
        host.happened(|event| matches!(event, Event::Text { .. })).await;
        host.interrupt();
    });
    assert_eq!(fault(&result.unwrap_err()), HarnessFault::Interrupted);
    assert_eq!(conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text, first);
}

#[tokio::test]
async fn s7_a_program_that_does_not_is_stopped_and_started_again() {
    let machine = Machine::new();
    let program = "
signal.signal(signal.SIGTERM, lambda *_: (open('told', 'w').write('told'), os._exit(0)))
while True:
    told = hear()
    if told['text'] == 'stay':
        say('text', text='staying')
        while True: time.sleep(1)
    say('answer', text=str(os.getpid()))
";
    let mut conversation = open(&machine, program).await;
    let first = conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text;
    let host = Listener::new();
    let (result, ()) = tokio::join!(conversation.turn(prompt("stay"), &host), async {
        host.happened(|event| matches!(event, Event::Text { .. })).await;
        host.interrupt();
    });
    assert_eq!(fault(&result.unwrap_err()), HarnessFault::Interrupted);
    assert_eq!(machine.read("told").as_deref(), Some("told"));
    let host = Listener::new();
    assert_ne!(conversation.turn(prompt("x"), &host).await.unwrap().text, first);
    assert_eq!(host.notices(), ["env was started again: what it knew of this session is gone"]);
}

#[tokio::test]
async fn a_program_that_ends_in_a_turn_fails_it_and_the_next_starts_it_again() {
    let machine = Machine::new();
    let program = "
while True:
    told = hear()
    if told['text'] == 'die':
        print('out of memory', file=sys.stderr)
        sys.exit(3)
    if told['text'] == 'leave':
        sys.exit(0)
    if told['text'] == 'kill':
        os.kill(os.getpid(), signal.SIGKILL)
    say('answer', text='alive')
";
    let mut conversation = open(&machine, program).await;
    for (text, fault, message) in [
        ("die", HarnessFault::Dropped, "env ended with status 3: out of memory"),
        ("kill", HarnessFault::Killed, "env was killed by signal 9"),
        ("leave", HarnessFault::Dropped, "env ended without an answer"),
    ] {
        let error = conversation.turn(prompt(text), &Listener::new()).await.unwrap_err();
        assert_eq!(error, Error::harness(fault, message));
        assert_eq!(conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text, "alive");
    }
}

#[tokio::test]
async fn a_program_may_end_after_each_answer() {
    let machine = Machine::new();
    let mut conversation = open(&machine, "say('answer', text=hear()['text'])").await;
    for text in ["a", "b", "c"] {
        assert_eq!(conversation.turn(prompt(text), &Listener::new()).await.unwrap().text, text);
    }
}

#[tokio::test]
async fn lines_that_mean_nothing_are_passed_over_up_to_a_bound() {
    let machine = Machine::new();
    let program = "
while True:
    told = hear()
    for _ in range(int(told['text'])):
        print('Traceback: \\x1b[31m')
    say('later', text='x')
    say('text')
    say('hello', capabilities=[])
    print('')
    say('answer', text='old', id='t39')
    say('answer', text='done')
";
    let mut conversation = open(&machine, program).await;
    let host = Listener::new();
    assert_eq!(conversation.turn(prompt("2"), &host).await.unwrap().text, "done");
    assert_eq!(host.notices().len(), 6, "{:?}", host.notices());
    assert!(host.notices()[5].contains("the end of another turn"));
    let error = conversation.turn(prompt("101"), &Listener::new()).await.unwrap_err();
    assert_eq!(fault(&error), HarnessFault::BadOutput);
    assert!(error.message.starts_with("env said 100 lines that mean nothing"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_read_as_the_end_of_a_turn_ends_it() {
    let machine = Machine::new();
    for (program, message) in [
        (
            "hear(); say('answer', text=7); hear()".to_owned(),
            "env said what cannot be read as the end of its turn (answer: invalid type: integer `7`, expected a string)",
        ),
        (
            format!("hear(); say('answer', text='x' * {}); hear()", ANSWER_LIMIT + 1),
            "env said a line of more than 8 MiB",
        ),
        (
            "
hear()
while True: say('text', text='x' * 4000000)"
                .to_owned(),
            "env said more than 64 MiB in one turn",
        ),
    ] {
        let error = open(&machine, &program).await.turn(prompt("x"), &Listener::new()).await.unwrap_err();
        assert_eq!(error, Error::harness(HarnessFault::BadOutput, message));
    }
}

#[tokio::test]
async fn it_may_leave_its_prompt_unread_and_flood_its_standard_error() {
    let machine = Machine::new();
    let program = "
os.write(2, b'x' * 20000000)
say('answer', text='done')
time.sleep(60)
";
    let mut conversation = open(&machine, program).await;
    let text = "x".repeat(10 << 20);
    assert_eq!(conversation.turn(prompt(&text), &Listener::new()).await.unwrap().text, "done");
    conversation.close().await;
}

#[tokio::test]
async fn a_line_from_between_two_turns_belongs_to_none() {
    let machine = Machine::new();
    let program = "
hear(); say('answer', text='one'); say('answer', text='one again'); open('said', 'w').close()
hear(); say('answer', text='two')
";
    let mut conversation = open(&machine, program).await;
    assert_eq!(conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text, "one");
    while machine.read("said").is_none() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let host = Listener::new();
    assert_eq!(conversation.turn(prompt("x"), &host).await.unwrap().text, "two");
    assert_eq!(host.notices(), ["a line from between two turns was passed over"]);
}

#[tokio::test]
async fn an_occasion_is_asked_and_its_verdict_told() {
    let machine = Machine::new();
    let program = "
hear()
say('occasion', id='a', moment='pre-tool-use', details={'tool': 'Bash'})
say('answer', text=json.dumps(hear()))
";
    let host = Listener::with_verdict(Verdict::Block("not here".into()));
    let reply = open(&machine, program).await.turn(prompt("x"), &host).await.unwrap();
    assert_eq!(host.asked(), [(Moment::PreToolUse, json!({"tool": "Bash"}))]);
    let told: serde_json::Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(told, json!({"type": "verdict", "id": "a", "verdict": "block", "text": "not here"}));
}

#[tokio::test]
async fn the_end_of_its_input_tells_it_to_end() {
    let machine = Machine::new();
    let program = "
hear(); say('answer', text='done')
sys.stdin.read()
say('text', text='x' * 1000000)
open('ended', 'w').write('in order')
";
    let mut conversation = open(&machine, program).await;
    conversation.turn(prompt("x"), &Listener::new()).await.unwrap();
    conversation.close().await;
    assert_eq!(machine.read("ended").as_deref(), Some("in order"));
}

#[tokio::test]
async fn a_program_that_stays_is_made_to_end() {
    let machine = Machine::new();
    let program = "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
hear(); say('answer', text=str(os.getpid()))
while True: time.sleep(1)
";
    let mut conversation = open(&machine, program).await;
    let pid = conversation.turn(prompt("x"), &Listener::new()).await.unwrap().text;
    conversation.close().await;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}
