"""Environments: working directories on a machine, their files and commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping

from . import _check
from ._calls import Started, ask, wait
from ._raw import envs as wit
from .errors import FailedError, word

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import CommandOptions


@dataclass(frozen=True)
class Output:
    """What a command left."""

    #: Its exit status; 128 and the signal's number where one killed it.
    status: int
    #: What it wrote, as it was.
    stdout_bytes: bytes
    #: What it complained of, as it was.
    stderr_bytes: bytes
    #: Whether either was cut.
    truncated: bool

    @cached_property
    def stdout(self) -> str:
        """What it wrote, as text; what is not UTF-8 is replaced."""
        return self.stdout_bytes.decode("utf-8", "replace")

    @cached_property
    def stderr(self) -> str:
        """What it complained of, as text; what is not UTF-8 is replaced."""
        return self.stderr_bytes.decode("utf-8", "replace")

    @property
    def success(self) -> bool:
        """Whether its status is 0."""
        return self.status == 0

    @staticmethod
    def _lift(output: Any) -> Output:
        return Output(output.status, bytes(output.stdout), bytes(output.stderr), output.truncated)

    def _checked(self, command: str) -> Output:
        if self.status != 0:
            lines = (line.strip() for line in [*self.stderr.splitlines(), *self.stdout.splitlines()])
            said = next((f": {line}" for line in lines if line), "")
            raise FailedError(f"`{command}` ended with status {self.status}{said}")
        if self.truncated:
            raise FailedError(f"`{command}` wrote more than is kept of it; keep more, or ask for less")
        return self


@dataclass(frozen=True)
class Entry:
    """What a path is."""

    #: Relative to the environment.
    path: str
    #: A ``link`` is not followed.
    kind: Literal["file", "directory", "link", "other"]
    #: Bytes.
    size: int

    @staticmethod
    def _lift(entry: Any) -> Entry:
        return Entry(entry.path, word(entry.kind), entry.size)


@dataclass(frozen=True)
class MergeOutcome:
    """What a merge came to."""

    #: Whether the changes are in.
    merged: bool
    #: Paths that both changed; nothing is changed where there is one.
    conflicts: list[str]


class Process(Started[Output]):
    """A command that was started. Letting go of it interrupts it."""

    _awaited = "Awaited_Process"

    def _lift(self, ended: Any) -> Output:
        return Output._lift(ended)


def _command(
    argv: Iterable[str],
    stdin: bytes | str | None = None,
    timeout: float | None = None,
    vars: Mapping[str, str] | None = None,
    keep: int | None = None,
    repeatable: bool = False,
) -> Any:
    """The contract's command."""
    words = _check.texts(argv, "argv")
    if not words:
        raise ValueError("argv names at least a program")
    named = [(_check.text(name, "a name of vars"), _check.text(value, f"vars[{name!r}]")) for name, value in _check.by_name(vars, "vars").items()]
    return wit.Command(
        words,
        named,
        _check.optional(_check.data, stdin, "stdin"),
        _check.optional(_check.millis, timeout, "timeout"),
        _check.optional(_check.number, keep, "keep", 64),
        bool(repeatable),
    )


