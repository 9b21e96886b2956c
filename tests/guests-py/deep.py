"""Depth without end, by every way through what Python is written in. Of each there is no more to hope than that it raises."""

import ast
import collections
import copy
import functools
import json
import pickle
import re
import tomllib
from typing import Any, Callable
from xml.etree import ElementTree

FAR = 100_000
#: Brackets within brackets, of which Python's own grammar reads 200.
BRACKETS = 180
#: What stands before a thing, as often as one likes.
SIGNS = 5_000


def nested(within: Callable[[Any], Any], start: Any = None) -> Any:
    return functools.reduce(lambda inner, _: within(inner), range(FAR), [] if start is None else start)


def down(step: Callable[[Callable[[], Any]], Any]) -> Any:
    """A call within a call, by `step`."""

    def again() -> Any:
        return step(again)

    return again()


class Asks:
    """Whatever is asked of it, it asks in turn."""

    def __init__(self, again: Callable[[], Any]) -> None:
        self.again = again

    def _ask(self, *_: Any) -> Any:
        return self.again()

    value = property(_ask)
    __repr__ = __str__ = __eq__ = __lt__ = __hash__ = __len__ = __add__ = __call__ = __getitem__ = __iter__ = _ask  # type: ignore[assignment]
    __contains__ = __bool__ = __format__ = __getattr__ = __enter__ = _ask  # type: ignore[assignment]


def fields(again: Callable[[], Any], **of: Any) -> Any:
    return type("Made", (), {name: lambda *_: again() for name in of["named"]})


def _lists(inner: Any) -> Any:
    return [inner]


def _dicts(inner: Any) -> Any:
    return {"a": inner}


WAYS: dict[str, Callable[[], Any]] = {
    "calls": lambda: down(lambda again: again()),
    "json of lists": lambda: json.loads("[" * FAR + "]" * FAR),
    "json of objects": lambda: json.loads('{"a":' * FAR + "1" + "}" * FAR),
    "to json": lambda: json.dumps(nested(_lists)),
    "objects to json": lambda: json.dumps(nested(_dicts)),
    "indented json": lambda: json.dumps(nested(_lists), indent=1),
    "json's default": lambda: down(lambda again: json.dumps(object(), default=lambda _: again())),
    "square brackets": lambda: eval("[" * BRACKETS + "]" * BRACKETS),
    "round brackets": lambda: eval("(" * BRACKETS + ")" * BRACKETS),
    "more brackets than there may be": lambda: eval("[" * 400 + "]" * 400),
    "calls in source": lambda: eval("f(" * BRACKETS + ")" * BRACKETS),
    "signs": lambda: eval("-" * SIGNS + "1"),
    "sums": lambda: eval("+".join(["1"] * SIGNS)),
    "attributes": lambda: eval("a" + ".b" * SIGNS),
    "lambdas": lambda: eval("lambda: " * SIGNS + "1"),
    "powers": lambda: eval("1**" * SIGNS + "1"),
    "alternatives": lambda: exec("if 0: pass\n" + "elif 0: pass\n" * SIGNS),
    "blocks": lambda: exec("\n".join(" " * at + "if 1:" for at in range(99)) + "\n" + " " * 99 + "pass"),
    "a tree of syntax": lambda: compile(
        ast.fix_missing_locations(ast.Expression(nested(lambda inner: ast.UnaryOp(ast.USub(), inner), ast.Constant(1)))), "x", "eval"
    ),
    "literals": lambda: ast.literal_eval("[" * BRACKETS + "]" * BRACKETS),
    "repr of lists": lambda: repr(nested(_lists)),
    "repr of dicts": lambda: repr(nested(_dicts)),
    "equal lists": lambda: nested(_lists) == nested(_lists),
    "equal dicts": lambda: nested(_dicts) == nested(_dicts),
    "hash of tuples": lambda: hash(nested(lambda inner: (inner,), ())),
    "lists let go of": lambda: nested(_lists) and None,
    "dicts let go of": lambda: nested(_dicts) and None,
    "a copy": lambda: copy.deepcopy(nested(_lists)),
    "a pickle": lambda: pickle.dumps(nested(_lists)),
    "out of a pickle": lambda: pickle.loads(b"\x80\x04" + b"]" * FAR + b"a" * (FAR - 1) + b"."),
    "groups of a pattern": lambda: re.compile("(" * FAR + ")" * FAR),
    "a long match": lambda: re.match("(?:a|b)*c", "ab" * FAR),
    "toml": lambda: tomllib.loads("a=" + "[" * FAR + "]" * FAR),
    "xml": lambda: ElementTree.tostring(ElementTree.fromstring("<a>" * FAR + "</a>" * FAR)),
    "types": lambda: repr(nested(lambda inner: list[inner], int)),
    "isinstance": lambda: isinstance(1, nested(lambda inner: (inner,), (str,))),
    "groups of exceptions": lambda: repr(nested(lambda inner: ExceptionGroup("g", [inner]), ValueError())),
    "keys of a sort": lambda: down(lambda again: sorted([2, 1], key=lambda _: again())),
    "map": lambda: down(lambda again: list(map(lambda _: again(), [1]))),
    "reduce": lambda: down(lambda again: functools.reduce(lambda *_: again(), [1, 2])),
    "partial": lambda: down(lambda again: functools.partial(again)()),
    "a cache": lambda: down(lambda again: functools.cache(lambda: again())()),
    "a default": lambda: down(lambda again: collections.defaultdict(lambda: again())[1]),
    "a substitution": lambda: down(lambda again: re.sub("x", lambda _: again(), "x")),
    "eval": lambda: down(lambda again: eval("again()", {"again": again})),
    "a generator": lambda: down(lambda again: next(again() for _ in [1])),
    "a property": lambda: down(lambda again: Asks(again).value),
    "an attribute": lambda: down(lambda again: Asks(again).nowhere),
    "repr": lambda: down(lambda again: repr(Asks(again))),
    "format": lambda: down(lambda again: f"{Asks(again)}"),
    "equality": lambda: down(lambda again: [Asks(again)] == [1]),
    "a hash": lambda: down(lambda again: {Asks(again): 1}),
    "a length": lambda: down(lambda again: len(Asks(again))),
    "a sum": lambda: down(lambda again: sum([1], Asks(again))),
    "a call": lambda: down(lambda again: Asks(again)()),
    "iteration": lambda: down(lambda again: list(Asks(again))),
    "truth": lambda: down(lambda again: not Asks(again)),
    "an initialiser": lambda: down(lambda again: fields(again, named=["__init__"])()),
    "a constructor": lambda: down(lambda again: fields(again, named=["__new__"])()),
    "a metaclass": lambda: down(lambda again: type("Meta", (type,), {"__new__": lambda *_: again()})("x", (), {})),
}
