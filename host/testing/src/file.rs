//! A scenario file: one scenario, or several on one base.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    agents, budget, disk, envs,
    expect::Expected,
    fields::{Field, Fields, Problem, Read},
    scenario::Scenario,
    tree::{self, Kind, Node, Table},
};

/// A file of scenarios.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// Where it is.
    pub path: PathBuf,
    /// As it was read.
    pub text: String,
    /// Its scenarios, in order.
    pub cases: Vec<Case>,
}

/// A scenario of a file.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Which `[[scenario]]` of the file it is, from 0; none for a file that is one scenario.
    pub place: Option<usize>,
    /// The flow, as the file refers to it: a name, or a path from the file.
    pub flow: String,
    /// Flows that may be loaded: the names, and what is referred to as the flow is.
    pub loads: Vec<(String, String)>,
    /// Files that it was made of beside the file itself: folders, for one who watches them.
    pub folders: Vec<PathBuf>,
    /// It, its flow taken for a path from the file.
    pub scenario: Scenario,
    /// What is to come of it.
    pub expected: Expected,
}

impl ScenarioFile {
    /// Reads a file, and the folders that it names.
    ///
    /// # Errors
    /// Where it cannot be read, or something in it is wrong: the first such thing, with its line.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        let bytes = disk::read(path).map_err(|error| Problem::new(1, error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| Problem::new(1, "not UTF-8"))?;
        Self::read(path, text)
    }

    /// Reads the text of a file that is, or would be, at `path`.
    ///
    /// # Errors
    /// Where something in it is wrong: the first such thing, with its line.
    pub fn read(path: &Path, text: String) -> Result<Self, Problem> {
        let mut base = tree::parse(&text)?;
        let scenarios = base.shift_remove("scenario");
        let mut cases = Vec::new();
        match scenarios {
            None => cases.push(case(path, &base, 1, None)?),
            Some(Node { line, kind: Kind::List(scenarios) }) => {
                if let Some(name) = base.get("name") {
                    return Err(Problem::new(name.line, "name: each [[scenario]] has its own"));
                }
                // What is wrong with the base is said once, and where there is no scenario too.
                let unnamed = [("name".to_owned(), Node { line, kind: Kind::Text("the base".into()) })];
                let mut alone = base.clone();
                alone.extend(unnamed);
                alone.entry("flow".into()).or_insert(Node { line, kind: Kind::Text("none".into()) });
                case(path, &alone, 1, None)?;
                for (place, scenario) in scenarios.iter().enumerate() {
                    let Kind::Table(own) = &scenario.kind else {
                        return Err(Problem::new(scenario.line, "scenario: a list of tables is wanted")
                            .hint("Write [[scenario]] above each"));
                    };
                    if !own.contains_key("name") {
                        return Err(Problem::new(scenario.line, format!("scenario[{place}]: it has no name"))
                            .hint("name = \"…\", which is what a report says"));
                    }
                    let read = case(path, &tree::on_base(&base, own), scenario.line, Some(place))?;
                    if let Some(before) = cases.iter().find(|before: &&Case| before.name == read.name) {
                        let message = format!("scenario[{place}].name: line {} has the same", before.line);
                        return Err(Problem::new(scenario.line, message));
                    }
                    cases.push(read);
                }
            }
            Some(other) => {
                return Err(Problem::new(other.line, "scenario: a list of tables is wanted")
                    .hint("Write [[scenario]] above each"));
            }
        }
        Ok(Self { path: path.to_owned(), text, cases })
    }
}

fn case(path: &Path, table: &Table, line: usize, place: Option<usize>) -> Read<Case> {
    let fields = Fields::new("", line, table);
    let flow = fields.maybe("flow", |flow| flow.text().map(str::to_owned))?;
    let flow = flow.ok_or_else(|| {
        fields.wrong("flow: nothing is said").hint("flow = \"NAME\", or the path of a component from this file")
    })?;
    let stem = path.file_name().unwrap_or_default().to_string_lossy();
    let name = fields.maybe("name", |name| name.text().map(str::to_owned))?;
    let name = name.unwrap_or_else(|| stem.trim_end_matches(".test.toml").to_owned());
    let mut scenario = Scenario::new(disk::beside(path, &flow));
    if let Some(task) = fields.maybe("task", Field::text)? {
        scenario = scenario.task(task);
    }
    if let Some(params) = fields.maybe("params", Field::json)? {
        scenario = scenario.params(params);
    }
    for (role, agent) in fields.maybe("agents", Field::named)?.unwrap_or_default() {
        scenario = scenario.cast(role.to_owned(), agents::read(&agent)?);
    }
    let mut folders = Vec::new();
    for (role, env) in fields.maybe("envs", Field::named)?.unwrap_or_default() {
        if let Some(folder) = env.fields()?.get("folder") {
            folders.push(disk::beside(path, folder.text()?));
        }
        scenario.envs.push((role.to_owned(), envs::read(role, &env, path)?));
    }
    let mut loads = Vec::new();
    for (reference, callee) in fields.maybe("flows", Field::named)?.unwrap_or_default() {
        loads.push((reference.to_owned(), callee.text()?.to_owned()));
        scenario = scenario.loads(reference, disk::beside(path, callee.text()?));
    }
    if let Some(limits) = fields.maybe("budget", budget::budget)? {
        scenario = scenario.budget(limits);
    }
    if let Some(limits) = fields.get("limits") {
        budget::limits(&limits, &mut scenario.limits)?;
    }
    scenario.at_once = fields.maybe("at-once", |field| match field.small()? {
        0 => Err(field.wrong("no turn could ever go")),
        turns => Ok(turns),
    })?;
    scenario.patience = fields.maybe("patience", Field::time)?;
    scenario.stop = fields.maybe("stopped-after", Field::time)?;
    if let Some(time) = fields.maybe("real-time", Field::time)? {
        scenario = scenario.real_time(time.max(Duration::from_millis(1)));
    }
    let expected = fields.maybe("expect", Expected::read)?.unwrap_or_default();
    // Where scenarios were, they were taken out.
    let _ = fields.get("scenario");
    fields.end()?;
    Ok(Case { name, line, place, flow, loads, folders, scenario, expected })
}
