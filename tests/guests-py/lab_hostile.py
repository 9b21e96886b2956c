"""What a flow must not do, or must not do for ever."""

import asyncio
import importlib
import os
import re
import socket
import subprocess
import sys
import threading
from typing import Any

from flowhost import Context
from outcomes import outcome


async def reaches(cx: Context) -> Any:
    """Everything by which Python leaves itself. What comes back is what each says; a dict of what it gave would be a leak."""

    async def start(how: Any) -> Any:
        return await how

    tries: dict[str, Any] = {
        "os.system": lambda: os.system("true"),  # type: ignore[attr-defined]
        "os.fork": lambda: os.fork(),
        "os.popen": lambda: os.popen("true").read(),
        "os.execv": lambda: os.execv("/bin/true", ["true"]),
        "os.kill": lambda: os.kill(1, 9),
        "subprocess": lambda: subprocess.run(["true"]),
        "subprocess of asyncio": lambda: start(asyncio.create_subprocess_exec("true")),
        "shell of asyncio": lambda: start(asyncio.create_subprocess_shell("true")),
        "socket": lambda: socket.socket().connect(("127.0.0.1", 22)),
        "a server": lambda: socket.create_server(("127.0.0.1", 0)),
        "a name": lambda: socket.getaddrinfo("localhost", 80),
        "connection of asyncio": lambda: start(asyncio.open_connection("127.0.0.1", 22)),
        "server of asyncio": lambda: start(asyncio.start_server(print, "127.0.0.1", 0)),
        "urllib": lambda: importlib.import_module("urllib.request").urlopen("http://127.0.0.1/"),
        "ctypes": lambda: importlib.import_module("ctypes"),
        "_ctypes": lambda: importlib.import_module("_ctypes"),
        "open": lambda: open("/etc/passwd").read(),
        "open a neighbour": lambda: open("lab.py").read(),
        "write": lambda: open("/tmp/x", "w"),
        "os.open": lambda: os.open("/", os.O_RDONLY),
        "os.listdir": lambda: os.listdir("/"),
        "os.listdir here": lambda: os.listdir("."),
        "os.stat": lambda: os.stat("/etc"),
        "os.mkdir": lambda: os.mkdir("/x"),
        "a descriptor": lambda: os.read(3, 10),
        "stdin": lambda: sys.stdin.read() or 1 / 0,
        "import from above": lambda: importlib.import_module("../secret"),
        "import of a folder": lambda: importlib.import_module("beneath.secret"),
        "import by a path": lambda: (sys.path.append("/"), importlib.invalidate_caches(), importlib.import_module("etc"))[2],
        "source": lambda: importlib.import_module("wit_world.imports.source").read("../secret.py"),
        "thread": lambda: threading.Thread(target=print).start(),
        "signals": lambda: asyncio.get_running_loop().add_signal_handler(2, print),
    }
    said: dict[str, Any] = {}
    for name, how in tries.items():
        async def one() -> Any:
            made = how()
            return await made if asyncio.iscoroutine(made) else made

        given = await outcome(one())
        said[name] = given["name"] if isinstance(given, dict) and "message" in given else {"gave": repr(given)}
    return {"said": said, "environment": sorted(name for name in os.environ if not name.startswith("PYTHON")), "arguments": sys.argv[1:]}


async def says_why(cx: Context) -> Any:
    """The two that people try first say what to do instead."""
    missing = await outcome(asyncio.to_thread(importlib.import_module, "ctypes"))
    process = await outcome(asyncio.create_subprocess_exec("true"))
    return [missing["message"], process["message"]]


async def spins(cx: Context) -> Any:
    while True:
        pass


async def spins_and_catches(cx: Context) -> Any:
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


async def spins_without_waiting(cx: Context) -> Any:
    while True:
        await asyncio.sleep(0)


async def spins_in_a_pattern(cx: Context) -> Any:
    return re.match(r"(a|aa)+$", "a" * 200 + "b")


async def spins_in_a_number(cx: Context) -> Any:
    return len(str(3 ** (1 << 26)))


async def spins_at_the_end(cx: Context) -> Any:
    class Stays:
        def __init__(self) -> None:
            self.self = self

    async def stays() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            while True:
                pass

    task = asyncio.create_task(stays())
    await asyncio.sleep(0)
    return task.done()


async def allocates(cx: Context) -> Any:
    held = []
    while True:
        held.append(bytearray(16 << 20))


async def allocates_at_once(cx: Context) -> Any:
    return len(bytearray((1 << 31) - 100))


async def allocates_and_catches(cx: Context) -> Any:
    held: list[bytearray] = []
    while True:
        try:
            held.append(bytearray(16 << 20))
        except MemoryError:
            pass


async def floods(cx: Context) -> Any:
    while True:
        print("x" * 100_000)


async def holds(cx: Context) -> Any:
    held = []
    while True:
        held.append(cx.agent("worker").spawn_many(1000))


async def sabotages(cx: Context) -> Any:
    """A flow that breaks what it stands on breaks itself alone."""
    import componentize_py_runtime as runtime  # type: ignore[import-not-found]

    match cx.params["way"]:
        case "set":
            runtime.waitable_set_drop(12345)
        case "border":
            await cx.agent("worker")._raw.spawn(42, [], None)
        case "drop":
            session = cx.agent("worker").spawn()
            turn = session.start("slow")
            waits = asyncio.create_task(turn.wait())
            await asyncio.sleep(0.001)
            turn._raw.__exit__(None, None, None)
            await waits
        case "loop":
            asyncio.events._set_running_loop(None)
            await asyncio.sleep(1)
        case "ready":
            asyncio.get_running_loop()._ready = None  # type: ignore[attr-defined]
            await asyncio.sleep(1)
        case "return":
            runtime.call_task_return(0, 0, 5)
        case "abort":
            os.abort()
        case "modules":
            sys.modules.clear()
            await asyncio.sleep(1)
    return "unharmed"
