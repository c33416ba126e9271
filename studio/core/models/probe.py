"""Trying a connection: does it answer, as what, and with which models."""

from __future__ import annotations

import time
from dataclasses import dataclass

from studio.core.models.base import ModelError
from studio.core.models.choice import needs_address
from studio.core.models.connections import Connection
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.factory import embedded_settings
from studio.core.models.faults import Target
from studio.core.models.openai_client import OpenAIClient
from studio.core.models.remote import shown_address
from studio.core.models.secrets import SecretStore
from studio.core.text.values import JsonObject


@dataclass(frozen=True, slots=True)
class Probe:
    """How trying a connection went."""

    works: bool
    """Whether it answered."""

    message: str
    """What happened, in one sentence."""

    hint: str = ""
    """What to do, where it did not."""

    models: tuple[str, ...] = ()
    """Ids of the models that it offers, sorted."""

    listed: tuple[JsonObject, ...] = ()
    """Its own descriptions of them."""

    seconds: float = 0.0
    """How long it took."""


async def probe(
    connection: Connection, secrets: SecretStore, embedded: EmbeddedServer | None = None
) -> Probe:
    """Try a connection; never raises for what is wrong with it.

    Args:
        connection: the connection, saved or not.
        secrets: where its key is.
        embedded: the studio's embedded server; without it one is started and stopped again.
    """
    start = time.monotonic()
    try:
        if connection.kind == "embedded":
            return await _embedded(connection, embedded, start)
        if not connection.is_remote:
            return Probe(True, "Nothing to connect to: it answers right here.")
        return await _remote(connection, secrets, start)
    except ModelError as error:
        return Probe(False, error.message, error.hint, seconds=time.monotonic() - start)


async def _remote(connection: Connection, secrets: SecretStore, start: float) -> Probe:
    if needs_address(connection):
        return Probe(False, "The connection has no address.", "Enter the address of its API.")
    target = Target(connection.name, shown_address(connection), connection.model)
    client = OpenAIClient(connection, lambda: secrets.read(connection.key, connection.name), target)
    try:
        listed = await client.models()
    finally:
        await client.close()
    models = tuple(sorted({str(item["id"]) for item in listed}))
    seconds = time.monotonic() - start
    count = f"{len(models)} model{'' if len(models) == 1 else 's'}"
    message = f"{connection.name} answers: {count} in {seconds:.1f} s."
    hint = ""
    if connection.model and connection.model not in models:
        hint = f"{connection.model!r} is not among its models."
    return Probe(True, message, hint, models, listed, seconds)


async def _embedded(connection: Connection, shared: EmbeddedServer | None, start: float) -> Probe:
    settings = embedded_settings(connection)
    server = shared or EmbeddedServer(settings)
    try:
        async with server.turn():
            await server.change(settings)
            await server.start()
        name = server.weights().name
    finally:
        if shared is None:
            await server.stop()
    seconds = time.monotonic() - start
    return Probe(True, f"{name} is ready after {seconds:.1f} s.", "", (name,), (), seconds)
