"""Agents by role, and the turns that need no session."""

from flowhost import FlowhostError, Permission

from words import ok, said, words

SOME = ["t0", "this is bad", "t2"]


def role(get, name):
    try:
        return get(name).role
    except FlowhostError as error:
        return words(error)


def facts_(cx):
    agent = cx.agent("worker")
    return {
        "role": agent.role,
        "harness": agent.harness,
        "model": agent.model,
        "effort": agent.effort,
        "steer": agent.can("steer"),
    }


def roles_(cx):
    optional = cx.agent_opt("judge")
    return {
        "given": role(cx.agent, "worker"),
        "optional": "none" if optional is None else optional.role,
        "empty": role(cx.agent, "judge"),
        "unknown": role(cx.agent, "stranger"),
    }


def spawn_many_(cx):
    return len({session.id for session in cx.agent("worker").spawn_many(cx.params["n"])})


async def run_(cx):
    return await said(cx.agent("worker").run("the word"))


async def batch_(cx):
    answers = await cx.agent("worker").batch([f"t{turn}" for turn in range(cx.params["n"])], at_once=2)
    return [answer.text for answer in answers]


async def batch_suppress_(cx):
    outcomes = await cx.agent("worker").batch(SOME, suppress=True)
    return [words(each) if isinstance(each, FlowhostError) else each.text for each in outcomes]


async def batch_fails_(cx):
    return await ok(cx.agent("worker").batch, SOME)


async def pursue_(cx):
    answer = await cx.agent("worker").pursue("make it good", 5)
    return {"turns": answer.usage.turns}


async def derive_(cx):
    agent = cx.agent("worker")
    reads = Permission(workdir="read", home="none", system="none", network=False)
    return {"narrower": agent.derive(permission=reads).role, "dearer": await ok(agent.derive, model="dearest")}


async def watch_undeclared_(cx):
    return await ok(cx.agent("worker").watch, "session-end")
