//! Where the state of a project lives, and of a user.

use std::path::{Path, PathBuf};

/// The folder of a project's state.
pub const STATE: &str = ".flowhost";

/// The directory that `.flowhost` is in, or goes into: the nearest one upwards that has it, no further than the root of the
/// repository; else that root; else where the person stands.
///
/// Above a repository nothing is looked at: what somebody put into `/tmp` is nobody's project.
pub fn root(standing: &Path) -> PathBuf {
    let repository = standing.ancestors().find(|each| each.join(".git").exists());
    let Some(repository) = repository else { return standing.to_owned() };
    let within = standing.ancestors().take_while(|each| each.starts_with(repository));
    within.into_iter().find(|each| each.join(STATE).is_dir()).unwrap_or(repository).to_owned()
}

/// Flows of the user: `$XDG_DATA_HOME/flowhost/flows`, else `~/.local/share/flowhost/flows`. None without a home.
pub fn user_flows() -> Option<PathBuf> {
    Some(data()?.join("flows"))
}

/// Runners that the user installed: `$XDG_DATA_HOME/flowhost/runners`, else `~/.local/share/flowhost/runners`. None without a home.
pub fn user_runners() -> Option<PathBuf> {
    Some(data()?.join("runners"))
}

fn data() -> Option<PathBuf> {
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("flowhost"))
}

/// What this machine may forget: `$XDG_CACHE_HOME/flowhost`, else `~/.cache/flowhost`. None without a home.
pub fn cache() -> Option<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("flowhost"))
}

/// A path that a variable holds; a relative one counts for nothing, as XDG says.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_ends_at_the_root_of_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("repo");
        let deep = repository.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(folder.path().join(STATE)).unwrap();
        assert_eq!(root(&deep), deep);
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(root(&deep), repository);
        fs::create_dir(repository.join("a").join(STATE)).unwrap();
        assert_eq!(root(&deep), repository.join("a"));
    }
}
