"""Handles, waiting, and cancelling."""

import asyncio

from flowhost import FlowhostError, gather, load, sleep, wait_any

from words import said, words


def started(cx, prompt):
    """A turn in a conversation of its own."""
    return cx.agent("worker").spawn().start(prompt)


async def turn_(cx):
    turn = started(cx, "later")
    before = turn.done()
    wait = await said(turn.wait())
    return {"before": before, "wait": wait, "after": turn.done(), "again": await said(turn.wait())}


async def cancel_(cx):
    session = cx.agent("worker").spawn()
    turn = session.start("slow")
    await sleep(0.01)
    turn.cancel()
    turn.cancel()
    following = await said(session.run("next"))
    return {"turn": await said(turn.wait()), "again": await said(turn.wait()), "next": following}


async def any_(cx):
    turns = [started(cx, prompt) for prompt in ("later", "soon")]
    left, ended = list(turns), []
    while left:
        for ready in await wait_any(*left):
            ended.append(turns.index(ready))
            left.remove(ready)
    return ended


async def any_timeout_(cx):
    nothing = await wait_any()
    turn = started(cx, "slow")
    late = await wait_any(turn, timeout=0.02)
    turn.cancel()
    return {"nothing": nothing, "late": late}


async def any_mixed_(cx):
    """A branch that sleeps 10 ms, a turn of 50 ms, a process of a second, and a watch that nothing comes of: by three waits, the first of them
    for all, each after it without what was ready."""
    agent = cx.agent("worker")
    watch = agent.watch("pre-tool-use")
    turn = started(cx, "later")
    process = cx.env("workspace").start(["sleep", "1"])
    branch = (await load("itself")).start("flows/sleep", agents={"worker": agent})

    async def places(*things):
        return [things.index(ready) for ready in await wait_any(*things)]

    return {
        "first": await places(turn, process, branch, watch),
        "second": await places(turn, process, watch),
        "third": await places(watch, process),
    }


async def cancel_task_(cx):
    session = cx.agent("worker").spawn()
    task = asyncio.create_task(session.run("slow"))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    return {"stopped": task.cancelled(), "next": await said(session.run("next"))}


async def timeout_(cx):
    session = cx.agent("worker").spawn()
    late = False
    try:
        async with asyncio.timeout(0.01):
            await session.run("slow")
    except TimeoutError:
        late = True
    return {"late": late, "next": await said(session.run("next"))}


async def race_(cx):
    turn, clock = asyncio.create_task(said(cx.agent("worker").run("slow"))), asyncio.create_task(asyncio.sleep(0.01, "clock"))
    done, left = await asyncio.wait([turn, clock], return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    return done.pop().result()


async def group_(cx):
    tasks = []
    try:
        async with asyncio.TaskGroup() as group:
            for prompt in ("slow", "bad", "slow"):
                tasks.append(group.create_task(cx.agent("worker").run(prompt)))
    except* FlowhostError as failed:
        error = words(failed.exceptions[0])
    return {"error": error, "cancelled": sum(task.cancelled() for task in tasks)}


async def gather_(cx):
    turns = (said(cx.agent("worker").run(prompt)) for prompt in ("t0", "bad", "t2", "t3"))
    return await gather(*turns, at_once=2)


async def drop_wait_(cx):
    turn = started(cx, "later")
    try:
        await asyncio.wait_for(turn.wait(), 0.001)
    except TimeoutError:
        pass
    return await said(turn.wait())
