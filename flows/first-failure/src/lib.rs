//! The task once per Python file, until one fails.

use flowhost::prelude::*;

#[params]
struct Params {
    /// How many turns go at once.
    #[default(2)]
    #[schemars(range(min = 1))]
    at_once: usize,
}

/// The task once per Python file that git knows; at the first failure the rest is cancelled.
#[flow(agents(agent), envs(workspace: shell))]
async fn first_failure(task: String, cx: Context, params: Params) -> Result<BTreeMap<String, String>> {
    let (agent, workspace) = (cx.agent("agent")?, cx.env("workspace")?);
    let listed = workspace.exec(["git", "ls-files", "*.py"]).repeatable().checked().await?.stdout;
    let paths: Vec<String> = git::names(&listed).collect();
    let turns = paths.iter().map(async |path| {
        let session = agent.spawn()?;
        session.run(format!("{task}\n\nThe file is {path}.")).await
    });
    match group(turns).at_once(params.at_once).await {
        Ok(said) => Ok(paths.into_iter().zip(said.into_iter().map(|answer| answer.text)).collect()),
        Err(failures) => {
            let Failures { errors, answered, cancelled } = &failures;
            log!("{} failed, {answered} answered, {cancelled} cancelled", errors.len());
            Err(failures.into())
        }
    }
}
