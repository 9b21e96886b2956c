"""Tracebacks with what the author wrote in them, and nothing of what lies between."""

from __future__ import annotations

import re
import traceback

#: Files of this package and its component, of componentize-py, and of asyncio and the importer, which lie between any two functions of
#: a flow. componentize-py numbers the folders that a component is made of.
_BETWEEN = re.compile(r"^/\d+/|^/world/|^/bundled/|/asyncio/|^<frozen importlib")


def describe(error: BaseException) -> str:
    """The whole story of an exception, as text."""
    told = traceback.TracebackException.from_exception(error, compact=True)
    _only_the_authors(told, set())
    return "".join(told.format()).rstrip()


def _only_the_authors(told: traceback.TracebackException, seen: set[int]) -> None:
    if id(told) in seen:
        return
    seen.add(id(told))
    own = [frame for frame in told.stack or () if not _BETWEEN.search(frame.filename)]
    # Without a frame there is no heading either: a syntax error says where it is by itself.
    told.stack = traceback.StackSummary.from_list(own) if own else None  # type: ignore[assignment]
    for each in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if each is not None:
            _only_the_authors(each, seen)


def warned(message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """A warning as a line of the log: with its place, where that is the author's."""
    place = "" if _BETWEEN.search(filename) else f"{filename}:{lineno}: "
    return f"{place}{category.__name__}: {message}\n"
