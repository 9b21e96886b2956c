"""Plain functions, whose calls wait."""

import asyncio
from typing import Any

import flowhost
from flowhost import Context, FailedError, HarnessError, flow, gather, log
from outcomes import caught


def shout(agent: Any, word: str, times: int = 1, *, end: str = "") -> str:
    """Called by other plain functions; calls itself."""
    said = agent.run(word).text.upper()
    return said + end if times == 1 else said + shout(agent, word, times - 1, end=end)


class Talk:
    def __init__(self, agent: Any) -> None:
        self.__session = agent.spawn()

    def say(self, word: str) -> str:
        return self.__session.run(word).text

    def close(self) -> None:
        self.__session.close()


def _calls(cx: Context) -> Any:
    agent = cx.agent("worker")
    prefix = "the "

    def inner(word: str) -> str:
        return agent.run(prefix + word).text

    talk = Talk(agent)
    try:
        words = [inner(each) for each in ("a", "b") if inner(each)]
        named = {each: agent.run(each).text for each in words}
        said = talk.say("c")
    finally:
        talk.close()
    with agent.spawn() as session:
        last = session.run("d").text if session.run("e") else None
    return {"words": words, "named": named, "said": said, "last": last, "shout": shout(agent, "f", 2, end="!")}


def _fails(cx: Context) -> Any:
    agent = cx.agent("worker")
    try:
        agent.run("bad")
    except HarnessError as error:
        log(f"caught {error}")
    else:
        raise FailedError("it did not fail")
    for each in range(3):
        if each == 1:
            continue
        agent.run(f"t{each}")
    return agent.run("bad")


def _many(cx: Context) -> Any:
    agent = cx.agent("worker")
    batch = agent.batch(["a", "b"])
    kept = gather((agent.run(each) for each in ("a", "bad")), suppress=HarnessError)
    turns = [agent.start_pursuit("t", 1) for _ in range(2)]
    ready = flowhost.wait_any(turns)
    for turn in turns:
        turn.cancel()
    return {"batch": [each.text for each in batch], "kept": [type(each).__name__ for each in kept], "ready": len(ready) > 0}


def _sleeps(cx: Context) -> Any:
    flowhost.sleep(0.1)
    asyncio.sleep(0.1)
    return "slept"


def _in_a_lambda(cx: Context) -> Any:
    agent = cx.agent("worker")
    return sorted(["b", "a"], key=lambda each: agent.run(each).text)


def _time(cx: Context) -> Any:
    import time

    return caught(lambda: time.sleep(1))["message"]


@flow(agents={"worker": "goal"})
def plain(task: str, cx: Context) -> Any:
    """Does what its task says."""
    return globals()[f"_{task}".replace("-", "_")](cx)
