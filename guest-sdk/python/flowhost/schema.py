"""JSON Schema of a dataclass, and a dataclass from JSON: for params, structured answers and a flow's own answer.

Names become the contract's style: a field ``at_once`` is ``at-once`` in JSON. Understood are ``str int float bool None``, ``list``,
``dict`` with str keys, ``tuple``, ``Literal``, unions and ``Optional``, enums (by value), ``Any`` and other dataclasses.
``field(metadata={"description": …})`` describes a field; any other key of the metadata goes into the schema as it is.
"""

from __future__ import annotations

import dataclasses
import enum
import pathlib
import types
import typing
from typing import Any

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
#: Metadata of a field that is not part of its schema.
_NAME = "name"


def name_of(field: dataclasses.Field[Any]) -> str:
    """What a field is called in JSON."""
    return field.metadata.get(_NAME) or field.name.replace("_", "-")


def schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type, or the one that was given as a dict."""
    if isinstance(kind, dict):
        return kind
    definitions: dict[str, Any] = {}
    made = _schema(kind, definitions)
    # The whole of a dataclass stands at the top, unless it is part of itself.
    if set(made) == {"$ref"}:
        name = made["$ref"].removeprefix("#/$defs/")
        if f"#/$defs/{name}" not in _references(definitions):
            made = definitions.pop(name)
    return {**made, "$defs": definitions} if definitions else made


def _references(part: Any) -> set[str]:
    if isinstance(part, dict):
        here = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
        return here.union(*(_references(each) for each in part.values()))
    if isinstance(part, list):
        return set().union(*(_references(each) for each in part))
    return set()


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if kind is None:
        kind = type(None)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _schema(arguments[0], definitions)
    if origin in (typing.Union, types.UnionType):
        parts = [_schema(each, definitions) for each in arguments]
        if all(set(part) == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if kind in (list, set, frozenset, tuple) or origin in (list, set, frozenset):
        return {"type": "array", **({"items": _schema(arguments[0], definitions)} if arguments else {})}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": _schema(arguments[0], definitions)}
        items = [_schema(each, definitions) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if kind is dict or origin is dict:
        if arguments and arguments[0] is not str:
            raise TypeError(f"{kind}: JSON has keys of str only")
        return {"type": "object", **({"additionalProperties": _schema(arguments[1], definitions)} if arguments else {})}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [each.value for each in kind]}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    raise TypeError(f"{kind!r} has no JSON Schema here: use dataclasses, str, int, float, bool, list, dict, Literal, or write the schema as a dict")


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    properties: dict[str, Any] = {}
    required = []
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        made = {**_schema(hints[field.name], definitions)}
        made.update({key: value for key, value in field.metadata.items() if key != _NAME})
        if field.default is not dataclasses.MISSING:
            made["default"] = plain(field.default, deep=True)
        elif field.default_factory is dataclasses.MISSING:
            required.append(name_of(field))
        properties[name_of(field)] = made
    made = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        made["required"] = required
    return made


def plain(value: Any, deep: bool = False) -> Any:
    """What stands for a value in JSON. TypeError where nothing does."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {name_of(field): getattr(value, field.name) for field in dataclasses.fields(value)}
        return {key: plain(each, deep) for key, each in named.items()} if deep else named
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if not deep:
        raise TypeError(f"a {type(value).__name__} has no place in JSON")
    if isinstance(value, dict):
        return {key: plain(each, deep) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, deep) for each in value]
    return value


def build(kind: Any, value: Any) -> Any:
    """A value of this type from what JSON said; the value itself, with the schema's defaults, where the type was a schema. TypeError or
    ValueError where it does not fit."""
    if isinstance(kind, dict) and isinstance(value, dict):
        properties = kind.get("properties", {})
        return {name: each["default"] for name, each in properties.items() if "default" in each} | value
    if kind is Any or kind is None or isinstance(kind, dict):
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return build(arguments[0], value)
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, value)
    if origin in (list, set, frozenset):
        return origin(build(arguments[0], each) for each in value)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(build(arguments[0], each) for each in value)
        return tuple(build(each, part) for each, part in zip(arguments, value, strict=True))
    if origin is dict:
        return {key: build(arguments[1], each) for key, each in value.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise TypeError(f"{kind.__name__} is an object, not {type(value).__name__}")
        hints = typing.get_type_hints(kind)
        by_name = {name_of(field): field.name for field in dataclasses.fields(kind) if field.init}
        unknown = [key for key in value if key not in by_name]
        if unknown:
            raise TypeError(f"{kind.__name__} has no {', '.join(unknown)}")
        return kind(**{by_name[key]: build(hints[by_name[key]], each) for key, each in value.items()})
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _SCALARS and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        if kind is type(None):
            if value is None:
                return None
            continue
        try:
            return build(kind, value)
        except (TypeError, ValueError):
            continue
    raise TypeError(f"{value!r} is none of {', '.join(getattr(kind, '__name__', str(kind)) for kind in kinds)}")
