"""The contract, through the package."""

import asyncio
import io
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from flowhost import (
    BudgetError,
    Budget,
    Context,
    FlowhostError,
    HarnessError,
    Occasion,
    OtherError,
    Permission,
    RequirementError,
    SessionError,
    gather as flowhost_gather,
    load,
    log,
    sleep,
    wait_any,
)
from outcomes import caught, facts, outcome


async def context(cx: Context) -> Any:
    left = cx.remaining()
    return {
        "path": cx.path,
        "branch": cx.branch_id,
        "resumed": cx.resumed,
        "params": cx.params,
        "spent": cx.spent().turns,
        "left": [left.cost, left.output_tokens, left.turns, left.duration],
        "run": isinstance(cx.run_id, str),
    }


async def roles(cx: Context) -> Any:
    agent = cx.agent("worker")
    return {
        "role": agent.role,
        "can": agent.can("steer"),
        "texts": all(isinstance(each, str) for each in (agent.harness, agent.model, agent.effort)),
        "none": cx.agent_opt("judge"),
        "empty": caught(lambda: cx.agent("judge")),
        "refused": caught(lambda: cx.agent("stranger"))["name"],
        "no_env": caught(lambda: cx.env("stranger"))["name"],
    }


async def busy(cx: Context) -> Any:
    """A second turn of a session is the flow's own mistake, and no failure of a harness."""
    session = cx.agent("worker").spawn()
    first = asyncio.create_task(session.run("first"))
    await asyncio.sleep(0)
    try:
        await session.run("second")
    except HarnessError:
        return "a harness failed"
    except SessionError as error:
        return [error.kind, error.fault, (await first).text]


async def queued(cx: Context) -> Any:
    session = cx.agent("worker").spawn(queue=True)
    return [each.text for each in await asyncio.gather(*(session.run(f"t{at}") for at in range(4)))]


async def closed(cx: Context) -> Any:
    with cx.agent("worker").spawn() as session:
        going = asyncio.create_task(outcome(session.run("slow")))
        await asyncio.sleep(0.001)
    return [(await going)["fault"], (await outcome(session.run("late")))["fault"], session.usage().turns]


async def batch(cx: Context) -> Any:
    agent = cx.agent("worker")
    prompts = ["a", "bad", "c", "d"]
    kept = await agent.batch(prompts, at_once=2, suppress=True)
    first = await outcome(agent.batch(iter(prompts)))
    return {
        "kept": [each.fault if isinstance(each, HarnessError) else str(each) for each in kept],
        "first": first["name"],
        "none": await agent.batch([]),
    }


async def gathers(cx: Context) -> Any:
    """The package's own gather: as many at once as it is told, of an iterable that is asked only when there is room."""
    agent, asked = cx.agent("worker"), []

    def turns() -> Any:
        for prompt in ("a", "bad", "c", "d", "e"):
            asked.append(prompt)
            yield agent.run(prompt)

    kept = await flowhost_gather(turns(), at_once=2, suppress=HarnessError)
    all_of_them = await flowhost_gather(agent.run("x"), agent.run("y"))
    first = await outcome(flowhost_gather(agent.run("bad"), agent.run("late")))
    return {
        "kept": [facts(each)["name"] if isinstance(each, HarnessError) else str(each) for each in kept],
        "all": [str(each) for each in all_of_them],
        "first": first["name"],
        "asked": len(asked),
        "none": await flowhost_gather([]),
    }


async def spent(cx: Context) -> Any:
    """A spent budget is said everywhere, also where failures stay in their places."""
    agent = cx.agent("worker")
    turn_alone = await outcome(agent.run("costly", budget=Budget(turns=0)))
    try:
        await agent.batch(["a", "b", "c", "d"], suppress=True)
    except BudgetError as error:
        return {"alone": turn_alone["name"], "limit": error.limit, "whose": error.whose, "left": cx.remaining().turns}


async def spends(cx: Context) -> Any:
    await asyncio.gather(*(cx.agent("worker").run(f"t{at}") for at in range(4)))


async def spends_in_a_group(cx: Context) -> Any:
    async with asyncio.TaskGroup() as group:
        for at in range(4):
            group.create_task(cx.agent("worker").run(f"t{at}"))


@dataclass
class Part:
    name: str
    size: int = 1


