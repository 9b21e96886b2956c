//! Tests of a flow without an agent, in whatever language the flow is written.
//!
//! A [`Scenario`] says what a flow is given: fakes for its agents, files and commands for its environments, a task, params, a
//! budget. [`Scenario::play`] runs the flow against them and gives an [`Outcome`]: what it answered, what it asked, how many
//! turns went at once, how long it took. No agent, no process and no file is touched, and time is virtual: it stands still
//! while anything goes on, and jumps to the next thing that is due as soon as all wait. An hour of a scenario takes milliseconds.
//!
//! ```
//! use std::time::Duration;
//! use flowhost_agents::fake::{Fake, FakeEnv};
//! use flowhost_testing::Scenario;
//! # use std::sync::Arc;
//! # use flowhost_core::{branch::Branch, manifest::Manifest, record::Json, run::{Ended, Flow}, session::WhenBusy, turn::TurnOptions};
//! # struct Twice(Manifest, Arc<str>);
//! # #[async_trait::async_trait]
//! # impl Flow for Twice {
//! #     fn manifest(&self) -> &Manifest { &self.0 }
//! #     fn digest(&self) -> &Arc<str> { &self.1 }
//! #     async fn run(&self, branch: Arc<Branch>, task: Arc<str>) -> Result<Json, Ended> {
//! #         let said = async {
//! #             let session = branch.agent("agent")?.unwrap().spawn(None, WhenBusy::Refuse)?.handle();
//! #             let mut said = Vec::new();
//! #             for _ in 0..2 {
//! #                 said.push(session.start(task.clone(), TurnOptions::default())?.wait().await?.text);
//! #             }
//! #             Ok(said)
//! #         };
//! #         let said = said.await.map_err(Ended::Raised)?;
//! #         Ok(serde_json::value::to_raw_value(&said).unwrap().into())
//! #     }
//! # }
//! # let manifest = r#"{"contract": "0.1.0", "name": "twice", "agents": [{"name": "agent"}], "envs": [{"name": "workspace"}]}"#;
//! # let twice: Arc<dyn Flow> = Arc::new(Twice(Manifest::read(manifest).unwrap(), "digest".into()));
//!
//! // A flow is the path of a component, its bytes, or anything that is a `flowhost_core::run::Flow`.
//! let outcome = Scenario::new(twice)
//!     .task("say it")
//!     .agent("agent", |clock| Fake::new().last_word().delay(clock, Duration::from_secs(1800)))
//!     .env("workspace", |_| FakeEnv::new().file("a.py", "x = 1\n"))
//!     .play()?;
//! assert_eq!(outcome.result, Ok(serde_json::json!(["it", "it"])));
//! assert_eq!((outcome.sessions, outcome.peak), (1, 1));
//! assert_eq!(outcome.took, Duration::from_secs(3600));
//! # Ok::<(), flowhost_testing::Unplayable>(())
//! ```
//!
//! Scenarios can also be written down: [`ScenarioFile`] reads the files that `flowhost test` runs, whose form is described in
//! `SCENARIO.md` beside this crate. [`compare`] holds an outcome against what such a file expects, [`update`] writes what came
//! of it back into the file, and [`recorded`] makes a file of the record of a run.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod agents;
mod budget;
mod compare;
mod disk;
mod drive;
mod envs;
mod expect;
mod fields;
mod file;
mod lines;
mod observe;
mod outcome;
mod pattern;
mod play;
pub mod recorded;
mod scenario;
mod toml;
mod tree;
mod update;

pub use compare::{Difference, compare};
pub use expect::Expected;
pub use fields::Problem;
pub use file::{Case, ScenarioFile};
pub use lines::Lines;
pub use outcome::{AgentSeen, EnvSeen, Outcome};
pub use scenario::{Scenario, Subject, Unplayable};
pub use update::{Change, update};
