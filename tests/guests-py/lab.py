"""Does what its task says: a behaviour of asyncio, of the contract or of Python each."""

from typing import Any

import lab_asyncio
import lab_contract
import lab_hostile
import lab_mistakes
from flowhost import Context, FailedError, flow

MODULES = (lab_asyncio, lab_contract, lab_hostile, lab_mistakes)


@flow(
    agents={
        "worker": "steer fork goal pre-tool-use question",
        "judge": {"optional": True, "capabilities": "question"},
    },
    envs={"workspace": {"optional": True, "capabilities": "shell bash files worktree copy scratch snapshot"}},
    params={"type": "object", "properties": {"n": {"type": "integer", "default": 10}, "way": {"type": "string"}}},
    loads=["lab", "fanout", "nowhere"],
)
async def lab(task: str, cx: Context) -> Any:
    for module in MODULES:
        behaviour = getattr(module, task.replace("-", "_"), None)
        if getattr(behaviour, "__module__", None) == module.__name__:
            return await behaviour(cx)
    raise FailedError(f"the lab has no {task}")
