from __future__ import annotations

from pathlib import Path

from studio.core.masking.masker import Masker
from studio.core.masking.redact import DOTS
from studio.core.tools.document import McpServer, OpenApi, PythonFile
from studio.core.tools.mcp.server_config import HttpServer, StdioServer
from studio.core.tools.python_server.tool_file import cut
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import ToolOutcome


def test_what_a_file_of_servers_writes_out_is_known() -> None:
    masker = Masker()
    secrets = ToolSecrets(masker)
    stdio = StdioServer("run", (), {"API_KEY": "written-key-1", "LEVEL": "information"}, None)
    http = HttpServer("http://x", {"X-Api-Key": "written-key-2", "Accept": "application/json"})
    for declaration in (
        McpServer("a", stdio),
        McpServer("b", http),
        PythonFile(Path("/x.py")),
        OpenApi("c", "http://x", {"apiKey": "written-key-3"}),
        OpenApi("d", "http://x", {"apiKey": "${env:D}"}),
    ):
        secrets.note_written(declaration)
    said = "written-key-1 information written-key-2 application/json written-key-3 ${env:D}"
    assert secrets.masked(said) == (
        "${env:API_KEY} information ${key:X-Api-Key} application/json ${key:c} ${env:D}"
    )


def test_a_source_gets_plain_values_that_it_was_given_and_no_keys() -> None:
    masker = Masker()
    secrets = ToolSecrets(masker, {"ROOT": "/srv/project", "A_KEY": "secret-key-1"})
    environment = secrets.environment("mcp:files")()
    assert (environment["ROOT"], environment["A_KEY"]) == ("/srv/project", "secret-key-1")
    arguments = {"path": "${env:ROOT}/a.txt", "n": [1, "${env:A_KEY}"]}
    got = secrets.revealed(arguments, frozenset(), "mcp:files")
    assert got == {"path": "/srv/project/a.txt", "n": [1, "${env:A_KEY}"]}
    assert secrets.revealed(arguments, frozenset(), "mcp:other") == arguments
    got = secrets.revealed(arguments, {"${env:A_KEY}"}, "mcp:other")
    assert got == {"path": "${env:ROOT}/a.txt", "n": [1, "secret-key-1"]}
    assert secrets.revealed({"x": "${env:GONE}"}, {"${env:GONE}"}, "") is None


def test_a_key_that_the_limit_cuts_in_two_is_not_shown() -> None:
    masker = Masker({"A_KEY": "secret-key-0123456789"})
    text, truncated = cut("x" * 10 + "secret-key-0123456789" + "y" * 50, 25)
    outcome = ToolSecrets(masker).outcome(ToolOutcome(text, "ok", truncated=truncated))
    assert outcome.text.startswith("x" * 10 + DOTS + "\n… cut: ")
    whole, truncated = cut("x" * 10 + " secret " + "y" * 50, 17)
    assert ToolSecrets(masker).outcome(ToolOutcome(whole, "ok", truncated=True)).text == whole
