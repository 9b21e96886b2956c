"""The event loop of a flow: asyncio on the component model's own way of waiting.

componentize-py brings a loop that knows neither timers nor cancellation, and breaks the flow where a call that is out has nobody
who waits for it any more. This one stands in its place. What it relies on: one flow an instance, so one loop and one set of calls.

The host ends what a flow leaves behind, so nothing here waits for anything once the flow has returned.
"""

# mypy: disable-error-code="override,attr-defined,assignment,abstract,import-not-found,no-any-return,misc"

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import sys
import traceback
from collections import deque
from typing import Any

import componentize_py_async_support as support
import componentize_py_runtime as runtime

from ._raw import context as wit


#: Rounds of ready tasks before the host is asked whether something has returned.
_ROUNDS = 256
#: Milliseconds that one sleep of the host takes at most: some years.
_LONGEST = 1 << 40


class Stuck(RuntimeError):
    """The flow waits for what nothing will ever bring."""


class Call:
    """A call into the host that is out."""

    def __init__(self, future: asyncio.Future[Any], promise: int, borrowed: Any) -> None:
        self.future = future
        self.promise = promise
        # A resource must not be collected while a call borrows it: that would break the flow.
        self.borrowed = borrowed

    def set_result(self, event: int) -> None:
        """It has returned. Its value is taken in any case: handles in it belong to this side now."""
        value = runtime.promise_get_result(event, self.promise)
        self.borrowed = None
        if not self.future.done():
            self.future.set_result(value)


class Calls:
    """All calls that are out, in the form that componentize-py's callback knows."""

    def __init__(self, waitable_set: int | None = None, futures: Any = None, handles: Any = None, pending: int = 0) -> None:
        self.waitable_set = waitable_set
        self.futures: dict[int, Call] = {}
        self.handles: list[Any] = []
        # Exported calls that have not returned.
        self.pending_count = pending


