//! The contract in every language: the scenarios of `tests/conformance` are played on the flow of each, and the table of what holds is the one that
//! is written down. `FLOWHOST_UPDATE=1` writes it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test stands in for a person")]

mod program;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use flowhost_tests::guests::CONFORMANCE;
use program::{
    Done, Place,
    building::{build, c_is_there},
    python,
};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What a scenario came to in a language: `passed`, or what was different.
type Endings = BTreeMap<String, String>;

/// A column of the table.
struct Language {
    name: &'static str,
    /// Its flow: a file, with those beside it. Rust's is compiled with the tests.
    flow: &'static str,
}

const RUST: Language = Language { name: "Rust", flow: "" };
const JAVASCRIPT: Language = Language { name: "JavaScript", flow: "js/conformance.js" };
const PYTHON: Language = Language { name: "Python", flow: "python/conformance.py" };
const C: Language = Language { name: "C", flow: "c/flow.c" };
const LANGUAGES: [&Language; 4] = [&RUST, &PYTHON, &JAVASCRIPT, &C];

/// Files that are no flow, of languages whose flows are source text: the name in the table, the file, and what is said of it.
const BROKEN: [(&str, &str, &[&str]); 3] = [
    ("a syntax error, with file and line", "syntax", &["SyntaxError", "FILE", "LINE 2"]),
    ("an import that is not there, with its file", "import", &["FILE", "nowhere"]),
    ("a module that loops while it is imported is cut: cpu-time (X2)", "loops", &["while it is described", "cpu-time"]),
];

fn folder() -> PathBuf {
    Path::new(ROOT).join("tests/conformance")
}

/// A place in which the flow of a language can be loaded as `itself`, and Rust's as `other`, with the scenarios.
fn place(language: &Language) -> Option<Place> {
    let place = Place::plain("conformance");
    let flows = place.path().join(".flowhost/flows");
    fs::create_dir_all(&flows).unwrap();
    fs::write(flows.join("other.wasm"), CONFORMANCE).unwrap();
    if language.flow.is_empty() {
        fs::write(flows.join("itself.wasm"), CONFORMANCE).unwrap();
    } else if language.flow.ends_with(".c") {
        let source = folder().join(language.flow);
        let out = flows.join("itself.wasm");
        let words = [source.parent().unwrap().to_str().unwrap(), "--out", out.to_str().unwrap()];
        if !c_is_there(&build(&place, &words)) {
            return None;
        }
    } else {
        let main = folder().join(language.flow);
        let ending = main.extension().unwrap().to_str().unwrap();
        let itself = flows.join("itself");
        fs::create_dir(&itself).unwrap();
        for entry in fs::read_dir(main.parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|each| each == ending) {
                let name = if path == main {
                    format!("flow.{ending}")
                } else {
                    path.file_name().unwrap().to_str().unwrap().to_owned()
                };
                fs::copy(&path, itself.join(name)).unwrap();
            }
        }
    }
    for scenarios in scenarios() {
        fs::copy(&scenarios, place.path().join(scenarios.file_name().unwrap())).unwrap();
    }
    Some(place)
}

/// The files of scenarios, in order.
fn scenarios() -> Vec<PathBuf> {
    let listed = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = listed.filter(|path| path.to_str().unwrap().ends_with(".test.toml")).collect();
    files.sort();
    files
}

/// Plays all scenarios, by the program. None where there is no compiler for the language.
fn play(language: &Language, data: &str) -> Option<Endings> {
    let place = place(language)?;
    let played =
        Done::of(place.program(&["test", "--json", "-f", "itself"]).env("XDG_DATA_HOME", data).output().unwrap());
    let lines = played.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut endings = Endings::new();
    for line in lines.filter(|line| line["type"] == "scenario") {
        let name = line["name"].as_str().unwrap().to_owned();
        let ending = match line["ending"].as_str().unwrap() {
            "passed" => "passed".to_owned(),
            ending => format!("{ending}: {} {}", line["message"].as_str().unwrap_or_default(), line["differences"]),
        };
        assert!(endings.insert(name.clone(), ending).is_none(), "two scenarios are called {name:?}");
    }
    assert!(!endings.is_empty(), "{}: {}", language.name, played.stderr);
    endings.extend(BROKEN.map(|(name, file, words)| (name.to_owned(), refused(language, &place, data, file, words))));
    Some(endings)
}

