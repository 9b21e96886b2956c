"""Flows from source text: imports of the author's own files, compiled under their own names."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
import types
from typing import Any, Callable, Protocol

from .declaration import Flow, declared


class Files(Protocol):
    """The author's files."""

    def main(self) -> str:
        """The name of the flow's own file."""

    def read(self, path: str) -> bytes | None:
        """A file of its folder; None where there is none."""


class NoFlow(Exception):
    """The file declares no flow, or several."""


class _Loader(importlib.abc.InspectLoader):
    """Loads one of the author's files."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self.source)

    def is_package(self, fullname: str) -> bool:
        return False

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = self.path
        try:
            text = self.get_source(module.__name__)
        except (UnicodeDecodeError, SyntaxError) as error:
            raise SyntaxError(f"{self.path}: it is not the text that it says: {error}") from None
        # Tracebacks, and plain functions that are read again, look here for a file's lines.
        linecache.cache[self.path] = (len(text), None, text.splitlines(keepends=True), self.path)
        # Functions of the author's are known by this name among their globals.
        module.__dict__["__flowhost_source__"] = self.path
        code = compile(self.source, self.path, "exec", dont_inherit=True)
        exec(code, module.__dict__)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the files beside the flow, after Python's own modules."""

    def __init__(self, files: Files, missing: Callable[[str], str]) -> None:
        self.files = files
        # What to say of a module that is nowhere.
        self.missing = missing

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        name = f"{fullname}.py"
        source = self.files.read(name) if "." not in fullname else None
        if source is not None:
            return importlib.util.spec_from_loader(fullname, _Loader(name, source), origin=name)
        if path is None:
            raise ModuleNotFoundError(self.missing(fullname), name=fullname)
        return None


def load(files: Files, missing: Callable[[str], str]) -> Flow[..., Any]:
    """Imports the flow's own file and gives the flow that it declares. Whatever that raises comes as it is; NoFlow where there is
    none, or more than one."""
    path = files.main()
    source = files.read(path)
    if source is None:
        raise NoFlow("no such file")
    sys.meta_path.append(Finder(files, missing))
    name = path.removesuffix(".py")
    if name in sys.modules:
        # Called as something of Python's own, which others import by that name.
        name = f"flow_{name}"
    spec = importlib.util.spec_from_loader(name, _Loader(path, source), origin=path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # One that it took from a file beside it counts too: `from other import flow_of_mine`.
    flows = declared(name) or [each for each in vars(module).values() if isinstance(each, Flow)]
    if not flows:
        raise NoFlow("no function in it is declared a flow: from flowhost import flow, and put @flow over it")
    if len(flows) > 1:
        names = ", ".join(f"{each.__name__} (line {each.function.__code__.co_firstlineno})" for each in flows)
        raise NoFlow(f"it declares {len(flows)} flows, {names}; a file has one: put the others into files of their own")
    return flows[0]
