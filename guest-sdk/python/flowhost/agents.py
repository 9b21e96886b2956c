"""Agents, their conversations and their turns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generator, Iterable, Literal

from . import _check, budget as _budget, schema as _schema
from ._calls import ask, finish, wait
from ._raw import agents as wit
from .budget import Budget, Usage
from .envs import Env
from .errors import FailedError, FlowhostError
from .waiting import gather
from .watches import Watch, moments_of

Access = Literal["none", "read", "all"]


@dataclass(frozen=True)
class Answer:
    """What a turn came to."""

    #: What the agent said last.
    text: str
    #: The structured answer, where a schema asked for one.
    value: Any
    #: What the turn spent.
    usage: Usage

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Permission:
    """What an agent's tools may do."""

    #: Where it works.
    workdir: Access = "all"
    #: The person's home.
    home: Access = "none"
    #: The rest of the machine.
    system: Access = "read"
    #: The network, for its tools.
    network: bool = False

    def _lower(self) -> Any:
        def access(name: str) -> Any:
            value = getattr(self, name)
            if value not in ("none", "read", "all"):
                raise ValueError(f"{name} is 'none', 'read' or 'all', not {value!r}")
            return wit.Access[value.upper()]

        return wit.Permission(access("workdir"), access("home"), access("system"), bool(self.network))


def _options(schema: Any, budget: Budget | None, expected_cost: float | None) -> Any:
    return wit.TurnOptions(
        None if schema is None else _check.json(_schema.schema(schema), "schema"),
        _budget.lower(budget),
        None if expected_cost is None else _check.amount(expected_cost, "expected_cost"),
    )


def _answer(answer: Any, schema: Any) -> Answer:
    value = None if answer.value is None else json.loads(answer.value)
    if schema is not None and value is not None:
        try:
            value = _schema.build(schema, value)
        except (TypeError, ValueError) as error:
            raise FailedError(f"the answer meets the schema and still cannot be read: {error}") from None
    return Answer(answer.text, value, Usage._lift(answer.usage))


def _at(env: Env | None, what: str = "at") -> Any:
    if env is None:
        return None
    if not isinstance(env, Env):
        raise TypeError(f"{what} is an Env, not {type(env).__name__}; a directory inside one is given as directory=")
    return env._raw


class Turn:
    """A turn that was started. It goes on while it or its session is held, and is interrupted when both are gone."""

    def __init__(self, raw: Any, schema: Any = None) -> None:
        self._raw = raw
        self._schema = schema

    async def wait(self) -> Answer:
        """Waits for its end, when its session can take the next. May be asked again and by several; all get the same. Cancelling
        the wait interrupts nothing."""
        return _answer(await wait(self._raw.wait), self._schema)

    def __await__(self) -> Generator[Any, None, Answer]:
        return self.wait().__await__()

    def done(self) -> bool:
        """Whether it has ended."""
        return self._raw.done()

    def cancel(self) -> None:
        """Interrupts it and returns at once; ``wait`` raises HarnessError with the fault ``interrupted`` when it is over. Twice,
        or after its end, is nothing."""
        self._raw.cancel()

    async def _finish(self) -> Answer:
        return _answer(await finish(self._raw), self._schema)


