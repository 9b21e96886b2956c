"""What goes wrong in a flow, and what is said of it."""

import asyncio
import json
import os
import sys
from typing import Any

import deep
from flowhost import Context, HarnessError


def _fails(settings: Any) -> Any:
    return settings["port"]


async def uncaught(cx: Context) -> Any:
    await asyncio.sleep(0.001)
    return _fails({})


async def uncaught_in_a_task(cx: Context) -> Any:
    async def one() -> Any:
        return _fails({})

    await asyncio.gather(one(), asyncio.sleep(1))


async def uncaught_turn(cx: Context) -> Any:
    await cx.agent("worker").run("bad")


async def uncaught_group(cx: Context) -> Any:
    async def fails(which: str) -> Any:
        return _fails({which: 1})

    async with asyncio.TaskGroup() as group:
        group.create_task(fails("one"))
        group.create_task(fails("two"))


async def because(cx: Context) -> Any:
    try:
        await cx.agent("worker").run("bad")
    except HarnessError as error:
        raise RuntimeError("no answer") from error


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("it says nothing")

    __repr__ = __str__


async def mute(cx: Context) -> Any:
    raise Mute


async def verbose(cx: Context) -> Any:
    raise ValueError("x" * 50_000_000)


async def exits(cx: Context) -> Any:
    sys.exit(3)


async def exits_at_once(cx: Context) -> Any:
    os._exit(3)


async def interrupts(cx: Context) -> Any:
    raise KeyboardInterrupt


async def cancels_itself(cx: Context) -> Any:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(1)


async def forgets_to_await(cx: Context) -> Any:
    return cx.agent("worker").run("t")


async def no_answer(cx: Context) -> Any:
    return object()


async def no_number(cx: Context) -> Any:
    return {"n": float("nan")}


async def circle(cx: Context) -> Any:
    answer: list[Any] = []
    answer.append(answer)
    return answer


async def names_of_all_kinds(cx: Context) -> Any:
    return {2: "one", None: "none", True: "yes", 1.5: "more"}


async def nothing(cx: Context) -> None:
    pass


async def time_sleep(cx: Context) -> Any:
    import time

    time.sleep(1)


async def missing(cx: Context) -> Any:
    import numpy  # noqa: F401


async def deep_data(cx: Context) -> Any:
    """An answer nested so deep that few would read it."""
    answer: list[Any] = []
    for _ in range(cx.params["n"]):
        answer = [answer]
    return answer


async def deep_calls(cx: Context) -> Any:
    def down(n: int) -> int:
        return down(n + 1) + 1

    return down(0)


async def deep_awaits(cx: Context) -> Any:
    async def down(n: int) -> int:
        return await down(n + 1) + 1

    return await down(0)


async def deep_ways(cx: Context) -> Any:
    """Depth of every kind, through what Python itself is written in: each is an error that can be caught, and Python goes on."""
    said = {}
    for name, way in deep.WAYS.items():
        try:
            way()
            said[name] = "done"
        except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
            said[name] = type(error).__name__
    assert json.loads("[[1]]") == [[1]]
    return said
