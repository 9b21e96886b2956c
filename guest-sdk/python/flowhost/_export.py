"""What a component of a Python flow exports: ``describe`` and ``run``."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
import warnings
from typing import Any, Callable, Iterator

from . import _check, _ending, _loop, _plain
from ._raw import Err
from ._source import NoFlow
from ._tracebacks import describe, warned
from .declaration import Flow
from .errors import BudgetError, FailedError, FlowhostError, StoppedError, lower


#: Characters of an error that are kept: one that goes on for ever is a mistake too.
_LONGEST = 1 << 18


def prepare() -> None:
    """Makes Python fit for flows: once, when the component is built, after all that it imports."""
    _loop.install()
    time.sleep = _no_sleep
    warnings.formatwarning = warned
    # What a flow prints is seen when it is printed; half a character in it breaks nothing.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    # What is there now stays, so nobody needs to look whether it may go.
    gc.collect()
    gc.freeze()


def _no_sleep(seconds: Any) -> None:
    raise RuntimeError("time.sleep would hold up all that the flow has going: write `await asyncio.sleep(…)`, or flowhost.sleep in a plain def")


def manifest(load: Callable[[], Flow[..., Any]]) -> str:
    """The manifest of what this loads; where it cannot be loaded, why, for the host to say."""
    try:
        return _check.json(load().manifest, "the manifest")
    except BaseException as error:
        return _check.json({"error": _check.clean(_told(error))}, "the error")


async def run(load: Callable[[], Flow[..., Any]], task: str) -> str:
    """Runs what this loads; gives its answer as JSON. Whatever it raises becomes the contract's error."""
    _loop.loop.main = asyncio.current_task()
    # What was drawn when the component was built is the same for everybody.
    random.seed()
    said, raised = await _outcome(load, task)
    # The flow has ended: nothing that it left changes how.
    try:
        await _ending.tidy()
        _ending.unheard()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException as error:
        print(_told(error), file=sys.stderr)
    if raised is not None:
        raise Err(raised)
    return said


async def _outcome(load: Callable[[], Flow[..., Any]], task: str) -> tuple[str, Any]:
    """The answer, and the contract's error where there is none."""
    try:
        flow = load()
        answer = await flow._run(task)
        return _check.json(answer, f"the answer of {flow.manifest['name']}"), None
    except BaseException as error:
        failure = _loop.loop.failure
        if failure is not None and isinstance(error, asyncio.CancelledError):
            error = failure
        try:
            return "", lower(_raised(error))
        except BaseException:
            return "", lower(FailedError(_told(error)))


def _raised(error: BaseException) -> FlowhostError:
    if isinstance(error, FlowhostError):
        return error
    if isinstance(error, BaseExceptionGroup):
        each = list(_each(error))
        # A stop and a spent budget are nobody's bug, wherever they surface.
        ended = next((one for one in each if isinstance(one, (StoppedError, BudgetError))), None)
        if ended is not None:
            return ended
        # What a TaskGroup puts around the failure of one of its tasks is no other failure.
        if len(each) == 1 and isinstance(each[0], FlowhostError):
            return each[0]
    return FailedError(_told(error))


def _each(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _each(inner)
    else:
        yield error


def _told(error: BaseException) -> str:
    try:
        return _story(error)
    except BaseException as another:
        # An exception of the author's may fail in its turn when it is asked what it says.
        return f"{type(error).__name__}, of which nothing can be said: {type(another).__name__}"


def _story(error: BaseException) -> str:
    if isinstance(error, (NoFlow, _loop.Stuck)):
        return str(error)
    told = describe(error)
    if isinstance(error, SystemExit):
        code = "" if error.code is None else repr(error.code)
        told = f"the flow called exit({code}): a flow ends by returning its answer, or raises\n{told}"
    elif isinstance(error, asyncio.CancelledError):
        told = f"the flow cancelled its own task\n{told}"
    hint = _plain.hint(error)
    told = told if hint is None else f"{told}\n{hint}"
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}\n… {len(told) - _LONGEST} characters more"