@dataclass
class Verdict:
    good: bool
    how_sure: float = field(metadata={"description": "From 0 to 1."})
    kind: Literal["bug", "style"] = "bug"
    parts: list[Part] = field(default_factory=list)
    note: str | None = None


async def structured(cx: Context) -> Any:
    agent = cx.agent("worker")
    typed = await agent.run("verdict", schema=Verdict, budget=Budget(turns=3), expected_cost=0.1)
    raw = await agent.run("verdict", schema={"type": "object", "required": ["good"]})
    plain = await agent.run("a")
    verdict = typed.value
    return {
        "type": [type(verdict).__name__, [type(part).__name__ for part in verdict.parts]],
        "verdict": verdict,
        "raw": raw.value["how-sure"],
        "none": plain.value,
        "usage": [typed.usage.turns, typed.usage.cost_source],
    }


async def ready(cx: Context) -> Any:
    agent = cx.agent("worker")
    late, quick = agent.spawn().start("late"), agent.spawn().start("quick")
    before = quick.done()
    first = await wait_any(late, quick)
    answers = await asyncio.gather(quick.wait(), quick.wait())
    return {
        "before": before,
        "first": [first == [quick], quick.done()],
        "same": [answer.text for answer in answers],
        "nothing": await wait_any([], timeout=0.005),
        "in_time": await wait_any(late, timeout=0.001),
    }


async def steered(cx: Context) -> Any:
    session = cx.agent("worker").spawn()
    idle, never = await outcome(session.steer("left")), await outcome(session.fork())
    turn = session.start("late")
    await session.steer("left")
    await session.steer("right", interrupt=True)
    early = await outcome(session.fork())
    await turn
    fork = await session.fork()
    return [idle["fault"], never["fault"], early["fault"], (await fork.run("forked")).text, fork.id != session.id]


async def pursued(cx: Context) -> Any:
    agent = cx.agent("worker")
    answer = await agent.pursue("make it good", 5)
    pursuit = agent.start_pursuit("slow", 5)
    pursuit.cancel()
    return {"turns": answer.usage.turns, "text": answer.text, "cancelled": (await outcome(pursuit.wait()))["fault"]}


async def derived(cx: Context) -> Any:
    agent = cx.agent("worker")
    narrow = agent.derive(permission=Permission(workdir="read"))
    wide = caught(lambda: agent.derive(model="a-dearer-one"))
    return {"text": (await narrow.run("narrow")).text, "wide": wide["name"]}


async def blocked(cx: Context) -> Any:
    """A tool is blocked; the answer counts once."""
    agent, seen = cx.agent("worker"), []
    watch = agent.watch("pre-tool-use", patience=5, guard=True)

    async def guard() -> str:
        async for occasion in watch:
            seen.append([occasion.moment, occasion.details, occasion.session == session.id])
            occasion.block("not here")
            seen.append(caught(occasion.allow)["fault"])
        return "closed"

    guarding = asyncio.create_task(guard())
    session = agent.spawn()
    text = (await session.run("use a tool")).text
    watch.close()
    return {"text": text, "seen": seen, "guard": await guarding}


async def answered(cx: Context) -> Any:
    """A question is answered by what another turn says, while the first waits for it."""
    agent = cx.agent("worker")
    with agent.watch("question") as watch:

        async def answers(occasion: Occasion) -> None:
            said = await agent.run("which one")
            occasion.reply(said.text)

        turn = agent.spawn().start("ask me")
        ready = await wait_any(watch)
        occasion = watch.take()
        assert occasion is not None and ready == [watch]
        none = watch.take()
        await answers(occasion)
        return {"text": (await turn).text, "none": none, "question": occasion.details["question"]}


async def unanswered(cx: Context) -> Any:
    """A call for the next occasion that is cancelled loses nothing; one that nobody answers is blocked by a guard."""
    agent = cx.agent("worker")
    with agent.watch("question", patience=0.02, guard=True) as watch:
        late = await outcome(asyncio.wait_for(watch.next(), 0.005))
        turn = agent.spawn().start("ask me")
        occasion = await watch.next()
        del occasion
        text = (await turn).text
        again = agent.spawn().start("ask me")
        held = await watch.next()
        await again
        return {"late": late["name"], "text": text, "held": caught(held.allow)["fault"] if held else None}


