"""Trying a connection: does it answer, as what, and with which models."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.choice import needs_address
from studio.core.models.connections import Api, Connection
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.factory import embedded_settings
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.model import RemoteModel, shown_address
from studio.core.models.remote.offers import listed_models
from studio.core.models.remote.openai_client import KeySource, OpenAIClient
from studio.core.models.secrets import SecretStore
from studio.core.prompty.messages import Message, TextPart
from studio.core.text.amounts import counted, duration
from studio.core.text.values import JsonObject

_NO_LIST = frozenset(("not-found", "bad-reply", "bad-request", "forbidden"))
"""Faults of the list that say nothing about completions: there is none, it is something else, or
the key may not see it."""

_FEWEST_TOKENS: Mapping[Api, int] = {"chat": 1, "responses": 16}
"""What the APIs take as the smallest limit of a reply."""


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

    lists: bool = True
    """Whether it lists its models; where it does not, the id of one has to be typed."""


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
    key = _key_source(connection, secrets)
    target = Endpoint(connection.name, shown_address(connection), connection.model)
    client = OpenAIClient(connection, key, target)
    try:
        await client.prepare()
        start = time.monotonic()
        listed = await listed_models(client)
    except ModelError as error:
        if error.kind not in _NO_LIST:
            raise
        return await _ask_one_token(connection, key, start, error)
    finally:
        await client.close()
    models = tuple(sorted({str(item["id"]) for item in listed}))
    seconds = time.monotonic() - start
    message = f"{connection.name} answers: {counted(len(models), 'model')} in {duration(seconds)}."
    hint = ""
    if connection.model and connection.model not in models:
        hint = f"{connection.model!r} is not among its models."
    return Probe(True, message, hint, models, listed, seconds)


def _without_list(connection: Connection, refused: ModelError, start: float) -> Probe:
    """What is said of a server that does not list its models, while no id of one is known."""
    seconds = time.monotonic() - start
    typed = "Type the id of a model and test again: it is then asked for one token."
    ends = ": it usually ends in /v1" if connection.kind in ("compatible", "openai") else ""
    if refused.kind == "bad-reply":
        message = (
            f"{connection.name} answers, but not as a model server does: a web page or another "
            f"program stands at {shown_address(connection)}."
        )
        hint = (
            f"Check the address{ends}. A network with a sign-in page answers so too. If the server "
            "only lists no models, type the id of one and test again."
        )
        return Probe(False, message, hint, seconds=seconds, lists=False)
    if refused.kind == "forbidden":
        return Probe(False, refused.message, typed, seconds=seconds, lists=False)
    message = f"{connection.name} is there, but does not list its models."
    hint = f"{typed} If nothing answers then, check the address{ends}."
    return Probe(False, message, hint, seconds=seconds, lists=False)


async def _ask_one_token(
    connection: Connection, key: KeySource, start: float, refused: ModelError
) -> Probe:
    """Try a server that does not list its models by the shortest request that there is.

    Args:
        connection: the connection.
        key: its key.
        start: when the trial began.
        refused: how it answered when it was asked for its list.

    Raises:
        ModelError: it does not answer that either.
    """
    if not connection.model:
        return _without_list(connection, refused, start)
    model = RemoteModel(replace(connection, retries=0), connection.model, key)
    most = _FEWEST_TOKENS[connection.api]
    request = ModelRequest((Message("user", (TextPart("Hi"),)),), options={"maxOutputTokens": most})
    try:
        async with aclosing(model.stream(request)) as deltas:
            async for _ in deltas:
                pass
    finally:
        await model.close()
    seconds = time.monotonic() - start
    return Probe(
        True,
        f"{connection.name} answers as {connection.model!r} in {duration(seconds)}.",
        "It does not list its models: the ids of others have to be typed.",
        seconds=seconds,
    )


def _key_source(connection: Connection, secrets: SecretStore) -> KeySource:
    return lambda: secrets.read(connection.key, connection.name)


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
    return Probe(True, f"{name} is ready after {duration(seconds)}.", "", (name,), (), seconds)
