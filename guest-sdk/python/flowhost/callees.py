"""Flows calling flows."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Mapping

from . import _check, budget as _budget
from ._calls import Started, ask, wait
from ._raw import flows as wit
from .agents import Agent
from .budget import Budget
from .envs import Env

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import CallOptions


async def load(reference: str) -> Callee:
    """Finds a flow by its reference, which the flow must list in ``loads``.

    >>> fanout = await load("fanout")                                                    # doctest: +SKIP
    >>> await fanout("Add a docstring.", agents={"agent": agent}, envs={"workspace": workspace})
    """
    return Callee(await wait(wit.load, _check.text(reference, "reference")))


class Branch(Started[Any]):
    """A call of a flow that was started. Letting go of it cancels it. ``wait`` gives its answer when it, and all that it left, has
    ended."""

    _awaited = "Awaited_Branch"

    def _lift(self, ended: Any) -> Any:
        return json.loads(ended)


def handover(
    agents: Mapping[str, Agent] | None = None, envs: Mapping[str, Env] | None = None, params: Any = None, budget: Budget | None = None
) -> Any:
    """What the contract hands over."""
    return wit.Handover(
        _handed(agents, Agent, "agents"),
        _handed(envs, Env, "envs"),
        _check.json({} if params is None else params, "params"),
        _budget.lower(budget),
    )


def _handed(given: Any, kind: type[Any], what: str) -> list[tuple[str, Any]]:
    return [
        (_check.text(role, f"a role of {what}"), _check.one_of(each, kind, f"{what}[{role!r}]")._raw)
        for role, each in _check.by_name(given, what).items()
    ]


class Callee:
    """A flow that can be called, any number of times and many at once. Each call is a branch of the run: its own memory,
    sessions and budget."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def name(self) -> str:
        """Its name."""
        return str(self._raw.name())

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What it declares."""
        declared: dict[str, Any] = json.loads(self._raw.manifest())
        return declared

    async def __call__(self, task: str, **given: Unpack[CallOptions]) -> Any:
        """Runs it to its end and gives its answer; cancelling the task that waits cancels the branch.

        What is handed over must cover what the callee declares, else RequirementError is raised before anything of it runs. The
        callee's own error comes as it was raised; one that broke down raises FlowError. ``agents`` and ``envs`` are dicts by role,
        ``params`` a dict or a dataclass, ``budget`` comes on top of what is left of the caller's."""
        return await self.start(task, **given)._finish()

    def start(self, task: str, **given: Unpack[CallOptions]) -> Branch:
        """Starts it and returns at once. It is given what :meth:`__call__` is."""
        return Branch(ask(self._raw.start, _check.text(task, "task"), handover(**given)))
