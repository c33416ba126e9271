"""A child process that serves one Python file of tools: its start, its calls and its end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

from studio import __version__
from studio.core.prompty.document import ToolSpec
from studio.core.text.values import Json, JsonObject, object_of, objects_of, parse_json, text_of
from studio.core.tools import python_server
from studio.core.tools.mcp.child import ChildProcess
from studio.core.tools.mcp.child_bounds import ChildBounds
from studio.core.tools.mcp.connection import (
    CallResult,
    ConnectionLost,
    ServerRefusal,
    block_pictures,
    block_text,
)
from studio.core.tools.python.interpreter import (
    Interpreter,
    find_interpreter,
    project_folders,
    tool_environment,
)
from studio.core.tools.python_server.tool_file import RETURNS, package_root
from studio.core.tools.source import DEFAULT_LIMITS, ToolLimits, ToolSourceError, TrafficLog

# The studio's end of the connection to a process that serves a Python file.

_PROTOCOL = "2025-11-25"


class ToolFileClient:
    """The client of one process; create one with `open`."""

    def __init__(self, child: ChildProcess, traffic: TrafficLog) -> None:
        self._child = child
        self._traffic = traffic
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._reading = asyncio.create_task(self._read())
        self.python = ""
        """Version of the Python that runs the file."""

    @classmethod
    async def open(cls, child: ChildProcess, seconds: float, traffic: TrafficLog) -> ToolFileClient:
        """Complete the handshake with a process.

        Args:
            child: the process.
            seconds: maximum time.
            traffic: records each message.

        Raises:
            ToolSourceError: the process does not answer.
        """
        client = cls(child, traffic)
        who: JsonObject = {"name": "prompt-studio", "version": __version__}
        try:
            async with asyncio.timeout(seconds):
                answer = await client._ask(
                    "initialize",
                    {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": who},
                )
        except (TimeoutError, ConnectionLost, ServerRefusal) as error:
            await client.abandon()
            words = str(error) or f"did not answer within {seconds:g} s"
            raise ToolSourceError(words) from None
        except BaseException:
            await client.abandon()
            raise
        client.python = text_of(object_of(answer.get("serverInfo")).get("version"))
        client._say({"method": "notifications/initialized"})
        return client

    async def list_tools(
        self, source: str
    ) -> tuple[tuple[tuple[ToolSpec, JsonObject], ...], JsonObject]:
        """Return every tool with its `_meta`, and the list's own `_meta`.

        Args:
            source: source of the tools, for the user.

        Raises:
            ServerRefusal: the file cannot be imported.
            ConnectionLost: the process ended.
        """
        listed = await self._ask("tools/list", {})
        tools = tuple(
            (_spec(tool, source), object_of(tool.get("_meta")))
            for tool in objects_of(listed.get("tools"))
        )
        return tools, object_of(listed.get("_meta"))

    async def call(self, name: str, arguments: JsonObject) -> CallResult:
        """Call a tool.

        Raises:
            ServerRefusal: there is no such tool.
            ConnectionLost: the process ended.
        """
        result = await self._ask("tools/call", {"name": name, "arguments": arguments})
        blocks = [_block(item) for item in objects_of(result.get("content"))]
        return CallResult(
            "\n".join(map(block_text, blocks)),
            result.get("isError") is True,
            result.get("structuredContent"),
            object_of(result.get("_meta")),
            block_pictures(blocks),
        )

    async def abandon(self) -> None:
        """Close the connection without waiting for the process."""
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def _ask(self, method: str, parameters: JsonObject) -> JsonObject:
        if self._reading.done():
            raise ConnectionLost("Connection closed")
        number = next(self._numbers)
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._say({"method": method, "params": parameters, "id": number})
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    def _say(self, message: JsonObject) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        number = message.get("id")
        question = number if isinstance(number, int) else None
        data = text.encode("utf-8", "surrogatepass")
        self._traffic.sent(text_of(message.get("method")), text, len(data), question)
        self._child.write(data + b"\n")

    async def _read(self) -> None:
        try:
            while (line := await self._child.read_line()) is not None:
                with contextlib.suppress(ValueError, RecursionError):  # the text comes from a tool
                    self._take(parse_json(line), line)
        finally:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionLost("Connection closed"))

    def _take(self, message: Json, line: bytes) -> None:
        given = object_of(message)
        number, fault = given.get("id"), given.get("error")
        title = "error" if fault is not None else ""
        self._traffic.received(title, line.decode("utf-8", "replace"), len(line), number)
        answer = self._waiting.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return
        if isinstance(fault, Mapping):
            answer.set_exception(ServerRefusal(text_of(fault.get("message")), fault.get("data")))
        else:
            answer.set_result(object_of(given.get("result")))


def _spec(tool: JsonObject, source: str) -> ToolSpec:
    """Return a tool as declared in the file; without a mark its effects are unknown."""
    hint = object_of(tool.get("annotations")).get("readOnlyHint")
    return ToolSpec(
        text_of(tool.get("name")),
        text_of(tool.get("description")),
        object_of(tool.get("inputSchema")),
        kind="mcp",
        returns=object_of(object_of(tool.get("_meta")).get(RETURNS)),
        source=source,
        has_effects=hint is False,
        reads_only=hint is True,
    )


def _block(item: JsonObject) -> SimpleNamespace:
    """Return a block of content with the attributes of the SDK's blocks."""
    names = {"mimeType": "mime_type"}
    return SimpleNamespace(
        **{
            names.get(key, key): _block(value) if isinstance(value, Mapping) else value
            for key, value in item.items()
        }
    )


