//! What a new flow begins with: the files of `templates/`, one folder a language.

use crate::{args::Lang, build::rust};

/// A file: its path in the new folder, and its text, with names in double braces.
type File = (&'static str, &'static str);

const RUST: &[File] = &[
    ("Cargo.toml", include_str!("../templates/rust/package.toml")),
    ("README.md", include_str!("../templates/rust/README.md")),
    ("src/lib.rs", include_str!("../templates/rust/lib.rs")),
];
const PYTHON: &[File] = &[
    ("README.md", include_str!("../templates/python/README.md")),
    ("flow.py", include_str!("../templates/python/flow.py")),
];
const JS: &[File] =
    &[("README.md", include_str!("../templates/js/README.md")), ("flow.js", include_str!("../templates/js/flow.js"))];
const C: &[File] =
    &[("README.md", include_str!("../templates/c/README.md")), ("flow.c", include_str!("../templates/c/flow.c"))];
const SCENARIO: &str = include_str!("../templates/scenario.test.toml");

/// The files of a new flow of this name, by path.
pub(crate) fn files(lang: Lang, name: &str) -> Vec<(String, String)> {
    let own = match lang {
        Lang::Rust => RUST,
        Lang::Python => PYTHON,
        Lang::Js => JS,
        Lang::C => C,
    };
    let built = format!("{name}.wasm");
    let flow = match lang {
        Lang::Python => "./flow.py".into(),
        Lang::Js => "./flow.js".into(),
        Lang::Rust | Lang::C => format!("./{built}"),
    };
    let dependency = rust::dependency();
    let names = [("{{name}}", name), ("{{flow}}", &flow), ("{{dependency}}", &dependency)];
    let filled = |text: &str| names.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value));
    let mut files: Vec<_> = own.iter().map(|(path, text)| ((*path).to_owned(), filled(text))).collect();
    files.push((format!("{name}.test.toml"), filled(SCENARIO)));
    files.push((".gitignore".into(), format!("/{built}\n{}", if lang == Lang::Rust { "/target\n" } else { "" })));
    if lang == Lang::Rust {
        files.push(("Cargo.lock".into(), lock(name)));
    }
    files
}

/// The versions that the SDK was tested with: what a package asks for beside them is added by cargo.
fn lock(name: &str) -> String {
    format!(
        "# It is not intended for manual editing.\nversion = 4\n\n{}[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n\
         dependencies = [\n \"flowhost-sdk\",\n]\n",
        rust::LOCKED
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_language_has_a_flow_a_test_and_a_page_and_no_name_is_left_open() {
        for lang in Lang::value_variants() {
            let files = files(*lang, "survey");
            for wanted in ["README.md", "survey.test.toml", ".gitignore"] {
                assert!(files.iter().any(|(path, _)| path == wanted), "{lang:?}: {wanted}");
            }
            for (path, text) in files {
                assert!(!text.contains("{{"), "{lang:?}: {path}: {text}");
                if path == "README.md" {
                    assert!(text.lines().count() <= 16, "{lang:?}: ten lines and a few that are empty");
                }
            }
        }
    }
}
