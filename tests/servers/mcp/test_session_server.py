"""A recorded session answers a real client as its server did: results, errors, times."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import LONGEST_MESSAGE, MOST_CHARACTERS, TrafficLog, lines_of
from studio.servers.mcp.session_server import RecordedSession, SessionError

_TOOL: Json = {"name": "forecast", "inputSchema": {"type": "object"}}
_OPENED: Json = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "weather", "version": "3"},
}


def _written(*turns: tuple[str, Json, JsonObject, float]) -> str:
    """Return a session of method, parameters, answer, seconds."""
    lines: list[str] = []
    for number, (method, parameters, answer, seconds) in enumerate(turns):
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        told = {"jsonrpc": "2.0", "id": number, **answer}
        lines.append(json.dumps({"direction": "sent", "text": json.dumps(asked)}))
        lines.append(json.dumps({"text": json.dumps(told), "seconds": seconds}))
    return "\n".join(lines)


def _call(city: str, text: str, seconds: float = 0) -> tuple[str, Json, JsonObject, float]:
    parameters: Json = {
        "name": "forecast",
        "arguments": {"city": city, "days": 2},
        "_meta": {"a": 1},
    }
    content: Json = [{"type": "text", "text": text}]
    return "tools/call", parameters, {"result": {"content": content}}, seconds


def test_a_client_gets_what_the_server_gave(tmp_path: Path) -> None:
    refused: JsonObject = {"error": {"code": -32603, "message": "the line is down"}}
    path = tmp_path / "session.jsonl"
    path.write_text(
        _written(
            ("initialize", {"clientInfo": {"name": "another"}}, {"result": _OPENED}, 0),
            ("tools/list", {}, {"result": {"tools": [_TOOL]}}, 0),
            _call("Oslo", "sunny", 0.4),
            _call("Oslo", "rain"),
            ("tools/call", {"name": "forecast", "arguments": {"city": "Nowhere"}}, refused, 0),
        ),
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "studio", "tools", "serve", str(path)]

    async def ask() -> None:
        opened = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
        async with opened as (read, write), ClientSession(read, write) as client:
            assert (await client.initialize()).server_info.name == "weather"
            assert [tool.name for tool in (await client.list_tools()).tools] == ["forecast"]
            texts = []
            began = time.monotonic()
            for _ in range(3):
                given = await client.call_tool("forecast", {"days": 2.0, "city": "Oslo"})
                texts.append(getattr(given.content[0], "text", ""))
                if len(texts) == 1:
                    assert time.monotonic() - began >= 0.39  # as long as the server took
            assert texts == ["sunny", "rain", "rain"]
            with pytest.raises(MCPError, match="the line is down"):
                await client.call_tool("forecast", {"city": "Nowhere"})
            with pytest.raises(
                MCPError, match=r"no tools/call of 'forecast' with .*Bergen.*it has"
            ):
                await client.call_tool("forecast", {"city": "Bergen"})
            with pytest.raises(MCPError, match="no prompts/list"):
                await client.list_prompts()

    asyncio.run(ask())


def test_a_session_without_a_handshake_serves_a_client_with_one(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    told: JsonObject = {"result": {"capabilities": {"tools": {"listChanged": True}}}}
    path.write_text(_written(("server/discover", {}, told, 0)), encoding="utf-8")
    answer, _ = RecordedSession(path).answer("initialize", {"protocolVersion": "2025-03-26"})
    assert isinstance(opened := answer["result"], dict)
    assert opened["capabilities"] == {"tools": {"listChanged": True}}
    assert opened["protocolVersion"] == "2025-03-26"


def test_bare_messages_are_read_and_a_cut_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    log = TrafficLog()
    log.sent("tools/list", json.dumps({"id": 1, "method": "tools/list"}), 2, 1)
    log.received("", json.dumps({"id": 1, "result": {"tools": ["x" * LONGEST_MESSAGE]}}), 2, 1)
    bare = '{"id": 2, "method": "ping"}\n{"id": 2, "result": {"a": 1}}\n'
    path.write_text(lines_of(log.messages) + bare, encoding="utf-8")
    session = RecordedSession(path)
    assert session.answer("ping", {})[0] == {"result": {"a": 1}}
    answer, _ = session.answer("tools/list", {})
    assert "1 message of it incomplete" in json.dumps(answer)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no answered MCP request"),
        ('{"id": 1, "method": "ping"}', "no answered MCP request"),
        ('{"id": 1, "method": "ping"}\n{', "line 2: it is not an MCP message"),
        ('{"tool": "forecast"}', "a saved call, which is for mocks"),
        ('{"text": "GET http://h/"}', "line 1: it is not an MCP message"),
    ],
)
def test_what_is_no_session_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SessionError, match=reason):
        RecordedSession(path)


def test_the_messages_of_a_source_stay_within_their_bounds() -> None:
    log = TrafficLog()
    for number in range(60):
        log.received(str(number), "x" * LONGEST_MESSAGE, 1)
    assert log.messages[-1].title == "59"
    assert sum(len(each.text) for each in log.messages) <= MOST_CHARACTERS
