//! One agent on each line of the task.

use flowhost::prelude::*;

/// Asks one agent about each line of the task, two lines at a time.
#[flow(name = "{{name}}", agents(agent), envs(workspace))]
async fn run(task: String, cx: Context) -> Result<Vec<Option<String>>> {
    let agent = cx.agent("agent")?;
    let lines: Vec<&str> = task.lines().filter(|line| !line.trim().is_empty()).collect();
    let said = gather(lines.iter().map(|line| agent.run(*line))).at_once(2).await;
    let mut answers = Vec::new();
    for (line, said) in lines.into_iter().zip(said) {
        match said {
            Ok(answer) => answers.push(Some(answer.text)),
            // One that failed does not take the others with it.
            Err(Error::Harness(failed)) => {
                log!("{line}: failed, {failed}");
                answers.push(None);
            }
            Err(other) => return Err(other),
        }
    }
    Ok(answers)
}
