//! From a reference to a flow that can be run: found, compiled, described, and allowed.

use std::{
    collections::HashSet,
    path::Path,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use flowhost_core::{
    branch::Branch,
    error::{Error, FlowFault},
    run::{Flow, Loader},
};
use flowhost_engine::{Component, Engine, Limits, LoadError, Options};
use parking_lot::Mutex;

use crate::{
    escape,
    exit::Failure,
    project,
    refs::{Form, Found, Origin, Places},
    render::figures,
    runner, terminal,
};

/// How long a flow is loaded before that is said: from the cache it takes a tenth of it.
const QUIET: Duration = Duration::from_millis(500);

/// The flows that can be reached from where somebody stands.
#[derive(Debug)]
pub struct Catalog {
    engine: Engine,
    places: Places,
    /// Digests of built-in flows that were loaded. Whoever has the same bytes is the same flow.
    built_in: Mutex<HashSet<Arc<str>>>,
}

/// A flow that was loaded.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// It.
    pub component: Arc<Component>,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether a built-in flow has the same name.
    pub shadows: bool,
}

impl Catalog {
    /// For somebody who stands at `standing`, under these limits.
    pub fn new(standing: &Path, limits: Limits) -> Result<Self, Failure> {
        let places = Places::of(standing, limits.component_size);
        let engine = Engine::new(Options { cache: project::cache(), limits }).map_err(|error| {
            Failure::refused(error.to_string()).hint("XDG_CACHE_HOME says where compiled flows are kept")
        })?;
        Ok(Self { engine, places, built_in: Mutex::default() })
    }

    /// The limits of each branch.
    pub fn limits(&self) -> &Limits {
        self.engine.limits()
    }

    /// Where flows are found.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The flow that the person means by `reference`.
    pub async fn load(&self, reference: &str) -> Result<Loaded, Failure> {
        let found = self.places.find(reference)?;
        self.load_found(reference, found).await
    }

    /// The same, for a person who waits: told when it takes long, as it does where it is compiled for the first time.
    pub async fn load_aloud(&self, reference: &str) -> Result<Loaded, Failure> {
        let began = Instant::now();
        let mut loading = pin!(self.load(reference));
        if let Ok(loaded) = tokio::time::timeout(QUIET, &mut loading).await {
            return loaded;
        }
        let shown = escape::line(reference, 200);
        terminal::say(&format!("compiling and describing {shown}, which takes some seconds the first time …"));
        let loaded = loading.await;
        if loaded.is_ok() {
            terminal::say(&format!("ready after {}", figures::time(began.elapsed())));
        }
        loaded
    }

    async fn load_found(&self, reference: &str, found: Found) -> Result<Loaded, Failure> {
        let Found { origin, form, shadows } = found;
        let loaded = match form {
            // In the words of a person; what the compiler says of such bytes is for its own authors.
            Form::Component(bytes) if !bytes.starts_with(b"\0asm") => {
                Err(LoadError::NotAComponent("these bytes are not WebAssembly at all".into()))
            }
            Form::Component(bytes) => self.engine.load(bytes.into_owned()).await,
            Form::Source(language, source) => {
                let runner = runner::of(language).map_err(|failure| failure.about(reference))?;
                match runner::plain(&self.engine, language, source).await {
                    Ok(source) => self.engine.load_source(&runner, source).await,
                    Err(error) => Err(error),
                }
            }
        };
        let component = loaded.map_err(|error| unusable(reference, &error))?;
        if origin == Origin::BuiltIn {
            self.built_in.lock().insert(component.digest().clone());
        }
        Ok(Loaded { component, origin, shadows })
    }

    fn is_built_in(&self, digest: &Arc<str>) -> bool {
        self.built_in.lock().contains(digest)
    }
}

/// What a person is told of what cannot be loaded.
pub(crate) fn unusable(reference: &str, error: &LoadError) -> Failure {
    let hint = match error {
        LoadError::NotAComponent(_) => {
            "A flow is a WebAssembly component that exports flowhost:flow; a core module is made one by `wasm-tools component new`"
        }
        LoadError::UnknownImports(_) => {
            "Build it against the contract of this version, flowhost:flow@0.1.0, and nothing beyond WASI 0.2"
        }
        LoadError::Runner => "Give the file of source text itself: -f ./flow.py",
        LoadError::Source(_) => "Mend it there",
        LoadError::NotAFlow(_) => "Build it against the contract of this version, flowhost:flow@0.1.0",
        LoadError::Exceeded(_) => "If you trust it, raise that limit with --limit",
        LoadError::Describe(_) | LoadError::Manifest(_) => "Its author must mend what `describe` gives",
        LoadError::Host(_) => "This is not the flow's fault: look at what the message names",
    };
    // A compiler's complaint has many lines; what is refused is said in one.
    let error = match error {
        LoadError::Source(error) => error.trim().to_owned(),
        error => error.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    };
    Failure::refused(format!("{reference}: {error}")).hint(hint)
}

/// Finds the flows that flows call, within what the person granted.
#[derive(Debug)]
pub struct Callees {
    catalog: Arc<Catalog>,
    /// References of flows that are not built in and may be loaded.
    granted: Vec<String>,
}

impl Callees {
    /// Of this catalog; `granted` are the references of `--grant flow=REF`.
    pub fn new(catalog: Arc<Catalog>, granted: Vec<String>) -> Self {
        Self { catalog, granted }
    }

    /// What a flow means by a reference: a built-in flow never means what a project put in its place.
    fn find(&self, reference: &str, by_built_in: bool) -> Result<Found, Failure> {
        let places = self.catalog.places();
        if by_built_in { places.find_built_in(reference) } else { places.find(reference) }
    }

    /// Says, before a run starts, what a flow that is not built in would load and may not. None where all is well: also where
    /// a reference means nothing, which its flow learns when it loads it.
    pub fn missing_grant<'a>(&self, loads: &'a [String]) -> Option<&'a str> {
        let foreign = |reference: &&String| {
            self.find(reference, false).is_ok_and(|found| found.origin != Origin::BuiltIn)
                && !self.granted.contains(reference)
        };
        loads.iter().find(foreign).map(String::as_str)
    }
}

#[async_trait]
impl Loader for Callees {
    async fn load(&self, reference: &str, by: &Branch) -> Result<Arc<dyn Flow>, Error> {
        let found = self
            .find(reference, self.catalog.is_built_in(by.digest()))
            .map_err(|failure| Error::flow(FlowFault::NotFound, said(&failure)))?;
        if found.origin != Origin::BuiltIn && !self.granted.iter().any(|granted| granted == reference) {
            let message = format!("{reference}: {} may be loaded only with --grant flow={reference}", found.origin);
            return Err(Error::not_granted(message));
        }
        let loaded = self.catalog.load_found(reference, found).await;
        let loaded = loaded.map_err(|failure| Error::flow(FlowFault::BadRef, said(&failure)))?;
        Ok(loaded.component)
    }
}

fn said(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message.to_string(),
    }
}
