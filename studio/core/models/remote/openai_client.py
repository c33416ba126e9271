"""A client for one server, based on openai's package, with its errors as `ModelError`.

The SDK builds URLs and headers, and sends requests. Bodies and events are built and read by `wire`.
Network errors (names, proxies, certificates, time limits) are recognized here too.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from studio.core.masking.masker import Masker, key_reference
from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, address_of, is_local, provider_at
from studio.core.models.proxies import Proxy, transport_to
from studio.core.models.remote import faults
from studio.core.models.remote.sdk import EventStream, make_client, raised, whole_body
from studio.core.models.secrets import KEYRING, Secret, SecretLookup
from studio.core.text.values import JsonObject, objects_of, parse_json, within_depth
from studio.core.wire.events import LineSplitter
from studio.core.wire.request import Provider
from studio.core.wire.wire_call import WireRecorder, recording

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai._types import RequestOptions


_TLS = ("SSLError", r"\[SSL")
_CAUSES = {
    "dns": ("gaierror", "Name or service not known|getaddrinfo|nodename"),
    "tls": _TLS,
    "refused": ("ConnectionRefusedError", "Connection refused|connection attempts failed"),
    "timeout/connect": ("ConnectTimeout", None),
    "timeout/answer": (".*Timeout.*", None),
    "bad-address": ("UnsupportedProtocol|InvalidURL", None),
    "bad-address/port": ("", "illegal (?:status|header|request) line"),
    "cut-off/silent": ("", "without sending a response"),
}
"""Kinds of errors with the names of their exception types, and words in their messages."""


def network_fault(error: BaseException, target: faults.Endpoint) -> ModelError:
    """Return the error for a connection that failed or broke."""
    causes = list(_causes(error))
    if target.proxy and (fault := _proxy_fault(causes, target)) is not None:
        return fault
    key = next((key for key, signs in _CAUSES.items() if _first(causes, *signs)), "cut-off")
    detail = _first(causes, "SSLError")
    reason = getattr(detail, "verify_message", "") or getattr(detail, "reason", "") or ""
    return faults.fault_of(key, target, text=f": {reason}" if reason else "")


def _proxy_fault(causes: list[BaseException], target: faults.Endpoint) -> ModelError | None:
    """Return the error for a failed connection to the proxy; None for errors behind it."""
    if refusal := _first(causes, "ProxyError"):
        words = " ".join(str(refusal).split())[: faults.LONGEST_TEXT].rstrip(".")
        if words.startswith("407") or "auth" in words.lower() or "password" in words.lower():
            return faults.fault_of("proxy/name", target)
        return faults.fault_of("proxy/refusal", target, text=f": {words}" if words else "")
    is_silent = _first(causes, "ConnectError|ConnectTimeout") and not _first(causes, *_TLS)
    return faults.fault_of("proxy/down", target) if is_silent else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all its causes, including those in groups."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop(0)
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            left += each.exceptions


def _first(
    causes: list[BaseException], names: str, words: str | None = None
) -> BaseException | None:
    """Return the first exception with one of the type names or words; None if there is none."""
    for each in causes:
        is_one = any(re.fullmatch(names, kind.__name__) for kind in type(each).__mro__)
        if is_one or (words and re.search(words, str(each))):
            return each
    return None


KeySource: TypeAlias = Callable[[], Awaitable[SecretLookup]]
"""Function that looks up a key when it is needed; a keyring may ask the user."""

Method: TypeAlias = Literal["get", "post", "delete"]
"""HTTP method."""

_SEND_SECONDS = 600.0
"""Maximum time to send a file of requests, in seconds."""

_OWN_APIS: Mapping[Provider, str] = {
    "anthropic": "Anthropic's API",
    "ollama": "Ollama's API",
    "gemini": "Gemini's API",
}


class OpenAIClient:
    """A client for one server with one key."""

    def __init__(
        self, connection: Connection, key: Secret | KeySource | None, target: faults.Endpoint
    ) -> None:
        """Store the parameters; nothing is opened, imported or looked up before the first use."""
        self.connection = connection
        """Connection to the server."""
        self._key_source = key if callable(key) else None
        self._key = None if callable(key) else key
        self._target = replace(target, is_azure=connection.kind == "azure")
        self._proxy: Proxy | None = None
        self._sdk: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()
        self._masker = Masker()
        self._note_key()

    def __repr__(self) -> str:
        return f"OpenAIClient({self._target.address!r})"

    async def prepare(self) -> None:
        """Import the SDK and look up the key, which are not part of the server's time.

        Raises:
            ModelError: the key is missing.
        """
        await self._client()

    async def post(
        self, path: str, body: JsonObject, wire: WireRecorder | None = None
    ) -> EventStream:
        """Send a request whose reply is a stream.

        Args:
            path: path below the connection's address.
            body: body of the request.
            wire: records the exchange.

        Raises:
            ModelError: the server cannot be reached or returns an error, or the key is missing.
        """
        client = await self._client()
        from openai import AsyncStream

        with self._faults(), recording(wire):
            stream = await client.post(
                path,
                cast_to=object,
                body=dict(body),
                options=self._options(),
                stream=True,
                stream_cls=AsyncStream[object],
            )
        return EventStream(stream, self.fault)

    async def ask(
        self,
        method: Method,
        path: str,
        body: JsonObject | bytes = b"",
        *,
        seconds: float = _SEND_SECONDS,
    ) -> object:
        """Send a request other than for a reply of a model, and return its JSON answer.

        Args:
            method: HTTP method.
            path: path below the connection's address.
            body: body of a `post`; bytes are encoded JSON.
            seconds: maximum time in seconds.

        Raises:
            ModelError: the server cannot be reached, returns an error, or no JSON.
        """
        client = await self._client()
        options, answer = self._options(), None
        with self._faults():
            async with asyncio.timeout(seconds):
                match method:
                    case "get":
                        answer = await client.get(path, cast_to=object, options=options)
                    case "delete":
                        answer = await client.delete(path, cast_to=object, options=options)
                    case "post" if isinstance(body, bytes):
                        answer = await client.post(
                            path,
                            cast_to=object,
                            content=body or None,
                            options=_of_type(options, "application/json"),
                        )
                    case "post":
                        answer = await client.post(
                            path, cast_to=object, body=dict(body), options=options
                        )
            return within_depth(answer)

    async def exchange(
        self, method: Method, path: str, body: JsonObject | bytes = b""
    ) -> JsonObject:
        """Send a request as `ask` does, and return the object in its answer.

        Raises:
            ModelError: the server cannot be reached, returns an error, or no object.
        """
        return self._object(await self.ask(method, path, body))

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, data: bytes
    ) -> JsonObject:
        """Send a file.

        Raises:
            ModelError: the server cannot be reached, returns an error, or no object.
        """
        client = await self._client()
        options = _of_type(self._options(), "multipart/form-data")
        with self._faults():
            async with asyncio.timeout(_SEND_SECONDS):
                answer: object = await client.post(
                    path,
                    cast_to=object,
                    body=dict(fields),
                    options=options,
                    files=[("file", (name, data, "application/jsonl"))],
                )
        return self._object(answer)

    async def lines(self, path: str) -> AsyncGenerator[tuple[str, JsonObject], None]:
        """Yield each line of a JSON Lines file with its object, while it is received.

        Raises:
            ModelError: the server cannot be reached or returns an error, or the file breaks off.
        """
        client = await self._client()
        from openai import AsyncStream

        splitter = LineSplitter()
        with self._faults():
            async with asyncio.timeout(_SEND_SECONDS):
                stream = await client.get(
                    path,
                    cast_to=object,
                    options=self._options(),
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
        try:
            pieces = stream.response.aiter_bytes()
            while True:
                with self._faults():
                    async with asyncio.timeout(self.connection.stall_seconds):
                        piece = await anext(pieces, b"")
                    found = [*splitter.feed(piece)] if piece else [splitter.close()]
                    read = [
                        (each.data, parse_json(each.data)) for each in found if each is not None
                    ]
                for line, value in read:
                    if isinstance(value, Mapping):
                        yield line, value
                if not piece:
                    return
        finally:
            await stream.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._sdk is not None:
            client, self._sdk = self._sdk, None
            await client.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Convert exceptions of the SDK into `ModelError`."""
        try:
            yield
        except RecursionError:
            raise self.bad_reply("it is nested too deeply") from None
        except raised() as error:
            raise self.fault(error) from None

    def _object(self, answer: object) -> JsonObject:
        if not isinstance(answer, Mapping):
            raise self.bad_reply("its answer is not an object")
        return answer

    def fault(self, error: Exception) -> ModelError:
        """Return the `ModelError` for an exception of the SDK, with keys masked."""
        from openai import APIConnectionError, APIError, APIStatusError

        from studio.core.wire.bounded import too_much

        if (much := too_much(error)) is not None:
            return ModelError(
                "too-large",
                f"{self._target.name} was stopped: {much}.",
                "The received part is kept. Allow more in the connection "
                "(reply_megabytes, event_megabytes).",
            )
        if isinstance(error, APIStatusError):
            body = whole_body(error)
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return faults.status_fault(error.status_code, headers, body, self._target, self.mask)
        if isinstance(error, APIError) and not isinstance(error, APIConnectionError):
            return faults.stream_fault(error.body or error.message, self._target, self.mask)
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            return self.bad_event("that is not JSON")
        if isinstance(error, ValueError):
            return self.bad_event(f"that cannot be used: {error}")
        return network_fault(error, self._target)

    def bad_reply(self, what: str) -> ModelError:
        """Return the error for an unexpected answer."""
        return ModelError(
            "bad-reply",
            f"{self._target.name} returned no usable reply: {what}.",
            f"Check that the address is the one of {self._api} (it usually ends in /v1), and try "
            "again.",
        )

    @property
    def _api(self) -> str:
        return _OWN_APIS.get(provider_at(self.connection), "an OpenAI-compatible API")

    def bad_event(self, what: str) -> ModelError:
        """Return the error for an invalid event within a stream; a retry may help."""
        return faults.RetryLaterError(
            "bad-reply",
            f"{self._target.name} sent an event {what}.",
            "The received part is kept. Run again; if that fails, check that the address is the "
            f"one of {self._api} (it usually ends in /v1).",
        )

    def mask(self, text: str) -> str:
        """Return a text with the key masked; some servers repeat it in messages."""
        return self._masker.mask(text)

    def _note_key(self) -> None:
        """Register the key and the proxy's password as secrets to mask."""
        if self._key:
            named = self.connection.key if self.connection.key not in ("", KEYRING) else ""
            reference = named or key_reference(self.connection.name)
            self._masker.note(reference, self._key.reveal(), is_key=True)
        for secret in self._proxy.secrets if self._proxy else ():
            self._masker.note(key_reference("proxy"), secret.reveal(), is_key=True)

    async def _look_up(self, source: KeySource) -> Secret | None:
        found = await source()
        if found.secret is None and self.connection.key:
            raise ModelError(
                "no-key",
                f"{self._target.name} needs a key: {found.reason}.",
                "Enter the key in the connection, or set the variable that it names.",
            )
        return found.secret

    def _options(self) -> RequestOptions:
        from openai import Omit

        # A redirect could send the prompt to a server that the user did not allow.
        options: RequestOptions = {"follow_redirects": False}
        if self._is_anthropic:
            # Anthropic's API uses no bearer token.
            own = {"x-api-key": self._key.reveal()} if self._key is not None else {}
            options["headers"] = {"Authorization": Omit(), **own}
        elif provider_at(self.connection) == "gemini":
            key = {"x-goog-api-key": self._key.reveal()} if self._key is not None else {}
            options["headers"] = {"Authorization": Omit(), **key}
        elif self._key is None:
            options["headers"] = {"Authorization": Omit()}
        return options

    @property
    def _is_anthropic(self) -> bool:
        return self.connection.kind == "anthropic"

    async def _client(self) -> AsyncOpenAI:
        async with self._opening:  # simultaneous first calls look up the key only once
            if self._sdk is None:
                self._sdk = await self._opened()
            return self._sdk

    async def _opened(self) -> AsyncOpenAI:
        if self._key_source is not None:
            self._key = await self._look_up(self._key_source)
        transport, self._proxy = transport_to(address_of(self.connection))
        if self._proxy is not None:
            self._target = replace(self._target, proxy=self._proxy.shown)
        self._note_key()
        return make_client(self.connection, self._key, transport)


