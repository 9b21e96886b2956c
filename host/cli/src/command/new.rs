//! `flowhost new NAME --lang LANGUAGE`: a folder with a flow that builds, runs, and has a test.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    args::{Lang, New},
    exit::{Exit, Failure},
    refs, template, terminal,
};

/// Names that mean something else where a flow is built.
const TAKEN: [&str; 2] = ["flowhost-sdk", "flowhost-sdk-macros"];

/// Makes it, and says what to do next.
pub(super) fn run(args: &New) -> anyhow::Result<Exit> {
    let name = name(&args.path)?;
    make(&args.path, &template::files(args.lang, &name))?;
    let shown = args.path.display();
    terminal::say(&format!("{shown} has a flow, a test of it, and a README that says what to do:\n"));
    terminal::say(&format!("  cd {shown}"));
    let build = match args.lang {
        Lang::Rust | Lang::C => "flowhost build\n  ",
        Lang::Python | Lang::Js => "",
    };
    terminal::say(&format!("  {build}flowhost test"));
    Ok(Exit::Answered)
}

/// The flow's name: the last part of the path.
fn name(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let Some(name) = path.file_name() else {
        return Err(Failure::refused(format!("{shown}: not a name for a flow"))
            .hint("Such as flowhost new survey --lang python"));
    };
    let name = name.to_string_lossy();
    let why = if !refs::is_name(&name) {
        "a flow's name is lower-case letters, digits and `-`, begins with a letter, and has 64 at most"
    } else if TAKEN.contains(&&*name) {
        "it is the name of what flows in Rust are built with"
    } else {
        return Ok(name.into_owned());
    };
    let mended = mended(&name);
    let failure = Failure::refused(format!("{name:?}: {why}"));
    Err(match mended {
        Some(mended) => failure.hint(format!("Did you mean {mended}?")),
        None => failure.hint("Such as flowhost new survey --lang python"),
    })
}

/// A name that is meant by one that is none, where there is one.
fn mended(name: &str) -> Option<String> {
    let mended: String =
        name.chars().map(|each| if each.is_ascii_alphanumeric() { each.to_ascii_lowercase() } else { '-' }).collect();
    let mended = mended.trim_matches(|each: char| each == '-' || each.is_ascii_digit()).to_owned();
    (refs::is_name(&mended) && mended != name).then_some(mended)
}

/// Writes the files into a folder that is not there or empty.
fn make(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    let shown = folder.display();
    let unwritten = |error: io::Error| Failure::failed(format!("{shown}: {error}"));
    match fs::read_dir(folder) {
        Ok(mut listed) => {
            if let Some(entry) = listed.next() {
                let there = entry.map_err(unwritten)?.file_name();
                let message = format!("{shown}: this folder is not empty: it has {}", there.to_string_lossy());
                return Err(Failure::refused(message).hint("A new flow has a new folder, or an empty one"));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(
                Failure::refused(format!("{shown}: there is a file of this name already")).hint("Choose another name")
            );
        }
        Err(error) => return Err(unwritten(error)),
    }
    for (path, text) in files {
        let path: PathBuf = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(unwritten)?;
        // Never over what somebody has put there meanwhile.
        let written = fs::File::create_new(&path).and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
        written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_of_the_path_and_a_bad_one_is_told_why() {
        assert_eq!(name(Path::new("flows/survey-2")).unwrap(), "survey-2");
        for (bad, hint) in [
            ("My Survey", "Did you mean my-survey?"),
            ("2nd_try", "Did you mean nd-try?"),
            ("survey.py", "Did you mean survey-py?"),
            ("flowhost-sdk", "Such as flowhost new survey --lang python"),
            ("..", "Such as flowhost new survey --lang python"),
            ("äöü", "Such as flowhost new survey --lang python"),
        ] {
            let failure = name(Path::new(bad)).unwrap_err();
            assert_eq!((failure.exit.code(), failure.hint.as_deref()), (2, Some(hint)), "{bad}: {failure}");
        }
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a/b.txt".to_owned(), "b".to_owned())];
        make(folder.path(), &files).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "b");
        let failure = make(folder.path(), &files).unwrap_err();
        assert!(failure.message.ends_with("this folder is not empty: it has a"), "{failure}");
        let failure = make(&folder.path().join("a/b.txt"), &files).unwrap_err();
        assert!(failure.message.ends_with("there is a file of this name already"), "{failure}");
    }
}