async def environment(cx: Context) -> Any:
    env = cx.env("workspace")
    await env.write("notes/ü.txt", "grüße")
    await env.append(PurePath("notes") / "ü.txt", b"!")
    await env.write("raw", bytearray(b"c\xe9"))
    await env.make_dir("empty")
    ran = await env.exec(["printf", "hi"], vars={"A": "b"}, stdin="in", timeout=1, keep=100)
    below = await env.subdir("notes")
    removed = await env.remove("raw")
    return {
        "about": [env.role, env.kind, below.kind],
        "text": await env.read_text("notes/ü.txt"),
        "range": list(await env.read_range("notes/ü.txt", 2, 3)),
        "below": await below.read_text("ü.txt"),
        "missing": (await outcome(env.read("nowhere")))["fault"],
        "outside": (await outcome(env.read("../../etc/passwd")))["fault"],
        "stat": await env.stat("notes/ü.txt"),
        "kind": (await env.stat("empty")).kind,
        "found": [entry.path for entry in await env.find(".", "**/*.txt")],
        "ran": [ran.status, ran.stdout, ran.stdout_bytes.hex(), ran.success],
        "unknown": (await env.exec(["nonsense"])).status,
        "checked": (await outcome(env.exec(["nonsense"], check=True)))["name"],
        "bash": (await env.bash("echo $0", check=True)).stdout,
        "removed": [removed, (await outcome(env.stat("raw")))["fault"]],
        "not_here": (await outcome(env.scratch("s")))["name"],
        "not_text": (await outcome(_not_text(env)))["message"],
    }


async def _not_text(env: Any) -> Any:
    await env.write("raw", b"\xff")
    return await env.read_text("raw")


async def commands(cx: Context) -> Any:
    """A command whose task is cancelled is interrupted, and so is one that is let go of."""
    env = cx.env("workspace")
    late = await outcome(asyncio.wait_for(env.exec(["sleep", "60"]), 0.01))
    process = env.start(["sleep", "60"])
    process.cancel()
    return [late["name"], (await outcome(process.wait()))["fault"], process.done()]


async def calls(cx: Context) -> Any:
    given = {"agents": {"worker": cx.agent("worker")}}
    lab = await load("lab")
    started = lab.start("sleepy", **given)
    stopped = lab.start("sleepy", **given, params={"n": 60_000})
    first = await wait_any(stopped, started)
    stopped.cancel()
    late = await outcome(asyncio.wait_for(lab("sleepy", **given, params={"n": 60_000}), 0.01))
    return {
        "name": lab.name,
        "loads": lab.manifest["loads"],
        "path": (await lab("context", **given))["path"],
        "first": [first == [started], await started],
        "stopped": (await outcome(stopped.wait()))["fault"],
        "late": late["name"],
        "raised": await outcome(lab("raises", **given)),
        "uncaught": (await outcome(lab("uncaught", **given)))["kind"],
        "nowhere": (await outcome(load("nowhere")))["fault"],
        "undeclared": (await outcome(load("elsewhere")))["name"],
        "unmet": (await outcome(lab("context")))["name"],
        "limited": (await outcome(lab("spends", **given, budget=Budget(turns=2))))["limit"],
    }


async def sleepy(cx: Context) -> str:
    await sleep(cx.params["n"] / 1000)
    return "slept"


async def raises(cx: Context) -> None:
    raise HarnessError("slow down", "throttled", retry_after=1.5)


async def words(cx: Context) -> Any:
    """Text of every kind, as it comes and goes: half a character is replaced, and breaks nothing."""
    torn = "👍".encode("utf-16-le")[:2].decode("utf-16-le", "surrogatepass")

    class Shouted(str):
        def __str__(self) -> str:
            return "wrong"

    log(f"torn {torn}", {"ü": ["👍", None]}, 1)
    print(f"printed {torn}", end="")
    print(" on\none line")
    print("\0\x1b[31m", end="")
    out = io.StringIO()
    print("elsewhere", file=out)
    said = (await cx.agent("worker").run(f"torn {torn}")).text
    return {"said": said, "kept": "naïve 👍 日本", "sub": (await cx.agent("worker").run(Shouted("right"))).text, "nul": "a\0b", "torn": torn}


