"""The runner of Python flows: a component that imports the author's files through the host when it is described and run."""

import sys

import library
import wit_world
from flowhost import _export, _source
from flowhost._raw import Err
from wit_world.imports import source

_export.prepare()
# Nothing of the machine that builds this is looked at when it runs, and there are no files.
sys.path.clear()
sys.meta_path[:] = [finder for finder in sys.meta_path if "PathFinder" not in repr(finder)]


class _Files:
    def main(self) -> str:
        return source.main()

    def read(self, path: str) -> bytes | None:
        try:
            return bytes(source.read(path))
        except Err:
            return None


def _load() -> _source.Flow:
    return _source.load(_Files(), library.missing)


class WitWorld(wit_world.WitWorld):
    def describe(self) -> str:
        return _export.manifest(_load)

    async def run(self, task: str) -> str:
        return await _export.run(_load, task)
