//! Takes the types out of TypeScript: what is only a type becomes blanks, so that every line and column stays where its author wrote it.
//!
//! It is a component of its own, and no part of the host: its parser goes as deep as the text does, and some texts take it long. Here the
//! host's limits hold for it.

mod bindings;

use std::{cell::RefCell, rc::Rc};

use bindings::{Guest, Mistake};
use swc_common::{
    GLOBALS, Globals, SourceMap,
    errors::{DiagnosticBuilder, Emitter, HANDLER, Handler, Level},
    sync::Lrc,
};
use swc_ts_fast_strip::{Mode, Options, operate};

struct Stripper;

impl Guest for Stripper {
    fn strip(text: String) -> Result<String, Mistake> {
        let map: Lrc<SourceMap> = Lrc::default();
        let heard = Heard { map: map.clone(), first: Rc::default() };
        let first = heard.first.clone();
        let handler = Handler::with_emitter(true, false, Box::new(heard));
        let options = Options {
            module: Some(true),
            mode: Mode::StripOnly,
            deprecated_ts_module_as_error: Some(true),
            ..Options::default()
        };
        let stripped =
            GLOBALS.set(&Globals::new(), || HANDLER.set(&handler, || operate(&map, &handler, text, options)));
        match stripped {
            Ok(stripped) => Ok(stripped.code),
            Err(error) => Err(first.take().unwrap_or(Mistake { message: error.message, line: 1, column: 1 })),
        }
    }
}

/// Keeps the first mistake: those after it may come of it.
struct Heard {
    map: Lrc<SourceMap>,
    first: Rc<RefCell<Option<Mistake>>>,
}

impl Emitter for Heard {
    fn emit(&mut self, said: &mut DiagnosticBuilder<'_>) {
        let mut first = self.first.borrow_mut();
        if first.is_some() || !matches!(said.level, Level::Bug | Level::Fatal | Level::PhaseFatal | Level::Error) {
            return;
        }
        let message = worded(&said.message());
        let place = said.span.primary_span().filter(|span| !span.is_dummy());
        let (line, column) = place.map_or((1, 1), |span| {
            let place = self.map.lookup_char_pos(span.lo());
            (place.line, place.col.0 + 1)
        });
        let number = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        *first = Some(Mistake { message, line: number(line), column: number(column) });
    }
}

/// What of TypeScript is more than a type, as the parser says it, and what to write instead.
const INSTEAD: &[(&str, &str)] = &[
    (
        "TypeScript enum is not",
        "an enum is more than a type; write `const Color = { red: \"red\" } as const` and \
         `type Color = (typeof Color)[keyof typeof Color]`",
    ),
    (
        "TypeScript namespace declaration is not",
        "a namespace is more than a type; put it into a file of its own and import that",
    ),
    ("`module` keyword is not", "a module is more than a type; put it into a file of its own and import that"),
    (
        "TypeScript import equals declaration is not",
        "`import x = …` is no module of JavaScript's; write `import x from \"./x.ts\"`",
    ),
    ("TypeScript export assignment is not", "`export = …` is no module of JavaScript's; write `export default …`"),
    (
        "TypeScript parameter property is not",
        "a parameter that is a property is more than a type; declare the property, and assign it in the constructor",
    ),
    ("The angle-bracket syntax for type assertions", "write `value as Type` in the place of `<Type>value`"),
];

fn worded(said: &str) -> String {
    let instead = INSTEAD.iter().find(|(begins, _)| said.starts_with(begins));
    instead.map_or(said, |(_, instead)| instead).to_owned()
}
