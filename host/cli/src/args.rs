//! What can be typed. Help, completions and the man page are made from this one table.
#![allow(rustdoc::broken_intra_doc_links, reason = "these comments are the help that a person reads, brackets and all")]

use std::{path::PathBuf, time::Duration};

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum, builder::styling::Styles};
use flowhost_engine::{Limits, Unit};

use crate::{render::figures, source::Language, terminal::Color, values::measure};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "flowhost",
    version,
    about = "Runs flows: programs that steer coding agents, kept to what they declared and you granted",
    long_about = "Runs flows: programs that steer coding agents. A flow is a WebAssembly component. It opens conversations, \
        takes turns in them many at a time, and can do exactly what it declared and you granted, nothing else.",
    after_help = "Examples:\n  \
        flowhost demo                                  see it work, on a small repository of its own\n  \
        flowhost flows list                            what there is to run\n  \
        flowhost exec -f fanout -a agent=demo --budget cost=1 \"Add a one-line module docstring to this file. Change nothing else.\"\n",
    styles = Styles::plain(),
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub struct Args {
    /// When to color what is written
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help = "When to color what is written: auto, always or never"
    )]
    pub color: Color,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a flow on the repository you stand in
    Exec(Exec),
    /// See it work: make a small repository, run `fanout` on it, show what came of it
    Demo(Demo),
    /// The flows there are
    #[command(subcommand)]
    Flows(Flows),
    /// Show what a flow is and what it will touch, without running it
    Check(Check),
    /// Begin a flow: a folder that builds, runs, and has a test
    New(New),
    /// Build a flow: a folder or a file becomes one component
    Build(Build),
    /// Test flows without an agent: play the scenarios of *.test.toml
    Test(Test),
    /// The harnesses that can fill an agent's role, and what each can do
    Agents(Agents),
    /// The components that run flows of source text
    #[command(subcommand)]
    Runner(Runner),
    /// Write a completion script for a shell
    Completions(Completions),
    /// Write the man page
    Man,
}

/// `flowhost exec`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flowhost exec -f fanout -a agent=demo --budget cost=1 \"Add a one-line module docstring to this file. Change nothing else.\"\n  \
    flowhost exec -f pair -a actor=demo -a reviewer=script:./review.sh --budget turns=10 \"Rename total to sum\"\n  \
    flowhost exec -f lines -a agent=demo --budget none -p suppress=true - < prompts.txt\n  \
    flowhost exec -f ./my-flow.wasm -a agent=demo --budget none --grant unconfined --json \"…\" | jq .\n\n\
    The answer alone is written to stdout, everything else to stderr. Exits: 0 answered, 1 the flow failed, 2 refused \
    before anything started, 3 the budget is spent, 130 stopped.")]
pub struct Exec {
    /// The flow: a name (of `flowhost flows list`), or a path
    #[arg(short = 'f', long = "flow", value_name = "REF")]
    pub flow: String,

    /// Who fills a role: HARNESS[@ACCOUNT][/MODEL[:EFFORT]], script:PROGRAM or script+json:PROGRAM
    #[arg(short = 'a', long = "agent", value_name = "ROLE=AGENT")]
    pub agents: Vec<String>,

    /// Where a role works: local:DIR. Unsaid: where you stand
    #[arg(short = 'e', long = "env", value_name = "ROLE=ENV")]
    pub envs: Vec<String>,

    /// A param of the flow; dots nest. `budget.cost=1` and the like are the budget
    #[arg(short = 'p', long = "param", value_name = "KEY=VALUE")]
    pub params: Vec<String>,

    /// What the run may spend: cost=1,output-tokens=200k,duration=30m,turns=50,grace=cut, or none
    #[arg(long, value_name = "LIMITS")]
    pub budget: Vec<String>,

    /// How many turns go at once; unsaid, as many as the flow starts
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub at_once: Option<u32>,

    /// What the flow may do beyond what it gets without asking: workdir|home|system=none|read|all, network=none|all,
    /// container=IMAGE, ssh=HOST, flow=REF, model=NAME, unconfined
    #[arg(long = "grant", value_name = "GRANT")]
    pub grants: Vec<String>,

    /// Let a model that has no price run under a limit on cost, which its turns then do not count towards: allow
    #[arg(long, value_name = "WHAT")]
    pub unpriced: Option<Unpriced>,

