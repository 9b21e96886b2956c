"""``@flow``: what a flow declares, and how it is called."""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable, Generic, Iterable, Mapping, overload

from . import schema as _schema
from ._typing import Given, Gives
from .context import Context

#: The contract that this package speaks.
CONTRACT = "0.1.0"

_AGENT_KEYS = {"optional", "capabilities", "harness", "permission"}
_ENV_KEYS = {"optional", "capabilities", "permission", "image", "cpus", "memory"}


class Flow(Generic[Given, Gives]):
    """A function that was declared a flow. Called, it is the function."""

    def __init__(self, function: Callable[Given, Gives], manifest: dict[str, Any], params: Any) -> None:
        self.function = function
        self.manifest = manifest
        self._params = params
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__: Any = function

    def __call__(self, *arguments: Given.args, **named: Given.kwargs) -> Gives:
        return self.function(*arguments, **named)

    async def _run(self, task: str) -> Any:
        """Calls it as its signature asks, with what the host gave."""
        arguments, named = self._given(task)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(*arguments, **named)
        from ._plain import run

        return await run(self.__wrapped__, arguments, named)

    def _given(self, task: str) -> tuple[list[Any], dict[str, Any]]:
        cx: Context[Any] = Context(self._params)
        positional: list[Any] = [task, cx]
        by_name: dict[str, Callable[[], Any]] = {
            "task": lambda: task,
            "cx": lambda: cx,
            "ctx": lambda: cx,
            "params": lambda: cx.params,
            "agents": lambda: _Roles(self.manifest["agents"], cx.agent_opt),
            "envs": lambda: _Roles(self.manifest["envs"], cx.env_opt),
        }
        arguments: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[name] = by_name[name]()
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and len(arguments) < 2:
                arguments.append(positional[len(arguments)])
        return arguments, named


def _Roles(declared: list[dict[str, Any]], get: Callable[[str], Any]) -> dict[str, Any]:
    """What fills each role; an optional one that nobody filled is left out."""
    filled = {role["name"]: get(role["name"]) for role in declared}
    return {name: each for name, each in filled.items() if each is not None}


#: A role to what the flow will use of it; a list of names, or one text of them, for roles of which it uses what all have.
Roles = str | Iterable[str] | Mapping[str, str | Iterable[str] | Mapping[str, Any] | None]


@overload
def flow(function: Callable[Given, Gives], /) -> Flow[Given, Gives]: ...


@overload
def flow(
    *,
    name: str | None = None,
    description: str | None = None,
    agents: Roles = (),
    envs: Roles = (),
    params: Any = None,
    result: Any = None,
    loads: Iterable[str] = (),
    tools: Iterable[Mapping[str, Any]] = (),
    skills: Mapping[str, Mapping[str, str]] | None = None,
    hidden: bool = False,
) -> Callable[[Callable[Given, Gives]], Flow[Given, Gives]]: ...


def flow(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    agents: Roles = (),
    envs: Roles = (),
    params: Any = None,
    result: Any = None,
    loads: Iterable[str] = (),
    tools: Iterable[Mapping[str, Any]] = (),
    skills: Mapping[str, Mapping[str, str]] | None = None,
    hidden: bool = False,
) -> Any:
    """Declares a function a flow; one file has one.

    ``agents`` and ``envs`` are its roles: a list of names, or a dict of a name to what the flow will use of it: ``"shell files"``, a list
    of capabilities, or a dict with ``optional``, ``capabilities``, ``permission`` and ``harness`` (of an agent) or ``image``, ``cpus`` and
    ``memory`` (of an env). ``params`` and ``result`` are dataclasses (or other types) or JSON Schemas. ``loads`` are references of
    the flows that it calls; ``tools`` are dicts with ``name``, ``description`` and ``input`` (a type or a schema).

    The function takes the task and a :class:`Context`, or fewer; by keyword it may ask for ``agents``, ``envs``, ``params`` and ``cx``.
    """

    def declare(function: Callable[..., Any]) -> Flow[..., Any]:
        if not inspect.isfunction(function):
            raise TypeError(f"@flow is for a function, not {type(function).__name__}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"@flow {function.__name__}: a flow returns its answer; this one yields")
        _check_signature(function)
        manifest: dict[str, Any] = {
            "contract": CONTRACT,
            "name": name or function.__name__.strip("_").lower().replace("_", "-"),
            "description": description if description is not None else _summary(function),
            "agents": _roles("agents", agents, _AGENT_KEYS),
            "envs": _roles("envs", envs, _ENV_KEYS),
        }
        if hidden:
            manifest["hidden"] = True
        if params is not None:
            manifest["params"] = _schema.schema(params)
        if result is not None:
            manifest["result"] = _schema.schema(result)
        if isinstance(loads, str):
            raise TypeError("loads is a list of references")
        if refs := list(loads):
            manifest["loads"] = refs
        if offered := [_tool(tool) for tool in tools]:
            manifest["tools"] = offered
        if skills:
            manifest["skills"] = {skill: dict(files) for skill, files in skills.items()}
        made = Flow(function, manifest, params)
        _declared.append(made)
        return made

    return declare if function is None else declare(function)


#: Every flow that was declared, in order.
_declared: list[Flow[..., Any]] = []


def declared(module: str) -> list[Flow[..., Any]]:
    """The flows that a module declared itself."""
    return [each for each in _declared if each.function.__module__ == module]


def _summary(function: Callable[..., Any]) -> str:
    paragraph = re.split(r"\n\s*\n", inspect.getdoc(function) or "", maxsplit=1)[0]
    return " ".join(paragraph.split())


def _check_signature(function: Callable[..., Any]) -> None:
    positional = 0
    for name, parameter in inspect.signature(function).parameters.items():
        where = f"@flow {function.__name__}: the parameter {name}"
        if parameter.kind is parameter.KEYWORD_ONLY:
            if name not in ("task", "cx", "ctx", "params", "agents", "envs"):
                raise TypeError(f"{where} is none of task, cx, params, agents, envs")
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional += 1
            if positional > 2 and parameter.default is parameter.empty:
                raise TypeError(f"{where} is one too many: a flow takes the task and a context, others by keyword (after a *)")


def _roles(what: str, given: Any, keys: set[str]) -> list[dict[str, Any]]:
    if isinstance(given, str):
        given = given.split()
    if not isinstance(given, Mapping):
        given = dict.fromkeys(given)
    roles = []
    for name, asked in given.items():
        role: dict[str, Any] = {"name": name}
        if isinstance(asked, str):
            role["capabilities"] = asked.split()
        elif isinstance(asked, Mapping):
            unknown = [key for key in asked if key not in keys]
            if unknown:
                raise TypeError(f"{what}[{name!r}] has no {', '.join(map(str, unknown))}; it may have {', '.join(sorted(keys))}")
            role.update(asked)
            if isinstance(role.get("capabilities"), str):
                role["capabilities"] = role["capabilities"].split()
            if "permission" in role:
                role["permission"] = _schema.plain(role["permission"], deep=True)
        elif asked is not None:
            role["capabilities"] = list(asked)
        roles.append(role)
    return roles


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(tool) ^ {"name", "description", "input"}
    if unknown:
        raise TypeError(f"a tool has name, description and input; see {', '.join(sorted(unknown))}")
    return {"name": tool["name"], "description": tool["description"], "input": _schema.schema(tool["input"])}
