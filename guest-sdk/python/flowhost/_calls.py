"""How this side calls the host."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, ClassVar, Generator, Generic

from . import errors
from ._raw import Err
from ._typing import T


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


class Started(Generic[T]):
    """Something that was started, and ends by itself."""

    #: What `wait_any` calls it in the contract.
    _awaited: ClassVar[str]

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def _lift(self, ended: Any) -> T:
        """What it came to, as the flow sees it."""
        raise NotImplementedError

    async def wait(self) -> T:
        """Waits for its end. May be asked again and by several; all get the same. Cancelling the wait interrupts nothing."""
        return self._lift(await wait(self._raw.wait))

    def __await__(self) -> Generator[Any, None, T]:
        return self.wait().__await__()

    def done(self) -> bool:
        """Whether it has ended."""
        return bool(self._raw.done())

    def cancel(self) -> None:
        """Interrupts it and returns at once; ``wait`` raises the fault ``interrupted`` when it is over. Twice, or after its end,
        is nothing."""
        self._raw.cancel()

    async def _finish(self) -> T:
        """Waits for what is nobody else's: it is interrupted where the task that waits is cancelled."""
        try:
            return await self.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
