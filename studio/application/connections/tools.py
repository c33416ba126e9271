"""The studio's connections as tools name them: `connection: {kind: reference, name: …}`."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from studio.core.models.connections import Connection, Connections, address_of
from studio.core.models.secrets import SecretStore
from studio.core.paths import user_paths
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.connection import AskForInput
from studio.core.tools.mcp.server_config import OWN_FILE
from studio.core.tools.openapi.credentials import NamedConnection
from studio.core.tools.trust.store import TrustStore


def tool_connection(
    connections: Connections, secrets: SecretStore, name: str
) -> NamedConnection | None:
    """Return a tool's connection by name; None where no server is configured for it."""
    found = connections.named(name)
    if found is None or not found.is_remote or not address_of(found):
        return None
    read_key = partial(_read_key, found, secrets)
    return NamedConnection(address_of(found), bool(found.key), read_key)


def tool_session(
    trust: TrustStore,
    connections: Connections,
    secrets: SecretStore,
    ask_input: AskForInput | None = None,
    allowed: Collection[str] = (),
) -> ToolSession:
    """Open the tools of prompts together with the user's own servers and connections.

    Args:
        trust: the folders that the user trusts.
        connections: what the user has set up; a tool may name one.
        secrets: where their keys are.
        ask_input: asks the user for what an MCP server wants to know.
        allowed: names of tools that may be called without a question.
    """
    own = user_paths().config / OWN_FILE
    session = ToolSession(
        trust, own_servers=own, masker=secrets.masker, ask_input=ask_input, allowed=allowed
    )
    session.find_connection = partial(tool_connection, connections, secrets)
    return session


async def _read_key(connection: Connection, secrets: SecretStore) -> str:
    """Read the connection's key; raises LookupError where there is none."""
    if not connection.key:
        return ""
    looked = await secrets.read(connection.key, connection.name)
    if looked.secret is None:
        raise LookupError(f"the connection {connection.name!r} has no key: {looked.reason}")
    return looked.secret.reveal()
