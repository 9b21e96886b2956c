"""What a flow leaves behind."""

from __future__ import annotations

import asyncio
import gc

from ._loop import loop

#: Rounds of the loop that what is cancelled has for its `finally`, as long as it waits for nothing.
_ROUNDS = 100


async def tidy() -> None:
    """Cancels what a flow left running, as `asyncio.run` does, and lets it see that; but waits for nothing."""
    left = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]
    for task in left:
        task.cancel()
    for _ in range(_ROUNDS):
        if all(task.done() for task in left) or not loop._ready:
            break
        await asyncio.sleep(0)


def unheard() -> None:
    """Says the failures that nobody has looked at. asyncio does that where it lets go of a task, but what is held, or in a circle, at
    the end of a flow nobody lets go of. Of what was there before the flow began nothing is looked at: `gc.freeze` hides it."""
    for each in gc.get_objects():
        # Not `isinstance`, which asks objects that may say anything.
        if issubclass(type(each), asyncio.Future) and each.done() and each._log_traceback:
            each._log_traceback = False
            what = "Task" if issubclass(type(each), asyncio.Task) else "Future"
            loop.call_exception_handler({"message": f"{what} exception was never retrieved", "exception": each.exception(), "future": each})
