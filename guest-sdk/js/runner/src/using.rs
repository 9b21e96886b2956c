//! `using`: the engine reads such a declaration, and disposes of nothing. A file that has one is refused, since its author would look in vain
//! for why a session stays open.

use std::ops::ControlFlow;

use boa_engine::{
    Source,
    ast::{
        Position, Spanned as _,
        declaration::{Binding, LexicalDeclaration, VariableList},
        scope::Scope,
        visitor::{VisitWith as _, Visitor},
    },
    interner::Interner,
    parser::Parser,
};

/// What to say of one.
pub(crate) const REFUSED: &str = "this engine has no `using`: close it in `finally { … }`";

/// Where a module declares with `using` first: line and column. None also where it cannot be parsed, which its own parse says better.
pub(crate) fn first(text: &[u8]) -> Option<Position> {
    // A second parse only for those that may have one.
    if !text.windows(WORD.len()).any(|word| word == WORD) {
        return None;
    }
    let module =
        Parser::new(Source::from_bytes(text)).parse_module(&Scope::new_global(), &mut Interner::default()).ok()?;
    match module.visit_with(&mut Finder) {
        ControlFlow::Break(place) => Some(place),
        ControlFlow::Continue(()) => None,
    }
}

const WORD: &[u8] = b"using";

struct Finder;

impl<'ast> Visitor<'ast> for Finder {
    type BreakTy = Position;

    fn visit_lexical_declaration(&mut self, declared: &'ast LexicalDeclaration) -> ControlFlow<Position> {
        match declared {
            LexicalDeclaration::Using(variables) | LexicalDeclaration::AwaitUsing(variables) => {
                place(variables).map_or_else(|| declared.visit_with(self), ControlFlow::Break)
            }
            LexicalDeclaration::Const(_) | LexicalDeclaration::Let(_) => declared.visit_with(self),
        }
    }
}

/// Only names can be declared so, and not patterns.
fn place(variables: &VariableList) -> Option<Position> {
    variables.as_ref().iter().find_map(|variable| match variable.binding() {
        Binding::Identifier(name) => Some(name.span().start()),
        Binding::Pattern(_) => None,
    })
}
