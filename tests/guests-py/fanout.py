"""The task once per Python file, a session apiece, two at a time."""

import asyncio
from dataclasses import dataclass, field

from flowhost import Answer, Context, HarnessError, flow, git, log


@dataclass
class Params:
    at_once: int = field(default=2, metadata={"description": "How many turns go at once.", "minimum": 1})


@flow(agents=["agent"], envs={"workspace": "shell"}, params=Params)
async def fanout(task: str, cx: Context[Params]) -> dict[str, str]:
    """The task once per Python file that git knows, a session apiece, two at a time."""
    agent, workspace = cx.agent("agent"), cx.env("workspace")
    listed = await workspace.exec(["git", "ls-files", "*.py"], repeatable=True, check=True)
    paths = git.names(listed.stdout)
    if not paths:
        log("git knows no Python files here")
    gate = asyncio.Semaphore(cx.params.at_once)

    async def one(path: str) -> Answer:
        async with gate:
            session = agent.spawn()
            return await session.run(f"{task}\n\nThe file is {path}.")

    said = await asyncio.gather(*map(one, paths), return_exceptions=True)
    answers: dict[str, str] = {}
    for path, answer in zip(paths, said, strict=True):
        if isinstance(answer, HarnessError):
            log(f"{path}: failed, {answer}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            answers[path] = answer.text
    return answers
