"""Memory of a process and all that it started is counted, and a server that takes more is ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.core.tools.mcp.child_bounds import (
    ProcessMemory,
    family_resident,
    family_sum,
    read_ps,
    read_stat,
)
from studio.core.tools.mcp.server_config import StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits
from tests.support import patience

MEGABYTE = 1024**2

HUNGRY = """
import asyncio, subprocess, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("hungry")
held = []

@server.tool()
async def take(megabytes: int) -> str:
    held.append(bytearray(b"x") * (megabytes * 1024**2))
    if megabytes > 400:
        await asyncio.Event().wait()
    return "taken"

@server.tool()
async def spawn(megabytes: int) -> str:
    code = f"x = bytearray(b'x') * ({megabytes} * 1024**2); input()"
    child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True,
                             stdin=subprocess.PIPE)
    held.append(child)
    await asyncio.Event().wait()

server.run()
"""


def test_a_list_of_ps_is_read() -> None:
    text = "    1     0   1200\n   77     1   4096\n  bad line\n   80    77    512\n"
    listed = read_ps(text)
    assert listed[1] == ProcessMemory(77, 1, 4096 * 1024)
    assert family_sum(77, listed) == (4096 + 512) * 1024
    assert family_sum(1, listed) == (1200 + 4096 + 512) * 1024
    assert family_sum(99, listed) is None


def test_a_circle_in_the_list_ends() -> None:
    assert family_sum(1, [ProcessMemory(1, 2, 10), ProcessMemory(2, 1, 20)]) == 30


def test_a_name_with_brackets_does_not_mislead() -> None:
    fields = "S 5 " + " ".join(str(n) for n in range(5, 45))
    assert read_stat(9, f"9 (evil) S 1 2) {fields}", 4096) == ProcessMemory(9, 5, 24 * 4096)
    assert read_stat(9, "", 4096) is None


@pytest.mark.skipif(sys.platform == "win32", reason="a job bounds memory there")
def test_what_a_child_holds_is_counted() -> None:
    before = family_resident(os.getpid())
    code = "x = bytearray(b'x') * (200 * 1024**2); print(1, flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:  # type: ignore[call-overload]
        assert child.stdout.readline()
        held = family_resident(os.getpid())
        assert before is not None
        assert held is not None
        assert held - before > 150 * MEGABYTE
        child.stdin.close()
    assert family_resident(2**30) in (None, 0)


def hungry(tmp_path: Path) -> McpSource:
    path = tmp_path / "hungry.py"
    path.write_text(HUNGRY, encoding="utf-8")
    limits = ToolLimits(patience.SECONDS, patience.SECONDS, resident_megabytes=400)
    return McpSource("hungry", StdioServer(sys.executable, (str(path),)), limits=limits)


@pytest.mark.skipif(sys.platform == "win32", reason="a job bounds memory there")
@pytest.mark.parametrize("way", ["take", "spawn"])
async def test_a_server_that_holds_too_much_is_ended(tmp_path: Path, way: str) -> None:
    source = hungry(tmp_path)
    try:
        assert (await source.call("take", {"megabytes": 20})).status == "ok"
        outcome = await source.call(way, {"megabytes": 600})
        assert outcome.status == "crashed"
        assert "MB of memory, more than 400" in outcome.text
        assert "MB of memory, more than 400" in source.log
        assert (await source.call("take", {"megabytes": 20})).status == "ok"
    finally:
        await source.close()
