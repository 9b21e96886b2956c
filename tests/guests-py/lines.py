"""One prompt a line of the task, a conversation apiece."""

from dataclasses import dataclass, field

from flowhost import Answer, Context, flow


@dataclass
class Params:
    at_once: int | None = field(default=None, metadata={"description": "How many turns go at once; all where it is not said."})
    suppress: bool = field(default=False, metadata={"description": "Keep failures in their places instead of failing."})


@flow(agents=["agent"], envs=["workspace"], params=Params)
async def lines(task: str, cx: Context[Params]) -> list[str | dict[str, str]]:
    """One prompt a line of the task, answers in the order of the lines."""
    prompts = [line for line in task.splitlines() if line.strip()]
    said = await cx.agent("agent").batch(prompts, at_once=cx.params.at_once, suppress=cx.params.suppress)
    return [each.text if isinstance(each, Answer) else {"failed": str(each)} for each in said]