    /// Write events to stdout, one JSON object a line, the result last
    #[arg(long)]
    pub json: bool,

    /// How long a turn waits for the flow's answer to something it watches for
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = measure::duration)]
    pub patience: Duration,

    /// How many times faster the `demo` agent works; 0 for at once
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed)]
    pub demo_speed: f64,

    /// Raise or lower what keeps a flow from taking the machine, such as memory=1GiB
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limits: Vec<String>,

    /// What the flow is to do; `-` reads it from stdin
    #[arg(value_name = "TASK")]
    pub task: String,
}

/// `flowhost demo`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  flowhost demo\n  flowhost demo --demo-speed 10 2>/dev/null | jq .\n\n\
    Needs git and nothing else: no account, no network. What the flow answered is written to stdout, everything else to stderr.")]
pub struct Demo {
    /// How many times faster the `demo` agent works; 0 for at once
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed)]
    pub demo_speed: f64,
}

/// `flowhost flows`.
#[derive(Clone, Debug, Subcommand)]
pub enum Flows {
    /// All that can be run by name from here
    #[command(after_help = "Examples:\n  flowhost flows list\n  flowhost flows list --json | jq -r .name")]
    List {
        /// Write one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// What one declares: its roles, its params, what it asks for
    #[command(after_help = "Examples:\n  flowhost flows show fanout\n  flowhost flows show ./my-flow.wasm --json")]
    Show {
        /// A name, or a path
        #[arg(value_name = "REF")]
        flow: String,
        /// Write the manifest as JSON
        #[arg(long)]
        json: bool,
    },
}

/// `flowhost check`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  flowhost check ./my-flow.wasm\n  flowhost check fanout --json")]
pub struct Check {
    /// The flow: a path, or a name
    #[arg(value_name = "FLOW")]
    pub flow: String,
    /// Write it as JSON
    #[arg(long)]
    pub json: bool,
}

/// `flowhost new`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flowhost new survey --lang python && cd survey && flowhost test\n  \
    flowhost new survey --lang rust && cd survey && flowhost build && flowhost test\n  \
    flowhost new flows/survey --lang js\n\n\
    Python and JavaScript run as they are. Rust is built by cargo, C by a compiler that is installed at the first build.")]
pub struct New {
    /// The flow's name: lower-case letters, digits and `-`; or a path whose last part it is
    #[arg(value_name = "NAME")]
    pub path: PathBuf,

    /// In which language
    #[arg(short, long, value_name = "LANGUAGE")]
    pub lang: Lang,
}

/// A language that a flow can be begun in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    /// A package of cargo's, built to a component.
    Rust,
    /// One file, with the whole of asyncio.
    Python,
    /// One file, run by an engine that is part of the program.
    #[value(alias = "javascript")]
    Js,
    /// One file, built to a component of a few kB.
    C,
}

/// `flowhost build`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flowhost build                          the flow in the folder where you stand: Cargo.toml, flow.c, flow.py, flow.js or flow.ts\n  \
    flowhost build ./survey.py              one file becomes survey.wasm, with the runner of its language inside\n  \
    flowhost build survey --out survey.wasm && flowhost exec -f ./survey.wasm -a agent=demo --grant unconfined \"…\"\n\n\
    Rust is built by cargo, for wasm32-wasip2. C is built by the compiler of the package ziglang, which is installed once, by \
    python3 and the package index, into $XDG_CACHE_HOME/flowhost (450 MB). The component is NAME.wasm beside what it is built from, \
    where NAME is what the flow calls itself.")]
pub struct Build {
    /// A flow's folder, or its file; unsaid, where you stand
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,

    /// Where the component is written
    #[arg(short, long, value_name = "FILE.wasm")]
    pub out: Option<PathBuf>,

    /// Write what was built to stdout as JSON
    #[arg(long)]
    pub json: bool,
}

/// `flowhost test`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flowhost test                                     all below where you stand\n  \
    flowhost test flows/fanout --filter 'two at a time'\n  \
    flowhost test -f ./fanout.py fanout.test.toml     the same scenarios, of the same flow in another language\n  \
    flowhost test --watch --update                    again whenever something changes; exact values follow\n  \
    flowhost test --from-run 20261129-193906-7da9 > seen.test.toml\n\n\
    A scenario runs on fakes, in virtual time: nothing is started, nothing is sent, an hour takes milliseconds. The form of the \
    files is in host/testing/SCENARIO.md. Exits: 0 all passed, 1 some failed, 2 refused: a file or a flow that cannot be used.")]
