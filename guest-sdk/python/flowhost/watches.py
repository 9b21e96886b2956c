"""Hooks: what an agent's sessions come upon, and what the flow answers."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, ClassVar, Iterable, Literal, get_args

from . import _check
from ._calls import ask, wait
from ._raw import agents as wit
from .errors import word

#: What can be watched for.
Moment = Literal[
    "session-start",
    "prompt-submit",
    "pre-tool-use",
    "permission-request",
    "question",
    "notification",
    "offered-tool",
    "stop",
    "session-end",
    "subagent-start",
    "subagent-stop",
    "other",
]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


def moments_of(names: Iterable[str]) -> list[Any]:
    """The contract's moments of these names."""
    names = _check.texts(names, "moments")
    for name in names:
        if name not in MOMENTS:
            raise ValueError(f"no moment is called {name!r}; there are {', '.join(MOMENTS)}")
    if not names:
        raise ValueError("a watch is for at least one moment, such as 'pre-tool-use'")
    return [wit.Moment[name.upper().replace("-", "_")] for name in names]


class Occasion:
    """Something that waits for the flow's answer. Letting go of it leaves it unanswered. Only the first answer counts: a later
    one, and one that comes when the turn no longer waits, raises SessionError with the fault ``idle``."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def moment(self) -> Moment:
        """What happened, such as ``pre-tool-use``."""
        moment: Moment = word(self._raw.moment())
        return moment

    @cached_property
    def session(self) -> str:
        """In which session, by its id."""
        return str(self._raw.session())

    @cached_property
    def details(self) -> dict[str, Any]:
        """What the moment carries: tool, input, prompt, question, options, said."""
        details: dict[str, Any] = json.loads(self._raw.details())
        return details

    def allow(self) -> None:
        """Yes."""
        ask(self._raw.allow)

    def block(self, reason: str) -> None:
        """No, and why."""
        ask(self._raw.block, _check.text(reason, "reason"))

    def reply(self, text: str) -> None:
        """Adds context, answers a question or an offered tool's call, or goes on with a next prompt."""
        ask(self._raw.reply, _check.text(text, "text"))

    def skip(self) -> None:
        """Lets it go on as if nobody watched."""
        ask(self._raw.skip)


class Watch:
    """A queue of occasions. ``async for occasion in watch`` takes them as they come, until it is closed; ``with watch:`` closes it
    at the end of the block."""

    _awaited: ClassVar[str] = "Awaited_Watch"

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    async def next(self) -> Occasion | None:
        """Waits for the next occasion; None once it is closed. A call that is cancelled loses nothing."""
        while await wait(self._raw.ready):
            # Another call may have taken it first.
            occasion = self.take()
            if occasion is not None:
                return occasion
        return None

    def take(self) -> Occasion | None:
        """The next occasion, or None: it does not wait."""
        raw = self._raw.take()
        return None if raw is None else Occasion(raw)

    def close(self) -> None:
        """Takes it down: calls that wait return, and occasions that nobody has taken are unanswered."""
        self._raw.close()

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> Occasion:
        occasion = await self.next()
        if occasion is None:
            raise StopAsyncIteration
        return occasion

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