/// How a file that is no flow is refused.
fn refused(language: &Language, place: &Place, data: &str, file: &str, words: &[&str]) -> String {
    let main = folder().join(language.flow);
    let ending = match main.extension().and_then(|ending| ending.to_str()) {
        None | Some("c") => return "a compiler stands before the host".into(),
        Some(ending) => ending,
    };
    let name = format!("{file}.{ending}");
    fs::copy(main.with_file_name("broken").join(&name), place.path().join(&name)).unwrap();
    let reference = format!("./{name}");
    let words = words.iter().map(|word| word.replace("FILE", &name).to_lowercase());
    let command = ["exec", "-f", &reference, "--grant", "unconfined", "--limit", "cpu-time=300ms", ""];
    let done = Done::of(place.program(&command).env("XDG_DATA_HOME", data).output().unwrap());
    // `line 2` in one language, `:2:` in the other.
    let said = done.stderr.to_lowercase().replace(&format!("{name}:2:"), &format!("{name} line 2 "));
    let missing: Vec<String> = words.filter(|word| !said.contains(word.as_str())).collect();
    match (done.exit, missing.is_empty()) {
        (2, true) => "passed".into(),
        (exit, _) => format!("exit {exit}, without {missing:?}: {}", done.stderr),
    }
}

/// Why a language cannot do something, by language and scenario.
type Unsupported = BTreeMap<String, BTreeMap<String, String>>;

fn unsupported() -> Unsupported {
    let text = fs::read_to_string(folder().join("unsupported.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Holds what was played against what is said to be unsupported: a scenario that fails and is not listed is an error, and so is one that is
/// listed and passes.
fn check(language: &Language, data: &str) {
    let Some(endings) = play(language, data) else { return };
    let listed = unsupported();
    let listed = &listed[language.name];
    let mut wrong = String::new();
    for (name, ending) in &endings {
        match (ending.as_str(), listed.get(name)) {
            ("passed", Some(_)) => writeln!(wrong, "{name}: it is said to be unsupported, and passes").unwrap(),
            ("passed", None) | (_, Some(_)) => {}
            (ending, None) => writeln!(wrong, "{name}: {ending}").unwrap(),
        }
    }
    for name in listed.keys() {
        if !endings.contains_key(name) {
            writeln!(wrong, "{name}: it is said to be unsupported, and there is no such scenario").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}:\n{wrong}", language.name);
}

#[test]
fn the_contract_in_rust() {
    check(&RUST, "");
}

#[test]
fn the_contract_in_javascript() {
    check(&JAVASCRIPT, "");
}

#[test]
fn the_contract_in_python() {
    let Some(data) = python::installed() else { return };
    check(&PYTHON, data);
}

#[test]
fn the_contract_in_c() {
    check(&C, "");
}

/// The table, from the scenarios and from what is unsupported: that each cell is as it says is what the other tests here assert.
fn table() -> String {
    let unsupported = unsupported();
    let mut table = String::from(
        "# The contract in every language\n\n\
         Each cell is a scenario of [tests/conformance](../tests/conformance) that `cargo test --release --test conformance` plays on that language's flow.\n\n",
    );
    let mut reasons: Vec<String> = Vec::new();
    for file in scenarios() {
        let text = fs::read_to_string(&file).unwrap();
        let read = flowhost_testing::ScenarioFile::read(&file, text.clone())
            .unwrap_or_else(|problem| panic!("{}: {problem:?}", file.display()));
        let title = text.lines().next().unwrap().trim_start_matches("# ").trim_end_matches('.');
        table.push_str(&header(title));
        for case in read.cases {
            table.push_str(&row(&case.name, &unsupported, &mut reasons));
        }
        table.push('\n');
    }
    table.push_str(&header("Files that are no flow"));
    for (name, _, _) in BROKEN {
        table.push_str(&row(name, &unsupported, &mut reasons));
    }
    table.push('\n');
    for (place, reason) in reasons.iter().enumerate() {
        writeln!(table, "{}. {reason}", place + 1).unwrap();
    }
    table
}

fn header(title: &str) -> String {
    let names = LANGUAGES.map(|language| language.name).join(" | ");
    format!("| {title} | {names} |\n|---|{}\n", "---|".repeat(LANGUAGES.len()))
}

/// A line of the table. A reason is said once, below it.
fn row(name: &str, unsupported: &Unsupported, reasons: &mut Vec<String>) -> String {
    let cells = LANGUAGES.map(|language| match unsupported[language.name].get(name) {
        None => "yes".to_owned(),
        Some(reason) => {
            let place = reasons.iter().position(|each| each == reason).unwrap_or_else(|| {
                reasons.push(reason.clone());
                reasons.len() - 1
            });
            format!("no ({})", place + 1)
        }
    });
    format!("| {} | {} |\n", name.replace('|', "\\|"), cells.join(" | "))
}

#[test]
fn the_table_that_is_written_down_is_the_one_that_holds() {
    let page = Path::new(ROOT).join("guest-sdk/CONFORMANCE.md");
    let table = table();
    if std::env::var_os("FLOWHOST_UPDATE").is_some() {
        fs::write(&page, &table).unwrap();
    }
    let written = fs::read_to_string(&page).unwrap_or_default();
    assert_eq!(written, table, "FLOWHOST_UPDATE=1 cargo test --release --test conformance writes it");
}
