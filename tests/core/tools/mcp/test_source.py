"""Servers of others, over real pipes and real HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.server_config import HttpServer, StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits, ToolSourceError
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, gone, written
from tests.support import patience
from tests.support.ports import free_port
from tests.support.tool_ids import tool_id

SERVER = '''
import os, sys, time
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("weather", version="1.2")
print("server starts", file=sys.stderr, flush=True)

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def forecast(city: str) -> str:
    """The forecast."""
    return f"sunny in {city}"

@server.tool()
def send(text: str) -> dict[str, int]:
    """Send it."""
    return {"length": len(text)}

@server.tool()
def fail() -> str:
    raise ValueError("no luck")

@server.tool()
async def block(mark: str) -> str:
    open(mark, "w").write(str(os.getpid()))
    while True: pass

@server.tool()
def greet() -> str:
    return os.environ.get("GREETING", "none") + " " + os.environ.get("SECRET_OF_OURS", "unset")

@server.prompt()
def ask(about: str = "all") -> str:
    """Ask something."""
    return f"What of {about}?"

@server.tool()
async def step(context: Context) -> str:
    for number in (1, 2):
        await context.report_progress(number, 2, f"step {number}")
    return "done"

@server.tool()
def draw():
    """Draw."""
    from mcp.server.mcpserver import Image
    return ["here", Image(data=b"PNG", format="png")]

@server.resource("note://one")
def note() -> str: return "1"

@server.resource("note://{number}")
def numbered(number: str) -> str: return number

@server.tool()
def leave() -> str:
    os._exit(3)
'''


@pytest.fixture
def server_file(tmp_path: Path) -> Path:
    path = tmp_path / "weather_server.py"
    path.write_text(SERVER + "\nserver.run()\n", encoding="utf-8")
    return path


@pytest.fixture
async def weather(server_file: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[McpSource]:
    monkeypatch.setenv("SECRET_OF_OURS", "leaked")
    monkeypatch.setenv("WORD", "hello")
    address = StdioServer(
        sys.executable, (str(server_file),), {"GREETING": "${env:WORD}"}, server_file.parent
    )
    source = McpSource("weather", address, limits=ToolLimits(patience.SECONDS, patience.SECONDS))
    yield source
    await source.close()


async def started(path: Path) -> int:
    """Wait until a tool has written its file; gives the process that wrote it."""
    return int(await patience.until(lambda: written(path), "a tool that started"))


async def test_lists_and_calls(weather: McpSource) -> None:
    specs = {spec.name: spec for spec in await weather.list_tools()}
    assert specs["forecast"].parameters["required"] == ["city"]
    assert specs["forecast"].source == "mcp: weather"
    assert not specs["forecast"].has_effects
    assert specs["send"].has_effects
    first, second = await asyncio.gather(
        weather.call("forecast", {"city": "Oslo"}), weather.call("send", {"text": "abc"})
    )
    assert (first.status, first.text) == ("ok", "sunny in Oslo")
    assert second.value == {"length": 3}
    failed = await weather.call("fail", {})
    assert failed.status == "error"
    assert "fail" in failed.text
    facts = await weather.facts()
    assert (facts.words["name"], facts.words["version"]) == ("weather", "1.2")
    assert [(offer.kind, offer.name, offer.description) for offer in facts.offers] == [
        ("prompt", "ask", "Ask something."),
        ("resource", "note://one", "note"),
        ("resource template", "note://{number}", "numbered"),
    ]
    assert "server starts" in weather.log
    ask, note, numbered = facts.offers
    assert [each.name for each in (*ask.arguments, *numbered.arguments)] == ["about", "number"]
    opened = await weather.open_offer(ask, {"about": "rain"})
    assert opened.parts == (("user", "What of rain?"),)
    assert (await weather.open_offer(note, {})).parts == (("", "1"),)
    assert (await weather.open_offer(numbered, {"number": "a b"})).parts == (("", "a b"),)
    with pytest.raises(ToolSourceError):
        await weather.open_offer(replace(note, name="note://no/such/note"), {})
    assert await weather.complete(ask, "about", "r", {}) == ()
    told: list[str] = []
    assert (await weather.call_with_progress("step", {}, told.append)).text == "done"
    assert told == ["1 of 2: step 1\n", "2 of 2: step 2\n"]
    drawn = await weather.call("draw", {})
    assert drawn.text.startswith("here\n[image image/png")
    assert [(each.kind, each.data) for each in drawn.pictures] == [("image/png", "UE5H")]
    said = [(each.direction, each.title) for each in weather.traffic.messages]
    assert said[-2:] == [("sent", "tools/call"), ("received", "tools/call")]
    assert ("received", "notifications/progress") in said
    assert "here" in weather.traffic.messages[-1].text
    assert weather.traffic.messages[-1].seconds


async def test_the_environment_is_small_and_references_are_resolved(weather: McpSource) -> None:
    assert (await weather.call("greet", {})).text == "hello unset"


async def test_a_server_that_leaves_is_a_crash_and_is_started_again(weather: McpSource) -> None:
    assert (await weather.call("leave", {})).status == "crashed"
    assert (await weather.call("forecast", {"city": "Rome"})).text == "sunny in Rome"


async def test_a_server_that_hangs_in_a_cancelled_call_is_ended(
    weather: McpSource, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    task = asyncio.create_task(weather.call("block", {"mark": str(mark)}))
    pid = await started(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(pid)
    assert (await weather.call("forecast", {"city": "Rome"})).text == "sunny in Rome"


NODE_SAYS = """node:internal/modules/cjs/loader:1520
  throw err;
  ^

