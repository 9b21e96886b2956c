//! `#[params]` and `#[answer]`: types that cross the contract as JSON.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Expr, Fields, Item, ItemStruct, Result, parse2};

/// What both derive.
fn derives() -> TokenStream {
    quote! {
        #[derive(
            ::core::clone::Clone,
            ::core::fmt::Debug,
            ::flowhost::serde::Serialize,
            ::flowhost::serde::Deserialize,
            ::flowhost::schemars::JsonSchema,
        )]
        #[schemars(crate = "::flowhost::schemars")]
    }
}

fn takes_nothing(attribute: &TokenStream) -> Result<()> {
    if attribute.is_empty() { Ok(()) } else { Err(Error::new_spanned(attribute, "takes no arguments")) }
}

pub(crate) fn answer(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    takes_nothing(&attribute)?;
    let derives = derives();
    match parse2::<Item>(item)? {
        item @ (Item::Struct(_) | Item::Enum(_)) => Ok(quote! {
            #derives
            #[serde(crate = "::flowhost::serde", deny_unknown_fields)]
            #item
        }),
        other => Err(Error::new_spanned(other, "an answer is a struct or an enum")),
    }
}

pub(crate) fn params(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    takes_nothing(&attribute)?;
    let mut item: ItemStruct = parse2(item).map_err(|error| Error::new(error.span(), "params are a struct"))?;
    if !item.generics.params.is_empty() {
        return Err(Error::new_spanned(item.generics, "params have no generics: they are read from JSON"));
    }
    let name = item.ident.clone();
    let Fields::Named(fields) = &mut item.fields else {
        return Err(Error::new_spanned(item, "params are a struct with named fields"));
    };
    let mut defaults = Vec::new();
    for field in &mut fields.named {
        let Some(place) = field.attrs.iter().position(|each| each.path().is_ident("default")) else { continue };
        let value: Expr = field.attrs.remove(place).parse_args()?;
        let (key, of) = (field.ident.clone(), &field.ty);
        let function = format_ident!("default_of_{}", key.map(|key| key.to_string()).unwrap_or_default());
        let path = format!("{name}::{function}");
        field.attrs.push(syn::parse_quote!(#[serde(default = #path)]));
        defaults.push(quote! {
            fn #function() -> #of {
                #value
            }
        });
    }
    let derives = derives();
    Ok(quote! {
        #derives
        #[serde(crate = "::flowhost::serde", rename_all = "kebab-case", deny_unknown_fields)]
        #item

        impl #name {
            #(#defaults)*
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(result: Result<TokenStream>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_default_becomes_what_serde_calls() {
        let written = params(
            quote!(),
            quote!(
                struct Params {
                    #[default(2)]
                    at_once: u32,
                }
            ),
        )
        .unwrap()
        .to_string();
        assert!(written.contains("serde (default = \"Params::default_of_at_once\")"), "{written}");
        assert!(written.contains("fn default_of_at_once () -> u32 { 2 }"), "{written}");
    }

    #[test]
    fn other_shapes_are_refused() {
        assert_eq!(
            refusal(params(
                quote!(),
                quote!(
                    enum Params {}
                )
            )),
            "params are a struct"
        );
        assert_eq!(
            refusal(params(
                quote!(),
                quote!(
                    struct Params(u32);
                )
            )),
            "params are a struct with named fields"
        );
        assert_eq!(
            refusal(params(
                quote!(x),
                quote!(
                    struct Params {}
                )
            )),
            "takes no arguments"
        );
        assert_eq!(
            refusal(answer(
                quote!(),
                quote!(
                    fn f() {}
                )
            )),
            "an answer is a struct or an enum"
        );
    }
}
