"""What a flow learns of its call, and what it says."""

import sys

import flowhost


def left(cx):
    left = cx.remaining()
    duration = None if left.duration is None else round(left.duration * 1000)
    return {"turns": left.turns, "cost": left.cost, "output-tokens": left.output_tokens, "duration-ms": duration}


def facts_(cx):
    return {"run": cx.run_id, "branch": cx.branch_id, "path": cx.path, "params": cx.params, "resumed": cx.resumed}


async def budget_(cx):
    await cx.agent("worker").run("t0")
    spent = cx.spent()
    return {
        "spent": {
            "turns": spent.turns,
            "cost": spent.cost,
            "input-tokens": spent.input_tokens,
            "output-tokens": spent.output_tokens,
            "cost-source": spent.cost_source,
        },
        "left": left(cx),
    }


def unlimited_(cx):
    return left(cx)


async def time_(cx):
    begin = flowhost.now()
    await flowhost.sleep(3600)
    return round((flowhost.now() - begin).total_seconds() * 1000)


def log_(cx):
    flowhost.log("naïve 👍 日本")
    flowhost.log("two\nlines")


def print_(cx):
    print("printed 👍")
    print("and an error", file=sys.stderr)
