"""Further requests to a server: the list of its models, and vectors of texts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, address_of, is_local, provider_at
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.text.values import JsonObject, objects_of, parse_json
from studio.core.wire.request import Provider

_SECONDS = 20.0
_LISTS: Mapping[Provider, str] = {
    "anthropic": "/models?limit=1000",
    "gemini": "/models?pageSize=1000",
    "ollama": "/api/tags",
}
"""Path of the list of models; `/models` elsewhere."""

_EMBEDDINGS: Mapping[Provider, str] = {"gemini": "/openai/embeddings", "ollama": "/v1/embeddings"}
"""Path for vectors; `/embeddings` elsewhere."""

_MOST_DESCRIBED = 40
"""Models that a server is asked about one by one."""


async def listed_models(client: OpenAIClient) -> tuple[JsonObject, ...]:
    """Return the server's own descriptions of the models that it offers.

    Raises:
        ModelError: the server cannot be reached, refuses, or has no such list.
    """
    provider = provider_at(client.connection)
    answer = await client.ask("get", _LISTS.get(provider, "/models"), seconds=_SECONDS)
    found = _models_in(answer, provider)
    if found is None:
        raise client.bad_reply("its list of models is not one")
    return await _described(client, found) if client.connection.kind == "ollama" else found


def _models_in(answer: object, provider: Provider) -> tuple[JsonObject, ...] | None:
    """Return the models of a server's list; None where the answer is no list."""
    under = "models" if provider in ("ollama", "gemini") else "data"
    items = answer.get(under) if isinstance(answer, Mapping) else None
    if not isinstance(items, list):
        return None
    return tuple(item for item in map(_with_id, objects_of(items)) if item.get("id"))


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server of this machine that answered."""

    connection: Connection
    """Connection to it, which is not saved."""

    listed: tuple[JsonObject, ...]
    """Its own descriptions of its models."""


LOOK_SECONDS = 0.3
"""Time that a server of this machine gets for the list of its models."""

_MOST_LISTED_BYTES = 4 * 1024**2


async def found_servers(
    connections: Sequence[Connection], seconds: float = LOOK_SECONDS
) -> tuple[FoundServer, ...]:
    """Ask servers of this machine for their models: no key, no proxy, no redirect, all at once.

    Args:
        connections: the places to look at; one that is not on this machine is left out.
        seconds: the time that each gets.
    """

    async def look(connection: Connection) -> FoundServer | None:
        provider = provider_at(connection)
        try:
            async with asyncio.timeout(seconds):
                answer = await _plain_get(address_of(connection).rstrip("/"), _LISTS.get(provider))
            listed = _models_in(parse_json(answer), provider)
        except (OSError, ValueError, TimeoutError):
            return None
        return FoundServer(connection, listed) if listed else None

    here = [each for each in connections if is_local(address_of(each))]
    return tuple(filter(None, await asyncio.gather(*map(look, here))))


async def _plain_get(address: str, path: str | None) -> str:
    """Return the body of what a server of this machine answers to `GET`; no package is loaded.

    Raises:
        OSError: nothing is there.
        ValueError: the answer is no success, or too large.
    """
    place = urlsplit(address + (path or "/models"))
    head = f"GET {place.path} HTTP/1.0\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection(place.hostname, place.port or 80)
    try:
        writer.write(head.encode())
        answer = bytearray()
        while piece := await reader.read(_MOST_LISTED_BYTES):
            answer += piece
            if len(answer) > _MOST_LISTED_BYTES:
                raise ValueError("a list of models is not so long")
    finally:
        writer.close()
    start, _, body = answer.partition(b"\r\n\r\n")
    if start.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError("the server does not list its models")
    return body.decode()


async def _described(client: OpenAIClient, models: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return Ollama's models with its server's facts on each: window and abilities.

    One of which it says nothing stays as it was listed.
    """

    async def described(model: JsonObject) -> JsonObject:
        try:
            answer = await client.ask("post", "/api/show", {"model": model["id"]}, seconds=_SECONDS)
        except ModelError:
            return model
        return {**model, **answer} if isinstance(answer, Mapping) else model

    first = await asyncio.gather(*map(described, models[:_MOST_DESCRIBED]))
    return (*first, *models[_MOST_DESCRIBED:])


async def vectors_of(
    client: OpenAIClient, texts: Sequence[str], model: str
) -> tuple[tuple[float, ...], ...]:
    """Return a vector for each text.

    Raises:
        ModelError: the server cannot be reached, refuses, or answers something else.
    """
    path = _EMBEDDINGS.get(provider_at(client.connection), "/embeddings")
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    vectors = _vectors(await client.ask("post", path, body, seconds=_SECONDS))
    if len(vectors) != len(texts) or len(set(map(len, vectors))) != 1:
        raise client.bad_reply("it holds no vector for each text")
    return vectors


def _with_id(model: JsonObject) -> JsonObject:
    """Return a model with its id under the name that OpenAI's list has for it."""
    named = model.get("id") or model.get("model") or model.get("name")
    return {**model, "id": named.removeprefix("models/")} if isinstance(named, str) else model


def _vectors(answer: object) -> tuple[tuple[float, ...], ...]:
    """Return an answer's vectors in the order of the texts; fewer where it holds anything else."""
    items = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(items, list):
        return ()
    rows = [item for item in items if isinstance(item, Mapping)]
    if all(isinstance(item.get("index"), int) for item in rows):
        rows.sort(key=lambda item: item["index"])
    lists = [item.get("embedding") for item in rows]
    return tuple(
        tuple(map(float, each))
        for each in lists
        if isinstance(each, list) and each and all(isinstance(n, int | float) for n in each)
    )
