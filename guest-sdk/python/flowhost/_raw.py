"""The contract's own bindings, where there are any: inside the host. Elsewhere, in an editor or a test of one's own, importing
``flowhost`` works and calling it says why it cannot."""

from __future__ import annotations

from typing import Any

try:
    from componentize_py_types import Err  # type: ignore[import-not-found]
    from wit_world.imports import agents, context, envs, flows, types, waiting  # type: ignore[import-not-found]
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.split(".")[0] not in ("wit_world", "componentize_py_types"):
        raise

    class _Outside:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("flows run in their host: flowhost exec -f ./FLOW.py …")

    class Err(Exception):  # type: ignore[no-redef]
        """Never raised here."""

        value = None

    agents = context = envs = flows = types = waiting = _Outside()

__all__ = ["Err", "agents", "context", "envs", "flows", "types", "waiting"]
