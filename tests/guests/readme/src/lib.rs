//! The flow of the README, word for word.

use flowhost::prelude::*;

/// The task once per Python file, a session apiece, two at a time.
#[flow(agents(agent), envs(workspace: shell))]
async fn fanout(task: String, cx: Context) -> Result<BTreeMap<String, String>> {
    let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
    let files = workspace.exec(["git", "ls-files", "*.py"]).await?.stdout;
    let paths: Vec<String> = git::names(&files).collect();
    let turns = paths.iter().map(async |path| {
        let session = agent.spawn()?;
        session.run(format!("{task}\n\nThe file is {path}.")).await
    });
    let said = gather(turns).at_once(2).await;
    let mut answers = BTreeMap::new();
    for (path, said) in paths.into_iter().zip(said) {
        match said {
            Ok(answer) => drop(answers.insert(path, answer.text)),
            Err(Error::Harness(failed)) => log!("{path}: failed, {failed}"),
            Err(other) => return Err(other),
        }
    }
    Ok(answers)
}
