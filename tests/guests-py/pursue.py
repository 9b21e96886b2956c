"""An objective, judged by a second agent. A plain `def`: every call waits."""

from dataclasses import dataclass, field

from flowhost import Context, flow, log

JUDGE = (
    "Another agent says that it has met the objective below. Look for yourself, and change nothing. Do not take its word for what you "
    "can check."
)


@dataclass
class Params:
    rounds: int = field(default=5, metadata={"description": "How many rounds at most.", "minimum": 1})


@dataclass
class Verdict:
    """What the judge finds."""

    missing: str = field(metadata={"description": "What is still missing, and where; empty if nothing is."})
    met: bool = field(metadata={"description": "Whether the objective is met."})


@dataclass
class Ended:
    """How it ended."""

    met: bool
    rounds: int
    missing: str
    said: str


@flow(agents=["worker", "judge"], envs=["workspace"], params=Params, result=Ended)
def pursue(objective: str, cx: Context[Params]) -> Ended:
    """One agent works towards an objective until a second one finds that it is met."""
    worker, judge = cx.agent("worker"), cx.agent("judge")
    session = worker.spawn()
    prompt = objective
    ended = Ended(False, 0, "", "")
    while not ended.met and ended.rounds < cx.params.rounds:
        ended.said = session.run(prompt).text
        asked = f"{JUDGE}\n\nThe objective:\n{objective}\n\nWhat the other agent said:\n{ended.said}"
        verdict = judge.run(asked, schema=Verdict).value
        ended.rounds += 1
        ended.met = verdict.met
        ended.missing = "" if verdict.met else verdict.missing
        log(f"round {ended.rounds}: {ended.missing or 'met'}")
        prompt = f"The objective is not met yet. What is missing:\n{verdict.missing}\n\nThe objective:\n{objective}"
    return ended
