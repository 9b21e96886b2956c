"""Flows calling flows."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Generator, Mapping

from . import _check, budget as _budget
from ._calls import ask, finish, wait
from ._raw import flows as wit
from .agents import Agent
from .budget import Budget
from .envs import Env


async def load(reference: str) -> Callee:
    """Finds a flow by its reference, which the flow must list in ``loads``.

    >>> fanout = await load("fanout")                                                    # doctest: +SKIP
    >>> await fanout("Add a docstring.", agents={"agent": agent}, envs={"workspace": workspace})
    """
    return Callee(await wait(wit.load, _check.text(reference, "reference")))


class Branch:
    """A call of a flow that was started. Letting go of it cancels it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    async def wait(self) -> Any:
        """Waits for its end and that of all that it left; gives its answer. May be asked again and by several; all get the same.
        Cancelling the wait cancels nothing."""
        return json.loads(await wait(self._raw.wait))

    def __await__(self) -> Generator[Any, None, Any]:
        return self.wait().__await__()

    def done(self) -> bool:
        """Whether it has ended."""
        return self._raw.done()

    def cancel(self) -> None:
        """Interrupts it and returns at once; ``wait`` raises FlowError with the fault ``interrupted`` when it is over. Twice, or
        after its end, is nothing."""
        self._raw.cancel()


class Callee:
    """A flow that can be called, any number of times and many at once. Each call is a branch of the run: its own memory,
    sessions and budget."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def name(self) -> str:
        """Its name."""
        return self._raw.name()

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What it declares."""
        return json.loads(self._raw.manifest())

    async def __call__(
        self,
        task: str,
        *,
        agents: Mapping[str, Agent] | None = None,
        envs: Mapping[str, Env] | None = None,
        params: Any = None,
        budget: Budget | None = None,
    ) -> Any:
        """Runs it to its end and gives its answer; cancelling the task that waits cancels the branch.

        What is handed over must cover what the callee declares, else RequirementError is raised before anything of it runs. The
        callee's own error comes as it was raised; one that broke down raises FlowError. ``params`` is a dict or a dataclass."""
        branch = self.start(task, agents=agents, envs=envs, params=params, budget=budget)
        return json.loads(await finish(branch._raw))

    def start(
        self,
        task: str,
        *,
        agents: Mapping[str, Agent] | None = None,
        envs: Mapping[str, Env] | None = None,
        params: Any = None,
        budget: Budget | None = None,
    ) -> Branch:
        """Starts it and returns at once."""
        given = wit.Handover(
            _handed(agents, Agent, "agents"),
            _handed(envs, Env, "envs"),
            _check.json({} if params is None else params, "params"),
            _budget.lower(budget),
        )
        return Branch(ask(self._raw.start, _check.text(task, "task"), given))


def _handed(given: Mapping[str, Any] | None, kind: type, what: str) -> list[tuple[str, Any]]:
    handed = []
    for role, each in (given or {}).items():
        if not isinstance(each, kind):
            raise TypeError(f"{what}[{role!r}] is of {kind.__name__}, not {type(each).__name__}")
        handed.append((_check.text(role, f"a role of {what}"), each._raw))
    return handed
