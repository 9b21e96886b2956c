"""asyncio, whole. What a turn costs in time is the scenario's: 10 ms, and a minute for one that is slow."""

import asyncio
import contextvars
from typing import Any

from flowhost import Context, HarnessError, log, now
from outcomes import facts, outcome


def texts(answers: Any) -> list[str]:
    return [answer.text for answer in answers]


async def gather(cx: Context) -> Any:
    agent = cx.agent("worker")
    kept = await asyncio.gather(agent.run("a"), agent.run("bad"), agent.run("c"), return_exceptions=True)
    # The first failure comes at once, and the other goes on.
    first = await outcome(asyncio.gather(agent.run("slow"), agent.run("bad")))
    return {"kept": [getattr(each, "text", None) or facts(each)["name"] for each in kept], "first": first["name"]}


async def gather_is_cancelled(cx: Context) -> Any:
    agent = cx.agent("worker")
    both = asyncio.ensure_future(asyncio.gather(agent.run("slow"), agent.run("slow")))
    await asyncio.sleep(0.005)
    both.cancel()
    try:
        await both
    except asyncio.CancelledError:
        return "cancelled"


async def semaphore(cx: Context) -> Any:
    agent, gate = cx.agent("worker"), asyncio.Semaphore(2)

    async def one(at: int) -> str:
        async with gate:
            return (await agent.run(f"t{at}")).text

    return await asyncio.gather(*map(one, range(6)))


async def queue(cx: Context) -> Any:
    agent, todo = cx.agent("worker"), asyncio.Queue[str](maxsize=4)
    said: list[str] = []

    async def work() -> None:
        with agent.spawn() as session:
            while True:
                prompt = await todo.get()
                said.append((await session.run(prompt)).text)
                todo.task_done()

    workers = [asyncio.create_task(work()) for _ in range(3)]
    for at in range(7):
        await todo.put(f"t{at}")
    await todo.join()
    for each in workers:
        each.cancel()
    ended = await asyncio.gather(*workers, return_exceptions=True)
    return {"said": sorted(said), "workers": [type(each).__name__ for each in ended]}


async def as_completed(cx: Context) -> Any:
    agent = cx.agent("worker")
    said = [(await first).text for first in asyncio.as_completed([agent.run("late"), agent.run("quick")])]
    tasks = {asyncio.create_task(agent.run(prompt)): prompt for prompt in ("late", "quick")}
    again = [tasks[task] async for task in asyncio.as_completed(tasks)]
    late = await outcome(anext(asyncio.as_completed([agent.run("slow")], timeout=0.02)))
    return {"said": said, "again": again, "late": late["name"]}


async def wait(cx: Context) -> Any:
    agent = cx.agent("worker")
    tasks = [asyncio.create_task(agent.run(prompt), name=prompt) for prompt in ("late", "quick", "slow")]
    done, going = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    first = [task.get_name() for task in done]
    done, going = await asyncio.wait(going, timeout=1)
    for task in going:
        task.cancel()
    ended, _ = await asyncio.wait(going)
    failing = [asyncio.create_task(agent.run(prompt)) for prompt in ("bad", "slow")]
    failed, rest = await asyncio.wait(failing, return_when=asyncio.FIRST_EXCEPTION)
    [task.cancel() for task in rest]
    return {
        "first": first,
        "in_time": [task.get_name() for task in done],
        "cancelled": [task.cancelled() for task in ended],
        "failed": [type(task.exception()).__name__ for task in failed],
    }


async def group(cx: Context) -> Any:
    agent = cx.agent("worker")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(agent.run(prompt)) for prompt in ("a", "b", "c")]
    return texts(task.result() for task in tasks)


async def group_fails(cx: Context) -> Any:
    """A failure cancels the siblings, whose turns are interrupted and whose sessions go on."""
    agent = cx.agent("worker")
    sessions = agent.spawn_many(3)
    caught = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(session.run(prompt)) for session, prompt in zip(sessions, ("slow", "bad", "slow"), strict=True)]
    except* HarnessError as failed:
        caught = [str(each) for each in failed.exceptions]
    again = await asyncio.gather(*(session.run("again") for session in sessions))
    return {"caught": caught, "cancelled": [task.cancelled() for task in tasks], "again": texts(again)}


