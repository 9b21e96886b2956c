//! The contract as a page to read, `wit/README.md`: made of the documents of its own items.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "a test reads what it holds to")]

use std::path::Path;

use wit_bindgen_core::{Files, wit_parser::Resolve};

fn page() -> String {
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(contract).unwrap();
    let world = resolve.select_world(&[package], Some("flow")).unwrap();
    let mut files = Files::default();
    wit_bindgen_markdown::Opts::default().build().generate(&mut resolve, world, &mut files).unwrap();
    let (_, text) = files.iter().find(|(name, _)| name.ends_with(".md")).unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

#[test]
fn the_page_says_what_the_contract_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit/README.md");
    let page = page();
    if std::env::var_os("FLOWHOST_UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "FLOWHOST_UPDATE=1 cargo test --release --test contract_page writes it");
}