async def large(cx: Context) -> Any:
    """Five megabytes in one answer, and back."""
    word = "ü" * 2_500_000
    answer = await cx.agent("worker").run(word)
    await cx.env("workspace").write("large", word)
    return [len(answer.text), answer.text == word, len(await cx.env("workspace").read("large"))]


async def wrong(cx: Context) -> Any:
    """Wrong arguments, each of which would end the flow at the border."""
    agent, env = cx.agent("worker"), cx.env("workspace")
    session = agent.spawn()
    turn = session.start("t")
    cases: list[Any] = [
        lambda: session.run(42),
        lambda: session.run(None),
        lambda: session.run("t", schemas={}),
        lambda: session.run("t", schema=object()),
        lambda: session.run("t", budget={"turns": 1}),
        lambda: session.run("t", budget=Budget(turns=-1)),
        lambda: session.run("t", budget=Budget(turns=1 << 32)),
        lambda: session.run("t", budget=Budget(turns=True)),
        lambda: session.run("t", budget=Budget(cost=float("nan"))),
        lambda: session.run("t", budget=Budget(duration=-1)),
        lambda: session.run("t", budget=Budget(grace="soon")),
        lambda: session.run("t", expected_cost="1"),
        lambda: session.fork(at="here"),
        lambda: session.steer(b"left"),
        lambda: agent.spawn(at="here"),
        lambda: agent.spawn(directory=5),
        lambda: agent.spawn_many(1.5),
        lambda: agent.spawn_many(-1),
        lambda: agent.watch("nonsense"),
        lambda: agent.watch(),
        lambda: agent.watch("question", patience="long"),
        lambda: agent.derive(permission="all"),
        lambda: agent.derive(permission=Permission(home="some")),
        lambda: agent.batch("one"),
        lambda: agent.batch(["one", 2]),
        lambda: agent.batch(7),
        lambda: agent.batch(["one"], at_once="two"),
        lambda: agent.pursue("x", "five"),
        lambda: wait_any(session),
        lambda: wait_any(turn, timeout=-1),
        lambda: sleep(-1),
        lambda: sleep(float("inf")),
        lambda: env.exec("ls -l"),
        lambda: env.exec([]),
        lambda: env.exec(["ls", 1]),
        lambda: env.exec(["ls"], vars=["A"]),
        lambda: env.exec(["ls"], vars={"A": 1}),
        lambda: env.exec(["ls"], stdin=5),
        lambda: env.exec(["ls"], keep=-1),
        lambda: env.read(5),
        lambda: env.read_range("a", -1, 1),
        lambda: env.read_range("a", 0, 1 << 32),
        lambda: env.write("a", 5),
        lambda: env.merge("other"),
        lambda: env.worktree("w", branch="b", detached=True),
        lambda: load(5),
        lambda: cx.agent(5),
        lambda: _call(agents=["worker"]),
        lambda: _call(agents={"worker": "me"}),
        lambda: _call(params={1, object()}),
        lambda: _call(given=1),
    ]
    said = []
    for case in cases:
        try:
            made = case()
            said.append(f"nothing: {await made if hasattr(made, '__await__') else made}")
        except FlowhostError as error:
            said.append(f"from the host: {error}")
        except (TypeError, ValueError) as error:
            said.append(f"{type(error).__name__}: {error}")
    turn.cancel()
    return said


async def _call(**given: Any) -> Any:
    return await (await load("lab"))("context", **given)


async def errors(cx: Context) -> Any:
    """What a flow raises reaches its caller as it was raised, also what the contract has no words for."""
    lab = await load("lab")
    given = {"agents": {"worker": cx.agent("worker")}}
    ways = ("session", "harness", "env", "budget", "requirement", "other", "odd", "stopped")
    return {way: await outcome(lab("raises_one", **given, params={"way": way})) for way in ways}


async def raises_one(cx: Context) -> Any:
    from flowhost import EnvError, StoppedError

    raise {
        "session": SessionError("s", "idle"),
        "harness": HarnessError("h", "killed"),
        "env": EnvError("e", "conflict"),
        "budget": BudgetError("b", "turns", "1"),
        "requirement": RequirementError("r"),
        "other": OtherError("o"),
        "odd": HarnessError(["no text"], "no such fault", float("nan")),  # type: ignore[arg-type]
        "stopped": StoppedError("x"),
    }[cx.params["way"]]
