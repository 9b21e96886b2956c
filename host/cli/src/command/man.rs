//! `flowhost man`: one page with all commands.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use clap_mangen::Man;

use crate::{args, exit::Exit};

/// Writes the page to stdout.
pub(super) fn run() -> anyhow::Result<Exit> {
    io::stdout().lock().write_all(page()?.as_bytes())?;
    Ok(Exit::Answered)
}

fn page() -> io::Result<String> {
    let mut root = args::command();
    root.build();
    let mut page = Vec::new();
    let man = Man::new(root.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    commands(&root, "flowhost", &mut page)?;
    page.push_str(".SH \"EXIT STATUS\"\n");
    for (exit, meaning) in Exit::TABLE {
        let _ = write!(page, ".TP\n\\fB{}\\fR\n{}\n", exit.code(), meaning.replace('-', "\\-"));
    }
    page.push_str(FILES);
    Ok(page)
}

/// A section for each command that does something.
fn commands(of: &clap::Command, name: &str, page: &mut String) -> io::Result<()> {
    for command in of.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("{name} {}", command.get_name());
        if command.has_subcommands() {
            commands(command, &name, page)?;
            continue;
        }
        let mut section = Vec::new();
        let man = Man::new(command.clone());
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        man.render_extra_section(&mut section)?;
        let _ = writeln!(page, ".SH \"{}\"", name.to_uppercase());
        page.push_str(&String::from_utf8_lossy(&section).replace(".SH ", ".SS "));
    }
    Ok(())
}

const FILES: &str = ".SH FILES
.TP
\\fB.flowhost/flows/NAME.wasm\\fR
a flow of the project
.TP
\\fB.flowhost/runs/RUN/\\fR
the record of a run
.TP
\\fB$XDG_DATA_HOME/flowhost/flows/NAME.wasm\\fR
a flow of the user
.TP
\\fB$XDG_DATA_HOME/flowhost/runners/\\fR
what runs flows of source text, as `flowhost runner` keeps it
.SH ENVIRONMENT
.TP
\\fBNO_COLOR\\fR
nothing is colored, as with \\-\\-color never
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_and_every_exit() {
        let page = page().unwrap();
        for section in
            ["FLOWHOST EXEC", "FLOWHOST DEMO", "FLOWHOST FLOWS LIST", "FLOWHOST CHECK", "FLOWHOST TEST", "EXIT STATUS"]
        {
            assert!(page.contains(&format!(".SH \"{section}\"")), "{section}");
        }
        assert!(page.contains("\\fB130\\fR"));
        assert!(!page.to_lowercase().contains("guardian"));
    }
}
