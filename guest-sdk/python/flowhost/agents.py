"""Agents, their conversations and their turns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Iterable, Literal, Mapping, overload

from . import _check, budget as _budget, schema as _schema
from ._calls import Started, ask, wait
from ._raw import agents as wit
from ._typing import T
from .budget import Budget, Usage
from .envs import Env
from .errors import FailedError, FlowhostError
from .waiting import gather
from .watches import Moment, Watch, moments_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import OwnTurnOptions, TurnOptions

Access = Literal["none", "read", "all"]


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a turn came to."""

    #: What the agent said last.
    text: str
    #: The structured answer, where a schema asked for one.
    value: T
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


def turn_options(
    schema: type[Any] | Mapping[str, Any] | None = None, budget: Budget | None = None, expected_cost: float | None = None
) -> tuple[Any, Any]:
    """The contract's options of a turn, and the type of its answer."""
    asked = None if schema is None else _check.json(_schema.schema(schema), "schema")
    return wit.TurnOptions(asked, _budget.lower(budget), _check.optional(_check.amount, expected_cost, "expected_cost")), schema


def _at(env: Env | None) -> Any:
    return None if env is None else _check.one_of(env, Env, "at", "; a directory inside one is given as directory=")._raw


class Turn(Started[Answer[T]]):
    """A turn that was started. It goes on while it or its session is held, and is interrupted when both are gone. ``wait`` returns
    when its session can take the next."""

    _awaited = "Awaited_Turn"

    def __init__(self, raw: Any, schema: Any = None) -> None:
        super().__init__(raw)
        self._schema = schema

    def _lift(self, ended: Any) -> Answer[T]:
        value = None if ended.value is None else json.loads(ended.value)
        if self._schema is not None and value is not None:
            try:
                value = _schema.build(self._schema, value)
            except (TypeError, ValueError) as error:
                raise FailedError(f"the answer meets the schema and still cannot be read: {error}") from None
        # Without a schema there is none, and its type is that of nothing.
        return Answer(ended.text, value, Usage._lift(ended.usage))  # type: ignore[arg-type]