async def groups_within(cx: Context) -> Any:
    """A failure of the block, of two tasks, and of a group within a group."""
    agent = cx.agent("worker")

    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(agent.run("slow"))
            group.create_task(agent.run("bad"))

    seen = []
    for way in ("block", "within"):
        try:
            async with asyncio.TaskGroup() as group:
                if way == "block":
                    group.create_task(agent.run("slow"))
                    await asyncio.sleep(0)
                    raise ValueError("the block")
                group.create_task(inner())
                group.create_task(agent.run("slow"))
        except ExceptionGroup as failed:
            seen.append([type(each).__name__ for each in failed.exceptions])
            matched = failed.subgroup(HarnessError)
            seen.append(matched is not None)
    return seen


async def group_uncaught(cx: Context) -> Any:
    async with asyncio.TaskGroup() as group:
        group.create_task(cx.agent("worker").run("slow"))
        group.create_task(cx.agent("worker").run("bad"))


async def timeouts(cx: Context) -> Any:
    session, loop, late = cx.agent("worker").spawn(), asyncio.get_running_loop(), []
    began = loop.time()
    try:
        async with asyncio.timeout(0.02):
            await session.run("slow")
    except TimeoutError:
        late.append("timeout")
    late.append((await session.run("in between")).text)
    try:
        async with asyncio.timeout_at(loop.time() + 0.02) as limit:
            await session.run("slow")
    except TimeoutError:
        late.append(f"timeout_at {limit.expired()}")
    try:
        await asyncio.wait_for(session.run("slow"), 0.02)
    except TimeoutError:
        late.append("wait_for")
    async with asyncio.timeout(5) as limit:
        limit.reschedule(loop.time() + 10)
        late.append((await session.run("in time")).text)
    try:
        async with asyncio.timeout(10), asyncio.timeout(0.02):
            await session.run("slow")
    except TimeoutError:
        late.append("the inner one")
    return {"late": late, "ms": round((loop.time() - began) * 1000)}


async def cancel(cx: Context) -> Any:
    session = cx.agent("worker").spawn()
    task = asyncio.create_task(session.run("slow"))
    await asyncio.sleep(0.005)
    task.cancel("enough")
    said = []
    try:
        await task
    except asyncio.CancelledError as error:
        said.append(str(error))
    said.append((await session.run("again")).text)
    # Before it began: no turn is taken.
    early = asyncio.create_task(session.run("slow"))
    early.cancel()
    await asyncio.wait([early])
    said.append(early.cancelled())

    async def refuses() -> str:
        try:
            await session.run("slow")
        except asyncio.CancelledError:
            # It goes on all the same.
            return (await session.run("at last")).text
        return "never"

    stubborn = asyncio.create_task(refuses())
    await asyncio.sleep(0.005)
    stubborn.cancel()
    said.append(await stubborn)
    return said


async def handles(cx: Context) -> Any:
    """To cancel who waits for a turn that was started leaves the turn alone; to cancel the turn does not."""
    session = cx.agent("worker").spawn()
    turn = session.start("late")
    waits = asyncio.create_task(turn.wait())
    await asyncio.sleep(0.005)
    waits.cancel()
    said = (await turn).text
    slow = session.start("slow")
    await asyncio.sleep(0.005)
    slow.cancel()
    slow.cancel()
    return {"said": said, "cancelled": (await outcome(slow.wait()))["fault"], "next": (await session.run("next")).text}


async def shield(cx: Context) -> Any:
    turn = asyncio.create_task(cx.agent("worker").run("late"))
    outer = asyncio.create_task(asyncio.wait_for(asyncio.shield(turn), 60))
    await asyncio.sleep(0.005)
    outer.cancel()
    await asyncio.wait([outer])
    return {"outer": outer.cancelled(), "inner": (await turn).text}


HELD: list[Any] = []


async def orphans(cx: Context) -> Any:
    agent = cx.agent("worker")

    async def waits(what: Any) -> None:
        try:
            await what
        finally:
            print("stopped")

    async def endless() -> Any:
        try:
            while True:
                yield await agent.run("t")
        finally:
            print("closed")

    answers = endless()
    await anext(answers)
    watch = agent.watch("question")
    for what in (agent.run("slow"), asyncio.sleep(3600), watch.next(), asyncio.Event().wait()):
        asyncio.create_task(waits(what))
    HELD.append(agent.start("never"))
    asyncio.get_running_loop().call_later(60, log, "never")
    await asyncio.sleep(0.001)
    return "left"