class Session:
    """One conversation, rooted at one directory. It takes one turn at a time: a second one while one is going raises
    SessionError with the fault ``busy``, unless it was spawned with ``queue=True``.

    ``with session:`` closes it at the end of the block. What nobody holds any more is closed too."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def id(self) -> str:
        """Its name in the record of the run."""
        return self._raw.id()

    @cached_property
    def directory(self) -> str:
        """Where it is rooted."""
        return self._raw.directory()

    def usage(self) -> Usage:
        """What it has spent."""
        return Usage._lift(self._raw.usage())

    async def run(
        self, prompt: str, *, schema: Any = None, budget: Budget | None = None, expected_cost: float | None = None
    ) -> Answer:
        """Takes a turn to its end. Cancelling the task that waits interrupts the turn; the session can be used again.

        ``schema`` (a dataclass or a JSON Schema) is what ``answer.value`` must meet; ``budget`` limits this turn alone;
        ``expected_cost`` is in US dollars, for what is reserved. Raises HarnessError, SessionError, BudgetError."""
        turn = self.start(prompt, schema=schema, budget=budget, expected_cost=expected_cost)
        return await turn._finish()

    def start(
        self, prompt: str, *, schema: Any = None, budget: Budget | None = None, expected_cost: float | None = None
    ) -> Turn:
        """Starts a turn and returns at once."""
        options = _options(schema, budget, expected_cost)
        return Turn(ask(self._raw.start, _check.text(prompt, "prompt"), options), schema)

    async def steer(self, words: str, *, interrupt: bool = False) -> None:
        """Puts words into the turn that is going, when it next comes up for air or at once, for a role that declared ``steer``.
        With no turn going it raises SessionError with the fault ``idle``."""
        mode = wit.SteerMode.INTERRUPTING if interrupt else wit.SteerMode.QUEUED
        await wait(self._raw.steer, _check.text(words, "words"), mode)

    async def fork(self, at: Env | None = None) -> Session:
        """Branches the conversation, for a role that declared ``fork``; the fork works in ``at``, or where this one does. Before
        the first turn it raises SessionError with the fault ``never-ran``, during one ``busy``."""
        return Session(await wait(self._raw.fork, _at(at)))

    def close(self) -> None:
        """Closes it now: the turn that is going is interrupted, and calls on it raise the fault ``closed``."""
        self._raw.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Agent:
    """A harness, a model and an effort under a role."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def role(self) -> str:
        """The role it fills."""
        return self._raw.role()

    @cached_property
    def harness(self) -> str:
        """The program behind it."""
        return self._raw.harness()

    @cached_property
    def model(self) -> str:
        """The model, as the harness spells it."""
        return self._raw.model()

    @cached_property
    def effort(self) -> str:
        """How hard it thinks, as the harness spells it."""
        return self._raw.effort()

    @cached_property
    def capabilities(self) -> list[str]:
        """What it can do here: ``steer``, ``fork``, ``goal`` and the like, by their documented names."""
        return self._raw.capabilities()

    def can(self, capability: str) -> bool:
        """Whether it can do this here."""
        return capability in self.capabilities

    def spawn(self, at: Env | None = None, directory: Any = None, *, queue: bool = False) -> Session:
        """Opens a conversation in the flow's workspace, or in ``at``, or in a directory of that. It costs nothing until a turn
        lands in it. With ``queue`` a second turn waits for the one that is going.

        A directory that is not there or not inside raises SessionError with the fault ``refused-dir``."""
        return Session(ask(self._raw.spawn, *self._place(at, directory, queue)))

    def spawn_many(self, count: int, at: Env | None = None, directory: Any = None, *, queue: bool = False) -> list[Session]:
        """Opens many conversations by one call, all alike."""
        place = self._place(at, directory, queue)
        return [Session(raw) for raw in ask(self._raw.spawn_many, _check.number(count, "count"), *place)]

    @staticmethod
    def _place(at: Env | None, directory: Any, queue: bool) -> tuple[Any, ...]:
        directory = None if directory is None else _check.path(directory, "directory")
        return _at(at), directory, wit.WhenBusy.QUEUE if queue else wit.WhenBusy.REFUSE

    async def run(
        self,
        prompt: str,
        *,
        at: Env | None = None,
        schema: Any = None,
        budget: Budget | None = None,
        expected_cost: float | None = None,
    ) -> Answer:
        """Takes one turn in a conversation of its own, closed after it. As :meth:`Session.run`."""
        session = self.spawn(at)
        return await session.run(prompt, schema=schema, budget=budget, expected_cost=expected_cost)

    async def batch(
        self,
        prompts: Iterable[str],
        *,
        at: Env | None = None,
        at_once: int | None = None,
        suppress: bool = False,
        schema: Any = None,
        budget: Budget | None = None,
        expected_cost: float | None = None,
    ) -> list[Any]:
        """Takes many turns, a conversation apiece: answers in the order asked, ``at_once`` at a time.

        Without ``suppress`` the first failure by position is raised once all have landed; with it failures stay in their places
        as exceptions. A stop and a spent budget are always raised. ``budget`` and the rest are each turn's."""
        # Not the contract's `batch`: what Python waits for there it could not interrupt.
        prompts = _check.texts(prompts, "prompts")
        turns = (
            self.run(prompt, at=at, schema=schema, budget=budget, expected_cost=expected_cost) for prompt in prompts
        )
        return await gather(turns, at_once=at_once, suppress=FlowhostError if suppress else None)

    async def pursue(
        self,
        objective: str,
        rounds: int,
        *,
        at: Env | None = None,
        schema: Any = None,
        budget: Budget | None = None,
        expected_cost: float | None = None,
    ) -> Answer:
        """Takes turns in a conversation of its own until the objective is met, judged by the harness where it can and by this
        agent where not, or ``rounds`` are over. Gives the last answer with what all have spent."""
        options = {"at": at, "schema": schema, "budget": budget, "expected_cost": expected_cost}
        return await self.start_pursuit(objective, rounds, **options)._finish()

    def start_pursuit(
        self,
        objective: str,
        rounds: int,
        *,
        at: Env | None = None,
        schema: Any = None,
        budget: Budget | None = None,
        expected_cost: float | None = None,
    ) -> Turn:
        """Starts what :meth:`pursue` does and returns at once; the handle is that of all its turns."""
        options = _options(schema, budget, expected_cost)
        objective, rounds = _check.text(objective, "objective"), _check.number(rounds, "rounds")
        return Turn(ask(self._raw.pursue, objective, _at(at), rounds, options), schema)

    def derive(
        self, *, permission: Permission | None = None, model: str | None = None, effort: str | None = None
    ) -> Agent:
        """The same harness under other settings; what is not said stays. What the person did not give raises
        NotGrantedError."""
        if permission is not None and not isinstance(permission, Permission):
            raise TypeError(f"permission is a Permission, not {type(permission).__name__}")
        return Agent(
            ask(
                self._raw.derive,
                None if permission is None else permission._lower(),
                None if model is None else _check.text(model, "model"),
                None if effort is None else _check.text(effort, "effort"),
            )
        )

    def watch(self, *moments: str, patience: float | None = None, guard: bool = False) -> Watch:
        """Opens a queue of what its sessions come upon, for a role that declared these moments, such as ``"pre-tool-use"``.

        A turn waits ``patience`` seconds for the answer to an occasion (the host's limit where it is not said). What is let go
        of or not answered in time goes on as if nobody watched, and is blocked where this is a ``guard``."""
        patience_ms = None if patience is None else _check.millis(patience, "patience")
        unanswered = wit.Unanswered.BLOCK if guard else wit.Unanswered.PASS
        return Watch(ask(self._raw.watch, moments_of(moments), patience_ms, unanswered))
