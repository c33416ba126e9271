"""Serve a Python file of tools as an MCP server on stdin and stdout.

The file is only imported here, in a separate process, so that anything it does can be stopped by
ending the process. Meanwhile stdout is redirected to stderr and stdin is empty, so that a tool's
`print` never breaks the protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import inspect
import itertools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Optional

from .callables import FunctionTool
from .tool_file import (
    ARGUMENTS,
    LINE,
    PROBLEMS,
    PYTHON_NAMES,
    RETURNS,
    TRUNCATED,
    VALUE,
    LoadedFile,
    ToolFileError,
    cut,
    describe_error,
    line_in,
    load,
)
from .values import as_text, content_of, sendable

# The supported versions of MCP, and the process that serves a tool file.

HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"

NOT_FOUND, BAD_PARAMETERS, INTERNAL, UNREADABLE = -32601, -32602, -32603, -32700
_UNSUPPORTED_VERSION = -32022
_META = "io.modelcontextprotocol/"
_VERSION, _ABILITIES, _SERVER = (
    f"{_META}{key}" for key in ("protocolVersion", "clientCapabilities", "serverInfo")
)
_KEPT = ("server/discover", "tools/list")
"""Methods whose answers state how long they can be cached."""


class ProtocolRefusal(Exception):  # noqa: N818 - an answer
    """Raised to answer a request with a protocol error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.body: dict[str, object] = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


def is_modern(method: str, parameters: dict[str, object]) -> bool:
    """Return whether a request belongs to the protocol without a handshake.

    Raises:
        ProtocolRefusal: it does, but lacks required metadata.
    """
    meta = parameters.get("_meta")
    given = meta if isinstance(meta, dict) else {}
    if _VERSION not in given and method != "server/discover":
        return False
    missing = [key for key in (_VERSION, _ABILITIES) if key not in given]
    if missing:
        raise ProtocolRefusal(BAD_PARAMETERS, f"params._meta lacks {', '.join(missing)}")
    version = given[_VERSION]
    if not isinstance(version, str) or not isinstance(given[_ABILITIES], dict):
        raise ProtocolRefusal(BAD_PARAMETERS, "params._meta names no version and capabilities")
    if version != MODERN:
        data = {"supported": [MODERN], "requested": version}
        raise ProtocolRefusal(_UNSUPPORTED_VERSION, f"Unsupported version: {version}", data)
    if method in ("initialize", "ping"):
        raise ProtocolRefusal(NOT_FOUND, f"Method not found: {method}")
    return True


def as_modern(method: str, result: dict[str, Any], server: dict[str, str]) -> dict[str, Any]:
    """Return a result with the metadata required without a handshake."""
    meta = {**result.get("_meta", {}), _SERVER: server}
    kept = {"ttlMs": 0, "cacheScope": "private"} if method in _KEPT else {}
    return {"resultType": "complete", **kept, **result, "_meta": meta}


def discovered() -> dict[str, object]:
    """Return the server's capabilities."""
    return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}


def progress_token(parameters: dict[str, object]) -> Optional[object]:  # noqa: UP045 - Python 3.9
    """Return the client's token for progress messages; None if it requests none."""
    meta = parameters.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def server_info(name: str) -> dict[str, str]:
    """Return the server's name and version."""
    return {"name": name, "version": ".".join(str(part) for part in sys.version_info[:3])}


# The process that serves a tool file: its pipes, its memory, and its end.

_PARENT_SECONDS = 1.0


def flush() -> None:
    """Flush the tool's output, so that it arrives before the result."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the tool closed it


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes of the protocol; a tool reads nothing, and its output is no message."""
    lines = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)
    return lines, output


def leave_with_parent(parent: int) -> None:
    """End when the studio has ended, even if a tool blocks the loop."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def bound_memory(megabytes: int) -> None:
    """Limit the memory of this process, so that a tool only ends itself."""
    if megabytes <= 0 or sys.platform != "linux":
        return
    import resource

    most = megabytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


USUAL_CHARACTERS = 100_000
"""Default maximum length of a result, in characters."""

_LONGEST_PROGRESS = 1_000


class _Cancelled(BaseException):
    """Raised inside the tool's function when the client cancels the call."""


