//! Playing scenarios, several at once.

use std::{
    collections::HashMap,
    num::NonZero,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use flowhost_core::run::Flow;
use flowhost_engine::Limits;
use flowhost_testing::{Case, ScenarioFile, compare};
use tokio::runtime::Runtime;

use super::{
    Ending, Played,
    watch::{Look, see},
};
use crate::{
    args::Test,
    catalog::{Catalog, Loaded},
    exit::Failure,
    refs::{self, Origin},
};

/// Those who play: each has flows, and an engine that nobody else waits for, of its own.
///
/// A scenario's time moves on when nothing can go on in its own event loop. What it waited for in an engine that others use would not
/// be seen there.
pub(super) struct Players {
    standing: PathBuf,
    /// In the place of the flows that the files name.
    flow: Option<String>,
    all: Vec<Player>,
}

impl Players {
    pub(super) fn new(standing: &Path, args: &Test) -> anyhow::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let number = args.jobs.map_or(processors, |jobs| jobs as usize).min(64);
        let all = (0..number).map(|_| Player::new()).collect::<anyhow::Result<_>>()?;
        Ok(Self { standing: standing.to_owned(), flow: args.flow.clone(), all })
    }

    /// Plays these, and gives what became of each in their order, with the files of the flows as they were then. Each is told as soon as it,
    /// and all before it, have ended.
    pub(super) fn play(
        &mut self,
        wanted: &[(&ScenarioFile, &Case)],
        mut tell: impl FnMut(&Played) -> anyhow::Result<()>,
    ) -> anyhow::Result<(Vec<Played>, Look)> {
        let next = AtomicUsize::new(0);
        let (ended, endings) = mpsc::channel();
        let (standing, flow) = (&*self.standing, self.flow.as_deref());
        let mut played = Vec::with_capacity(wanted.len());
        let mut flows = Look::new();
        thread::scope(|scope| {
            for player in self.all.iter_mut().take(wanted.len()) {
                let (next, ended) = (&next, ended.clone());
                scope.spawn(move || {
                    player.catalogs.clear();
                    while let Some((file, case)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let nth = wanted.iter().position(|(_, each)| std::ptr::eq(*each, *case));
                        let done = player.play(standing, flow, file, case);
                        if ended.send((nth, done)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(ended);
            let mut early: HashMap<usize, Played> = HashMap::new();
            for (nth, (done, files)) in endings {
                // The earliest counts: what changed since is a change.
                for (path, seen) in files {
                    flows.entry(path).or_insert(seen);
                }
                early.insert(nth.unwrap_or(usize::MAX), done);
                while let Some(done) = early.remove(&played.len()) {
                    tell(&done)?;
                    played.push(done);
                }
            }
            Ok((played, flows))
        })
    }
}

/// One thread's own.
struct Player {
    runtime: Runtime,
    /// By the limits of their engines.
    catalogs: Vec<(Limits, Catalog)>,
}

/// Held while a flow is loaded: who comes second finds it compiled in the cache.
static LOADING: Mutex<()> = Mutex::new(());

impl Player {
    fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, catalogs: Vec::new() })
    }

    fn play(&mut self, standing: &Path, flow: Option<&str>, file: &ScenarioFile, case: &Case) -> (Played, Look) {
        let began = Instant::now();
        let mut files = Look::new();
        let ending = self.ending(standing, flow, file, case, &mut files).unwrap_or_else(Ending::Refused);
        let (name, line) = (case.name.clone(), case.line);
        (Played { file: file.path.clone(), name, line, ending, real: began.elapsed() }, files)
    }

    fn ending(
        &mut self,
        standing: &Path,
        flow: Option<&str>,
        file: &ScenarioFile,
        case: &Case,
        files: &mut Look,
    ) -> Result<Ending, Failure> {
        let reference = flow.map_or_else(|| from(file, &case.flow), str::to_owned);
        let limits = case.scenario.engine_limits();
        let runtime = &self.runtime;
        let catalog = match self.catalogs.iter().position(|(has, _)| has == limits) {
            Some(at) => &self.catalogs[at].1,
            None => {
                let _within = runtime.enter();
                let catalog = Catalog::new(standing, limits.clone())?;
                self.catalogs.push((limits.clone(), catalog));
                // It was pushed just now.
                &self.catalogs[self.catalogs.len() - 1].1
            }
        };
        let mut load = |reference: &str| {
            let _alone = LOADING.lock();
            // Also where it cannot be used: whoever watches is about to mend it.
            if let Some(file) = catalog.places().file(reference) {
                files.entry(file).or_insert_with_key(|file| see(file));
            }
            runtime.block_on(catalog.load_aloud(reference))
        };
        let root = load(&reference)?;
        let mut callees = HashMap::new();
        for (name, callee) in &case.loads {
            callees.insert(name.clone(), load(&from(file, callee))?);
        }
        find_callees(&root, &mut callees, &mut load);
        let callees = callees.into_iter().map(|(name, loaded)| (name, loaded.component as _)).collect();
        let flow = root.component as std::sync::Arc<dyn Flow>;
        let outcome = case.scenario.play_on(&flow, &callees);
        let outcome = outcome.map_err(|error| Failure::refused(error.to_string()))?;
        let differences = compare(&case.expected, &outcome);
        let time: Duration = outcome.took;
        Ok(if differences.is_empty() { Ending::Passed(time) } else { Ending::Failed(differences, time) })
    }
}

/// Finds what flows declare that they load and the scenario does not name, as far as it can be found: a built-in flow means one by it.
fn find_callees(
    root: &Loaded,
    callees: &mut HashMap<String, Loaded>,
    load: &mut impl FnMut(&str) -> Result<Loaded, Failure>,
) {
    let mut todo: Vec<Loaded> = callees.values().chain([root]).cloned().collect();
    while let Some(loaded) = todo.pop() {
        for reference in &loaded.component.manifest().loads {
            if callees.contains_key(reference) {
                continue;
            }
            let meant = match loaded.origin {
                Origin::BuiltIn if !reference.starts_with(refs::BUILT_IN) => format!("{}{reference}", refs::BUILT_IN),
                _ => reference.clone(),
            };
            // What is not there its flow learns when it loads it, as in a run.
            if let Ok(found) = load(&meant) {
                callees.insert(reference.clone(), found.clone());
                todo.push(found);
            }
        }
    }
}

/// A reference as a scenario's file means it: a path is from the file.
fn from(file: &ScenarioFile, reference: &str) -> String {
    if !refs::is_path(reference) {
        return reference.to_owned();
    }
    file.path.parent().unwrap_or(Path::new("")).join(reference).display().to_string()
}
