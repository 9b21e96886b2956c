//! `flowhost test`: scenarios played on fakes, and what came of them.

mod find;
mod from_run;
mod junit;
mod play;
mod report;
mod watch;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use flowhost_testing::{Change, ScenarioFile, update};

use self::report::{Report, Sums};
use crate::{
    args::Test,
    exit::{Exit, Failure},
    terminal,
};

/// Files of scenarios end so.
const EXTENSION: &str = ".test.toml";

/// A scenario that was played.
#[derive(Debug)]
struct Played {
    file: PathBuf,
    name: String,
    line: usize,
    ending: Ending,
    /// On the machine.
    real: Duration,
}

/// What became of a scenario.
#[derive(Debug)]
enum Ending {
    /// All is as it should be; this much of its time passed.
    Passed(Duration),
    /// Something is not.
    Failed(Vec<flowhost_testing::Difference>, Duration),
    /// Something was not, and is now what the file expects.
    Updated(Duration),
    /// Its flow cannot be used.
    Refused(Failure),
}

/// Plays what is asked for and reports on stdout.
pub(super) fn run(args: &Test) -> anyhow::Result<Exit> {
    let standing = std::env::current_dir().context("the directory that you stand in")?;
    if let Some(run) = &args.from_run {
        terminal::answer(&from_run::scenario(&standing, run)?)?;
        return Ok(Exit::Answered);
    }
    let mut players = play::Players::new(&standing, args)?;
    if args.watch {
        return watch::on(&standing, args, &mut players);
    }
    let done = once(&standing, args, &mut players)?;
    Ok(done.exit)
}

/// What playing all of them once came to.
struct Done {
    exit: Exit,
    /// The flows and folders that it was made of, beside the files of scenarios, as they were then.
    beside: watch::Look,
}

fn once(standing: &Path, args: &Test, players: &mut play::Players) -> anyhow::Result<Done> {
    let began = Instant::now();
    let found = find::files(standing, &args.paths)?;
    let mut files = Vec::new();
    let mut refused = Vec::new();
    for path in &found {
        match ScenarioFile::open(path) {
            Ok(file) => files.push(file),
            Err(problem) => {
                let message = format!("{}:{}: {}", find::shown(standing, path), problem.line, problem.message);
                let failure = Failure::refused(message);
                refused.push(match problem.hint {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                });
            }
        }
    }
    // What cannot be read may be what was to be tested: nothing is played before all is right.
    if let Some(last) = refused.pop() {
        refused.iter().for_each(terminal::complain);
        return Err(last.into());
    }
    let wanted = find::wanted(standing, &files, args.filter.as_deref())?;
    let mut beside = watch::look(files.iter().flat_map(|file| &file.cases).flat_map(|case| &case.folders));
    let mut report = Report::new(standing, args.json);
    let (mut played, flows) = players.play(&wanted, |played| report.scenario(played, args.update))?;
    if args.update {
        write_back(standing, &files, &mut played)?;
    }
    let sums = Sums::of(&played, began.elapsed());
    report.end(&sums)?;
    if let Some(path) = &args.junit {
        let xml = junit::report(standing, &mut played, &sums);
        fs::write(path, xml).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    }
    beside.extend(flows);
    Ok(Done { exit: sums.exit(), beside })
}

/// Puts into the files what came, where they expect something exactly. A scenario that now has what it expects is updated.
fn write_back(standing: &Path, files: &[ScenarioFile], played: &mut [Played]) -> anyhow::Result<()> {
    let mut changes: BTreeMap<PathBuf, Vec<Change>> = BTreeMap::new();
    for scenario in played {
        let Ending::Failed(differences, time) = &mut scenario.ending else { continue };
        let file = files.iter().find(|file| file.path == scenario.file);
        let place = file.and_then(|file| file.cases.iter().find(|case| case.name == scenario.name)?.place);
        let all = changes.entry(scenario.file.clone()).or_default();
        differences.retain(|difference| match Change::of(place, difference) {
            Some(change) => {
                all.push(change);
                false
            }
            None => true,
        });
        if differences.is_empty() {
            scenario.ending = Ending::Updated(*time);
        }
    }
    for (path, changes) in changes.iter().filter(|(_, changes)| !changes.is_empty()) {
        let Some(file) = files.iter().find(|file| file.path == *path) else { continue };
        let shown = find::shown(standing, path);
        let text = update(&file.text, changes).map_err(|problem| Failure::failed(format!("{shown}: {problem}")))?;
        // Beside it and then in its place: a file that is half written would be lost.
        let draft = path.with_extension("toml.new");
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
        written.map_err(|error: io::Error| Failure::failed(format!("{shown}: {error}")))?;
    }
    Ok(())
}
