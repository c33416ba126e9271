"""Messages go to a child and come from it without anything between."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from studio.core.tools.mcp.child import ChildProcess
from studio.core.tools.mcp.streams import over_child

ECHO = """
import sys
print("Welcome!", flush=True)
for line in sys.stdin:
    print(line, end="", flush=True)
"""


async def start(tmp_path: Path, code: str) -> ChildProcess:
    return await ChildProcess.start(
        [sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ)
    )


def message(method: str) -> SessionMessage:
    return SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method))


async def test_messages_pass_until_an_end_is_closed(tmp_path: Path) -> None:
    child, unread = await start(tmp_path, ECHO), list[str]()
    async with over_child(child, unread.append)() as (read, write):
        await write.send(message("one"))
        await write.send(message("two"))
        assert await read.receive() == message("one")
        assert unread == ["Welcome!"]
        assert await anext(aiter(read)) == message("two")
        await write.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await write.send(message("three"))
        await read.aclose()
        with pytest.raises(anyio.EndOfStream):
            await read.receive()
    await child.close()


async def test_the_end_of_a_child_is_the_end_of_what_is_read(tmp_path: Path) -> None:
    child = await start(tmp_path, "print('no message')")
    async with over_child(child)() as (read, _):
        assert [item async for item in read] == []
    await child.close()