Error: Cannot find module '/x.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1517:15) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v24.19.0"""
"""What Node writes where its program is not there."""


async def test_allowed_tools_only(server_file: Path) -> None:
    address = StdioServer(sys.executable, (str(server_file),), folder=server_file.parent)
    source = McpSource("weather", address, allowed=("forecast",))
    assert "send" in [spec.name for spec in await source.list_tools()]
    assert (await source.call("send", {"text": "x"})).status == "unknown-tool"
    await source.close()


@pytest.mark.parametrize(
    ("address", "word"),
    [
        (StdioServer("no-such-program-here"), "cannot be started"),
        (
            StdioServer(sys.executable, ("-c", "import sys; sys.exit('bad day')")),
            r"ended before it responded \(exit code 1\) \(bad day\)",
        ),
        (
            StdioServer(sys.executable, ("-c", f"import sys; sys.exit({NODE_SAYS!r})")),
            r"ended before it responded \(exit code 1\) \(Error: Cannot find module '/x\.js'\)",
        ),
        (StdioServer(sys.executable, ("-c", "while True: print('{')")), "did not answer"),
        (StdioServer(sys.executable, ("-c", ""), {"A": "${env:NOT_SET_ANYWHERE}"}), "NOT_SET"),
        (HttpServer("http://127.0.0.1:9/mcp"), "mcp: x"),
    ],
    ids=["missing", "exits", "exits-as-node", "chatter", "unset", "refused"],
)
async def test_a_server_that_cannot_be_used_says_why(
    address: StdioServer | HttpServer, word: str
) -> None:
    # Short where it is waited out; a program that says something may need longer to start.
    seconds = 2 if word == "did not answer" else patience.SECONDS
    source = McpSource("x", address, limits=ToolLimits(start_seconds=seconds))
    with pytest.raises(ToolSourceError, match=word):
        await source.list_tools()
    assert (await source.call("any", {})).status == "crashed"
    await source.close()


