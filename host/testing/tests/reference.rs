//! The examples of `SCENARIO.md` can be read, and what can be written is named there.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::path::Path;

use flowhost_testing::ScenarioFile;

const PAGE: &str = include_str!("../SCENARIO.md");

fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn every_example_can_be_read() {
    let examples = examples();
    assert_eq!(examples.len(), 3);
    for text in examples {
        ScenarioFile::read(Path::new("x.test.toml"), text.to_owned())
            .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    }
}

/// The keys that a wrong one is refused with, where the table is far from all of them.
fn keys(above: &str) -> Vec<String> {
    let wrong = format!("flow = \"x\"\n{above}qqqqqqqqqqqq = 1\n");
    let problem = ScenarioFile::read(Path::new("x.test.toml"), wrong).unwrap_err();
    let hint = problem.hint.clone().unwrap_or_default();
    let (_, keys) = hint.split_once("The keys are ").unwrap_or_else(|| panic!("{problem}: {hint}"));
    keys.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_stands_on_the_page() {
    for above in [
        "",
        "[agents.a]\n",
        "[[agents.a.when]]\nreply = \"x\"\n",
        "[agents.a.reply]\ntext = \"x\"\n",
        "[envs.a]\n",
        "[[envs.a.commands]]\nrun = \"x\"\n",
        "[budget]\n",
        "[expect]\n",
        "[expect.error]\nkind = \"other\"\n",
        "[expect.agents.a]\n",
        "[expect.envs.a]\n",
        "[expect.spending]\n",
    ] {
        for key in keys(above) {
            let plain = key.replace("-any-order", "").replace("-contains", "").replace("-contain", "");
            let ways = [
                format!("`{plain}`"),
                format!("`{plain} = "),
                format!("`{plain}.ROLE`"),
                format!("`[[{plain}]]`"),
                format!("{{ {plain} = "),
            ];
            let said = ways.iter().any(|way| PAGE.contains(way));
            assert!(said, "{above}{key}: SCENARIO.md does not name it");
        }
    }
}