class Session:
    """One conversation, rooted at one directory. It takes one turn at a time: a second one while one is going raises
    SessionError with the fault ``busy``, unless it was spawned with ``queue=True``.

    ``with session:`` closes it at the end of the block. What nobody holds any more is closed too."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def id(self) -> str:
        """Its name in the record of the run."""
        return str(self._raw.id())

    @cached_property
    def directory(self) -> str:
        """Where it is rooted."""
        return str(self._raw.directory())

    def usage(self) -> Usage:
        """What it has spent."""
        return Usage._lift(self._raw.usage())

    async def run(self, prompt: str, **options: Unpack[TurnOptions[T]]) -> Answer[T]:
        """Takes a turn to its end. Cancelling the task that waits interrupts the turn; the session can be used again.

        ``schema`` (a dataclass or a JSON Schema) is what ``answer.value`` must meet; ``budget`` limits this turn alone;
        ``expected_cost`` is in US dollars, for what is reserved. Raises HarnessError, SessionError, BudgetError."""
        return await self.start(prompt, **options)._finish()

    def start(self, prompt: str, **options: Unpack[TurnOptions[T]]) -> Turn[T]:
        """Starts a turn and returns at once. The options are those of :meth:`run`."""
        how, schema = turn_options(**options)
        return Turn(ask(self._raw.start, _check.text(prompt, "prompt"), how), schema)

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
        return str(self._raw.role())

    @cached_property
    def harness(self) -> str:
        """The program behind it."""
        return str(self._raw.harness())

    @cached_property
    def model(self) -> str:
        """The model, as the harness spells it."""
        return str(self._raw.model())

    @cached_property
    def effort(self) -> str:
        """How hard it thinks, as the harness spells it."""
        return str(self._raw.effort())

    @cached_property
    def capabilities(self) -> list[str]:
        """What it can do here: ``steer``, ``fork``, ``goal`` and the like, by their documented names."""
        return list(self._raw.capabilities())

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
        when_busy = wit.WhenBusy.QUEUE if queue else wit.WhenBusy.REFUSE
        return _at(at), _check.optional(_check.path, directory, "directory"), when_busy

    async def run(self, prompt: str, *, at: Env | None = None, **options: Unpack[TurnOptions[T]]) -> Answer[T]:
        """Takes one turn in a conversation of its own, closed after it. As :meth:`Session.run`."""
        return await self.start(prompt, at=at, **options)._finish()

    def start(self, prompt: str, *, at: Env | None = None, **options: Unpack[TurnOptions[T]]) -> Turn[T]:
        """Starts one in a conversation of its own and returns at once. The options are those of :meth:`run`."""
        return self.spawn(at).start(prompt, **options)

    @overload
    async def batch(
        self,
        prompts: Iterable[str],
        *,
        at_once: int | None = None,
        suppress: Literal[False] = False,
        **options: Unpack[OwnTurnOptions[T]],
    ) -> list[Answer[T]]: ...

    @overload
    async def batch(
        self, prompts: Iterable[str], *, at_once: int | None = None, suppress: bool, **options: Unpack[OwnTurnOptions[T]]
    ) -> list[Answer[T] | FlowhostError]: ...

    async def batch(self, prompts: Iterable[str], *, at_once: int | None = None, suppress: bool = False, **options: Any) -> list[Any]:
        """Takes many turns, a conversation apiece: answers in the order asked, ``at_once`` at a time.

        Without ``suppress`` the first failure by position is raised once all have landed; with it failures stay in their places
        as exceptions. A stop and a spent budget are always raised. ``budget`` and the rest are each turn's."""
        # Not the contract's `batch`: what Python waits for there it could not interrupt.
        turns = (self.run(prompt, **options) for prompt in _check.texts(prompts, "prompts"))
        return await gather(turns, at_once=at_once, suppress=FlowhostError if suppress else None)

    async def pursue(self, objective: str, rounds: int, **options: Unpack[OwnTurnOptions[T]]) -> Answer[T]:
        """Takes turns in a conversation of its own until the objective is met, judged by the harness where it can and by this
        agent where not, or ``rounds`` are over. Gives the last answer with what all have spent."""
        return await self.start_pursuit(objective, rounds, **options)._finish()

    def start_pursuit(
        self, objective: str, rounds: int, *, at: Env | None = None, **options: Unpack[TurnOptions[T]]
    ) -> Turn[T]:
        """Starts what :meth:`pursue` does and returns at once; the handle is that of all its turns."""
        how, schema = turn_options(**options)
        objective, rounds = _check.text(objective, "objective"), _check.number(rounds, "rounds")
        return Turn(ask(self._raw.pursue, objective, _at(at), rounds, how), schema)

    def derive(self, *, permission: Permission | None = None, model: str | None = None, effort: str | None = None) -> Agent:
        """The same harness under other settings; what is not said stays. What the person did not give raises
        NotGrantedError."""
        allowed = None if permission is None else _check.one_of(permission, Permission, "permission")._lower()
        words = (_check.optional(_check.text, model, "model"), _check.optional(_check.text, effort, "effort"))
        return Agent(ask(self._raw.derive, allowed, *words))

    def watch(self, *moments: Moment, patience: float | None = None, guard: bool = False) -> Watch:
        """Opens a queue of what its sessions come upon, for a role that declared these moments, such as ``"pre-tool-use"``.

        A turn waits ``patience`` seconds for the answer to an occasion (the host's limit where it is not said). What is let go
        of or not answered in time goes on as if nobody watched, and is blocked where this is a ``guard``."""
        unanswered = wit.Unanswered.BLOCK if guard else wit.Unanswered.PASS
        return Watch(ask(self._raw.watch, moments_of(moments), _check.optional(_check.millis, patience, "patience"), unanswered))
