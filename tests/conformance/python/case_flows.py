"""Flows that call flows."""

import flowhost
from flowhost import BudgetError, FlowError, load

from words import ok

#: Errors of the flow's own making, in the order of the contract's kinds; then faults that nothing else comes to.
RAISED = {
    "session": flowhost.SessionError("made here", fault="busy"),
    "harness": flowhost.HarnessError("made here", fault="throttled", retry_after=1.5),
    "env": flowhost.EnvError("made here", fault="denied"),
    "requirement": flowhost.RequirementError("made here"),
    "not-granted": flowhost.NotGrantedError("made here"),
    "flow": FlowError("made here", fault="bad-ref"),
    "failed": flowhost.FailedError("made here"),
    "other": flowhost.OtherError("made here"),
    "session-other": flowhost.SessionError("made here", fault="other"),
    "flow-other": FlowError("made here", fault="other"),
}


def worker(cx, **params):
    return {"agents": {"worker": cx.agent("worker")}, "params": params}


async def facts_(cx):
    itself = await load("itself")
    return {"name": itself.name, "roles": [role["name"] for role in itself.manifest["agents"]]}


async def call_(cx):
    callee = await load(cx.params["way"])
    return await callee("flows/called", **worker(cx, n=9), envs={"workspace": cx.env("workspace")})


async def called_(cx):
    """What `call` calls."""
    turn = await cx.agent("worker").run("the word")
    read = await cx.env("workspace").read_text("a.txt")
    return {"path": cx.path, "n": cx.params["n"], "turn": turn.text, "read": read}


async def raised_(cx):
    itself = await load("itself")
    return [await ok(itself, "flows/raise", **worker(cx, way=way)) for way in RAISED]


def raise_(cx):
    raise RAISED[cx.params["way"]]


async def branch_(cx):
    itself = await load("itself")
    slept, cancelled = [itself.start("flows/sleep", **worker(cx, n=n)) for n in (10, 60_000)]
    before = slept.done()
    answer = await slept.wait()
    cancelled.cancel()
    end = await ok(cancelled.wait)
    return {"before": before, "slept": answer, "cancelled": end, "after": cancelled.done()}


async def sleep_(cx):
    await flowhost.sleep(cx.params["n"] / 1000)
    return "slept"


async def budget_(cx):
    itself = await load("itself")
    try:
        await itself("flows/spend", **worker(cx), budget=flowhost.Budget(turns=1))
    except BudgetError as error:
        return {"called": f"budget {error.limit}", "whose": error.whose == f"{cx.branch_id}.1"}


async def spend_(cx):
    for _ in range(2):
        await cx.agent("worker").run("t")


async def missing_(cx):
    return {"nowhere": await ok(load, "nowhere"), "undeclared": await ok(load, "undeclared")}


async def unmet_(cx):
    return await ok(await load("itself"), "flows/sleep")


async def trapped_(cx):
    return await ok(await load("other"), "errors/trap", **worker(cx))


async def deep_(cx):
    """Calls itself until it cannot, and gives how deep that was."""
    try:
        return await (await load("itself"))("flows/deep", **worker(cx))
    except FlowError as error:
        if error.fault != "too-deep":
            raise
        return f"{len(cx.path)} flow too-deep"


async def exceeded_(cx):
    return await ok(cx.agent("worker").spawn_many, 1000)
