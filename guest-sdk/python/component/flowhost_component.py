"""A component of one Python flow: the author's files are imported when it is built."""

import flow_files
import wit_world
from flowhost import _export, _source

_export.prepare()


class _Files:
    def main(self) -> str:
        return flow_files.MAIN

    def read(self, path: str) -> bytes | None:
        return flow_files.FILES.get(path)


_flow = _source.load(_Files())


class WitWorld(wit_world.WitWorld):
    def describe(self) -> str:
        return _export.manifest(lambda: _flow)

    async def run(self, task: str) -> str:
        return await _export.run(lambda: _flow, task)