def _of_type(options: RequestOptions, kind: str) -> RequestOptions:
    """Return the options of a request with a body of that content type."""
    return {**options, "headers": {**options.get("headers", {}), "Content-Type": kind}}


_SECONDS = 20.0
_LISTS: Mapping[Provider, str] = {
    "anthropic": "/models?limit=1000",
    "gemini": "/models?pageSize=1000",
    "ollama": "/api/tags",
}
"""Path of the model list; `/models` for other providers."""

_EMBEDDINGS: Mapping[Provider, str] = {"gemini": "/openai/embeddings", "ollama": "/v1/embeddings"}
"""Path for embeddings; `/embeddings` for other providers."""

_MOST_DESCRIBED = 40
"""Maximum number of models whose details are requested one by one."""


async def listed_models(client: OpenAIClient) -> tuple[JsonObject, ...]:
    """Return the server's descriptions of its models.

    Raises:
        ModelError: the server cannot be reached, returns an error, or has no such list.
    """
    provider = provider_at(client.connection)
    answer = await client.ask("get", _LISTS.get(provider, "/models"), seconds=_SECONDS)
    found = _models_in(answer, provider)
    if found is None:
        raise client.bad_reply("its list of models is invalid")
    return await _described(client, found) if client.connection.kind == "ollama" else found


