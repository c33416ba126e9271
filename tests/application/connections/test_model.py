"""The studio's connections for tools that name them."""

from __future__ import annotations

import pytest

from studio.application.connections.model import tool_connection
from studio.core.models.connections import Connection, Connections
from studio.core.models.secrets import Secret, SecretStore

HERE = Connections(
    (
        Connection("office", "compatible", base_url="https://api.example.test/v1", key="keyring"),
        Connection("open", "compatible", base_url="http://localhost:1/v1"),
        Connection("variable", "openai", key="${env:MY_KEY}"),
        Connection("nowhere", "compatible"),
        Connection("mine", "manual"),
    )
)


async def test_a_connection_gives_its_address_and_its_key() -> None:
    secrets = SecretStore({"MY_KEY": "from-the-environment"}, use_keyring=False)
    await secrets.keep("office", Secret("of-this-session"))
    office = tool_connection(HERE, secrets, "office")
    assert office is not None
    assert (office.address, office.has_key) == ("https://api.example.test/v1", True)
    assert await office.read_key() == "of-this-session"
    variable = tool_connection(HERE, secrets, "variable")
    assert variable is not None
    assert variable.address == "https://api.openai.com/v1"
    assert await variable.read_key() == "from-the-environment"
    free = tool_connection(HERE, secrets, "open")
    assert free is not None
    assert (free.has_key, await free.read_key()) == (False, "")


async def test_a_key_that_is_missing_is_a_reason_and_no_empty_key() -> None:
    office = tool_connection(HERE, SecretStore({}, use_keyring=False), "office")
    assert office is not None
    with pytest.raises(LookupError, match="'office' has no key"):
        await office.read_key()


@pytest.mark.parametrize("name", ["nowhere", "mine", "unheard of", ""])
def test_what_leads_to_no_server_is_no_connection_for_a_tool(name: str) -> None:
    assert tool_connection(HERE, SecretStore({}, use_keyring=False), name) is None