async def test_streamable_http(server_file: Path) -> None:
    port = free_port()
    server_file.write_text(
        f"{SERVER}\nserver.run('streamable-http', port={port})\n", encoding="utf-8"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(server_file), stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        while b"running on" not in (line := await process.stderr.readline()):
            assert line, "the server did not start"
        source = McpSource("web", HttpServer(f"http://127.0.0.1:{port}/mcp"))
        assert "forecast" in [spec.name for spec in await source.list_tools()]
        outcome = await source.call("forecast", {"city": "Oslo"})
        assert (outcome.status, outcome.text) == ("ok", "sunny in Oslo")
        await source.close()
    finally:
        process.kill()
        await process.communicate()


async def test_a_document_names_a_server_of_the_workspace(
    server_file: Path, prompt: WritePrompt, tmp_path: Path
) -> None:
    servers = {"weather": {"command": sys.executable, "args": [str(server_file)]}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    document = prompt(
        """
        name: agent
        tools:
          - name: weather
            kind: mcp
            serverName: weather
            connection: {kind: reference, name: weather}
            approvalMode: {kind: always}
            allowedTools: [forecast, send]
        """
    )
    session = ToolSession(TrustStore())
    registry = await session.load(document)
    assert [status.state for status in registry.sources] == ["untrusted"]
    assert registry.specs == ()
    TrustStore().trust(tmp_path)
    registry = await session.load(document)
    assert [spec.name for spec in registry.specs] == ["forecast", "send"]
    assert {entry.approval for entry in registry.entries} == {"always"}
    assert not all(entry.enabled for entry in registry.entries)  # the others are switched off
    assert registry.sources[0].facts["name"] == "weather"
    box = session.current.toolbox()
    assert box.needs_approval("forecast")
    assert (await box.call("forecast", {"city": "Oslo"})).text == "sunny in Oslo"
    await session.close()


CHANGING = """
import sys
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("changing")

@server.tool()
async def learn(name: str, context: Context) -> str:
    def added() -> str:
        return name
    server.add_tool(added, name=name)
    await context.notify_tools_changed()
    return "learned"

server.run()
"""

OLD_STYLE = """
import json, sys

def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

names = ["learn"]
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "initialize":
        say({"id": number, "result": {"protocolVersion": "2025-06-18",
             "capabilities": {"tools": {"listChanged": True}, "logging": {}},
             "serverInfo": {"name": "old", "version": "1"}}})
    elif method == "tools/list":
        say({"id": number, "result": {"tools": [
            {"name": name, "inputSchema": {"type": "object"}} for name in names]}})
    elif method == "tools/call":
        names.append(asked["params"]["arguments"]["name"])
        say({"method": "notifications/message",
             "params": {"level": "warning", "logger": "school", "data": "something new"}})
        say({"method": "notifications/tools/list_changed"})
        say({"id": number, "result": {"content": [{"type": "text", "text": "learned"}]}})
    elif number is not None:
        say({"id": number, "error": {"code": -32601, "message": "unknown method"}})
"""


@pytest.mark.parametrize("server", [CHANGING, OLD_STYLE], ids=["newer protocol", "older"])
async def test_a_server_tells_of_tools_that_it_learned(server: str, tmp_path: Path) -> None:
    path = tmp_path / "server.py"
    path.write_text(server, encoding="utf-8")
    changed = asyncio.Event()
    address = StdioServer(sys.executable, (str(path),), {}, tmp_path)
    source = McpSource("changing", address, on_change=changed.set)
    assert [spec.name for spec in await source.list_tools()] == ["learn"]
    assert (await source.call("learn", {"name": "sing"})).text == "learned"
    await asyncio.wait_for(changed.wait(), patience.SECONDS)
    assert [spec.name for spec in await source.list_tools()] == ["learn", "sing"]
    if server is OLD_STYLE:
        assert "[warning school] something new" in source.log
    await source.close()


async def test_servers_of_the_settings_are_started_when_named_or_asked_for(
    server_file: Path, prompt: WritePrompt, tmp_path: Path
) -> None:
    servers = {"weather": {"command": sys.executable, "args": [str(server_file)]}}
    own = tmp_path / "settings" / "mcp.json"
    own.parent.mkdir()
    own.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore(), own_servers=own)
    document = prompt("name: agent\n")
    registry = await session.load(document)
    assert [(item.key, item.state) for item in registry.sources] == [("mcp:weather", "available")]
    assert "your settings" in registry.sources[0].message
    session.start_server("mcp:weather")
    registry = await session.load(document)
    assert registry.sources[0].state == "ready"
    assert not any(entry.enabled for entry in registry.entries)
    logs = await session.current.read_logs()
    assert "server starts" in logs.sources[0].log
    named = await session.load(prompt("metadata: {agent: {mcp_servers: [weather]}}\n"))
    forecast = named.named("forecast")
    assert forecast is not None
    assert forecast.enabled
    assert (
        await session.current.try_tool(tool_id(session.registry, "forecast"), {"city": "Rome"})
    ).text == "sunny in Rome"
    assert own in session.current.watched
    await session.close()


async def test_the_persons_own_servers_need_no_trust_but_the_prompt_that_names_them_does(
    server_file: Path, prompt: WritePrompt, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("settings") / "mcp.json"
    servers = {"weather": {"command": sys.executable, "args": [str(server_file)]}}
    own.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    session = ToolSession(TrustStore(), own_servers=own)
    document = prompt("metadata: {agent: {mcp_servers: [weather]}}\n")
    assert (await session.load(document)).sources[0].state == "untrusted"
    assert document.source.path is not None
    TrustStore().trust(document.source.path.parent)
    assert (await session.load(document)).sources[0].state == "ready"
    await session.close()


async def test_a_broken_file_of_servers_is_named(prompt: WritePrompt, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{", encoding="utf-8")
    session = ToolSession(TrustStore())
    registry = await session.load(prompt("name: agent\n"))
    assert (registry.sources[0].state, registry.sources[0].path) == (
        "failed",
        tmp_path / ".mcp.json",
    )
    assert "not JSON" in registry.sources[0].message
