"""Servers come from the files of other programs, and from what the user writes down."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from studio.application.tools.pasted_server import (
    ServerFileError,
    add_servers,
    read_pasted,
    server_files,
    server_in,
    servers_of,
)
from studio.core.tools.mcp.server_config import HttpServer, StdioServer, find_own_servers

VS_CODE = """// my servers
{
  "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
  "servers": {
    /* local */
    "files": {"type": "stdio", "command": "npx", "args": ["-y", "x", "${workspaceFolder}/a"],
              "env": {"KEY": "${input:api-key}", "URL": "http://h/ // no comment",}},
    "web": {"type": "http", "url": "https://example.com/mcp"},
    "empty": {"type": "stdio"},
  },
}
"""


def test_what_vs_code_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "work" / ".vscode" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text(VS_CODE, encoding="utf-8")
    files, web = servers_of("VS Code", path, tmp_path)
    assert files.entry["args"] == ["-y", "x", f"{tmp_path}/work/a"]
    assert files.entry["env"] == {"KEY": "${env:API_KEY}", "URL": "http://h/ // no comment"}
    assert files.shown.startswith("npx -y x")
    assert (web.name, web.shown) == ("web", "https://example.com/mcp")


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".config/Claude"),
        ("darwin", "Library/Application Support/Claude"),
        ("win32", "AppData/Roaming/Claude"),
    ],
)
def test_the_file_of_claude_desktop_is_found(tmp_path: Path, platform: str, place: str) -> None:
    path = server_files(tmp_path, {}, platform)["Claude Desktop"]
    assert path == tmp_path / place / "claude_desktop_config.json"
    assert servers_of("Claude Desktop", path, tmp_path) == ()
    path.parent.mkdir(parents=True)
    entry = {"command": "uvx", "args": ["mcp-server-time"], "env": {"T": "${env:T}"}}
    path.write_text(json.dumps({"mcpServers": {"time": entry}}), encoding="utf-8")
    (server,) = servers_of("Claude Desktop", path, tmp_path)
    assert (server.name, server.entry) == ("time", entry)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ServerFileError, match="is not JSON"):
        servers_of("Claude Desktop", path, tmp_path)


def test_files_of_the_workspace_are_found(tmp_path: Path) -> None:
    for name in (".cursor", ".vscode"):
        (tmp_path / "app" / name).mkdir(parents=True)
        (tmp_path / "app" / name / "mcp.json").touch()
    found = server_files(tmp_path, {}, "linux", tmp_path / "app" / "prompts")
    assert found["Cursor (app)"] == tmp_path / "app" / ".cursor" / "mcp.json"
    assert found["VS Code (app)"] == tmp_path / "app" / ".vscode" / "mcp.json"


def test_servers_are_added_beside_those_that_are_there(tmp_path: Path) -> None:
    own = tmp_path / "settings" / "mcp.json"
    (pasted,) = read_pasted('npx -y "@x/server files" /tmp', "KEY=a=b\n\n")
    command = pasted.entry
    assert add_servers(own, [("files", command)]) == ("files",)
    web = read_pasted(" https://example.com/mcp ", "Authorization: Bearer ${env:KEY}")[0].entry
    assert add_servers(own, [("files", web), ("web", web)]) == ("files_2", "web")
    if os.name == "posix":  # keys may stand in it
        assert stat.S_IMODE(own.stat().st_mode) == 0o600
    found = find_own_servers(own)
    assert found.problem == ""
    assert found.servers == {
        "files": StdioServer("npx", ("-y", "@x/server files", "/tmp"), {"KEY": "a=b"}, own.parent),
        "files_2": HttpServer("https://example.com/mcp", {"Authorization": "Bearer ${env:KEY}"}),
        "web": HttpServer("https://example.com/mcp", {"Authorization": "Bearer ${env:KEY}"}),
    }


def test_a_server_is_replaced_and_removed(tmp_path: Path) -> None:
    own = tmp_path / "mcp.json"
    own.write_text('{"other": 1, "servers": {"a": {"command": "x"}}}', encoding="utf-8")
    assert add_servers(own, [("a", {"command": "y"})], "a") == ("a",)
    assert server_in(own, "a") == {"command": "y"}
    assert add_servers(own, (), "a") == ()
    assert json.loads(own.read_text(encoding="utf-8")) == {"other": 1, "servers": {}}
    assert server_in(own, "a") is None


def test_what_cannot_be_read_is_told_and_the_file_stays(tmp_path: Path) -> None:
    own = tmp_path / "mcp.json"
    own.write_text("[1]", encoding="utf-8")
    with pytest.raises(ServerFileError, match="contains no object"):
        add_servers(own, [("x", {"command": "x"})])
    assert own.read_text(encoding="utf-8") == "[1]"
    for address, settings, words in (
        ("", "", "give a command line"),
        ("run 'x", "", "cannot be read"),
        ("run", "KEY", "NAME=value"),
        ("https://example.com", "Key", "Name: value"),
    ):
        with pytest.raises(ServerFileError, match=words):
            read_pasted(address, settings)
