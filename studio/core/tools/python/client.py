"""The studio's end of the conversation with a process that serves a Python file.

Both ends are ours, so it needs no SDK of MCP, whose import takes most of a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Mapping
from types import SimpleNamespace

from studio import __version__
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject, object_of, objects_of, text_of
from studio.core.tools.mcp.child import ChildProcess
from studio.core.tools.mcp.values import (
    CallResult,
    ConnectionLost,
    ServerRefusal,
    block_pictures,
    block_text,
)
from studio.core.tools.python_server.meta import RETURNS
from studio.core.tools.source import ToolSourceError
from studio.core.tools.traffic import TrafficLog

_PROTOCOL = "2025-11-25"


class ToolFileClient:
    """Asks one process; make one with `open`."""

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
        """Shake hands with a process.

        Args:
            child: the process.
            seconds: the longest time for it.
            traffic: notes each message.

        Raises:
            ToolSourceError: it does not answer.
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
            source: what the tools are said to come from.

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
        """Let go without waiting for the process."""
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
                with contextlib.suppress(ValueError, RecursionError):  # a tool wrote it
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
    """Return a tool as the file has it: of a function without a mark nobody knows its effects."""
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
    """Return a block of content with the names of the SDK's own."""
    names = {"mimeType": "mime_type"}
    return SimpleNamespace(
        **{
            names.get(key, key): _block(value) if isinstance(value, Mapping) else value
            for key, value in item.items()
        }
    )
