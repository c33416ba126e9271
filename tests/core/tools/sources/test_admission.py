"""Until a person trusts a folder nothing of it runs or is read, whatever its files say."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from studio.core.prompty.parse import parse
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.registry import VARIABLES_KEY
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt, WriteTools
from tests.support.tool_ids import tool_id


@pytest.fixture
async def session() -> AsyncIterator[ToolSession]:
    made = ToolSession(TrustStore())
    yield made
    await made.close()


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A service, and what it was asked for: path and key."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65537)
            if self.raw_requestline and self.parse_request():
                heard.append(f"{self.path} {self.headers.get('X-Key')}")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    thread.join()
    server.server_close()


async def test_planted_canaries_stay_asleep(
    session: ToolSession,
    prompt: WritePrompt,
    tool_file: WriteTools,
    tmp_path: Path,
    asked: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANARY", "secret")
    address, heard = asked
    marks = tmp_path / "marks"
    marks.mkdir()
    write = f"open({str(marks)!r} + '/{{}}', 'w').close()"
    tool_file(write.format("python"))
    (tmp_path / ".mcp.json").write_text(
        json.dumps(
            {
                "mcpServers": {
                    "command": {"command": sys.executable, "args": ["-c", write.format("mcp")]},
                    "web": {"url": f"{address}/mcp", "headers": {"X-Key": "${env:CANARY}"}},
                }
            }
        ),
        encoding="utf-8",
    )
    document = prompt(
        f"""
        name: canaries
        tools:
          - {{name: described, kind: openapi, specification: '{address}/openapi.json'}}
          - name: direct
            kind: mcp
            connection: {{endpoint: '{address}/direct', apiKey: '${{env:CANARY}}'}}
          - name: inline
            kind: mcp
            connection: {{command: {sys.executable}, args: ['-c', "{write.format("inline")}"]}}
        metadata:
          agent:
            tools: [my_tools.py]
            mcp_servers: [command, web]
        """
    )
    registry = await session.load(document)
    assert {status.state for status in registry.sources} == {"untrusted"}
    assert len(registry.sources) == 7, "six sources, and the variables"
    for status in registry.sources:
        await session.current.sources.restart(status.key)
        session.start_server(status.key)
    await session.load(document)
    for name in ("command", "web", "described", "my_tools"):
        assert (
            await session.current.try_tool(tool_id(session.registry, name), {})
        ).status == "unknown-tool"
    assert list(marks.iterdir()) == []
    assert heard == []

    TrustStore().trust(tmp_path)
    registry = await session.load(document)
    assert {path.name for path in marks.iterdir()} == {"python", "mcp", "inline"}
    assert any(request.endswith(" secret") for request in heard)


async def test_no_file_of_a_folder_can_grant_trust(
    session: ToolSession,
    prompt: WritePrompt,
    tool_file: WriteTools,
    tmp_path: Path,
    user_home: Path,
) -> None:
    mark = tmp_path / "ran"
    tool_file(f"open({str(mark)!r}, 'w').close()\ndef f(): ...")
    claim = {"folders": [str(tmp_path), "/"], "approvals": {}, "trusted": True, "trust": "all"}
    for name in (
        "trust.json",
        ".mcp.json",
        ".promptstudio.json",
        "settings.json",
        "data/trust.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(claim), encoding="utf-8")
    (tmp_path / ".env").write_text(f"PROMPT_STUDIO_HOME={tmp_path}\n", encoding="utf-8")
    document = prompt(
        f"""
        name: sly
        trust: true
        trusted: [{tmp_path}]
        metadata:
          trust: {{folders: [{tmp_path}]}}
          agent:
            tools: [my_tools.py]
            trust: true
            trusted: true
            approvals: {{f: allow}}
        """
    )
    registry = await session.load(document)
    assert registry.sources[0].state == "untrusted"
    assert registry.sources[0].folder == tmp_path
    assert not mark.exists()
    assert not list(user_home.rglob("trust.json"))


async def test_variables_alone_want_trust_too(
    session: ToolSession, prompt: WritePrompt, tmp_path: Path
) -> None:
    front = "name: x\nmodel: {id: m, connection: {kind: key, apiKey: '${env:SOME_KEY}'}}\n"
    [status] = (await session.load(prompt(front))).sources
    assert (status.key, status.state, status.folder) == (VARIABLES_KEY, "untrusted", tmp_path)
    assert "${env:}" in status.message
    assert (await session.load(prompt("name: x\n"))).sources == ()
    # A reference in text that no run would resolve is text.
    prompty = "name: x\ntemplate: {format: {kind: jinja2}, parser: {kind: prompty}}\n"
    assert (await session.load(prompt(prompty, "system:\n${env:HOME}\n"))).sources == ()
    TrustStore().trust(tmp_path)
    assert (await session.load(prompt(front))).sources == ()


async def test_pasted_text_starts_nothing(session: ToolSession, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    document = parse(
        "---\ntools:\n  - name: sly\n    kind: mcp\n    connection:\n"
        f"      command: {sys.executable}\n      args: ['-c', \"open({str(mark)!r}, 'w')\"]\n"
        "---\nsystem:\nx\n"
    )
    [status] = (await session.load(document)).sources
    assert status.state == "untrusted"
    assert "saved" in status.message
    assert not mark.exists()


async def test_an_open_python_file_is_its_own_source(
    session: ToolSession, tool_file: WriteTools, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    path = tool_file(
        f"open({str(mark)!r}, 'w').close()\nPAGE = '{{% if %}} {{{{ x }}}} ${{env:HOME}}'\n"
        "def add(a: int) -> int: return a + 1\ndef also(): ..."
    )
    document = parse(path.read_text(encoding="utf-8"), path)
    assert document.problems == ()
    assert document.variables == ()
    registry = await session.load(document)
    assert [(status.state, status.path) for status in registry.sources] == [("untrusted", path)]
    assert not mark.exists()
    TrustStore().trust(tmp_path)
    registry = await session.load(document)
    assert [entry.name for entry in registry.entries if entry.enabled] == ["add", "also"]
    assert (await session.current.try_tool(tool_id(session.registry, "add"), {"a": 1})).value == 2
