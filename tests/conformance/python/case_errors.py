"""Errors as a flow sees them, and those that it causes."""

from flowhost import BudgetError, EnvError, FlowhostError, HarnessError, StoppedError

from words import words


def facts(error):
    return {"kind": error.kind, "fault": error.fault, "message": str(error)}


async def turn_(cx):
    try:
        return (await cx.agent("worker").run("t0")).text
    except HarnessError as error:
        return facts(error)


async def exec_(cx):
    try:
        return (await cx.env("workspace").exec(["run"])).status
    except EnvError as error:
        return facts(error)


async def retry_after_(cx):
    try:
        return (await cx.agent("worker").run("t0")).text
    except HarnessError as error:
        return round(error.retry_after * 1000)


async def spend_(cx):
    """Turn after turn, until one is not taken."""
    session = cx.agent("worker").spawn()
    while True:
        try:
            await session.run("t")
        except BudgetError as error:
            return {"error": words(error), "whose": error.whose == cx.branch_id}


async def go_on_(cx):
    """Asks on after a stop."""
    session = cx.agent("worker").spawn()
    while True:
        try:
            await session.run("t")
            return "went on"
        except FlowhostError:
            pass


def claims_stopped_(cx):
    raise StoppedError("it was stopped")


async def uncaught_turn_(cx):
    return (await cx.agent("worker").run("t0")).text


def bug_(cx):
    settings = None
    return settings.port


def recursion_(cx):
    def down(depth):
        return down(depth + 1) + 1

    return down(0)


def spin_(cx):
    while True:
        pass


def hoard_(cx):
    held = []
    while True:
        held.append(b"x" * (16 << 20))
