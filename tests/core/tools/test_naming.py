"""Names that a provider refuses are mapped to ones that it takes, and back at the call."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.prompty.document import ToolId
from studio.core.tools.binding import model_names, safe_names
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt
from tests.core.tools.trust.test_review import WEATHER, Server


def test_names_that_every_provider_takes_stay() -> None:
    assert safe_names(["get_x", "get-y", "A1"]) == {"get_x": "get_x", "get-y": "get-y", "A1": "A1"}
    assert safe_names(["with space", "with_space", "ünï", ""]) == {
        "with space": "with_space_2",
        "with_space": "with_space",
        "ünï": "uni",
        "": "tool",
    }
    long = "a" * 70
    assert [len(each) for each in safe_names([long, long + "b"]).values()] == [64, 64]


def test_tools_that_share_a_name_get_the_prefixes_of_their_sources() -> None:
    servers = {"mcp:staging": ["read", "list"], "mcp:live": ["read"], "python:/w/my_t.py": ["x"]}
    expected = {
        ToolId("mcp:staging", "read"): "staging__read",
        ToolId("mcp:staging", "list"): "list",
        ToolId("mcp:live", "read"): "live__read",
        ToolId("python:/w/my_t.py", "x"): "my_t__x",
    }
    assert model_names([servers], ["x"]) == expected
    assert model_names([dict(reversed(servers.items()))], ["x"]) == expected
    # A server that the prompt does not name changes no name of the prompt's.
    with_further = model_names([servers, {"mcp:new": ["list", "read"]}], ["x"])
    assert with_further == {
        **expected,
        ToolId("mcp:new", "list"): "new__list",
        ToolId("mcp:new", "read"): "read",
    }


def test_a_server_cannot_take_the_prefixed_name_of_another() -> None:
    names = model_names([{"mcp:a": ["read"], "mcp:b": ["read", "a__read"]}])
    assert names[ToolId("mcp:a", "read")] == "a__read"
    assert names[ToolId("mcp:b", "a__read")] == "b__a__read"


@settings(derandomize=True, deadline=None)
@given(st.lists(st.text(max_size=80), max_size=12))
def test_any_names_give_as_many_safe_ones(names: list[str]) -> None:
    found = safe_names(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in found.values())


async def test_a_tool_is_offered_by_the_safe_name_and_called_by_its_own(
    prompt: WritePrompt, tmp_path: Path
) -> None:
    server = Server(tmp_path)
    script = tmp_path / "server.py"
    echo = '"text": json.dumps(asked["params"])'
    script.write_text(
        script.read_text(encoding="utf-8").replace('"text": "called"', echo), encoding="utf-8"
    )
    server.has({**WEATHER, "name": "get weather <b>"}, WEATHER)
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    registry = await session.load(prompt("name: a\nmetadata: {agent: {mcp_servers: [weather]}}\n"))
    assert [spec.name for spec in registry.specs] == ["get_weather_b", "get_weather"]
    entry = registry.named("get_weather_b")
    assert entry is not None
    assert entry.id == ToolId("mcp:weather", "get weather <b>")
    outcome = await session.current.toolbox().call("get_weather_b", {"city": "Rome"})
    assert json.loads(outcome.text)["name"] == "get weather <b>"
    await session.close()
