"""What can go wrong, as the contract names it.

Every error that the host gives is a :class:`FlowhostError`. Its ``kind`` and ``fault`` are the contract's own words, such as
``"session"`` and ``"busy"``. An error that a flow raises reaches its caller as it was raised; any other exception becomes
:class:`FailedError` there, with the traceback as its message.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

SessionFault = Literal["busy", "closed", "not-yours", "never-ran", "refused-dir", "idle", "other"]
HarnessFault = Literal[
    "not-installed",
    "not-logged-in",
    "model-unavailable",
    "throttled",
    "overloaded",
    "contended",
    "context-full",
    "killed",
    "dropped",
    "hung",
    "interrupted",
    "bad-output",
    "unsupported",
    "other",
]
EnvFault = Literal[
    "not-found", "denied", "outside", "timed-out", "not-started", "conflict", "too-large", "unavailable", "interrupted", "other"
]
FlowFault = Literal["not-found", "bad-ref", "too-deep", "trapped", "exceeded", "interrupted", "other"]
Limit = Literal["cost", "output-tokens", "turns", "duration"]


class FlowhostError(Exception):
    """Why a call failed: ``message`` says what happened, where, and what to do next."""

    #: The contract's word for this kind of error.
    kind: ClassVar[str] = "other"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message: str = str(message)

    def __str__(self) -> str:
        return self.message


class SessionError(FlowhostError):
    """The flow's own mistake with a session: ``fault`` says which, such as ``busy``."""

    kind: ClassVar[str] = "session"

    def __init__(self, message: str = "", fault: SessionFault = "other") -> None:
        super().__init__(message)
        self.fault: SessionFault = fault


class HarnessError(FlowhostError):
    """A turn that the harness could not take: the one that a flow may read past. ``fault`` says why.

    ``retry_after``: seconds until it may be tried again, where that is known.
    """

    kind: ClassVar[str] = "harness"

    def __init__(self, message: str = "", fault: HarnessFault = "other", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.fault: HarnessFault = fault
        self.retry_after: float | None = retry_after


class EnvError(FlowhostError):
    """Something that an environment could not do: ``fault`` says why, such as ``not-found``."""

    kind: ClassVar[str] = "env"

    def __init__(self, message: str = "", fault: EnvFault = "other") -> None:
        super().__init__(message)
        self.fault: EnvFault = fault


class BudgetError(FlowhostError):
    """A limit is spent, here or above. It stays so. ``whose`` is the branch whose limit it is, as its path."""

    kind: ClassVar[str] = "budget"

    def __init__(self, message: str = "", limit: Limit = "cost", whose: str = "") -> None:
        super().__init__(message)
        self.limit: Limit = limit
        self.whose: str = whose


class RequirementError(FlowhostError):
    """What was given does not meet what was declared; nothing has run."""

    kind: ClassVar[str] = "requirement"


class NotGrantedError(FlowhostError):
    """The flow used what it did not declare or was not granted."""

    kind: ClassVar[str] = "not-granted"


class FlowError(FlowhostError):
    """A called flow that could not be run, or did not end by itself: ``fault`` says which, such as ``exceeded``."""

    kind: ClassVar[str] = "flow"

    def __init__(self, message: str = "", fault: FlowFault = "other") -> None:
        super().__init__(message)
        self.fault: FlowFault = fault


class FailedError(FlowhostError):
    """A flow says that it failed: the one to raise."""

    kind: ClassVar[str] = "failed"


class StoppedError(FlowhostError):
    """The run was stopped from outside. Every later call says the same."""

    kind: ClassVar[str] = "stopped"


class OtherError(FlowhostError):
    """Anything else: read the message."""

    kind: ClassVar[str] = "other"


def word(case: Any) -> Any:
    """The contract's spelling of a case of one of its enums."""
    return case.name.lower().replace("_", "-")


def lift(error: Any) -> FlowhostError:
    """The exception for an error of the contract."""
    kind, message = error.kind, error.message
    match type(kind).__name__.removeprefix("ErrorKind_"):
        case "Session":
            return SessionError(message, word(kind.value))
        case "Harness":
            after = kind.value.retry_after_ms
            return HarnessError(message, word(kind.value.fault), None if after is None else after / 1000)
        case "Env":
            return EnvError(message, word(kind.value))
        case "Budget":
            return BudgetError(message, word(kind.value.limit), kind.value.whose)
        case "Requirement":
            return RequirementError(message)
        case "NotGranted":
            return NotGrantedError(message)
        case "Flow":
            return FlowError(message, word(kind.value))
        case "Failed":
            return FailedError(message)
        case "Stopped":
            return StoppedError(message)
        case _:
            return OtherError(message)


def lower(error: FlowhostError) -> Any:
    """The contract's error for an exception. What a flow made up where the contract has no word is ``other``."""
    from . import _check
    from ._raw import types as wit

    def case(enum: Any, fault: Any) -> Any:
        return enum.__members__.get(str(fault).upper().replace("-", "_"), enum.OTHER)

    match error:
        case SessionError():
            kind = wit.ErrorKind_Session(case(wit.SessionFault, error.fault))
        case HarnessError():
            after = error.retry_after
            millis = _check.millis(after, "retry_after") if isinstance(after, (int, float)) and 0 <= after < 1e12 else None
            kind = wit.ErrorKind_Harness(wit.HarnessFailure(case(wit.HarnessFault, error.fault), millis))
        case EnvError():
            kind = wit.ErrorKind_Env(case(wit.EnvFault, error.fault))
        case BudgetError():
            limit = wit.Limit.__members__.get(str(error.limit).upper().replace("-", "_"), wit.Limit.COST)
            kind = wit.ErrorKind_Budget(wit.SpentLimit(limit, _check.clean(str(error.whose))))
        case RequirementError():
            kind = wit.ErrorKind_Requirement()
        case NotGrantedError():
            kind = wit.ErrorKind_NotGranted()
        case FlowError():
            kind = wit.ErrorKind_Flow(case(wit.FlowFault, error.fault))
        case FailedError():
            kind = wit.ErrorKind_Failed()
        case StoppedError():
            kind = wit.ErrorKind_Stopped()
        case _:
            kind = wit.ErrorKind_Other()
    return wit.Error(kind, _check.clean(str(error.message)))
