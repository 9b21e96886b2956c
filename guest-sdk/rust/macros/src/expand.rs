//! `#[flow]`: what a flow exports, written around its function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprLit, FnArg, ItemFn, Lit, Meta, Result, ReturnType, Type, parse2};

use crate::declaration::Declaration;
use crate::json;

pub(crate) fn flow(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let declared: Declaration = parse2(attribute)?;
    let function: ItemFn = parse2(item)?;
    let shape = Shape::of(&function, &declared)?;
    let manifest = manifest(&declared, &function, &shape)?;
    let name = &function.sig.ident;
    let call = match &shape.third {
        Some(_) => quote!(#name(task, ::flowhost::export::context(), ::flowhost::export::params()?)),
        None => quote!(#name(task, ::flowhost::export::context())),
    };
    Ok(quote! {
        #function

        #[allow(unsafe_code, unused_qualifications, reason = "what a component exports")]
        const _: () = {
            struct Flow;

            impl ::flowhost::raw::Guest for Flow {
                fn describe() -> ::std::string::String {
                    #manifest
                }

                async fn run(
                    task: ::std::string::String,
                ) -> ::core::result::Result<::std::string::String, ::flowhost::raw::Error> {
                    ::flowhost::export::Outcome::carry(#call.await)
                }
            }

            ::flowhost::raw::export!(Flow with_types_in ::flowhost::raw);
        };
    })
}

/// What of the function's signature matters.
struct Shape {
    /// The type of the third argument: the params.
    third: Option<Type>,
    /// What it returns: a `Result`.
    output: Type,
}

impl Shape {
    fn of(function: &ItemFn, declared: &Declaration) -> Result<Self> {
        let sig = &function.sig;
        if sig.asyncness.is_none() {
            return Err(Error::new_spanned(sig.fn_token, "a flow is an `async fn`"));
        }
        if !sig.generics.params.is_empty() {
            return Err(Error::new_spanned(&sig.generics, "a flow has no generics: the host calls it"));
        }
        let expected = "a flow takes `task: String, cx: Context` and perhaps its params";
        let mut inputs = Vec::new();
        for input in &sig.inputs {
            match input {
                FnArg::Typed(typed) => inputs.push((*typed.ty).clone()),
                FnArg::Receiver(this) => return Err(Error::new_spanned(this, expected)),
            }
        }
        let third = match inputs.len() {
            2 => None,
            3 => inputs.pop(),
            _ => return Err(Error::new_spanned(&sig.ident, expected)),
        };
        if let (Some(_), Some(said)) = (&third, &declared.params) {
            let message = "the params are the third argument already: leave `params = ..` out";
            return Err(Error::new_spanned(said, message));
        }
        let ReturnType::Type(_, output) = &sig.output else {
            return Err(Error::new_spanned(&sig.ident, "a flow returns a `Result`"));
        };
        Ok(Self { third, output: (**output).clone() })
    }
}

/// An expression that gives the manifest: one literal, and schemas between its parts.
fn manifest(declared: &Declaration, function: &ItemFn, shape: &Shape) -> Result<TokenStream> {
    let name = match &declared.name {
        Some(name) => name.value(),
        None => function.sig.ident.to_string().replace('_', "-"),
    };
    let mut text =
        format!(",\"name\":{},\"description\":{}", json::string(&name), json::string(&description(function)));
    if declared.hidden {
        text.push_str(",\"hidden\":true");
    }
    for (key, roles) in [("agents", &declared.agents), ("envs", &declared.envs)] {
        text.push_str(&format!(",\"{key}\":{}", json::list(roles.iter().map(|role| role.json.clone()))));
    }
    if !declared.loads.is_empty() {
        let loads = declared.loads.iter().map(|each| json::string(&each.value()));
        text.push_str(&format!(",\"loads\":{}", json::list(loads)));
    }
    let output = &shape.output;
    let mut parts = vec![quote!(manifest.push_str(#text);)];
    if let Some(params) = shape.third.as_ref().or(declared.params.as_ref()) {
        parts.push(quote! {
            manifest.push_str(",\"params\":");
            manifest.push_str(&::flowhost::export::schema::<#params>());
        });
    }
    parts.push(quote! {
        manifest.push_str(",\"result\":");
        manifest.push_str(&::flowhost::export::schema::<<#output as ::flowhost::export::Outcome>::Answer>());
    });
    if !declared.tools.is_empty() {
        parts.push(tools(declared));
    }
    if !declared.skills.is_empty() {
        parts.push(skills(declared));
    }
    Ok(quote! {
        let mut manifest = ::std::string::String::from(::flowhost::export::OPENING);
        #(#parts)*
        manifest.push('}');
        manifest
    })
}

fn tools(declared: &Declaration) -> TokenStream {
    let each = declared.tools.iter().enumerate().map(|(place, tool)| {
        let before = if place == 0 { "" } else { "," };
        let (name, description) = (json::string(&tool.name), json::string(&tool.description.value()));
        let text = format!("{before}{{\"name\":{name},\"description\":{description},\"input\":");
        let input = &tool.input;
        quote! {
            manifest.push_str(#text);
            manifest.push_str(&::flowhost::export::schema::<#input>());
            manifest.push('}');
        }
    });
    quote! {
        manifest.push_str(",\"tools\":[");
        #(#each)*
        manifest.push(']');
    }
}

fn skills(declared: &Declaration) -> TokenStream {
    let each = declared.skills.iter().enumerate().map(|(place, skill)| {
        let before = if place == 0 { "" } else { "," };
        let opening = format!("{before}{}:{{", json::string(&skill.name));
        let files = skill.files.iter().enumerate().map(|(place, (path, from))| {
            let before = if place == 0 { "" } else { "," };
            let key = format!("{before}{}:", json::string(&path.value()));
            quote! {
                manifest.push_str(#key);
                manifest.push_str(&::flowhost::export::quoted(::core::include_str!(#from)));
            }
        });
        quote! {
            manifest.push_str(#opening);
            #(#files)*
            manifest.push('}');
        }
    });
    quote! {
        manifest.push_str(",\"skills\":{");
        #(#each)*
        manifest.push('}');
    }
}

/// The first paragraph of the doc comment, on one line.
fn description(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    let paragraph = lines.skip_while(String::is_empty).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(attribute: TokenStream) -> String {
        let function = quote! {
            /// Does it,
            /// and well.
            ///
            /// More.
            async fn do_it(task: String, cx: Context) -> Result<String> { Ok(task) }
        };
        flow(attribute, function).unwrap().to_string().replace("\\\"", "'")
    }

    fn refusal(attribute: TokenStream, function: TokenStream) -> String {
        flow(attribute, function).err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn function() -> TokenStream {
        quote!(
            async fn f(task: String, cx: Context) -> Result<()> {
                Ok(())
            }
        )
    }

    #[test]
    fn the_name_and_the_first_paragraph_are_the_functions() {
        assert!(written(quote!()).contains("'name':'do-it','description':'Does it, and well.','agents':[],'envs':[]"));
        assert!(written(quote!(name = "other", hidden)).contains("'name':'other'"));
        assert!(written(quote!(hidden)).contains(",'hidden':true"));
    }

    #[test]
    fn roles_are_written_as_the_manifest_spells_them() {
        let agents = written(quote!(agents(worker, the_judge?(harness = "claude"): steer + pre_tool_use)));
        assert!(agents.contains(
            "[{'name':'worker'},{'name':'the-judge','optional':true,'capabilities':['steer','pre-tool-use'],'harness':'claude'}]"
        ));
        let envs = written(
            quote!(envs(workspace: shell + files, pod(image = "debian", cpus = 2, memory = 1_000, network = true))),
        );
        assert!(envs.contains("{'name':'workspace','capabilities':['shell','files']}"));
        assert!(envs.contains("{'name':'pod','image':'debian','cpus':2,'memory':1000,'permission':{'workdir':'all','home':'none','system':'read','network':true}}"));
    }

    #[test]
    fn loads_tools_and_skills_are_written() {
        let all =
            written(quote!(loads("a", "b"), tools(look_up: In = "Finds it."), skills(review("SKILL.md" = "x.md"))));
        assert!(all.contains("'loads':['a','b']"));
        assert!(all.contains("{'name':'look-up','description':'Finds it.','input':"));
        assert!(all.contains("'review':{"));
    }

    #[test]
    fn a_typo_is_told_what_was_meant() {
        let said = refusal(quote!(agents(agent: stear)), function());
        assert!(
            said.starts_with("an agent has no capability `stear`. Did you mean `steer`? There are: steer, fork"),
            "{said}"
        );
        let said = refusal(quote!(envs(workspace: shell + file)), function());
        assert!(said.starts_with("an env has no capability `file`. Did you mean `files`?"), "{said}");
        let said = refusal(quote!(agent(x)), function());
        assert!(said.starts_with("a flow declares no `agent`. Did you mean `agents`?"), "{said}");
        let said = refusal(quote!(envs(pod(image = "a", harness = "b"))), function());
        assert!(said.starts_with("an env role needs no `harness`"), "{said}");
        let said = refusal(quote!(agents(a(home = write))), function());
        assert!(said.starts_with("no access is called `write`"), "{said}");
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        assert_eq!(refusal(quote!(agents(a, a)), function()), "the agent role `a` is declared twice");
        assert_eq!(refusal(quote!(hidden, hidden), function()), "`hidden` is said twice");
        assert_eq!(refusal(quote!(envs(a: shell + shell)), function()), "`shell` is said twice");
    }

    #[test]
    fn a_function_of_another_shape_is_refused() {
        let said = |function| refusal(quote!(), function);
        assert_eq!(
            said(quote!(
                fn f() {}
            )),
            "a flow is an `async fn`"
        );
        let shape = "a flow takes `task: String, cx: Context` and perhaps its params";
        assert_eq!(
            said(quote!(
                async fn f(task: String) -> Result<()> {}
            )),
            shape
        );
        assert_eq!(
            said(quote!(
                async fn f(task: String, cx: Context) {}
            )),
            "a flow returns a `Result`"
        );
        let three = quote!(
            async fn f(task: String, cx: Context, params: P) -> Result<()> {}
        );
        assert!(refusal(quote!(params = P), three).starts_with("the params are the third argument already"));
    }
}
