"""What a component of a Python flow exports: ``describe`` and ``run``."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any, Callable

from . import _check, _loop, _plain
from ._raw import Err, types as wit
from ._source import NoFlow
from ._tracebacks import describe
from .declaration import Flow
from .errors import BudgetError, FailedError, FlowhostError, StoppedError, lower


def prepare() -> None:
    """Makes Python fit for flows: once, when the component is built."""
    _loop.install()
    time.sleep = _no_sleep
    # What a flow prints is seen when it is printed; half a character in it breaks nothing.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")


def _no_sleep(seconds: float) -> None:
    raise RuntimeError("time.sleep would hold up all that the flow has going: write `await asyncio.sleep(…)`, or flowhost.sleep in a plain def")


def manifest(load: Callable[[], Flow]) -> str:
    """The manifest of what this loads; where it cannot be loaded, why, for the host to say."""
    try:
        return _check.json(load().manifest, "the manifest")
    except BaseException as error:
        return _check.json({"error": _check.clean(_story(error))}, "the error")


async def run(load: Callable[[], Flow], task: str) -> str:
    """Runs what this loads; gives its answer as JSON. Whatever it raises becomes the contract's error."""
    _loop.loop.main = asyncio.current_task()
    # What was drawn when the component was built is the same for everybody.
    random.seed()
    try:
        flow = load()
        answer = await flow._run(task)
        said = _check.json(answer, f"the answer of {flow.manifest['name']}")
    except BaseException as error:
        failure = _loop.loop.failure
        if failure is not None and isinstance(error, asyncio.CancelledError):
            error = failure
        raised = _raised(error)
    else:
        raised = None
    await _tidied()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if raised is not None:
        raise Err(lower(raised))
    return said


async def _tidied() -> None:
    try:
        await _loop.tidy()
    except BaseException as error:
        print(describe(error), file=sys.stderr)


def _raised(error: BaseException) -> FlowhostError:
    if isinstance(error, FlowhostError):
        return error
    if isinstance(error, BaseExceptionGroup):
        # A stop and a spent budget are nobody's bug, wherever they surface.
        ended = error.subgroup((StoppedError, BudgetError))
        while isinstance(ended, BaseExceptionGroup):
            ended = ended.exceptions[0]
        if ended is not None:
            return ended
    return FailedError(_story(error))


def _story(error: BaseException) -> str:
    if isinstance(error, (NoFlow, _loop.Stuck)):
        return str(error)
    if isinstance(error, SystemExit):
        return f"the flow called exit({'' if error.code is None else error.code!r}): a flow ends by returning its answer, or raises\n{describe(error)}"
    if isinstance(error, asyncio.CancelledError):
        return f"the flow cancelled its own task\n{describe(error)}"
    story = describe(error)
    hint = _plain.hint(error)
    return story if hint is None else f"{story}\n{hint}"
