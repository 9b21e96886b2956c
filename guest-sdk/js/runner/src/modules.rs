//! Where `import` finds its modules: `flowhost` is the SDK, and `./x.js` is a file beside the flow, read through the contract.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::BTreeMap,
    future::ready,
    path::{Path, PathBuf},
    rc::Rc,
};

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, Module, Source,
    module::{ModuleLoader, ModuleRequest, Referrer},
};

use crate::{
    bindings::flowhost::flow::{
        source,
        types::{Error, ErrorKind},
    },
    native, using,
};

/// How the names of the SDK's own modules begin; no file's name does.
const OURS: &str = "flowhost:";
/// The module of the contract's plain functions, which only the SDK's own modules may import.
const NATIVE: &str = "flowhost:native";
/// What runs a flow.
pub(crate) const ENTRY: &str = "flowhost:entry.js";
/// What a flow means by `flowhost`.
pub(crate) const SDK: &str = "flowhost:flowhost.js";

macro_rules! sdk {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../sdk/", $name)))),*]
    };
}

/// The modules of the SDK.
static MODULES: [(&str, &str); 13] = sdk![
    "agents.js",
    "context.js",
    "entry.js",
    "envs.js",
    "errors.js",
    "flowhost.js",
    "flows.js",
    "git.js",
    "globals.js",
    "inspect.js",
    "manifest.js",
    "signals.js",
    "waiting.js",
];

/// Whether a module of this name is the SDK's.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with(OURS)
}

/// Finds modules, each read once.
#[derive(Default)]
pub(crate) struct Modules(RefCell<BTreeMap<String, Module>>);

impl Modules {
    /// The module of this name: a file of the flow, or one of ours.
    pub(crate) fn module(&self, name: &str, context: &mut Context) -> JsResult<Module> {
        if let Some(known) = self.0.borrow().get(name) {
            return Ok(known.clone());
        }
        let module = match name.strip_prefix(OURS) {
            Some("native") => native::module(context),
            Some(ours) => {
                let found = MODULES.iter().find(|(name, _)| *name == ours);
                let (_, text) = found.ok_or_else(|| missing(name, "the SDK has no such module"))?;
                parse(name, text.as_bytes(), context)?
            }
            None => {
                let bytes = source::read(name).map_err(|error| unread(name, &error))?;
                if name.ends_with(".json") {
                    let text = String::from_utf8_lossy(&bytes);
                    Module::parse_json(JsString::from(&*text), context)
                        .map_err(|error| JsNativeError::syntax().with_message(format!("{name}: {error}")))?
                } else {
                    parse(name, &bytes, context)?
                }
            }
        };
        self.0.borrow_mut().insert(name.to_owned(), module.clone());
        Ok(module)
    }

    fn imported(&self, referrer: &Referrer, request: &ModuleRequest, context: &mut Context) -> JsResult<Module> {
        let by = referrer.path().map_or(String::new(), |path| path.to_string_lossy().into_owned());
        let specifier = request.specifier().to_std_string_lossy();
        let name = resolve(&by, &specifier)?;
        let name = if self.0.borrow().contains_key(&name) { name } else { meant(&by, name) };
        let found = self.module(&name, context);
        found.map_err(|error| match error.as_native() {
            Some(native) if native.is_type() => {
                JsNativeError::typ().with_message(format!("{by} imports {specifier:?}: {}", native.message())).into()
            }
            _ => error,
        })
    }
}

fn missing(name: &str, why: &str) -> JsNativeError {
    let why = why.strip_prefix(name).map_or(why, |rest| rest.trim_start_matches([':', ' ']));
    JsNativeError::typ().with_message(format!("{name}: {why}"))
}

/// Why a file was not read: it is not there, or it is wrong, and the host knows where.
fn unread(name: &str, error: &Error) -> JsNativeError {
    match error.kind {
        ErrorKind::Failed => JsNativeError::syntax().with_message(error.message.clone()),
        _ => missing(name, &error.message),
    }
}

/// How the names of TypeScript's files end, and those of the JavaScript that a compiler makes of them.
const TYPED: [(&str, &str); 2] = [(".ts", ".js"), (".mts", ".mjs")];

/// Whether a file of this name is TypeScript.
pub(crate) fn is_typed(name: &str) -> bool {
    TYPED.iter().any(|(typed, _)| name.ends_with(typed))
}

