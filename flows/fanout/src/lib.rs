//! The task once per Python file, a session apiece, two at a time.

use flowhost::prelude::*;

#[params]
struct Params {
    /// How many turns go at once.
    #[default(2)]
    #[schemars(range(min = 1))]
    at_once: usize,
}

/// The task once per Python file that git knows, a session apiece, two at a time.
#[flow(agents(agent), envs(workspace: shell))]
async fn fanout(task: String, cx: Context, params: Params) -> Result<BTreeMap<String, String>> {
    let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
    let listed = workspace.exec(["git", "ls-files", "*.py"]).repeatable().checked().await?.stdout;
    let paths: Vec<String> = git::names(&listed).collect();
    if paths.is_empty() {
        log!("git knows no Python files here");
    }
    let turns = paths.iter().map(async |path| {
        let session = agent.spawn()?;
        session.run(format!("{task}\n\nThe file is {path}.")).await
    });
    let said = gather(turns).at_once(params.at_once).await;
    let mut answers = BTreeMap::new();
    for (path, said) in paths.into_iter().zip(said) {
        match said {
            Ok(answer) => {
                answers.insert(path, answer.text);
            }
            Err(Error::Harness(failed)) => log!("{path}: failed, {failed}"),
            Err(other) => return Err(other),
        }
    }
    Ok(answers)
}
