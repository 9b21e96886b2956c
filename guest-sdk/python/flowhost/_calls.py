"""How this side calls the host."""

from __future__ import annotations

import asyncio
from typing import Any, Callable

from . import errors
from ._raw import Err


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call that answers at once. Raises FlowhostError."""
    try:
        return function(*arguments)
    except Err as error:
        raised = errors.lift(error.value)
    raise raised


async def wait(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call that waits. It goes on where the task that waits for it is cancelled, and what it borrows is kept until it returns.
    Raises FlowhostError."""
    from ._loop import borrow

    borrow(function, arguments)
    try:
        return await function(*arguments)
    except Err as error:
        raised = errors.lift(error.value)
    raise raised


async def finish(handle: Any) -> Any:
    """Waits for what was started and is nobody else's: it is interrupted where the task that waits is cancelled."""
    try:
        return await wait(handle.wait)
    except asyncio.CancelledError:
        handle.cancel()
        raise
