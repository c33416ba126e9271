"""A server that speaks the old transport of events, and asks the user while a tool works."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.core.text.values import JsonObject
from studio.core.tools.mcp.connection import CallTime, InputGiven, InputWanted
from studio.core.tools.mcp.server_config import HttpServer, StdioServer, server_address
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits
from tests.support import patience
from tests.support.ports import free_port

SERVER = """
import sys
from typing import Annotated
from pydantic import BaseModel, Field
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve

server = MCPServer("booking")

class Seat(BaseModel):
    row: int = Field(description="Which row", ge=1)
    window: bool = True

@server.tool()
async def book(context: Context) -> str:
    answer = await context.elicit("Which seat?", Seat)
    return f"{answer.action}: {getattr(answer, 'data', None)}"

def wanted() -> Elicit[Seat]:
    return Elicit("Which seat?", Seat)

@server.tool()
async def reserve(seat: Annotated[Seat, Resolve(wanted)]) -> str:
    return f"reserved: {seat}"

server.run("sse", port=int(sys.argv[1])) if sys.argv[1:] else server.run()
"""
LIMITS = ToolLimits(patience.SECONDS, patience.SECONDS)


class Person:
    """Answers at once."""

    def __init__(self, given: InputGiven) -> None:
        self.given = given
        self.wanted: list[InputWanted] = []

    async def __call__(self, wanted: InputWanted) -> InputGiven:
        self.wanted.append(wanted)
        return self.given


SEAT = InputGiven("accept", {"row": 3, "window": False})


@pytest.fixture(scope="module")
def server_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("server") / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    return path


@pytest.fixture
async def address(server_file: Path) -> AsyncIterator[str]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(server_file), str(port), stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        while b"running on" not in (line := await process.stderr.readline()):
            assert line, "the server did not start"
        yield f"http://127.0.0.1:{port}/sse"
    finally:
        process.kill()
        await process.communicate()


async def test_the_user_is_asked_over_events(address: str) -> None:
    person = Person(SEAT)
    source = McpSource("b", HttpServer(address), limits=LIMITS, ask=person)
    assert [spec.name for spec in await source.list_tools()] == ["book", "reserve"]
    outcome = await source.call("book", {})
    assert (outcome.status, outcome.text) == ("ok", "accept: row=3 window=False")
    assert person.wanted[0].message == "Which seat?"
    assert person.wanted[0].schema["properties"]["row"]["description"] == "Which row"
    person.given = InputGiven("decline")
    assert (await source.call("book", {})).text == "decline: None"
    await source.close()
    events = HttpServer(address, transport="sse")
    source = McpSource("b", events, limits=LIMITS)
    assert (await source.call("book", {})).status == "error"
    await source.close()


async def test_the_user_is_asked_by_the_newest_protocol(server_file: Path) -> None:
    server = StdioServer(sys.executable, (str(server_file),))
    source = McpSource("b", server, limits=LIMITS, ask=(person := Person(SEAT)))
    outcome = await source.call("reserve", {})
    assert (outcome.status, outcome.text) == ("ok", "reserved: row=3 window=False")
    assert (await source.facts()).words["protocol"] == "2026-07-28"
    assert [each.message for each in person.wanted] == ["Which seat?"]
    await source.close()


async def test_a_server_that_asks_in_the_old_way_is_asked_to_speak_the_old_protocol(
    server_file: Path,
) -> None:
    entry: JsonObject = {"command": sys.executable, "args": [str(server_file)]}
    address = server_address(entry, server_file.parent)
    assert address is not None
    source = McpSource("b", address, limits=LIMITS, ask=Person(SEAT))
    outcome = await source.call("book", {})
    await source.close()
    assert outcome.status == "error"
    assert 'write "protocol": "2025-11-25" beside' in outcome.text

    address = server_address({**entry, "protocol": "2025-11-25"}, server_file.parent)
    assert address is not None
    source = McpSource("b", address, limits=LIMITS, ask=Person(SEAT))
    outcome = await source.call("book", {})
    assert (outcome.status, outcome.text) == ("ok", "accept: row=3 window=False")
    assert (await source.facts()).words["protocol"] == "2025-11-25"
    await source.close()


SHORT = 0.02


async def slow_user(_: InputWanted) -> InputGiven:
    await asyncio.sleep(SHORT * 4)
    return InputGiven("accept")


async def never_done(time: CallTime) -> None:
    async with time.limit() as limit:
        with time.running(limit):
            if time.ask is not None:
                await time.ask(InputWanted("?"))
            await asyncio.Event().wait()


async def test_the_users_time_is_not_the_calls() -> None:
    time = CallTime(SHORT, slow_user)
    ask = time.ask
    assert ask is not None
    async with time.limit() as limit:
        with time.running(limit):
            assert (await ask(InputWanted("?"))).action == "accept"
    with pytest.raises(TimeoutError):
        await never_done(time)


async def test_a_call_that_asks_nobody_has_its_limit() -> None:
    time = CallTime(SHORT, None)
    assert time.ask is None
    with pytest.raises(TimeoutError):
        await never_done(time)
