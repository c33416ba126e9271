"""Keys in command lines and addresses are shown nowhere and kept nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.core.masking.masker import Masker
from studio.core.masking.redact import DOTS
from studio.core.tools.document import McpServer
from studio.core.tools.mcp.server_config import (
    HttpServer,
    StdioServer,
    address_pin,
    without_secrets,
)
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.sources.consent import server_want
from studio.core.tools.trust.store import TrustStore

KEY = "planted-51-50-value"


@pytest.mark.parametrize(
    "words",
    [
        ("server", "--api-key", KEY),
        ("server", "--api-key=" + KEY),
        ("server", "-token", KEY, "--verbose"),
        ("env", f"GITHUB_TOKEN={KEY}", "server"),
        ("sh", "-c", f"export DB_PASSWORD={KEY}; exec server"),
        ("mcp-remote", "https://example.com/sse", "--header", f"Authorization: Bearer {KEY}"),
        (f"https://example.com/mcp?x=1&api_key={KEY}&y=2",),
        (f"https://user:{KEY}@example.com/mcp",),
    ],
)
def test_a_key_is_hidden_and_the_rest_is_not(words: tuple[str, ...]) -> None:
    shown, found = without_secrets(words)
    assert KEY not in " ".join(shown)
    assert DOTS in " ".join(shown)
    assert len(shown) == len(words)
    assert [each.value for each in found] == [KEY]
    for before, after in zip(words, shown, strict=True):
        assert after in (DOTS, before) or before.partition(KEY)[0].rstrip() in after


@pytest.mark.parametrize(
    "words",
    [
        ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/My Files"),
        ("server", "--api-key", "${env:MY_KEY}", "--token=${TOKEN}"),
        ("server", "--key-file", "/etc/key.pem", "--max-tokens", "50", "--token-limit=9"),
        ("server", "--api-key", "--verbose"),
        ("ollama", "--api-key", "none"),
        ("https://example.com/mcp?page=2",),
    ],
)
def test_what_is_no_key_is_shown_as_it_is(words: tuple[str, ...]) -> None:
    assert without_secrets(words) == (words, ())


@pytest.mark.parametrize(
    "address",
    [
        StdioServer("server", ("--api-key", KEY)),
        HttpServer(f"https://e.example/mcp?token={KEY}", {"X-Key": KEY}),
    ],
)
def test_what_is_allowed_is_kept_without_it_and_another_key_is_another_server(
    tmp_path: Path, address: StdioServer | HttpServer
) -> None:
    server = McpServer("s", address, origin=tmp_path / ".mcp.json")
    want = server_want(server)
    assert want is not None
    store = TrustStore(tmp_path / "trust.json")
    store.trust(tmp_path, (want,))
    assert KEY not in (tmp_path / "trust.json").read_text(encoding="utf-8")
    assert KEY not in want.text
    whole = json.loads((tmp_path / "trust.json").read_text(encoding="utf-8"))
    assert whole["allowed"]
    other = StdioServer("server", ("--api-key", KEY + "2"))
    assert (
        address_pin(other).digest != address_pin(StdioServer("server", ("--api-key", KEY))).digest
    )


def test_a_key_in_a_command_line_is_masked_where_a_tool_says_it() -> None:
    secrets = ToolSecrets(Masker(), {})
    secrets.note_written(McpServer("s", StdioServer("server", ("--api-key", KEY))))
    assert KEY not in secrets.masked(f"called with {KEY}")
