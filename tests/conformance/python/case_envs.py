"""Commands and files of an environment."""

from flowhost import FlowhostError, sleep

from words import ok, words


def facts_(cx):
    env = cx.env("workspace")
    return {"role": env.role, "directory": env.directory, "kind": env.kind, "branch": env.branch_name or "none"}


def roles_(cx):
    given = cx.env_opt("workspace").role
    try:
        return {"given": given, "unknown": cx.env("stranger").role}
    except FlowhostError as error:
        return {"given": given, "unknown": words(error)}


async def exec_(cx):
    output = await cx.env("workspace").exec(["printf", "hi"], vars={"A": "b"}, stdin="in", keep=100)
    return {"status": output.status, "stdout": output.stdout, "stderr": output.stderr, "truncated": output.truncated}


async def unknown_(cx):
    return (await cx.env("workspace").exec(["nonsense"])).status


async def timeout_(cx):
    return await ok(cx.env("workspace").exec, ["sleep", "60"], timeout=0.02)


async def bash_(cx):
    return (await cx.env("workspace").bash("echo hi")).stdout


async def process_(cx):
    process = cx.env("workspace").start(["sleep", "60"])
    before = process.done()
    await sleep(0.005)
    process.cancel()
    wait = await ok(process.wait)
    short = await cx.env("workspace").start(["printf", "hi"]).wait()
    return {"before": before, "wait": wait, "after": process.done(), "short": short.status}


async def read_(cx):
    env = cx.env("workspace")
    return {"text": await env.read_text("a.txt"), "range": (await env.read_range("a.txt", 2, 4)).decode()}


async def write_(cx):
    env = cx.env("workspace")
    await env.write("new/c.txt", "one")
    await env.append("new/c.txt", " two")
    await env.write("raw", bytes([99, 233, 0]))
    return list(await env.read("raw"))


async def find_(cx):
    env = cx.env("workspace")
    stat = await env.stat("a.txt")
    found = sorted(entry.path for entry in await env.find(".", "**/*.txt"))
    return {"stat": f"{stat.kind} {stat.size}", "found": found}


async def remove_(cx):
    env = cx.env("workspace")
    await env.make_dir("made")
    made = (await env.stat("made")).kind
    await env.remove("a.txt")
    return {"made": made, "gone": await ok(env.stat, "a.txt")}


async def subdir_(cx):
    below = await cx.env("workspace").subdir("src")
    return {"kind": below.kind, "directory": below.directory, "read": await below.read_text("b.txt")}


async def faults_(cx):
    env = cx.env("workspace")
    return {"missing": await ok(env.read, "nowhere.txt"), "above": await ok(env.read, "../a.txt")}


async def derived_(cx):
    env = cx.env("workspace")
    return {
        "worktree": await ok(env.worktree, "w"),
        "copy": await ok(env.copy, "c"),
        "scratch": await ok(env.scratch, "s"),
        "snapshot": await ok(env.snapshot),
        "rewind": await ok(env.rewind, "nothing"),
        "snapshots": await ok(env.snapshots),
        "diff": await ok(env.diff),
        "merge": await ok(env.merge, env),
    }
