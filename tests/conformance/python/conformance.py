"""The contract in Python: the task is `FAMILY/CASE`, and what it answers is what the scenarios of the folder above expect of every language."""

import inspect

from flowhost import FailedError, flow

import case_agents
import case_context
import case_envs
import case_errors
import case_flows
import case_scale
import case_sessions
import case_waiting
import case_watches

FAMILIES = {
    "agents": case_agents,
    "context": case_context,
    "envs": case_envs,
    "errors": case_errors,
    "flows": case_flows,
    "scale": case_scale,
    "sessions": case_sessions,
    "waiting": case_waiting,
    "watches": case_watches,
}


@flow(
    agents={"worker": "steer fork goal pre-tool-use", "judge": {"optional": True}},
    envs={"workspace": {"optional": True, "capabilities": "shell bash files worktree copy scratch snapshot".split()}},
    params={"type": "object", "properties": {"n": {"type": "integer", "default": 4}, "way": {"type": "string", "default": ""}}},
    loads=["itself", "other", "nowhere"],
    hidden=True,
)
async def conformance(task, cx):
    """Does what the task says, a case of the contract each."""
    family, case = task.split("/")
    run = getattr(FAMILIES[family], case.replace("-", "_") + "_", None)
    if run is None:
        raise FailedError(f"there is no case {task!r}")
    said = run(cx)
    return await said if inspect.isawaitable(said) else said
