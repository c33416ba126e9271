"""Serve a Python file of tools over MCP: `python -m studio.core.tools.python.server FILE`.

It speaks on stdin and stdout, and any MCP client can use it. The file is imported only here, in a
process of its own, so that whatever it does can be stopped by ending the process. While it serves,
the process's standard output is the error stream and its standard input is empty (the SDK's
transport sees to both before the file is imported), so that a tool's `print` never breaks the
protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import inspect
import os
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.core.tools.limits import DEFAULT_LIMITS, cut
from studio.core.tools.meta import ARGUMENTS, LINE, PROBLEMS, TRUNCATED, VALUE
from studio.core.tools.python.file import (
    LoadedFile,
    ToolFileError,
    describe_error,
    line_in,
    load,
)
from studio.core.tools.python.signature import FunctionTool

if TYPE_CHECKING:
    import mcp_types as types


_PARENT_SECONDS = 1.0


class ToolFileServer:
    """Answers for one tool file; the file is imported at the first question about it."""

    def __init__(self, path: Path, characters: int) -> None:
        self._path = path
        self._characters = characters
        self._loaded: LoadedFile | None = None

    async def list_tools(self) -> types.ListToolsResult:
        """Every tool of the file; the result's `_meta` names functions that cannot be one."""
        import mcp_types as types

        loaded = await self._load()
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description or None,
                input_schema=tool.parameters,
                annotations=_hint(tool),
                _meta={LINE: tool.line},
            )
            for tool in loaded.tools.values()
        ]
        return types.ListToolsResult(
            tools=tools, _meta={PROBLEMS: [list(problem) for problem in loaded.problems]}
        )

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Call one tool; whatever it raises is a result that says so."""
        import mcp_types as types
        from mcp import MCPError

        tool = (await self._load()).tools.get(name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"{self._path.name} has no tool {name!r}")
        try:
            positional, named = tool.bind(arguments)
        except ValueError as error:
            return types.CallToolResult(
                content=[types.TextContent(type="text", text=str(error))],
                is_error=True,
                _meta={ARGUMENTS: True},
            )
        try:
            value = await _invoke(tool, positional, named)
            text, meta = _as_text(value)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the border to the user's code
            return self._failure(error)
        text, truncated = cut(text, self._characters)
        if truncated:
            meta = {TRUNCATED: True}
        _flush()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], _meta=meta or None
        )

    def _failure(self, error: BaseException) -> types.CallToolResult:
        import mcp_types as types

        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == str(self._path)]
        sys.stderr.write(
            _sendable("".join(traceback.format_list(own)) + describe_error(error)) + "\n"
        )
        _flush()
        text, _ = cut(_sendable(describe_error(error)), self._characters)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            is_error=True,
            _meta={LINE: line_in(self._path, error)},
        )

    async def _load(self) -> LoadedFile:
        import anyio.to_thread
        import mcp_types as types
        from mcp import MCPError

        if self._loaded is None:
            try:
                self._loaded = await anyio.to_thread.run_sync(load, self._path)
            except ToolFileError as error:
                raise MCPError(
                    types.INTERNAL_ERROR, error.message, {"path": str(self._path), LINE: error.line}
                ) from error
        return self._loaded


def _hint(tool: FunctionTool) -> types.ToolAnnotations | None:
    """What other clients are told of a tool's effects: only what its author says.

    Some clients run a tool unasked that says that it only reads.
    """
    import mcp_types as types

    if tool.has_effects is None:
        return None
    return types.ToolAnnotations(read_only_hint=not tool.has_effects)


async def _invoke(tool: FunctionTool, positional: list[Any], named: dict[str, Any]) -> object:
    import anyio.to_thread

    if inspect.iscoroutinefunction(tool.function):
        return await tool.function(*positional, **named)
    # In a thread, so that the server still hears a cancellation while the tool runs.
    call = functools.partial(tool.function, *positional, **named)
    value = await anyio.to_thread.run_sync(_quietly, call, abandon_on_cancel=True)
    if isinstance(value, _Raised):
        raise value.error
    if inspect.isawaitable(value):
        value = await value
    return [item async for item in value] if inspect.isasyncgen(value) else value


@dataclass(frozen=True)
class _Raised:
    """What a call raised that is no `Exception`."""

    error: BaseException


def _quietly(call: functools.partial[object]) -> object:
    """Call; `exit()` and an interrupt come as values: raised in a thread they end the server."""
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:  # noqa: BLE001 - raised again where it does no harm
        return _Raised(error)


def _as_text(value: object) -> tuple[str, dict[str, Any]]:
    """A result as the model reads it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return _sendable(value), {}
    from pydantic_core import to_json

    text = to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=repr).decode()
    return text, {VALUE: "json"}


def _sendable(text: str) -> str:
    """A text without halves of characters, which no encoding has."""
    return text.encode("utf-8", "replace").decode()


def _flush() -> None:
    """Let what the tool printed be read before its result."""
    sys.stdout.flush()
    sys.stderr.flush()


async def serve(path: Path, characters: int) -> None:
    """Serve one file until the client closes our input."""
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    tools = ToolFileServer(path, characters)

    async def list_tools(_context: object, _parameters: object) -> types.ListToolsResult:
        return await tools.list_tools()

    async def call_tool(
        _context: object, call: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await tools.call_tool(call.name, call.arguments or {})

    server: Server[Any] = Server(path.name, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _leave_with_parent(parent: int) -> None:
    """End when the studio is gone, also while a tool keeps the loop from hearing of it."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def _bound_memory(megabytes: int) -> None:
    """A tool that takes all memory ends itself, not the user's other programs."""
    if megabytes <= 0 or sys.platform != "linux":
        return
    import resource

    most = megabytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server; `arguments` are the command line's."""
    parser = argparse.ArgumentParser(
        prog="prompt-studio tools serve", description="Serve a Python file of tools over MCP."
    )
    parser.add_argument("file", type=Path, help="Python file whose functions are the tools")
    parser.add_argument(
        "--characters",
        type=int,
        default=DEFAULT_LIMITS.characters,
        help="longest result in characters (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=0,
        metavar="MB",
        help="most memory (Linux)",
    )
    options = parser.parse_args(arguments)
    _bound_memory(options.memory)
    # The user's folder stays as it is: no compiled files beside theirs.
    sys.dont_write_bytecode = True
    threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    import anyio

    try:
        anyio.run(serve, options.file.resolve(), options.characters)
    except KeyboardInterrupt:
        return 130
    _flush()
    # A tool's own threads, or a worker that still computes, must not keep the process.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
