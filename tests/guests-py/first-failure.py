"""The task once per Python file, until one fails."""

import asyncio
from dataclasses import dataclass, field

from flowhost import Answer, Context, flow, git, log


@dataclass
class Params:
    at_once: int = field(default=2, metadata={"description": "How many turns go at once.", "minimum": 1})


@flow(agents=["agent"], envs={"workspace": "shell"}, params=Params)
async def first_failure(task: str, cx: Context[Params]) -> dict[str, str]:
    """The task once per Python file that git knows; at the first failure the rest is cancelled."""
    agent, workspace = cx.agent("agent"), cx.env("workspace")
    listed = await workspace.exec(["git", "ls-files", "*.py"], repeatable=True, check=True)
    paths = git.names(listed.stdout)
    gate = asyncio.Semaphore(cx.params.at_once)

    async def one(path: str) -> Answer:
        async with gate:
            return await agent.spawn().run(f"{task}\n\nThe file is {path}.")

    tasks: list[asyncio.Task[Answer]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(one(path)) for path in paths]
    except BaseExceptionGroup as failures:
        cancelled = sum(each.cancelled() for each in tasks)
        failed = len(failures.exceptions)
        log(f"{failed} failed, {len(tasks) - failed - cancelled} answered, {cancelled} cancelled")
        raise failures.exceptions[0]
    return {path: each.result().text for path, each in zip(paths, tasks, strict=True)}