pub struct Test {
    /// Files of scenarios, and folders to look for *.test.toml in; unsaid, where you stand
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// The flow to test in the place of those that the files name: a name, or a path
    #[arg(short = 'f', long = "flow", value_name = "REF")]
    pub flow: Option<String>,

    /// Only scenarios with this in their name or their file's
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Write what came back into the files, where they expect an exact value
    #[arg(long)]
    pub update: bool,

    /// Go on, and run again whenever a flow or a scenario changes
    #[arg(long, conflicts_with = "junit")]
    pub watch: bool,

    /// How many scenarios are played at once; unsaid, one a processor
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub jobs: Option<u32>,

    /// Write a report in JUnit's XML too
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write one JSON object a scenario to stdout, the sums last
    #[arg(long)]
    pub json: bool,

    /// Play nothing: write the scenario to stdout that a recorded run was
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "flow", "filter", "update", "watch", "jobs", "junit", "json"])]
    pub from_run: Option<String>,
}

/// `flowhost runner`.
#[derive(Clone, Debug, Subcommand)]
pub enum Runner {
    /// Make the runner of a language, or take one that was built elsewhere
    #[command(
        after_help = "Examples:\n  flowhost runner install python\n  flowhost runner install python --from ./python.wasm\n\n\
        It wants python3 and the package index, makes a virtual environment in a temporary folder and takes up to a minute, once for \
        each version of flowhost. What it makes is kept in $XDG_DATA_HOME/flowhost/runners and checked at each use."
    )]
    Install {
        /// Which
        #[arg(value_name = "LANGUAGE")]
        language: Installable,
        /// Take this component instead of making one
        #[arg(long, value_name = "FILE.wasm")]
        from: Option<PathBuf>,
    },
    /// Those that are installed
    #[command(after_help = "Examples:\n  flowhost runner list\n  flowhost runner list --json | jq -r .path")]
    List {
        /// Write one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Take away the runners of a language, also those of other versions of flowhost
    #[command(after_help = "Examples:\n  flowhost runner remove python")]
    Remove {
        /// Which
        #[arg(value_name = "LANGUAGE")]
        language: Installable,
    },
}

/// A language whose runner is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Installable {
    /// Python: flows that are `.py` files.
    Python,
}

impl From<Installable> for Language {
    fn from(language: Installable) -> Self {
        match language {
            Installable::Python => Self::Python,
        }
    }
}

/// `flowhost agents`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  flowhost agents\n  flowhost agents --json | jq -r .name")]
pub struct Agents {
    /// Write one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `flowhost completions`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  flowhost completions bash > ~/.local/share/bash-completion/completions/flowhost\n  \
    flowhost completions zsh > ~/.zfunc/_flowhost\n  flowhost completions fish > ~/.config/fish/completions/flowhost.fish"
)]
pub struct Completions {
    /// For which
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `--unpriced`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unpriced {
    /// It may run; its cost counts as nothing.
    Allow,
}

/// The whole command line, for clap: what is typed is described once.
pub fn command() -> clap::Command {
    let limits = limits();
    Args::command().mut_subcommand("exec", |exec| exec.mut_arg("limits", |limit| limit.long_help(limits)))
}

/// `--limit` in full.
fn limits() -> String {
    let defaults = Limits::default();
    let mut text = String::from("Raise or lower what keeps a flow from taking the machine, such as memory=1GiB:");
    for (name, unit, what) in Limits::TABLE {
        let value = defaults.get(name).unwrap_or_default();
        let value = match unit {
            Unit::Bytes => format!("{}MiB", value >> 20),
            Unit::Count => value.to_string(),
            Unit::Time => figures::time(Duration::from_millis(value)).replace(' ', ""),
        };
        text.push_str(&format!("\n  {name:<16}{what} [{value}]"));
    }
    text
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed >= 0.0 => Ok(speed),
        _ => Err(format!("{text}: not a speed, such as 2, 0.5 or 0")),
    }
}

fn at_least_one(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{text}: not a number of turns, such as 4")),
    }
}
