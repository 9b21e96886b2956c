"""Arguments, checked before they cross the border: what the contract's types cannot hold would break the whole flow there,
instead of raising where it was written."""

from __future__ import annotations

import json as _json
import math
import os
from typing import Any, Callable, Iterable, Mapping, TypeVar

T = TypeVar("T")


def optional(check: Callable[..., T], value: Any, *how: Any) -> T | None:
    """What a check gives of a value, or None where there is none."""
    return None if value is None else check(value, *how)


def one_of(value: Any, kind: type[T], what: str, hint: str = "") -> T:
    """A value of one class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{what} is {article} {kind.__name__}, not {_kind(value)}{hint}")
    return value


def by_name(given: Any, what: str) -> Mapping[Any, Any]:
    """A dict, or nothing."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is a dict, not {_kind(given)}")
    return given


def clean(text: str) -> str:
    """Text as UTF-8 can hold it: what is half a character (a lone surrogate) is replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # A str subclass may carry anything; the border takes the plain one.
    return text if type(text) is str else str.__str__(text)


def text(value: Any, what: str) -> str:
    """A str. TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {_kind(value)}")
    return clean(value)


def texts(values: Any, what: str) -> list[str]:
    """Several of them."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} is a list of str, not one {_kind(values)}")
    return [text(value, f"each of {what}") for value in values]


def path(value: Any, what: str = "path") -> str:
    """A path, also from pathlib."""
    return text(os.fspath(value) if isinstance(value, os.PathLike) else value, what)


def data(value: Any, what: str) -> bytes:
    """Bytes; a str is its UTF-8."""
    if isinstance(value, str):
        return clean(value).encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{what} is bytes or str, not {_kind(value)}")


def number(value: Any, what: str, bits: int = 32) -> int:
    """A whole number that is not negative and fits in so many bits."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is an int, not {_kind(value)}")
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{what} is from 0 to {(1 << bits) - 1}, not {value}")
    return int(value)


def amount(value: Any, what: str) -> float:
    """A number that is neither negative nor infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} is a number, not {_kind(value)}")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{what} is 0 or more, not {value}")
    return float(value)


def millis(seconds: Any, what: str) -> int:
    """Whole milliseconds of seconds (or of a timedelta), rounded up so that a wait is never shorter than asked."""
    if hasattr(seconds, "total_seconds"):
        seconds = seconds.total_seconds()
    return number(math.ceil(amount(seconds, what) * 1000), what, 64)


def json(value: Any, what: str) -> str:
    """As JSON. TypeError or ValueError where it cannot be."""
    try:
        return clean(_json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what} cannot be JSON: {error}") from None


def _plain(value: Any) -> Any:
    """What JSON has no word for and everybody expects."""
    from .schema import plain

    return plain(value)


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