class Loop(asyncio.AbstractEventLoop):
    """Runs what is ready, then goes back to the host until a call returns."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = itertools.count()
        self._cancelled = 0
        #: When each sleep of the host that is out will end, the soonest last. Another is begun only where it ends before these.
        self._asleep: list[float] = []
        self._now = 0.0
        self._calls = Calls()
        self._handler: Any = None
        self._factory: Any = None
        #: What the call that is about to be made borrows.
        self.borrowed: Any = None
        #: The flow's own task, and what ends it from outside of it.
        self.main: asyncio.Task[Any] | None = None
        self.failure: BaseException | None = None
        # componentize-py's own words for these.
        self.running = True
        self.exception: BaseException | None = None

    # What waits in the host.

    def begin(self, *state: Any) -> Calls:
        """The calls of an exported call that begins."""
        self._calls = Calls(*state)
        return self._calls

    async def result(self, result: Any) -> Any:
        """What a call into the host gives, at once or when it returns."""
        borrowed, self.borrowed = self.borrowed, None
        if isinstance(result, support.Ok):
            return result.value
        waitable, promise = result.value
        future = self.create_future()
        calls = self._calls
        calls.futures[waitable] = Call(future, promise, borrowed)
        if calls.waitable_set is None:
            calls.waitable_set = runtime.waitable_set_new()
        runtime.waitable_join(waitable, calls.waitable_set)
        return await future

    def turn(self, calls: Calls) -> int:
        """Runs what is ready; says what to tell the host."""
        if calls.pending_count:
            self._run_ready(calls)
        for _ in range(3):
            if calls.pending_count == 0 or len(calls.futures) > len(self._asleep) or self._timers:
                break
            # Only sleeps that nobody waits for any more, or nothing at all.
            self.fail(Stuck("the flow waits for something that nothing will ever bring: no call is out and no timer is set"))
            self._run_ready(calls)
        if self.exception is not None:
            raise self.exception
        if calls.pending_count == 0 and not calls.futures:
            if calls.waitable_set is not None:
                runtime.waitable_set_drop(calls.waitable_set)
            return support._CallbackCode.EXIT
        if calls.waitable_set is None:
            raise Stuck("the flow caught every attempt to end it, and waits for nothing")
        # Calls that are still out cannot be let go of; where the flow has returned, the host drops it with them.
        runtime.context_set(calls)
        return support._CallbackCode.WAIT | (calls.waitable_set << 4)

    def fail(self, error: BaseException) -> None:
        """Ends the flow with this error."""
        self.failure = self.failure or error
        if self.main is not None:
            self.main.cancel()

    def _run_ready(self, calls: Calls) -> None:
        # Nothing of a flow runs once it has returned.
        rounds = 0
        while calls.pending_count:
            self._due()
            if not self._ready:
                if self._doze():
                    return
                continue
            rounds += 1
            if rounds > _ROUNDS and (calls.futures or self._timers):
                # Tasks that never wait must not keep this from what returns: the host is asked, and wakes this soon.
                self._sleep_until(self.time() + 0.001)
                return
            for _ in range(len(self._ready)):
                handle = self._ready.popleft()
                if handle._cancelled or not calls.pending_count:
                    continue
                try:
                    handle._run()
                except (SystemExit, KeyboardInterrupt) as error:
                    self.fail(error)

    # Timers: one sleep of the host at a time serves them all.

    def time(self) -> float:
        # Never back, whatever the host's clock does: what is due stays due.
        self._now = max(self._now, wit.now_ms() / 1000)
        return self._now

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        timer._scheduled = True
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        # Most timers are timeouts that never come up, so they are cleared out by the hundred, as asyncio's own loop does.
        self._cancelled += handle._scheduled
        if self._cancelled > 100 and self._cancelled * 2 > len(self._timers):
            self._timers = [each for each in self._timers if not (each[2]._cancelled or each[2] is handle)]
            heapq.heapify(self._timers)
            handle._scheduled = False
            self._cancelled = 0

    def _pop(self) -> asyncio.TimerHandle:
        _, _, timer = heapq.heappop(self._timers)
        timer._scheduled = False
        self._cancelled -= timer._cancelled
        return timer

    def _due(self) -> None:
        while self._timers and (self._timers[0][2]._cancelled or self._timers[0][0] <= self._now):
            timer = self._pop()
            if not timer._cancelled:
                self._ready.append(timer)

    def _doze(self) -> bool:
        """Sees to it that the host wakes this flow for the next timer. False where that is due already."""
        while self._timers and self._timers[0][2]._cancelled:
            self._pop()
        if not self._timers:
            return True
        when = self._timers[0][0]
        if self._asleep and self._asleep[-1] <= when:
            return True
        return self._sleep_until(when)

    def _sleep_until(self, when: float) -> bool:
        """Begins a sleep of the host. False where it is over already."""
        # Never too early, but for what seconds since 1970 lose in a float.
        millis = 0 if when <= self._now else math.ceil((when - self.time()) * 1000 - 0.001)
        # As a bare coroutine, not a task: nobody's `all_tasks` has it, and nobody cancels it.
        sleep = wit.sleep(min(millis, _LONGEST)) if millis > 0 else None
        try:
            future = None if sleep is None else sleep.send(None)
        except StopIteration:
            future = None
        if future is None:
            self._now = max(self._now, when)
            return False
        self._asleep.append(when)
        self._asleep.sort(reverse=True)
        future.add_done_callback(lambda _: self._woken(when, sleep))
        return True

    def _woken(self, when: float, sleep: Any) -> None:
        sleep.close()
        self._asleep.remove(when)
        self._now = max(self._now, when)

    # What asyncio asks of a loop.

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        if self._factory is not None:
            return self._factory(self, coro, **options)
        return asyncio.Task(coro, loop=self, **options)

    def set_task_factory(self, factory: Any) -> None:
        self._factory = factory

    def get_task_factory(self) -> Any:
        return self._factory

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """Has no effect."""

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def stop(self) -> None:
        raise RuntimeError("a flow's loop ends with the flow: return, or raise")

    close = stop

    def run_forever(self) -> None:
        raise RuntimeError("a flow's loop is running already: await what is to be done")

    def run_until_complete(self, future: Any) -> Any:
        raise RuntimeError("a flow's loop is running already: await what is to be done")

    async def shutdown_asyncgens(self) -> None:
        """Nothing to do: the host drops all of it."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Nothing to do: there are no threads."""

    def run_in_executor(self, executor: Any, function: Any, *args: Any) -> asyncio.Future[Any]:
        # There are no threads: it runs at once.
        future = self.create_future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def set_exception_handler(self, handler: Any) -> None:
        self._handler = handler

    def get_exception_handler(self) -> Any:
        return self._handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self._handler is None:
            return self.default_exception_handler(context)
        try:
            self._handler(self, context)
        except Exception:
            traceback.print_exc()

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Says it in the log."""
        from ._tracebacks import describe

        error = context.get("exception")
        line = context.get("message") or "unhandled exception"
        print(line if error is None else f"{line}\n{describe(error)}", file=sys.stderr)

    def _close_generator(self, generator: Any) -> None:
        self.create_task(generator.aclose())


def _refuse(name: str) -> None:
    """What a loop of a flow cannot do says so when it is asked, whether it is waited for or not."""

    def refused(self: Loop, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"loop.{name}: a flow has no processes, sockets, pipes, signals or threads; `await env.exec([…])` runs a command where the flow "
            "was given an environment for it"
        )

    refused.__name__ = name
    setattr(Loop, name, refused)


for _name in set(dir(asyncio.AbstractEventLoop)) - set(vars(Loop)):
    if not _name.startswith("_"):
        _refuse(_name)

loop = Loop()


def install() -> None:
    """Puts this loop in the place of componentize-py's."""
    support._loop = loop
    support._FutureState = loop.begin
    support._poll = loop.turn
    support.await_result = loop.result
    asyncio.events._set_running_loop(loop)
    asyncio.set_event_loop(loop)
    sys.set_asyncgen_hooks(finalizer=loop._close_generator)


def borrow(*what: Any) -> None:
    """Says what the call that comes next borrows. It must be made before anything else waits."""
    loop.borrowed = what
