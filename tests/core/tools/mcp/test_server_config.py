"""How MCP servers are named: `.mcp.json`, connections, references."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.core.tools.mcp.server_config import (
    HttpServer,
    StdioServer,
    approval_mode,
    expand,
    find_workspace_servers,
    server_address,
)


def test_the_nearest_file_above_is_read(tmp_path: Path) -> None:
    servers = {
        "local": {"command": "run", "args": ["-x", 1], "env": {"A": "${env:B}"}},
        "remote": {"type": "http", "url": "https://example.com/mcp", "headers": {"X": "y"}},
        "broken": {"type": "http"},
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    found = find_workspace_servers(deep)
    assert found.path == tmp_path / ".mcp.json"
    assert found.servers == {
        "local": StdioServer("run", ("-x", "1"), {"A": "${env:B}"}, tmp_path),
        "remote": HttpServer("https://example.com/mcp", {"X": "y"}),
    }
    assert "broken" in found.problem


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"mcpServers": 3}'])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")
    found = find_workspace_servers(tmp_path)
    assert ".mcp.json" in found.problem
    assert not found.servers


def test_a_connection_with_an_endpoint_and_a_key(tmp_path: Path) -> None:
    address = server_address(
        {"kind": "key", "endpoint": "https://e", "apiKey": "${env:K}"}, tmp_path
    )
    assert address == HttpServer("https://e", {"Authorization": "Bearer ${env:K}"})
    assert server_address({"kind": "reference", "name": "x"}, tmp_path) is None


def test_references_are_expanded() -> None:
    known = {"A": "1"}
    assert expand("${env:A}-${A}-${env:B:x:y}-${B:-z}-$A", known) == "1-1-x:y-z-$A"
    with pytest.raises(LookupError, match="'B' is not set"):
        expand("${env:B}", known)


def test_approval_modes() -> None:
    lists = {
        "kind": "specify",
        "alwaysRequireApprovalTools": ["send"],
        "neverRequireApprovalTools": ["read"],
    }
    assert approval_mode("always", "x") == "always"
    assert approval_mode({"kind": "never"}, "x") == "allow"
    assert [approval_mode(lists, name) for name in ("send", "read", "x")] == [
        "always",
        "allow",
        None,
    ]
    assert approval_mode(None, "x") is None
