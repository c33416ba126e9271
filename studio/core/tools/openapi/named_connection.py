"""Connections of the user's, which a tool may name instead of an address and a key.

`connection: {kind: reference, name: office}` (Prompty 2.1). The tools know nothing of models and
their connections: who makes a session hands in how one is found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from studio.core.text.values import JsonObject
from studio.core.tools.openapi.operation import OpenApiError


@dataclass(frozen=True, slots=True)
class NamedConnection:
    """Where a connection leads, and how its key is found."""

    address: str
    """Base address of its API."""

    has_key: bool
    """Whether it is to be used with a key."""

    read_key: Callable[[], Awaitable[str]]
    """Looks the key up, when it is needed; raises LookupError with the reason where there is
    none."""


FindConnection: TypeAlias = Callable[[str], NamedConnection | None]
"""The connection of that name; None where none is set up."""


def no_connection(_name: str) -> NamedConnection | None:
    """Where nobody has set up any."""
    return None


def name_of(connection: JsonObject) -> str:
    """The connection that a tool's `connection` block names; empty where it names none."""
    if connection.get("kind") != "reference" or connection.get("apiKey"):
        return ""
    return str(connection.get("name") or "")


def address_for(found: NamedConnection, endpoint: str, server: str) -> str:
    """Where requests with a connection's key go: never to another server than its own.

    A prompt file from somewhere chooses the name, the endpoint and the description; together they
    could lead the key of one service to another.

    Args:
        found: the connection.
        endpoint: what the tool's own block says; empty where it says none.
        server: what the description says.

    Raises:
        OpenApiError: the tool wants to go elsewhere.
    """
    if endpoint:
        if _origin(endpoint) != _origin(found.address):
            raise OpenApiError(
                f"its connection is for {_origin(found.address)}, and its endpoint is another "
                f"server ({_origin(endpoint)}), which gets no key: take the endpoint out"
            )
        return endpoint
    return server if _origin(server) == _origin(found.address) else found.address


def _origin(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.hostname else ""