def _models_in(answer: object, provider: Provider) -> tuple[JsonObject, ...] | None:
    """Return the models of a server's list; None if the answer is no list."""
    under = "models" if provider in ("ollama", "gemini") else "data"
    items = answer.get(under) if isinstance(answer, Mapping) else None
    if not isinstance(items, list):
        return None
    return tuple(item for item in map(_with_id, objects_of(items)) if item.get("id"))


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this machine that answered."""

    connection: Connection
    """Connection to it, which is not stored."""

    listed: tuple[JsonObject, ...]
    """The server's descriptions of its models."""


LOOK_SECONDS = 0.3
"""Timeout for the model list of a server on this machine, in seconds."""

_MOST_LISTED_BYTES = 4 * 1024**2


async def found_servers(
    connections: Sequence[Connection], seconds: float = LOOK_SECONDS
) -> tuple[FoundServer, ...]:
    """Search for model servers on this machine: no key, proxy or redirect, all at once.

    Args:
        connections: addresses to try; those not on this machine are ignored.
        seconds: timeout for each.
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
    """Return the body of a `GET` response from a server on this machine, without any package.

    Raises:
        OSError: no server answers.
        ValueError: the response is an error, or too large.
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
                raise ValueError("its list of models is too long")
    finally:
        writer.close()
    start, _, body = answer.partition(b"\r\n\r\n")
    if start.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError("the server does not list its models")
    return body.decode()


async def _described(client: OpenAIClient, models: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return Ollama's models with the server's details on each: context window and abilities.

    A model without details is returned as listed.
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
    """Return an embedding for each text.

    Raises:
        ModelError: the server cannot be reached, returns an error, or no embeddings.
    """
    path = _EMBEDDINGS.get(provider_at(client.connection), "/embeddings")
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    vectors = _vectors(await client.ask("post", path, body, seconds=_SECONDS))
    if len(vectors) != len(texts) or len(set(map(len, vectors))) != 1:
        raise client.bad_reply("it does not contain a vector for each text")
    return vectors


def _with_id(model: JsonObject) -> JsonObject:
    """Return a model with its id under the key that OpenAI's list uses."""
    named = model.get("id") or model.get("model") or model.get("name")
    return {**model, "id": named.removeprefix("models/")} if isinstance(named, str) else model


def _vectors(answer: object) -> tuple[tuple[float, ...], ...]:
    """Return an answer's embeddings in the order of the texts; fewer if some are invalid."""
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
