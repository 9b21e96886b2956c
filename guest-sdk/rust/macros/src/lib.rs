//! The attributes of `flowhost-sdk`; their documentation is read there.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use proc_macro::TokenStream;

mod data;
mod declaration;
mod expand;
mod json;

/// Makes an async function a flow: the component's `run` and its manifest.
///
/// The function takes the task and the [`Context`](https://docs.rs/flowhost-sdk), and perhaps the params; it returns a `Result` of
/// anything that serde serializes and schemars describes. The first paragraph of its doc comment is the manifest's description,
/// its name with `-` for `_` the flow's name.
///
/// ```
/// use flowhost::prelude::*;
///
/// #[params]
/// struct Params {
///     /// How many rounds at most.
///     #[default(3)]
///     rounds: u32,
/// }
///
/// /// Lets two agents talk it over.
/// #[flow(
///     agents(actor, reviewer: steer + fork, judge?: question),
///     envs(workspace: shell + files, sandbox?(image = "debian:13", memory = 1_000_000_000): shell),
///     loads("fanout"),
/// )]
/// async fn talk(task: String, cx: Context, params: Params) -> Result<String> {
///     let actor = cx.agent("actor")?;
///     Ok(actor.run(format!("{task}\n\nYou have {} rounds.", params.rounds)).await?.text)
/// }
/// # fn main() {}
/// ```
///
/// What may stand in the attribute, all of it optional:
///
/// | | |
/// |---|---|
/// | `agents(..)` | roles of agents. `?` marks one that the flow does without; after `:` what it uses of it: `steer`, `fork`, `goal`, `tools`, `skills` and the moments that it watches, such as `pre_tool_use` |
/// | `envs(..)` | roles of environments; what it uses of them: `shell`, `bash`, `files`, `worktree`, `copy`, `scratch`, `snapshot` |
/// | `role(..)` | in parentheses after a role: `harness = ".."` of an agent, `image = ".."`, `cpus = 2.0`, `memory = BYTES` of an env, and of both what it must be permitted: `workdir`, `home`, `system` each `= none`, `read` or `all`, `network = true` |
/// | `params = Type` | the params, for a function that takes no third argument and reads them by `cx.params()` |
/// | `loads("..", ..)` | references of the flows that it loads |
/// | `tools(lookup: Input = "..")` | tools that it offers to its agents: a name, the type of the input, and what it is for |
/// | `skills(review("SKILL.md" = "review/SKILL.md"))` | skills that it brings: a name, and the files by path, each from a file beside the source |
/// | `name = ".."` | the flow's name, where it is not the function's |
/// | `hidden` | lists leave it out |
///
/// A capability that there is not, a role that is declared twice and a function of another shape are errors of the compiler.
#[proc_macro_attribute]
pub fn flow(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::flow(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the params of a flow: what a person gives by `-p KEY=VALUE` and a caller by `.params(..)`.
///
/// It derives serde's traits and the JSON Schema, spells keys with `-`, and refuses unknown ones. `#[default(..)]` on a field is its
/// value where it is not given; a field of type `Option` may be left out; the doc comment of a field is its help.
///
/// ```
/// use flowhost::prelude::*;
///
/// #[params]
/// struct Params {
///     /// Turns that go at once.
///     #[default(2)]
///     at_once: u32,
///     /// Files to leave out.
///     skip: Option<String>,
/// }
///
/// let params: Params = flowhost::serde_json::from_str("{}").unwrap();
/// assert_eq!((params.at_once, params.skip), (2, None));
/// assert!(flowhost::serde_json::from_str::<Params>(r#"{"at-onec": 2}"#).is_err());
/// ```
#[proc_macro_attribute]
pub fn params(attribute: TokenStream, item: TokenStream) -> TokenStream {
    data::params(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum an answer with a shape: of a turn by `.json::<T>()`, of a called flow, or of the flow itself.
///
/// It derives serde's traits and the JSON Schema. Keys are spelled as they are and unknown ones refused; the doc comment of a field
/// tells the agent what to put there.
///
/// ```
/// use flowhost::prelude::*;
///
/// #[answer]
/// struct Verdict {
///     /// Whether the change may go in as it is.
///     good: bool,
///     /// In one sentence.
///     why: String,
/// }
///
/// let verdict: Verdict = flowhost::serde_json::from_str(r#"{"good": true, "why": "It is small."}"#).unwrap();
/// assert!(verdict.good);
/// ```
#[proc_macro_attribute]
pub fn answer(attribute: TokenStream, item: TokenStream) -> TokenStream {
    data::answer(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