class Env:
    """A working directory that the flow was given under a role, or made from one. Paths are relative to it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @cached_property
    def role(self) -> str:
        """The role it fills, or that of the one it was made from."""
        return str(self._raw.role())

    @cached_property
    def directory(self) -> str:
        """Its directory, as the machine it is on spells it."""
        return str(self._raw.directory())

    @cached_property
    def kind(self) -> str:
        """``workspace``, ``worktree``, ``copy``, ``scratch``, ``subdir``, ``container`` or ``ssh``."""
        return str(self._raw.kind())

    @property
    def branch_name(self) -> str | None:
        """The git branch it has checked out, where there is one."""
        name: str | None = self._raw.branch_name()
        return name

    # Commands, for a role that declared `shell` or `bash`.

    async def exec(self, argv: Iterable[str], *, check: bool = False, **options: Unpack[CommandOptions]) -> Output:
        """Runs a command to its end; one whose task is cancelled is interrupted. A status that is not 0 is no error, unless
        ``check``: then FailedError names the command and the first line that it complained in.

        ``timeout`` in seconds kills it: EnvError with the fault ``timed-out``. ``stdin`` is what it reads. ``vars`` are added to a clean
        environment. ``keep`` is how many bytes are kept of each of stdout and stderr. ``repeatable`` says that it may be run again
        where a run that was cut off in its middle is taken up."""
        argv = _check.texts(argv, "argv")
        output = await self.start(argv, **options)._finish()
        return output._checked(" ".join(argv)) if check else output

    def start(self, argv: Iterable[str], **options: Unpack[CommandOptions]) -> Process:
        """Starts a command and returns at once. The options are those of :meth:`exec`."""
        return Process(ask(self._raw.start, _command(argv, **options)))

    async def bash(self, script: str, *, timeout: float | None = None, check: bool = False) -> Output:
        """Runs a bash script to its end, for at most ``timeout`` seconds. Cancelling does not interrupt it: where that matters,
        ``exec(["bash", "-c", script])`` does."""
        limit = _check.optional(_check.millis, timeout, "timeout")
        output = Output._lift(await wait(self._raw.bash, _check.text(script, "script"), limit))
        return output._checked(script.strip().partition("\n")[0]) if check else output

    # Files, for a role that declared `files`.

    async def read(self, path: Any) -> bytes:
        """The bytes of a file. More than one call carries raises EnvError with the fault ``too-large``: read it in ranges."""
        return bytes(await wait(self._raw.read, _check.path(path)))

    async def read_text(self, path: Any) -> str:
        """The text of a file. One that is not UTF-8 raises FailedError."""
        try:
            return (await self.read(path)).decode()
        except UnicodeDecodeError:
            raise FailedError(f"{path} is not UTF-8 text") from None

    async def read_range(self, path: Any, offset: int, length: int) -> bytes:
        """At most ``length`` bytes of a file from ``offset``."""
        place = _check.number(offset, "offset", 64), _check.number(length, "length")
        return bytes(await wait(self._raw.read_range, _check.path(path), *place))

    async def write(self, path: Any, data: bytes | str) -> None:
        """Makes or replaces a file, whole or not at all, and the directories above it."""
        await wait(self._raw.write, _check.path(path), _check.data(data, "data"))

    async def append(self, path: Any, data: bytes | str) -> None:
        """Adds to the end of a file."""
        await wait(self._raw.append, _check.path(path), _check.data(data, "data"))

    async def make_dir(self, path: Any) -> None:
        """Makes a directory, and those above it."""
        await wait(self._raw.make_dir, _check.path(path))

    async def stat(self, path: Any) -> Entry:
        """What a path is."""
        return Entry._lift(await wait(self._raw.stat, _check.path(path)))

    async def remove(self, path: Any) -> None:
        """Removes a file, or a directory with all in it."""
        await wait(self._raw.remove, _check.path(path))

    async def find(self, path: Any, glob: str) -> list[Entry]:
        """Entries below ``path`` that match a glob."""
        found = await wait(self._raw.find, _check.path(path), _check.text(glob, "glob"))
        return [Entry._lift(entry) for entry in found]

    # Environments made from this one.

    async def subdir(self, path: Any) -> Env:
        """A directory inside this one, as an environment."""
        return Env(await wait(self._raw.subdir, _check.path(path)))

    async def worktree(self, label: str, *, at: str | None = None, branch: str | None = None, detached: bool = False) -> Env:
        """A git worktree, at a commit or where this one is; on a branch that the host names, on ``branch`` (made if it is not
        there), or on none. The same label again in one branch of the run raises EnvError with the fault ``conflict``."""
        if branch is not None and detached:
            raise ValueError("a worktree is on a branch or detached, not both")
        head: Any = wit.WorktreeHead_Detached() if detached else wit.WorktreeHead_ByHost()
        if branch is not None:
            head = wit.WorktreeHead_Branch(_check.text(branch, "branch"))
        commit = _check.optional(_check.text, at, "at")
        return Env(await wait(self._raw.worktree, _check.text(label, "label"), commit, head))

    async def copy(self, label: str) -> Env:
        """A copy of this directory."""
        return Env(await wait(self._raw.copy, _check.text(label, "label")))

    async def scratch(self, label: str) -> Env:
        """An empty directory."""
        return Env(await wait(self._raw.scratch, _check.text(label, "label")))

    async def snapshot(self, name: str | None = None) -> str:
        """Keeps its files as they are now; gives the snapshot's name."""
        return str(await wait(self._raw.snapshot, _check.optional(_check.text, name, "name")))

    async def rewind(self, snapshot: str) -> None:
        """Puts them back."""
        await wait(self._raw.rewind, _check.text(snapshot, "snapshot"))

    async def snapshots(self) -> list[str]:
        """The snapshots kept, the oldest first."""
        return list(await wait(self._raw.snapshots))

    async def diff(self) -> bytes:
        """What it has changed since it was made, as a patch."""
        return bytes(await wait(self._raw.diff))

    async def merge(self, other: Env) -> MergeOutcome:
        """Brings a derived environment's changes into this one."""
        outcome = await wait(self._raw.merge, _check.one_of(other, Env, "other")._raw)
        return MergeOutcome(outcome.merged, list(outcome.conflicts))
