"""The studio's connections as tools name them: `connection: {kind: reference, name: …}`."""

from __future__ import annotations

from functools import partial

from studio.core.models.connection_file import Connections
from studio.core.models.connections import Connection, address_of
from studio.core.models.secrets import SecretStore
from studio.core.tools.openapi.named_connection import NamedConnection


def tool_connection(
    connections: Connections, secrets: SecretStore, name: str
) -> NamedConnection | None:
    """The connection of that name for a tool; None where none is set up that leads to a server."""
    found = connections.named(name)
    if found is None or not found.is_remote or not address_of(found):
        return None
    read_key = partial(_read_key, found, secrets)
    return NamedConnection(address_of(found), bool(found.key), read_key)


async def _read_key(connection: Connection, secrets: SecretStore) -> str:
    """Raises LookupError: there is no key."""
    if not connection.key:
        return ""
    looked = await secrets.read(connection.key, connection.name)
    if looked.secret is None:
        raise LookupError(f"the connection {connection.name!r} has no key: {looked.reason}")
    return looked.secret.reveal()
