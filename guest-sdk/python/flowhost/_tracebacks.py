"""Tracebacks with what the author wrote in them, and nothing of what lies between."""

from __future__ import annotations

import os
import traceback

#: Where this package's own files are, as compiled code names them.
_OWN = os.path.dirname(__file__) + "/"
#: asyncio's innards, which are between any two functions of a flow.
_BETWEEN = ("/asyncio/", "componentize_py_async_support", "/wit_world/", "importlib._bootstrap")


def describe(error: BaseException) -> str:
    """The whole story of an exception, as text."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    _only_the_authors(told, set())
    return "".join(told.format()).rstrip()


def _only_the_authors(told: traceback.TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    own = [frame for frame in told.stack if not frame.filename.startswith(_OWN) and not any(each in frame.filename for each in _BETWEEN)]
    told.stack = traceback.StackSummary.from_list(own)
    for each in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if each is not None:
            _only_the_authors(each, seen)
