"""One bad entry never disables a server, and it is said which was left out."""

from __future__ import annotations

import sys
from pathlib import Path

from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.server_config import StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.mcp.streams import without_bad_entries
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
OLD = "2025-11-25"

SERVER = """
import json, sys
good = {"inputSchema": {"type": "object"}}
LISTS = {
    "tools/list": {"tools": [{"name": "first", **good}, {"name": "no_schema"},
                             {"description": "no name", **good}, {"name": "last", **good}]},
    "prompts/list": {"prompts": [{"title": "nameless"}, {"name": "ask"}]},
    "tools/call": {"content": [{"type": "text", "text": "called"}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = LISTS.get(asked["method"])
    if asked["method"] == "initialize":
        answer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "prompts": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    rest = {"result": answer} if answer else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **rest}), flush=True)
"""


def test_a_whole_list_is_left_as_it_is() -> None:
    listed = {"tools": [GOOD, {**GOOD, "name": "other"}]}
    assert without_bad_entries(listed, OLD) == (listed, ())


def test_only_what_cannot_be_read_is_left_out() -> None:
    bad = [{"name": "x"}, "no object", {"inputSchema": {}, "name": 5}]
    kept, remarks = without_bad_entries({"tools": [*bad, GOOD], "nextCursor": "n"}, OLD)
    assert kept == {"tools": [GOOD], "nextCursor": "n"}
    assert remarks[0] == "tool 'x' is left out: inputSchema: Field required"
    assert remarks[1].startswith("tool number 2 is left out: ")
    assert remarks[2].startswith("tool '5' is left out: ")


def test_resources_and_their_templates_too() -> None:
    uri, good = {"name": "no place"}, {"name": "a", "uri": "file:///a"}
    kept, remarks = without_bad_entries({"resources": [uri, good]}, OLD)
    assert (kept["resources"], len(remarks)) == ([good], 1)
    kept, remarks = without_bad_entries({"resourceTemplates": [{"name": "t"}]}, OLD)
    assert (kept["resourceTemplates"], len(remarks)) == ([], 1)


def test_what_is_wrong_with_the_page_is_no_entrys_fault() -> None:
    page = {"tools": [GOOD], "nextCursor": 7}
    assert without_bad_entries(page, OLD) == (page, ())


async def test_the_other_tools_of_such_a_server_work(tmp_path: Path, prompt: WritePrompt) -> None:
    path = tmp_path / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    source = McpSource("s", StdioServer(sys.executable, ("-S", "-E", str(path))))
    assert [spec.name for spec in await source.list_tools()] == ["first", "last"]
    assert (await source.call("last", {})).text == "called"
    assert [offer.name for offer in (await source.facts()).offers] == ["ask"]
    assert len(source.problems) == 3
    await source.close()
    (tmp_path / ".mcp.json").write_text(
        f'{{"servers": {{"s": {{"command": "{sys.executable}", "args": ["{path}"]}}}}}}',
        encoding="utf-8",
    )
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    registry = await session.load(prompt("metadata: {agent: {mcp_servers: [s]}}\n"))
    status = registry.sources[0]
    assert (status.state, status.tools) == ("ready", 2)
    assert "tool 'no_schema' is left out: inputSchema: Field required" in status.message
    await session.close()
