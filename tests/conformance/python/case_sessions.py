"""Conversations, and turns in them."""

import asyncio

from flowhost import Budget, sleep

from words import ok, said


async def facts_(cx):
    session = cx.agent("worker").spawn()
    await session.run("one")
    return {"id": session.id, "directory": session.directory, "turns": session.usage().turns}


async def run_(cx):
    session = cx.agent("worker").spawn()
    return [await said(session.run("one")), await said(session.run("two"))]


async def schema_(cx):
    schema = {"type": "object", "properties": {"good": {"type": "boolean"}}, "required": ["good"]}
    return (await cx.agent("worker").spawn().run("is it?", schema=schema)).value


async def turn_budget_(cx):
    budget = Budget(duration=0.001, grace="cut")
    return await said(cx.agent("worker").spawn().run("one", budget=budget))


async def busy_(cx):
    session = cx.agent("worker").spawn()
    first = session.start("later")
    return {"second": await said(session.run("second")), "first": await said(first.wait())}


async def queue_(cx):
    session = cx.agent("worker").spawn(queue=True)
    return await asyncio.gather(*(said(session.run(f"t{turn}")) for turn in range(4)))


async def close_(cx):
    session = cx.agent("worker").spawn()
    turn = session.start("slow")
    await sleep(0.005)
    session.close()
    return await said(turn.wait())


async def closed_(cx):
    session = cx.agent("worker").spawn()
    session.close()
    return await ok(session.run, "next")


async def steer_(cx):
    session = cx.agent("worker").spawn()
    turn = session.start("later")
    await sleep(0.005)
    await session.steer("left")
    await session.steer("right", interrupt=True)
    return await said(turn.wait())


async def idle_(cx):
    return await ok(cx.agent("worker").spawn().steer, "left")


async def fork_(cx):
    session = cx.agent("worker").spawn()
    await session.run("one")
    fork = await session.fork()
    return {"fork": await said(fork.run("two")), "apart": fork.id != session.id}


async def never_ran_(cx):
    return await ok(cx.agent("worker").spawn().fork)


async def refused_dir_(cx):
    agent = cx.agent("worker")
    return {
        "nowhere": await ok(agent.spawn, directory="nowhere"),
        "above": await ok(agent.spawn, directory="../elsewhere"),
    }


def place_(cx):
    agent, env = cx.agent("worker"), cx.env("workspace")
    return {"env": agent.spawn(env).directory, "directory": agent.spawn(env, "src").directory}


async def let_go_(cx):
    return await said(cx.agent("worker").spawn().start("later").wait())


async def keep_(cx):
    session = cx.agent("worker").spawn()
    session.start("later")
    await sleep(0.1)
    return session.usage().turns


async def leave_(cx):
    # Held by nothing but the task's own frame, which ends with it.
    sessions = cx.agent("worker").spawn_many(2)
    turns = [session.start("slow") for session in sessions]
    await sleep(0.005)
    return "left" if turns else None
