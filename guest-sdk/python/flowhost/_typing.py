"""Types for editors and type checkers. Nothing here is looked at while a flow runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Mapping, TypedDict

if TYPE_CHECKING:
    # Type checkers bring it: a type that nobody names is Any, also for Pythons whose own TypeVar knows no default.
    from typing_extensions import ParamSpec, TypeVar

    from .agents import Agent
    from .budget import Budget
    from .envs import Env

    T = TypeVar("T", default=Any)
    Params = TypeVar("Params", default=Any)
    Given = ParamSpec("Given")
    Gives = TypeVar("Gives", default=Any)

    class TurnOptions(TypedDict, Generic[T], total=False):
        """How to take a turn."""

        #: What ``answer.value`` must meet: a dataclass or another type, or a JSON Schema.
        schema: type[T] | Mapping[str, Any] | None
        #: Limits this turn alone, on top of the branch's.
        budget: Budget | None
        #: US dollars that it is expected to cost, for what is reserved.
        expected_cost: float | None

    class OwnTurnOptions(TurnOptions[T], Generic[T], total=False):
        """How to take a turn in a conversation of its own."""

        #: Where the conversation is rooted; the flow's workspace where it is not said.
        at: Env | None

    class CallOptions(TypedDict, total=False):
        """What is handed to a called flow."""

        #: By role.
        agents: Mapping[str, Agent] | None
        #: By role.
        envs: Mapping[str, Env] | None
        #: A dict or a dataclass, as the callee's schema says.
        params: Any
        #: On top of what is left of the caller's.
        budget: Budget | None

    class CommandOptions(TypedDict, total=False):
        """How to run a command."""

        #: What it reads.
        stdin: bytes | str | None
        #: Seconds, after which it is killed: EnvError with the fault ``timed-out``.
        timeout: float | None
        #: Added to a clean environment.
        vars: Mapping[str, str] | None
        #: How many bytes are kept of each of stdout and stderr.
        keep: int | None
        #: Whether it may be run again where a run that was cut off in its middle is taken up.
        repeatable: bool

else:
    from typing import ParamSpec, TypeVar

    T = TypeVar("T")
    Params = TypeVar("Params")
    Given = ParamSpec("Given")
    Gives = TypeVar("Gives")
