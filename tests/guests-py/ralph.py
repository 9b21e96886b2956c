"""One agent, round after round on the same task, each time with a fresh mind. A plain `def`: every call waits."""

from dataclasses import dataclass, field

from flowhost import BudgetError, Context, HarnessError, flow, log

SAY_SO = "Do one thing that is left to do, if there is any. If nothing is left, answer DONE on a line of its own."


@dataclass
class Params:
    until: str | None = field(
        default=None,
        metadata={"description": "A bash script: the work is done when it exits with 0. Without one it is done when the agent says so."},
    )
    rounds: int = field(default=25, metadata={"description": "How many rounds at most."})


@dataclass
class Ended:
    """How it ended."""

    done: bool
    rounds: int
    said: str


@flow(agents=["agent"], envs={"workspace": "bash"}, params=Params, result=Ended)
def ralph(task: str, cx: Context[Params]) -> Ended:
    """One agent on one task, round after round in a new conversation, until it is done or the budget is spent."""
    agent, workspace, until = cx.agent("agent"), cx.env("workspace"), cx.params.until
    prompt = task if until else f"{task}\n\n{SAY_SO}"
    ended = Ended(False, 0, "")
    while not ended.done and ended.rounds < cx.params.rounds:
        try:
            ended.said = agent.run(prompt).text
        except HarnessError as failed:
            log(f"round {ended.rounds + 1}: failed, {failed}")
            ended.rounds += 1
            continue
        except BudgetError as spent:
            log(spent)
            break
        if until:
            ended.done = workspace.bash(until).success
        else:
            ended.done = any(line.strip() == "DONE" for line in ended.said.splitlines())
        ended.rounds += 1
    return ended