async def unheard(cx: Context) -> Any:
    """Failures that nobody waits for: of what is let go of, of what is held, and one that was looked at."""

    async def fails(why: str) -> None:
        raise ValueError(why)

    task = asyncio.create_task(fails("let go of"))
    await asyncio.wait([task])
    del task
    HELD.append(asyncio.create_task(fails("held")))
    seen = asyncio.create_task(fails("seen"))
    await asyncio.sleep(0.001)
    seen.exception()
    return "answered"


async def handler(cx: Context) -> Any:
    heard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context["message"]))
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return [each.partition(" in ")[0] for each in heard]


VOICE: contextvars.ContextVar[str] = contextvars.ContextVar("VOICE", default="nobody")


async def locks(cx: Context) -> Any:
    """Locks, events, conditions, barriers, context variables and callbacks."""
    agent, lock, ready, condition, barrier = cx.agent("worker"), asyncio.Lock(), asyncio.Event(), asyncio.Condition(), asyncio.Barrier(3)
    order: list[str] = []

    async def one(name: str) -> None:
        VOICE.set(name)
        await ready.wait()
        async with lock:
            await agent.run(name)
            order.append(VOICE.get())
        await barrier.wait()
        async with condition:
            condition.notify_all()

    tasks = [asyncio.create_task(one(name)) for name in ("a", "b", "c")]
    loop = asyncio.get_running_loop()
    loop.call_later(0.005, ready.set)
    never = loop.call_later(0.001, order.append, "never")
    never.cancel()
    async with condition:
        await condition.wait()
    await asyncio.gather(*tasks)
    future = loop.create_future()
    loop.call_soon(future.set_result, "future")
    threaded = await asyncio.to_thread(str.upper, "at once")
    return [*order, VOICE.get(), await future, threaded]


async def eager(cx: Context) -> Any:
    loop, order = asyncio.get_running_loop(), []
    loop.set_task_factory(asyncio.eager_task_factory)

    async def one(name: str) -> str:
        order.append(name)
        return (await cx.agent("worker").run(name)).text

    tasks = [asyncio.create_task(one(name)) for name in ("a", "b")]
    order.append("begun")
    return [*order, *await asyncio.gather(*tasks)]


async def comprehensions(cx: Context) -> Any:
    agent = cx.agent("worker")

    async def answers() -> Any:
        for at in range(3):
            yield (await agent.run(f"t{at}")).text

    async with asyncio.timeout(1):
        return [each async for each in answers()] + [(await agent.run(each)).text for each in ("x", "y")]


async def many(cx: Context) -> Any:
    """So many turns at once, each in a session of its own."""
    sessions = cx.agent("worker").spawn_many(cx.params["n"])
    answers = await asyncio.gather(*(session.run(f"t{at}") for at, session in enumerate(sessions)))
    return {"last": answers[-1].text, "distinct": len(set(texts(answers)))}


async def many_tasks(cx: Context) -> Any:
    async def one(at: int) -> int:
        await asyncio.sleep(0.001 * (at % 10))
        return at

    return sum(await asyncio.gather(*map(one, range(cx.params["n"]))))


async def stuck(cx: Context) -> Any:
    await asyncio.Event().wait()


async def stuck_and_stubborn(cx: Context) -> Any:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log("once more")


async def runs_a_loop(cx: Context) -> Any:
    async def inner() -> None:
        pass

    coroutine = inner()
    said = []
    for runs in (asyncio.run, asyncio.get_running_loop().run_until_complete):
        said.append(await outcome(asyncio.to_thread(runs, coroutine)))
    coroutine.close()
    return [each["name"] for each in said]


async def clock(cx: Context) -> Any:
    before, began = now(), asyncio.get_running_loop().time()
    await asyncio.sleep(0.25)
    return [round((now() - before).total_seconds() * 1000), round((asyncio.get_running_loop().time() - began) * 1000)]
