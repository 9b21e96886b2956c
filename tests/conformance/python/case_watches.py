"""Hooks: what a session comes upon waits for the flow's answer."""

import asyncio

from flowhost import sleep

from words import ok, said


def watched(cx, **settings):
    return cx.agent("worker").watch("pre-tool-use", **settings)


async def facts_(cx):
    watch, session = watched(cx), cx.agent("worker").spawn()
    turn = session.start("t0")
    occasion = await watch.next()
    facts = {"moment": occasion.moment, "session": occasion.session == session.id, "details": occasion.details}
    occasion.allow()
    return facts | {"text": await said(turn.wait())}


async def answer_(cx):
    watch = watched(cx)
    turn = cx.agent("worker").spawn().start("t0")
    occasion = await watch.next()
    match cx.params["way"]:
        case "allow":
            occasion.allow()
        case "block":
            occasion.block("not here")
        case "reply":
            occasion.reply("yes")
        case _:
            occasion.skip()
    return await said(turn.wait())


async def unanswered_(cx):
    with watched(cx, patience=0.02, guard=cx.params["way"] == "block"):
        return await said(cx.agent("worker").run("t0"))


async def late_(cx):
    watch = watched(cx, patience=0.02)
    turn = cx.agent("worker").spawn().start("t0")
    occasion = await watch.next()
    await sleep(0.05)
    late = await ok(occasion.reply, "yes")
    return {"turn": await said(turn.wait()), "late": late}


async def close_(cx):
    watch = watched(cx)
    following = asyncio.create_task(watch.next())
    await sleep(0.005)
    watch.close()

    def word(occasion):
        return "none" if occasion is None else "some"

    return {"next": word(await following), "take": word(watch.take())}