SERVER = Path(python_server.__file__).parent
"""The program that serves a file with any Python."""


def server_command(
    path: Path, limits: ToolLimits = DEFAULT_LIMITS, python: Path | None = None
) -> list[str]:
    """Return the command that serves a tool file.

    Args:
        path: the file.
        limits: limits of a call.
        python: the interpreter; None for the studio's own. The frozen program is an interpreter
            itself.
    """
    bound = ["--characters", str(limits.characters), "--memory", str(limits.memory_megabytes)]
    bound.append("--unchecked")  # results are shown unchecked
    if python is None and getattr(sys, "frozen", False):
        return [sys.executable, "tools", "serve", str(path), *bound]
    # Unbuffered, so that progress dots without a line break are shown at once.
    return [str(python or sys.executable), "-u", str(SERVER), str(path), *bound]


_INSTALL_SECONDS = 600.0  # packages are downloaded
_MOST_MODULES = 1_000
_TRUSTED_SECONDS = 1.0
_SETTLED_SECONDS = 2  # some file systems have no finer times
_NO_MODULES = frozenset(("__pycache__", "node_modules", "venv", "site_packages", "build", "dist"))


@dataclass(frozen=True, slots=True)
class ToolFileProblem:
    """A problem in a tool file."""

    message: str
    """Description of the problem, in one sentence."""

    line: int = 0
    """Line, from 1; 0 without one."""


class UnusableToolFileError(ToolSourceError):
    """Raised when a tool file cannot be used."""

    def __init__(self, path: Path, message: str, line: int = 0) -> None:
        place = f"{path.name}:{line}" if line else path.name
        super().__init__(f"{place}: {message}")
        self.path = path
        """Path of the file."""
        self.message = message
        """Description of the problem."""
        self.line = line
        """Line, from 1; 0 without one."""


@dataclass(eq=False)
class Worker:
    """A child process that serves the file, and the connection to it."""

    child: ChildProcess
    """The process."""

    client: ToolFileClient
    """Client of the process."""

    state: ToolFileState
    """State of the file when the process started."""

    has_imported: bool = False
    """Whether the process has imported the file."""

    async def stop(self) -> None:
        """End the process at once."""
        self.child.kill()
        await self.client.abandon()
        await self.child.close()

    async def leave(self) -> None:
        """Let the process exit; end it if it does not."""
        await self.client.abandon()
        await self.child.close()


async def start_worker(
    path: Path,
    limits: ToolLimits,
    given: Mapping[str, str],
    state: ToolFileState,
    traffic: TrafficLog,
) -> Worker:
    """Start a process that serves a file, and complete the handshake.

    Args:
        path: the file.
        limits: limits of a call.
        given: further variables.
        state: current state of the file.
        traffic: records each message.

    Raises:
        UnusableToolFileError: there is no such file, or its process does not start.
    """
    if not path.is_file():
        raise UnusableToolFileError(path, "the file does not exist")
    interpreter = state.interpreter
    if interpreter.problem:
        raise UnusableToolFileError(path, interpreter.problem)
    environment = interpreter.variables(tool_environment(given))
    python = interpreter.path
    if interpreter.is_script:
        python = await script_python(path, environment)
    try:
        child = await ChildProcess.start(
            server_command(path, limits, python),
            cwd=path.parent,
            env=environment,
            bounds=_bounds(limits),
        )
    except OSError as error:
        which = f" by {python}" if python else ""
        raise UnusableToolFileError(
            path, f"its process cannot be started{which}: {error.strerror or error}"
        ) from error
    try:
        client = await ToolFileClient.open(child, limits.start_seconds, traffic)
    except ToolSourceError as error:
        log = child.take_log().strip()
        await child.close()
        last = f": {log.splitlines()[-1]}" if log else ""
        raise UnusableToolFileError(path, f"its process {error}{last}") from error
    except BaseException:
        child.kill()
        await asyncio.shield(child.close())  # killed already: this only cleans up
        raise
    return Worker(child, client, state)


