"""What git writes."""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def names(listed: str) -> list[str]:
    """File names as git lists them, one a line: the names themselves, where git has put them in quotes.

    >>> names('a.py\\nwith space.py\\n"\\\\303\\\\274ber.py"\\n')
    ['a.py', 'with space.py', 'über.py']
    """
    # Not `splitlines`: a name may hold what else Python takes for the end of a line.
    lines = (line.removesuffix("\r") for line in listed.split("\n"))
    return [_unquoted(line) for line in lines if line]


def _unquoted(line: str) -> str:
    """The name that git means. One with a quote, a backslash, a control character or a byte beyond ASCII stands in double quotes, with
    escapes as in C."""
    if len(line) < 2 or line[0] != '"' or line[-1] != '"':
        return line
    return _ESCAPE.sub(_meant, line[1:-1].encode()).decode("utf-8", "replace")


def _meant(escape: re.Match[bytes]) -> bytes:
    said = escape[1]
    return bytes([int(said, 8)]) if len(said) == 3 else _LETTERS.get(said, said)
