"""Limits, and what was spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _check
from ._raw import types as wit
from .errors import word


@dataclass
class Budget:
    """Limits to set; what is not said is not limited. ``grace="cut"`` interrupts the turn under way when one is reached."""

    #: US dollars.
    cost: float | None = None
    #: Tokens written.
    output_tokens: int | None = None
    turns: int | None = None
    #: Seconds, from the start of what it limits.
    duration: float | None = None
    grace: Literal["finish", "cut"] = "finish"

    def _lower(self) -> Any:
        if self.grace not in ("finish", "cut"):
            raise ValueError(f"grace is 'finish' or 'cut', not {self.grace!r}")
        return wit.Budget(
            _check.optional(_check.amount, self.cost, "cost"),
            _check.optional(_check.number, self.output_tokens, "output_tokens", 64),
            _check.optional(_check.number, self.turns, "turns"),
            _check.optional(_check.millis, self.duration, "duration"),
            wit.Grace.CUT if self.grace == "cut" else wit.Grace.FINISH,
        )


def lower(budget: Budget | None) -> Any:
    """The contract's budget."""
    if budget is None:
        return None
    return _check.one_of(budget, Budget, "budget")._lower()


@dataclass(frozen=True)
class Allowance:
    """What is left to spend; None is not limited."""

    #: US dollars.
    cost: float | None
    #: Tokens written.
    output_tokens: int | None
    turns: int | None
    #: Seconds.
    duration: float | None

    @staticmethod
    def _lift(left: Any) -> Allowance:
        seconds = None if left.duration_ms is None else left.duration_ms / 1000
        return Allowance(left.cost, left.output_tokens, left.turns, seconds)


@dataclass(frozen=True)
class Usage:
    """What a turn, a session, a branch or a run has spent."""

    #: Prompts handed over, retries and repairs too.
    turns: int
    #: Tokens read afresh; cached ones are apart.
    input_tokens: int
    #: Tokens written.
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    #: US dollars.
    cost: float
    #: Where ``cost`` comes from.
    cost_source: Literal["reported", "priced", "mixed", "made-up", "unknown"]
    #: Seconds spent in turns.
    duration: float

    @staticmethod
    def _lift(usage: Any) -> Usage:
        return Usage(
            usage.turns,
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.cost,
            word(usage.cost_source),
            usage.duration_ms / 1000,
        )