async def script_python(path: Path, environment: Mapping[str, str]) -> Path:
    """Return the Python of uv's environment for a file that lists its packages (PEP 723).

    Raises:
        UnusableToolFileError: uv cannot create it; the text contains its message.
    """
    text = ""
    for words in (("sync", "--script", str(path)), ("python", "find", "--script", str(path))):
        child = await ChildProcess.start(["uv", *words], cwd=path.parent, env=environment)
        try:
            lines = []
            async with asyncio.timeout(_INSTALL_SECONDS):
                while (line := await child.read_line()) is not None:
                    lines.append(line.decode("utf-8", "replace"))
                code = await child.wait()
        except TimeoutError as error:
            raise UnusableToolFileError(
                path, f"uv did not create its environment within {_INSTALL_SECONDS:g} s"
            ) from error
        finally:
            log = child.take_log().strip()
            await child.close()
        if code != 0:
            raise UnusableToolFileError(path, f"uv cannot create its environment: {log}")
        text = "".join(lines).strip()
    return Path(text)


def _bounds(limits: ToolLimits) -> ChildBounds:
    """Return the limits to watch: none on Linux, which limits address space; elsewhere memory."""
    watched = 0 if sys.platform == "linux" else limits.memory_megabytes * 1024**2
    return ChildBounds(resident=watched)


async def crash_text(worker: Worker, when: str) -> str:
    """Return a sentence about the end of a process; `when` is its last activity."""
    if worker.child.ended_for:
        return f"its process was ended {when}: {worker.child.ended_for}"
    code: int | None = None
    try:
        code = await asyncio.wait_for(worker.child.wait(), 1.0)
    except TimeoutError:
        return f"its process closed the connection {when}"
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return f"its process ended {how} {when}"


FileStamp: TypeAlias = tuple[str, int, int]
"""File or folder, time of its last change (nanoseconds since 1970), and its size in bytes."""


@dataclass(frozen=True, slots=True)
class ToolFileState:
    """The state of a tool file; another state needs another process."""

    interpreter: Interpreter
    """The Python that runs it."""

    modules: tuple[FileStamp, ...]
    """The file, and each module in its folder that it may import."""


class ToolFileWatch:
    """The state of a tool file, checked before each call.

    Between frequent calls only the known files and folders are checked: a folder changes when a
    file is created or deleted. Once a second everything is searched again, for changes that folders
    do not show.
    """

    def __init__(self, path: Path, python: str = "") -> None:
        """Store the settings; nothing is read yet.

        Args:
            path: path of the file.
            python: the prompt's interpreter or environment; empty for none.
        """
        self._path = path
        self._python = python
        self._state: ToolFileState | None = None
        self._stamps: tuple[FileStamp, ...] = ()
        self._until = 0.0

    def state(self) -> ToolFileState:
        """Return the current state."""
        if (
            self._state is not None
            and time.monotonic() < self._until
            and all(_stamp(stamp[0]) == stamp for stamp in self._stamps)
        ):
            return self._state
        return self._look()

    def _look(self) -> ToolFileState:
        began = time.monotonic()
        # Before they are read, so that a change meanwhile is noticed the next time.
        folders = {folder: _stamp(folder) for folder in project_folders(self._path)}
        modules = _modules(self._path, folders)
        state = ToolFileState(find_interpreter(self._path, self._python), modules)
        if state == self._state:
            state = self._state  # comparing the same object is fast
        self._state, self._stamps = state, (*folders.values(), *modules)
        # The clock of a file system may have a low resolution: after a change just now, a further
        # change of a folder may not show.
        newest = max(changed for _, changed, _ in folders.values())
        is_settled = newest < time.time_ns() - _SETTLED_SECONDS * 1_000_000_000
        self._until = began + _TRUSTED_SECONDS if is_settled else 0.0
        return state


def _modules(path: Path, folders: dict[str, FileStamp]) -> tuple[FileStamp, ...]:
    """Return the modules that a file can import from its folder; add folders to `folders`."""
    found: list[FileStamp] = []
    waiting = [str(package_root(path))]
    while waiting and len(found) < _MOST_MODULES:
        folder = waiting.pop()
        folders[folder] = _stamp(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name.isidentifier() and entry.name not in _NO_MODULES:
                            waiting.append(entry.path)
                    elif entry.name.endswith(".py"):
                        found.append(_stamp(entry.path))
        except OSError:
            continue
    return tuple(found)


def _stamp(place: str) -> FileStamp:
    try:
        facts = os.stat(place)  # noqa: PTH116 - a `Path` costs more than the question
    except OSError:
        return place, 0, -1
    return place, facts.st_mtime_ns, facts.st_size