class ToolFileServer:
    """The server for one tool file, which is imported at the first request."""

    def __init__(
        self, path: Path, characters: int, output: BinaryIO, *, checks: bool = True
    ) -> None:
        """Store the settings.

        Args:
            path: path of the file.
            characters: maximum length of a result.
            output: stream for answers.
            checks: whether a result that does not match its return type is a failure. Other clients
                reject such a result; the studio shows it.
        """
        self._checks = checks
        self._path = path
        self._characters = characters
        self._output = output
        self._writing = threading.Lock()
        self._loading = threading.Lock()
        self._loaded: LoadedFile | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = os.getpid()
        self._cancelled: set[object] = set()
        self._threads: dict[object, threading.Thread] = {}
        self._waiting: dict[object, Any] = {}

    def serve(self, lines: BinaryIO) -> None:
        """Answer requests until the client closes stdin, and finish the pending ones."""
        for line in lines:
            if not line.strip():
                continue
            try:
                asked = json.loads(line)
            except (ValueError, RecursionError):
                self._say({"id": None, "error": {"code": UNREADABLE, "message": "no JSON"}})
                continue
            for each in asked if isinstance(asked, list) else [asked]:
                if isinstance(each, dict):
                    self._take(each)
        for thread in [*self._threads.values()]:
            thread.join()

    def _take(self, asked: dict[str, object]) -> None:
        method, number = asked.get("method"), asked.get("id")
        given = asked.get("params")
        parameters = given if isinstance(given, dict) else {}
        if method == "notifications/cancelled":
            self._cancel(parameters.get("requestId"))
        if not isinstance(number, (str, int)) or not isinstance(method, str):
            return
        if method in ("tools/call", "tools/list"):
            # In a thread, so that the server still reads messages while the tool works.
            thread = threading.Thread(
                target=self._work_apart, args=(number, method, parameters), daemon=True
            )
            self._threads[number] = thread
            thread.start()
        else:
            self._work(number, method, parameters)

    def _cancel(self, number: object) -> None:
        """Cancel a call: a coroutine where it waits, a function at its next step in Python."""
        thread = self._threads.get(number) if isinstance(number, (str, int)) else None
        if thread is None or thread.ident is None:
            return
        self._cancelled.add(number)
        waiting = self._waiting.get(thread.ident)
        if waiting is not None:
            waiting.cancel()
        else:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(_Cancelled)
            )

    def _work(self, number: object, method: str, parameters: dict[str, object]) -> None:
        try:
            modern = is_modern(method, parameters)
            result = self._answer(method, parameters)
            info = server_info(self._path.name)
            answer = {"result": as_modern(method, result, info) if modern else result}
        except ProtocolRefusal as error:
            answer = {"error": error.body}
        except BaseException as error:  # noqa: BLE001 - the border to the user's code
            answer = {"error": {"code": INTERNAL, "message": sendable(describe_error(error))}}
        if os.getpid() != self._process:
            os._exit(0)  # a tool forked and returned twice: only one of the answers is sent
        if number not in self._cancelled:
            self._say({"id": number, **answer})

    def _work_apart(self, number: object, method: str, parameters: dict[str, object]) -> None:
        try:
            self._work(number, method, parameters)
        except _Cancelled:
            pass  # the call had finished already
        finally:
            self._cancelled.discard(number)
            self._threads.pop(number, None)

    def _answer(self, method: str, parameters: dict[str, object]) -> dict[str, object]:
        if method == "initialize":
            wanted = parameters.get("protocolVersion")
            return {
                "protocolVersion": wanted
                if wanted in HANDSHAKE_VERSIONS
                else HANDSHAKE_VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": server_info(self._path.name),
            }
        if method == "server/discover":
            return discovered()
        if method == "ping":
            return {}
        if method == "tools/list":
            return self._list()
        if method == "tools/call":
            arguments = parameters.get("arguments")
            given = arguments if isinstance(arguments, dict) else {}
            return self._call(str(parameters.get("name")), given, self._teller(parameters))
        raise ProtocolRefusal(NOT_FOUND, f"Method not found: {method}")

    def _list(self) -> dict[str, object]:
        """Return every tool of the file; `_meta` names functions that cannot be tools."""
        loaded = self._load()
        return {
            "tools": [_listed(tool, checks=self._checks) for tool in loaded.tools.values()],
            "_meta": {PROBLEMS: [list(problem) for problem in loaded.problems]},
        }

    def _teller(self, parameters: dict[str, object]) -> Callable[[object], None]:
        """Return the function that sends yielded values to a client that requests progress."""
        token, told = progress_token(parameters), itertools.count(1)

        def tell(value: object) -> None:
            if token is not None:
                message, _ = cut(sendable(as_text(value)[0]), _LONGEST_PROGRESS)
                said = {"progressToken": token, "progress": next(told), "message": message}
                self._say({"method": "notifications/progress", "params": said})

        return tell

    def _call(
        self, name: str, arguments: Mapping[str, object], tell: Callable[[object], None]
    ) -> dict[str, object]:
        """Call one tool; an exception becomes an error result."""
        tool = self._load().tools.get(name)
        if tool is None:
            raise ProtocolRefusal(BAD_PARAMETERS, f"{self._path.name} has no tool {name!r}")
        try:
            positional, named = tool.bind(arguments)
        except ValueError as error:
            return _result(sendable(str(error)), {ARGUMENTS: True}, is_error=True)
        more: dict[str, object] = {}
        try:
            value = self._invoke(tool, positional, named, tell)
            if inspect.isgenerator(value):
                value = [_told(item, tell) for item in value]
            blocks = content_of(value, lambda item: sendable(as_text(item)[0]))
            if self._checks and tool.returns is not None:
                told = [each.get("text", each.get("mimeType")) for each in blocks or ()]
                more = _structured(tool, value if blocks is None else told)
            text, is_json = as_text(value) if blocks is None else ("", False)
            text = sendable(text)
        except BaseException as error:  # noqa: BLE001 - the border to the user's code
            return self._failure(error)
        text, truncated = cut(text, self._characters)
        flush()
        if blocks is not None:
            return {"content": blocks, "isError": False, **more}
        meta = {TRUNCATED: True} if truncated else {VALUE: "json"} if is_json else {}
        return {**_result(text, meta), **more}

    def _invoke(
        self,
        tool: FunctionTool,
        positional: list[object],
        named: dict[str, object],
        tell: Callable[[object], None],
    ) -> object:
        value = tool.function(*positional, **named)
        if inspect.isawaitable(value) or inspect.isasyncgen(value):
            # One event loop for all calls, so that objects bound to it keep working.
            waiting = asyncio.run_coroutine_threadsafe(_waited(value, tell), self._running_loop())
            self._waiting[threading.get_ident()] = waiting
            try:
                return waiting.result()
            except _Ended as ended:
                raise (ended.__cause__ or ended) from None
            finally:
                del self._waiting[threading.get_ident()]
        return value

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._loading:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run, args=(self._loop,), daemon=True).start()
            return self._loop

    def _failure(self, error: BaseException) -> dict[str, object]:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == str(self._path)]
        words = sendable("".join(traceback.format_list(own)) + describe_error(error))
        sys.stderr.write(words + "\n")
        flush()
        text, _ = cut(sendable(describe_error(error)), self._characters)
        return _result(text, {LINE: line_in(self._path, error)}, is_error=True)

    def _load(self) -> LoadedFile:
        with self._loading:
            if self._loaded is None:
                try:
                    self._loaded = load(self._path)
                except ToolFileError as error:
                    data = {"path": str(self._path), LINE: error.line}
                    raise ProtocolRefusal(INTERNAL, sendable(error.message), data) from error
            return self._loaded

    def _say(self, message: dict[str, object]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"
        try:
            with self._writing:
                self._output.write(line)
                self._output.flush()
        except OSError:
            os._exit(1)  # a tool closed it, or the client has ended: no message can be delivered


def _told(value: object, tell: Callable[[object], None]) -> object:
    """Return a yielded value after reporting it, before the next one is requested."""
    tell(value)
    return value


async def _waited(value: object, tell: Callable[[object], None]) -> object:
    """Return the result of a coroutine, or of an asynchronous generator."""
    try:
        return await _value(value, tell)
    except Exception:
        raise
    except BaseException as error:  # `exit()` in the event loop would end the loop
        raise _Ended(error) from error


async def _value(value: object, tell: Callable[[object], None]) -> object:
    if inspect.isawaitable(value):
        value = await value
    return [_told(item, tell) async for item in value] if inspect.isasyncgen(value) else value


class _Ended(Exception):  # noqa: N818
    """A wrapper of an exception of a coroutine that is no `Exception`."""


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _structured(tool: FunctionTool, value: object) -> dict[str, object]:
    """Return a result in the form of its schema, for clients that check it.

    Raises:
        TypeError: the result does not match the return type.
    """
    if tool.returns is None:
        return {}
    try:
        return {"structuredContent": tool.returns.structured(value)}
    except ValueError as error:
        raise TypeError(f"{tool.name} gave something else than it says: {error}") from None


def _listed(tool: FunctionTool, *, checks: bool) -> dict[str, object]:
    listed: dict[str, Any] = {
        "name": tool.name,
        "inputSchema": tool.parameters,
        "_meta": {LINE: tool.line},
    }
    if tool.returns is not None and checks:
        listed["outputSchema"] = tool.returns.output_schema
    elif tool.returns is not None:
        listed["_meta"][RETURNS] = tool.returns.schema
    if tool.python_names:
        listed["_meta"][PYTHON_NAMES] = tool.python_names
    if tool.description:
        listed["description"] = sendable(tool.description)
    if tool.has_effects is not None:
        # Other clients only get the effects that the tool's author declares: some run a read-only
        # tool without approval.
        listed["annotations"] = {"readOnlyHint": not tool.has_effects}
    return listed


def _result(text: str, meta: dict[str, Any], *, is_error: bool = False) -> dict[str, object]:
    result: dict[str, object] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return {**result, "_meta": meta} if meta else result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server with the command line's arguments; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="prompt-studio tools serve", description="Serve a Python file of tools over MCP."
    )
    parser.add_argument("file", type=Path, help="Python file whose functions are the tools")
    parser.add_argument(
        "--characters",
        type=int,
        default=USUAL_CHARACTERS,
        help="longest result in characters (default: %(default)s)",
    )
    parser.add_argument("--memory", type=int, default=0, metavar="MB", help="most memory (Linux)")
    parser.add_argument(
        "--unchecked", action="store_true", help="give results as they are, whatever they should be"
    )
    options = parser.parse_args(arguments)
    lines, output = take_pipes()
    bound_memory(options.memory)
    # No compiled files are written into the user's folder.
    sys.dont_write_bytecode = True
    threading.Thread(target=leave_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        path, checks = options.file.resolve(), not options.unchecked
        ToolFileServer(path, options.characters, output, checks=checks).serve(lines)
    except KeyboardInterrupt:
        return 130
    flush()
    # A tool's own threads or a running computation must not keep the process alive.
    os._exit(0)
