"""One agent on each line of the task."""

import asyncio

from flowhost import HarnessError, flow, log

AT_ONCE = 2


@flow(name="{{name}}", agents=["agent"], envs=["workspace"])
async def run(task, cx):
    """Asks one agent about each line of the task, two lines at a time."""
    agent = cx.agent("agent")
    gate = asyncio.Semaphore(AT_ONCE)

    async def ask(line):
        async with gate:
            try:
                return (await agent.run(line)).text
            except HarnessError as failed:
                # One that failed does not take the others with it.
                log(f"{line}: failed, {failed}")
                return None

    return await asyncio.gather(*(ask(line) for line in task.splitlines() if line.strip()))
