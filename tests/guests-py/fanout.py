import asyncio

from flowhost import HarnessError, flow

AT_ONCE = 2


@flow(agents=["agent"], envs={"workspace": "shell"})
async def fanout(task, cx):
    """The task once per Python file, a session apiece, two at a time."""
    agent, workspace = cx.agent("agent"), cx.env("workspace")
    listed = await workspace.exec(["git", "ls-files", "*.py"])
    paths = listed.stdout.split()
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(path):
        async with gate:
            session = agent.spawn()
            return (await session.run(f"{task}\n\nThe file is {path}.")).text

    said = await asyncio.gather(*(one(path) for path in paths), return_exceptions=True)
    answers = {}
    for path, answer in zip(paths, said, strict=True):
        if isinstance(answer, HarnessError):
            print(f"{path}: failed, {answer}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            answers[path] = answer
    return answers
