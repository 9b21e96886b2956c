"""Many, and large."""

import asyncio

from flowhost import FailedError

LARGE = 5_000_000


async def turns_(cx):
    """A session a turn, all at once; how many gave their own answer."""
    sessions = cx.agent("worker").spawn_many(cx.params["n"])
    answers = await asyncio.gather(*(session.run(f"say t{turn}") for turn, session in enumerate(sessions)))
    return sum(answer.text == f"t{turn}" for turn, answer in enumerate(answers))


async def unicode_(cx):
    return (await cx.agent("worker").run("say naïve👍日本")).text


async def large_(cx):
    answer = (await cx.agent("worker").run("say " + "x" * LARGE)).text
    if len(answer) != LARGE:
        raise FailedError(f"{len(answer)} characters came")
    return answer