/// The file that `by` means by a name. In TypeScript one says `./x.ts`, `./x.js` for what a compiler makes of that, or `./x`: the first that is
/// there is meant.
fn meant(by: &str, name: String) -> String {
    if !is_typed(by) || is_ours(&name) {
        return name;
    }
    let made = TYPED.iter().filter_map(|(typed, made)| Some(format!("{}{typed}", name.strip_suffix(made)?)));
    let bare = [".ts", ".js"].map(|ends| format!("{name}{ends}"));
    let is_there = |name: &String| !matches!(source::read(name), Err(Error { kind: ErrorKind::Env(_), .. }));
    std::iter::once(name.clone()).chain(made).chain(bare).find(is_there).unwrap_or(name)
}

/// The name of the module that `by` means by a specifier.
fn resolve(by: &str, specifier: &str) -> JsResult<String> {
    let refused = |why: &str| JsNativeError::typ().with_message(format!("{by} imports {specifier:?}: {why}")).into();
    if let Some(by) = by.strip_prefix(OURS) {
        return match specifier {
            "native" => Ok(NATIVE.to_owned()),
            beside => Ok(format!("{OURS}{}", joined(by, beside).unwrap_or_default())),
        };
    }
    if specifier == "flowhost" {
        return Ok(SDK.to_owned());
    }
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return Err(refused(
            "a flow imports \"flowhost\" and files beside it, such as \"./parts.js\"; there are no packages and no Node.js here",
        ));
    }
    joined(by, specifier).ok_or_else(|| refused("it is not in the flow's folder"))
}

/// A path relative to a file's folder; none where it leads out of the flow's.
fn joined(by: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = by.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn parse(name: &str, text: &[u8], context: &mut Context) -> JsResult<Module> {
    let path = PathBuf::from(name);
    let mut text = Cow::Borrowed(text);
    let mut parsed = Module::parse(Source::from_bytes(&text).with_path(&path), None, context);
    if parsed.is_err()
        && let Some(mended) = default_async_arrow(&String::from_utf8_lossy(&text))
    {
        parsed = Module::parse(Source::from_bytes(&mended).with_path(&path), None, context);
        text = Cow::Owned(mended.into_bytes());
    }
    if let Some(place) = parsed.is_ok().then(|| using::first(&text)).flatten() {
        let place = format!("{name}:{}:{}", place.line_number(), place.column_number());
        return Err(JsNativeError::syntax().with_message(format!("{}\n    at {place}", using::REFUSED)).into());
    }
    parsed.map_err(|error| match error.as_native() {
        Some(native) if native.is_syntax() => located(name, native.message()),
        _ => error,
    })
}

/// What an arrow function is given to that is exported as `default`: the SDK has a global of this name that takes everything.
const GIVEN_TO: &str = "$flow=";

/// The parser takes what follows `export default async` for a function with that keyword, also where it is an arrow function. As an
/// assignment it reads it: on one line the columns are a little further to the right, and nothing else is different.
fn default_async_arrow(text: &str) -> Option<String> {
    let mut before = 0;
    for line in text.split_inclusive('\n') {
        let after = ["export", "default", "async"].iter().try_fold(line, |rest, word| {
            let rest = rest.trim_start().strip_prefix(word)?;
            rest.starts_with(|next: char| next.is_whitespace() || next == '(').then_some(rest)
        });
        if let Some(rest) = after
            && !rest.trim_start().starts_with("function")
        {
            let place = before + line.len() - rest.len() - "async".len();
            return Some(format!("{}{GIVEN_TO}{}", &text[..place], &text[place..]));
        }
        before += line.len();
    }
    None
}

/// A syntax error with its place as any other error has it. The parser says it at the end of its message.
fn located(name: &str, message: &str) -> boa_engine::JsError {
    let place = message.rsplit_once(" at line ").and_then(|(what, place)| {
        let (line, column) = place.split_once(", col ")?;
        let (line, column) = (line.trim().parse::<u32>().ok()?, column.trim().parse::<u32>().ok()?);
        Some(format!("{what}\n    at {name}:{line}:{column}"))
    });
    let message = place.unwrap_or_else(|| format!("{message}\n    at {name}"));
    JsNativeError::syntax().with_message(message).into()
}

impl ModuleLoader for Modules {
    fn load_imported_module(
        self: Rc<Self>,
        referrer: Referrer,
        request: ModuleRequest,
        context: &RefCell<&mut Context>,
    ) -> impl Future<Output = JsResult<Module>> {
        // Read at once, so that importing waits for nothing.
        ready(self.imported(&referrer, &request, &mut context.borrow_mut()))
    }
}

/// The name of a flow by its file's.
pub(crate) fn stem(file: &str) -> &str {
    Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file)
}
