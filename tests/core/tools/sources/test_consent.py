"""What is new in a trusted folder, or has changed, waits for the user: servers and variables."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from studio.core.tools.document_tools import ToolSession
from studio.core.tools.registry import SourceStatus, ToolRegistry
from studio.core.tools.sources.consent import wants_of
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, WriteTools
from tests.support.tool_ids import tool_id

SERVER = '''
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")
open(sys.argv[1], "a").close()

@server.tool()
def forecast(city: str) -> str:
    """The forecast."""
    return "rain"

server.run()
'''
AGENT = """
    name: agent
    metadata:
      agent:
        mcp_servers: [weather]
    """


@pytest.fixture
async def session() -> AsyncIterator[ToolSession]:
    made = ToolSession(TrustStore())
    yield made
    await made.close()


def write_servers(folder: Path, mark: str = "ran", **more: object) -> Path:
    """A server that leaves a mark where it was started; gives the place of the mark."""
    (folder / "weather.py").write_text(SERVER, encoding="utf-8")
    place = folder / mark
    weather = {"command": sys.executable, "args": ["weather.py", str(place)]}
    data = {"mcpServers": {"weather": weather, **more}}
    (folder / ".mcp.json").write_text(json.dumps(data), encoding="utf-8")
    return place


def status(registry: ToolRegistry, key: str) -> SourceStatus:
    return next(each for each in registry.sources if each.key == key)


async def test_a_server_that_comes_into_a_trusted_folder_asks(
    session: ToolSession, prompt: WritePrompt, tmp_path: Path
) -> None:
    document = prompt(AGENT)
    TrustStore().trust(tmp_path, wants_of(document))  # as it is now: without the server
    mark = write_servers(tmp_path)
    registry = await session.load(document)
    weather = status(registry, "mcp:weather")
    assert weather.state == "waiting"
    assert weather.doubt is not None
    assert weather.doubt.before is None
    assert str(mark) in weather.message, "the command line is shown"
    assert not mark.exists()
    assert registry.named("forecast") is None

    session.current.allow_source("mcp:weather")
    registry = await session.load(document)
    assert status(registry, "mcp:weather").state == "ready"
    assert mark.exists()
    assert registry.named("forecast") is not None


async def test_another_command_line_under_the_same_name_asks_with_both(
    session: ToolSession, prompt: WritePrompt, tmp_path: Path
) -> None:
    mark = write_servers(tmp_path)
    document = prompt(AGENT)
    TrustStore().trust(tmp_path, wants_of(document))
    assert status(await session.load(document), "mcp:weather").state == "ready"
    assert mark.exists()
    other = write_servers(tmp_path, "other")
    weather = status(await session.load(document), "mcp:weather")
    assert weather.state == "waiting"
    assert str(mark) in weather.message
    assert str(other) in weather.message
    assert not other.exists()
    # The old one does not run on either, and a new session knows it as well.
    assert (
        await session.current.try_tool(tool_id(session.registry, "forecast"), {"city": "Rome"})
    ).status == "unknown-tool"
    again = ToolSession(TrustStore())
    assert status(await again.load(document), "mcp:weather").state == "waiting"
    await again.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"command": "a", "args": ["x"]}, {"command": "a", "args": ["y"]}),
        ({"command": "a"}, {"command": "b"}),
        ({"command": "a", "env": {"K": "1"}}, {"command": "a", "env": {"K": "2"}}),
        ({"url": "http://127.0.0.1:1/a"}, {"url": "http://127.0.0.1:1/b"}),
        (
            {"url": "http://127.0.0.1:1/", "headers": {"K": "${env:A}"}},
            {"url": "http://127.0.0.1:1/", "headers": {"K": "${env:B}"}},
        ),
    ],
)
async def test_whatever_changes_of_a_server_is_another_server(
    session: ToolSession,
    prompt: WritePrompt,
    tmp_path: Path,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    def write(server: dict[str, object]) -> None:
        text = json.dumps({"mcpServers": {"weather": server}})
        (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")

    write(before)
    document = prompt(AGENT)
    TrustStore().trust(tmp_path, wants_of(document))
    assert status(await session.load(document), "mcp:weather").state != "waiting"
    write(after)
    assert status(await session.load(document), "mcp:weather").state == "waiting"


async def test_a_server_in_a_folder_below_a_trusted_one_asks(
    session: ToolSession, tmp_path: Path, prompt: WritePrompt
) -> None:
    TrustStore().trust(tmp_path)
    below = tmp_path / "below"
    below.mkdir()
    mark = write_servers(below)
    written = prompt(AGENT).source
    path = below / "agent.prompty"
    path.write_text(written.text, encoding="utf-8")
    from studio.core.prompty.parse import parse

    registry = await session.load(parse(written.text, path))
    assert status(registry, "mcp:weather").state == "waiting"
    assert not mark.exists()


async def test_trust_of_an_older_studio_covers_what_is_there_at_first_sight(
    session: ToolSession, prompt: WritePrompt, tmp_path: Path, user_home: Path
) -> None:
    mark = write_servers(tmp_path)
    place = user_home / "data" / "trust.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    old = {"folders": [str(tmp_path.resolve())], "approvals": {str(tmp_path): {"x": "allow"}}}
    place.write_text(json.dumps(old), encoding="utf-8")
    document = prompt(AGENT)
    assert status(await session.load(document), "mcp:weather").state == "ready"
    assert mark.exists()
    other = write_servers(tmp_path, "other")
    assert status(await session.load(document), "mcp:weather").state == "waiting"
    assert not other.exists()


async def test_the_users_own_servers_and_those_started_by_hand_do_not_ask_again(
    prompt: WritePrompt, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("settings")
    write_servers(own)
    session = ToolSession(TrustStore(), own_servers=own / ".mcp.json")
    document = prompt(AGENT)
    TrustStore().trust(tmp_path, ())
    assert status(await session.load(document), "mcp:weather").state == "ready"
    write_servers(tmp_path, "further", further={"command": "no-such-program"})
    registry = await session.load(document)
    assert "no-such-program" in status(registry, "mcp:further").message
    session.start_server("mcp:further")
    assert status(await session.load(document), "mcp:further").state == "failed"
    await session.close()


KEYS = """
import os
from hashlib import sha256

