//! TypeScript: its types are taken out by a component, before anything runs.
//!
//! What reads a stranger's text is not trusted with this process: a parser of TypeScript goes as deep as the text does, and some texts
//! take it long. So it is a component, which runs in a store with nothing granted, under the limits of a flow that is described.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio_util::task::AbortOnDropHandle;

use self::bindings::StripperPre;
use crate::{
    compile::{Engine, LoadError},
    component::{describing, exceeded, of_the_system, reason, refusal},
    kept,
    limits::Exceeded,
    runner::Runner,
    source::{Source, Stripped},
    store::{Timed, store},
};

mod bindings {
    //! The world of `stripper.wit`.

    #![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::large_futures)]

    wasmtime::component::bindgen!({
        path: "../../guest-sdk/js/typescript/stripper.wit",
        world: "stripper",
        exports: { default: async },
    });
}

/// How the names of files end whose types are taken out.
const ENDS: [&str; 2] = [".ts", ".mts"];

impl Engine {
    /// Takes the types out of the files of a flow that are TypeScript, by their names; `stripper` is the component that does it, of the
    /// world in `guest-sdk/js/typescript/stripper.wit`. Lines and columns stay. A file that is wrong is so when it is imported, and not
    /// before: it may be no part of the flow.
    ///
    /// # Errors
    /// `Source` where the component breaks down on a file, `Exceeded` where all of them take more than a flow that is described may;
    /// both name the file. `NotAComponent`, `NotAFlow` and `Host` are about the component itself.
    pub async fn strip(&self, stripper: &Runner, source: Source) -> Result<Source, LoadError> {
        let typed: Vec<(&str, &[u8])> =
            source.files().filter(|(name, _)| ENDS.iter().any(|ends| name.ends_with(ends))).collect();
        if typed.is_empty() {
            return Ok(source);
        }
        let by = stripper.digest().clone();
        let digest = digest(&by, &typed);
        let cache = self.stripped.as_deref();
        let known = cache.and_then(|cache| kept::read(cache, &digest));
        let known = known.and_then(|json| serde_json::from_str::<Files>(&json).ok());
        let files = match known {
            Some(files) => files,
            None => {
                let files = self.stripped_by(stripper, &typed).await?;
                if let Some(cache) = cache
                    && let Ok(json) = serde_json::to_string(&files)
                {
                    kept::keep(cache, &digest, &json);
                }
                files
            }
        };
        Ok(source.stripped(Stripped { by, files }))
    }

    async fn stripped_by(&self, stripper: &Runner, typed: &[(&str, &[u8])]) -> Result<Files, LoadError> {
        let machine = self.compiler.machines.on_demand().await?;
        let compiled = self.compiler.mapped(machine, stripper).await?;
        let pre = machine.instance(&compiled).and_then(StripperPre::new);
        let pre = pre.map_err(|error| LoadError::NotAFlow(format!("{error:#}")))?;
        let limits = Arc::new(describing(&self.limits));
        let (mut store, cpu) = store(&machine.engine, None, None, &limits);
        let texts: Vec<(String, Vec<u8>)> =
            typed.iter().map(|(name, text)| ((*name).to_owned(), text.to_vec())).collect();
        let at = Arc::new(AtomicUsize::new(0));
        let going = at.clone();
        let work = async move {
            let stripper = pre.instantiate_async(&mut store).await?;
            let mut files = Files::new();
            for (name, text) in texts {
                let outcome = match String::from_utf8(text) {
                    Ok(text) => stripper.call_strip(&mut store, &text).await?.map_err(|mistake| {
                        format!("{}\n    at {name}:{}:{}", mistake.message, mistake.line, mistake.column)
                    }),
                    Err(_) => Err(format!("this is not UTF-8 text\n    at {name}")),
                };
                files.insert(name, outcome);
                going.fetch_add(1, Ordering::Relaxed);
            }
            wasmtime::Result::Ok(files)
        };
        let work = tokio::time::timeout(limits.wall_clock, Timed { cpu, work: Box::pin(work) });
        // In a task of its own: whoever loads it may be a flow, inside whose store another one cannot run.
        let ended = AbortOnDropHandle::new(tokio::spawn(work)).await;
        let ended =
            ended.map_err(|_| LoadError::Host("the host broke down in it; this is a bug of the host".into()))?;
        let name = typed.get(at.load(Ordering::Relaxed)).map_or("", |(name, _)| name);
        match ended {
            Ok(Ok(files)) => Ok(files),
            Ok(Err(trap)) => Err(match exceeded(&trap, &limits) {
                Some(exceeded) => too_long(name, &exceeded),
                None if of_the_system(&trap) => LoadError::Host(refusal(&trap)),
                None => LoadError::Source(format!(
                    "{name}: what takes its types out breaks down on it, as on what is nested thousands deep: {}",
                    reason(&trap)
                )),
            }),
            Err(_) => Err(too_long(name, &Exceeded::time("wall-clock", limits.wall_clock))),
        }
    }
}

/// Files without types, by name; or what is wrong with one, with its place.
pub(crate) type Files = BTreeMap<String, Result<String, String>>;

fn too_long(name: &str, exceeded: &Exceeded) -> LoadError {
    LoadError::Exceeded(format!("while the types of {name} are taken out: {exceeded}"))
}

fn digest(by: &str, typed: &[(&str, &[u8])]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        // Each with its length, so that no two lists of parts run into one another.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(by.as_bytes());
    for (name, text) in typed {
        part(name.as_bytes());
        part(text);
    }
    hasher.finalize().to_hex().to_string()
}
