"""A plain ``def`` as a flow: its calls wait.

WebAssembly has one stack, and nothing in it can stop in the middle of a plain function. So the author's own plain functions are read
again as coroutines, in which every call waits for what it gives: the flow itself before it runs, those that it calls when it
first calls them. Lines stay the author's own. Lambdas, generators and functions that other code calls (`sorted(key=…)`) stay as they
are: what waits cannot be called there.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from typing import Any, Callable, TypeVar

#: Calls that look at the frame they are in.
_OF_THE_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
_WAIT = "__flowhost_wait__"
_COROUTINE = "__flowhost_coroutine__"

_made: dict[types.CodeType, types.CodeType | None] = {}


async def run(function: types.FunctionType, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Runs a plain function, waiting wherever it calls what waits."""
    return await _wait(function, *arguments, **named)


async def _wait(called: Any, /, *arguments: Any, **named: Any) -> Any:
    function, first = (called.__func__, (called.__self__,)) if isinstance(called, types.MethodType) else (called, ())
    if isinstance(function, types.FunctionType):
        waiting = _waiting(function)
        if waiting is not None:
            return await waiting(*first, *arguments, **named)
    given = called(*arguments, **named)
    return await given if inspect.iscoroutine(given) else given


def _waiting(function: types.FunctionType) -> types.FunctionType | None:
    """The same function as a coroutine; None for what is not the author's, or is no plain function."""
    if function.__globals__.get("__flowhost_source__") is None:
        return None
    code = function.__code__
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR) or code.co_name == "<lambda>":
        return None
    if code not in _made:
        _made[code] = _compiled(function)
    made = _made[code]
    if made is None:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[_WAIT] = types.CellType(_wait)
    closure = tuple(cells[name] for name in made.co_freevars)
    again = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    again.__kwdefaults__ = function.__kwdefaults__
    return again


def _compiled(function: types.FunctionType) -> types.CodeType | None:
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    tree = ast.parse(textwrap.dedent("".join(block)))
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        return None
    # What the text lost by the dedent goes back, so that tracebacks point where the author wrote.
    indent = len(block[0]) - len(block[0].lstrip())
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.excepthandler)):
            node.col_offset += indent
            node.end_col_offset = (node.end_col_offset or 0) + indent
    ast.increment_lineno(tree, code.co_firstlineno - 1)
    owner = function.__qualname__.split(".")[-2:-1]
    awaiting = _Awaiting(owner[0].lstrip("_") if owner and owner[0] != "<locals>" else None)
    body = [awaiting.visit(statement) for statement in found.body]
    # Not under its own name, which would hide the one that it calls itself by.
    coroutine = _parsed(f"async def {_COROUTINE}(): pass", ast.AsyncFunctionDef)
    coroutine.args, coroutine.body = found.args, body
    # Defaults are the function's own; only their number matters here.
    nothing = ast.Constant(None)
    coroutine.args.defaults = [nothing] * len(found.args.defaults)
    coroutine.args.kw_defaults = [None if each is None else nothing for each in found.args.kw_defaults]
    for argument in ast.walk(coroutine.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    # Around it, the names that it finds in functions around it; inside, they are free as they were.
    around = _parsed(f"def around({', '.join((*code.co_freevars, _WAIT))}): pass", ast.FunctionDef)
    around.body = [ast.copy_location(coroutine, found)]
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(around, found)], []))
    whole = compile(module, code.co_filename, "exec", dont_inherit=True)
    for name in (around.name, _COROUTINE):
        whole = next(each for each in whole.co_consts if isinstance(each, types.CodeType) and each.co_name == name)
    return whole.replace(co_name=code.co_name, co_qualname=code.co_qualname)


Statement = TypeVar("Statement", bound=ast.stmt)


def _parsed(text: str, kind: type[Statement]) -> Statement:
    """The one statement of a text."""
    (statement,) = ast.parse(text).body
    assert isinstance(statement, kind)
    return statement


class _Awaiting(ast.NodeTransformer):
    """Makes every call of a function's own body one that waits."""

    def __init__(self, owner: str | None) -> None:
        self.owner = owner

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _OF_THE_FRAME:
            return node
        wait = ast.copy_location(ast.Name(_WAIT, ast.Load()), node.func)
        call = ast.copy_location(ast.Call(wait, [node.func, *node.args], node.keywords), node)
        return ast.copy_location(ast.Await(call), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if self.owner and node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = f"_{self.owner}{node.attr}"
        return node

    def _as_it_is(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_GeneratorExp = _as_it_is


def hint(error: BaseException) -> str | None:
    """What to say where a plain function used what waits as if it had waited."""
    if isinstance(error, (AttributeError, TypeError)) and "coroutine" in str(error):
        return (
            "this call waits, and was made where a plain `def` cannot: in a lambda, a generator, a method that Python calls itself, or by "
            "other code; write a loop, or make the flow an `async def` and await it"
        )
    return None
