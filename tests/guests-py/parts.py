"""A whole flow on several parts of the work at once."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from flowhost import Context, flow, load


@dataclass
class Params:
    at_once: int = field(default=2, metadata={"description": "How many turns of each part go at once.", "minimum": 1})


@flow(agents=["agent"], envs={"workspace": "shell"}, params=Params, loads=["fanout"])
async def parts(task: str, cx: Context[Params]) -> list[Any]:
    """Runs fanout on each line of the task, all of them at once."""
    agents, envs = {"agent": cx.agent("agent")}, {"workspace": cx.env("workspace")}
    fanout = await load("fanout")
    lines = [line for line in task.splitlines() if line.strip()]
    return await asyncio.gather(*(fanout(line, agents=agents, envs=envs, params=cx.params) for line in lines))
