"""Servers are recognized in what users paste, and their tools are listed at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studio.application.tools.pasted_server import (
    PastedServer,
    ServerFileError,
    address_text,
    list_pasted,
    read_pasted,
    settings_text,
)
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolSourceError

NPX: JsonObject = {"command": "npx", "args": ["-y", "@x/server-memory"]}
WEB: JsonObject = {"type": "http", "url": "https://mcp.example.com/mcp"}


@pytest.mark.parametrize(
    ("text", "name", "entry"),
    [
        ('{"mcpServers": {"m": {"command": "npx", "args": ["-y", "@x/server-memory"]}}}', "m", NPX),
        (
            '{"mcp": {"servers": {"m": {"command": "npx", "args": ["-y", "@x/server-memory"]}}}}',
            "m",
            NPX,
        ),
        ('"m": {"command": "npx", "args": ["-y", "@x/server-memory"],},', "m", NPX),
        ('{"command": "npx", "args": ["-y", "@x/server-memory"]}', "memory", NPX),
        ("npx -y @x/server-memory", "memory", NPX),
        ("$ npx -y \\\n  @x/server-memory", "memory", NPX),
        (
            'Add:\n```json\n{"servers": {"w": {"serverUrl": "https://h/mcp"}}}\n```',
            "w",
            {"url": "https://h/mcp"},
        ),
        ("KEY=a npx x", "x", {"command": "npx", "args": ["x"], "env": {"KEY": "a"}}),
        ("docker run -i --rm -e TOKEN ghcr.io/a/github-mcp-server", "github", None),
        ("uv --directory /a run main.py", "main", None),
        ("https://mcp.example.com/mcp", "example", WEB),
        ("https://]x", "x", None),
        ("claude mcp add m -- npx -y @x/server-memory", "m", NPX),
        ("claude mcp add -s user m npx -- -y @x/server-memory", "m", NPX),
        (
            "claude mcp add m -e A=1 B=2 -- npx x",
            "m",
            {"command": "npx", "args": ["x"], "env": {"A": "1", "B": "2"}},
        ),
        (
            'claude mcp add --transport sse w https://h/sse --header "X-Key: ${KEY}"',
            "w",
            {"type": "sse", "url": "https://h/sse", "headers": {"X-Key": "${KEY}"}},
        ),
        (
            'claude mcp add-json m \'{"command": "npx", "args": ["-y", "@x/server-memory"]}\'',
            "m",
            NPX,
        ),
        ('code --add-mcp \'{"name": "m", "command": "c"}\'', "m", {"command": "c"}),
        ("codex mcp add w --url https://mcp.example.com/mcp", "w", WEB),
    ],
)
def test_what_is_pasted_is_recognized(text: str, name: str, entry: JsonObject | None) -> None:
    (found,) = read_pasted(text)
    assert found.name == name
    assert entry is None or found.entry == entry


def test_several_servers_of_a_readme_are_read() -> None:
    found = read_pasted(
        '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "http://h"}}}', "", "n"
    )
    assert [each.name for each in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "give a command line"),
        ("{", "the JSON cannot be read"),
        ('{"a": 1}', "contains no server"),
        ('{"mcpServers": {"a": {"type": "stdio"}}}', "a has no command"),
        ("claude mcp add x", "names no server"),
        ("KEY=a", "no program"),
        ("run 'x", "cannot be read"),
    ],
)
def test_what_is_none_is_said(text: str, said: str) -> None:
    with pytest.raises(ServerFileError, match=said):
        read_pasted(text)


def test_a_server_is_written_into_the_form_and_read_again() -> None:
    entry: JsonObject = {"command": "npx", "args": ["a b", "c"], "env": {"K": "v"}}
    assert read_pasted(address_text(entry), settings_text(entry))[0].entry == entry
    entry = {"type": "http", "url": "https://h/mcp", "headers": {"X": "y"}}
    assert read_pasted(address_text(entry), settings_text(entry))[0].entry == entry


async def test_its_tools_are_listed_at_once(tmp_path: Path) -> None:
    script = "from mcp.server.mcpserver import MCPServer\ns = MCPServer('s')\n"
    script += "@s.tool()\ndef look() -> str:\n    return ''\ns.run()\n"
    (tmp_path / "server.py").write_text(script, encoding="utf-8")
    server = PastedServer("s", {"command": sys.executable, "args": ["server.py"]}, "s")
    assert [spec.name for spec in await list_pasted(server, tmp_path)] == ["look"]
    broken = PastedServer("s", {"command": sys.executable, "args": ["-c", "exit(3)"]}, "s")
    with pytest.raises(ToolSourceError, match="exit code 3"):
        await list_pasted(broken, tmp_path)