def seen() -> dict:
    return dict(os.environ)

def digest(name: str) -> str:
    return sha256(os.environ[name].encode()).hexdigest()
"""
WITH_KEYS = """
    name: agent
    metadata:
      agent:
        tools: [my_tools.py]
        env: [WANTED_KEY, ANOTHER_KEY]
    """


async def test_tools_get_no_key_but_those_that_the_prompt_names_and_the_user_allows(
    session: ToolSession,
    prompt: WritePrompt,
    tool_file: WriteTools,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("WANTED_KEY", "ANOTHER_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, f"planted-{name}")
    for name, value in {"HTTPS_PROXY": "http://127.0.0.1:9", "SSL_CERT_FILE": "/x.pem"}.items():
        monkeypatch.setenv(name, value)
    tool_file(KEYS)
    document = prompt(WITH_KEYS)
    TrustStore().trust(tmp_path, ())
    registry = await session.load(document)
    waiting = [each for each in registry.sources if each.state == "waiting"]
    assert [each.doubt.want.text for each in waiting if each.doubt] == ["WANTED_KEY", "ANOTHER_KEY"]
    assert status(registry, "python:" + str(tmp_path / "my_tools.py")).state == "ready"
    seen = (await session.current.try_tool(tool_id(session.registry, "seen"), {})).value
    assert isinstance(seen, dict)
    assert not [name for name in seen if "KEY" in name]
    assert "planted" not in json.dumps(seen)
    assert {"PATH", "HOME", "HTTPS_PROXY", "SSL_CERT_FILE"} <= set(seen)

    session.current.allow_source("give:WANTED_KEY")
    registry = await session.load(document)
    seen = (await session.current.try_tool(tool_id(session.registry, "seen"), {})).value
    assert isinstance(seen, dict)
    assert [name for name in seen if "KEY" in name] == ["WANTED_KEY"]
    digest = (
        await session.current.try_tool(tool_id(session.registry, "digest"), {"name": "WANTED_KEY"})
    ).text
    assert digest == sha256(b"planted-WANTED_KEY").hexdigest()
    assert "planted" not in json.dumps(seen), "what a tool was given is masked where it says it"
    assert [each.key for each in registry.sources if each.state == "waiting"] == [
        "give:ANOTHER_KEY"
    ]


async def test_the_trust_question_names_commands_addresses_variables_and_files(
    prompt: WritePrompt, tmp_path: Path
) -> None:
    mark = write_servers(tmp_path, remote={"url": "https://x.test/mcp", "headers": {"K": "${R}"}})
    document = prompt(
        """
        name: agent
        model:
          id: m
          connection: {kind: key, endpoint: "https://m.test", apiKey: "${env:MODEL_KEY}"}
        description: "${file:notes.txt}"
        tools:
          - name: pets
            kind: openapi
            specification: pets.json
            connection: {endpoint: "https://pets.test", apiKey: "${env:PETS_KEY}"}
          - {name: web, kind: openapi, specification: "https://web.test/openapi.json"}
        metadata:
          agent: {tools: [my_tools.py], mcp_servers: [weather, remote], env: [GIVEN]}
        """
    )
    listed = [(want.kind, want.text) for want in wants_of(document)]
    found = set(listed)
    assert len(listed) == len(found)  # each once, though tool and prompt name it
    assert found == {
        ("command", f"{sys.executable} weather.py {mark}"),
        ("address", "https://x.test/mcp"),
        ("address", "https://pets.test"),
        ("address", "https://web.test/openapi.json"),
        ("address", "https://m.test"),
        ("variable", "R"),
        ("variable", "MODEL_KEY"),
        ("variable", "PETS_KEY"),
        ("variable", "GIVEN"),
        ("file", str(tmp_path / "my_tools.py")),
        ("file", str(tmp_path / "pets.json")),
        ("file", "notes.txt"),
    }
