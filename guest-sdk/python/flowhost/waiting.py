"""Waiting for many."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Awaitable, Iterable, TypeVar, overload

from . import _check
from ._calls import wait
from ._raw import waiting as wit
from ._typing import T
from .errors import BudgetError, StoppedError

if TYPE_CHECKING:
    from .agents import Turn
    from .callees import Branch
    from .envs import Process
    from .watches import Watch



E = TypeVar("E", bound=BaseException)
Thing = TypeVar("Thing", bound="Turn[Any] | Process | Branch | Watch")


@overload
async def gather(*awaitables: Awaitable[T], at_once: int | None = None, suppress: None = None) -> list[T]: ...


@overload
async def gather(awaitables: Iterable[Awaitable[T]], /, *, at_once: int | None = None, suppress: None = None) -> list[T]: ...


@overload
async def gather(*awaitables: Awaitable[T], at_once: int | None = None, suppress: type[E] | tuple[type[E], ...] | None) -> list[T | E]: ...


@overload
async def gather(
    awaitables: Iterable[Awaitable[T]], /, *, at_once: int | None = None, suppress: type[E] | tuple[type[E], ...] | None
) -> list[T | E]: ...


async def gather(*awaitables: Any, at_once: int | None = None, suppress: Any = None) -> list[Any]:
    """Waits for many at once (or for those of one iterable), ``at_once`` at a time: answers in the order given.

    Nothing is cancelled when one fails. The first failure by position is raised once all have ended; of the types in ``suppress``
    failures stay in their places instead, but for a stop and a spent budget, which are always raised. Those of an iterable are
    asked for only when there is room for them. Where the task that waits is cancelled, so are all that are going."""
    if len(awaitables) == 1 and not isinstance(awaitables[0], Awaitable):
        rest = iter(awaitables[0])
    else:
        rest = iter(awaitables)
    width = None if at_once is None else max(1, _check.number(at_once, "at_once"))
    said: list[Any] = []
    going: set[asyncio.Task[None]] = set()

    async def one(place: int, awaitable: Any) -> None:
        try:
            said[place] = (True, await awaitable)
        except asyncio.CancelledError:
            # Its own, where something cancelled that one alone.
            said[place] = (False, asyncio.CancelledError())
            raise
        except Exception as error:
            said[place] = (False, error)

    try:
        for awaitable in rest:
            said.append(None)
            going.add(asyncio.ensure_future(one(len(said) - 1, awaitable)))
            if width is not None and len(going) >= width:
                ended, going = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
        if going:
            await asyncio.wait(going)
    except BaseException:
        for task in going:
            task.cancel()
        for awaitable in rest:
            getattr(awaitable, "close", lambda: None)()
        raise
    failures = [outcome[1] for outcome in said if not outcome[0]]
    for failure in failures:
        if isinstance(failure, (StoppedError, BudgetError)):
            raise failure
    for failure in failures:
        if suppress is None or not isinstance(failure, suppress):
            raise failure
    return [outcome[1] for outcome in said]


@overload
async def wait_any(*things: Thing, timeout: float | None = None) -> list[Thing]: ...


@overload
async def wait_any(things: Iterable[Thing], /, *, timeout: float | None = None) -> list[Thing]: ...


async def wait_any(*things: Any, timeout: float | None = None) -> list[Any]:
    """Waits until at least one of these turns, processes, branches and watches is ready, or for ``timeout`` seconds; gives all that
    are, in order, and none when the time is over. A watch is ready when it has an occasion to take, or is closed."""
    if len(things) == 1 and isinstance(things[0], Iterable):
        things = tuple(things[0])
    on = []
    for thing in things:
        awaited = getattr(thing, "_awaited", None)
        if awaited is None:
            raise TypeError(f"wait_any is for turns, processes, branches and watches, not {type(thing).__name__}")
        on.append(getattr(wit, awaited)(thing._raw))
    ready = await wait(wit.wait_any, on, _check.optional(_check.millis, timeout, "timeout"))
    return [things[place] for place in ready]


async def sleep(seconds: float) -> None:
    """Lets time pass, as ``asyncio.sleep``."""
    await asyncio.sleep(_check.millis(seconds, "seconds") / 1000)
