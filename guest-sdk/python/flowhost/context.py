"""What a flow knows of its own call."""

from __future__ import annotations

import datetime
import json
from functools import cached_property
from typing import Any, Generic

from . import _check, schema as _schema
from ._calls import ask
from ._raw import agents, context as wit, envs
from ._typing import Params
from .agents import Agent
from .budget import Allowance, Usage
from .envs import Env
from .errors import RequirementError


class Context(Generic[Params]):
    """What a flow was given: its agents and environments by role, its params, its budget."""

    def __init__(self, params: Any = None) -> None:
        self._params = params

    def agent(self, role: str) -> Agent:
        """The agent that fills a role. An optional role that nobody filled raises RequirementError, a role that the flow did not
        declare NotGrantedError."""
        found = self.agent_opt(role)
        if found is None:
            raise RequirementError(f"no agent fills the role {role}")
        return found

    def agent_opt(self, role: str) -> Agent | None:
        """The agent that fills an optional role, or None."""
        raw = ask(agents.get_agent, _check.text(role, "role"))
        return None if raw is None else Agent(raw)

    def env(self, role: str) -> Env:
        """The environment that fills a role. Raises as :meth:`agent`."""
        found = self.env_opt(role)
        if found is None:
            raise RequirementError(f"no environment fills the role {role}")
        return found

    def env_opt(self, role: str) -> Env | None:
        """The environment that fills an optional role, or None."""
        raw = ask(envs.get_env, _check.text(role, "role"))
        return None if raw is None else Env(raw)

    @cached_property
    def params(self) -> Params:
        """What the flow was called with: of the type that its decorator named, and what was not said as that, or the schema, has it by
        default. The host has held it to the schema already."""
        given = json.loads(wit.params())
        try:
            built: Params = _schema.build(self._params, given)
            return built
        except (TypeError, ValueError) as error:
            raise RequirementError(f"params: {error}") from None

    @cached_property
    def run_id(self) -> str:
        """The run's name."""
        return str(wit.run_id())

    @cached_property
    def branch_id(self) -> str:
        """This branch's place in the run, such as ``1.3.2``."""
        return str(wit.branch_id())

    @cached_property
    def path(self) -> list[str]:
        """Names of the flows from the root of the run to this one."""
        return list(wit.path())

    def remaining(self) -> Allowance:
        """What is left to spend: the tightest limit of this branch and those above."""
        return Allowance._lift(wit.remaining())

    def spent(self) -> Usage:
        """What this branch has spent, with all that it called."""
        return Usage._lift(wit.spent())

    @cached_property
    def resumed(self) -> bool:
        """Whether this branch was cut off before and is being taken up again."""
        return bool(wit.resumed())


def log(*words: object) -> None:
    """Says a line in the run's log. ``print`` does so too."""
    wit.log(_check.clean(" ".join(map(str, words))))


def now() -> datetime.datetime:
    """The time, to the millisecond, in UTC; the same again when the run is resumed."""
    return datetime.datetime.fromtimestamp(wit.now_ms() / 1000, datetime.timezone.utc)
