"""The one file that imports openai: clients, event streams, and the SDK's errors by name.

The SDK builds addresses and headers, and sends. Bodies and events are `wire`'s; retries are ours,
so that each is seen and a stop interrupts it; time limits are ours, because the SDK knows one for
everything, and a reply may rightly take minutes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from studio.core.masking.masker import Masker, key_reference
from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.models.proxies import Proxy, transport_to
from studio.core.models.remote.faults import (
    Endpoint,
    RetryLaterError,
    network_fault,
    status_fault,
    stream_fault,
)
from studio.core.models.secrets import KEYRING, Secret, SecretLookup
from studio.core.text.foreign_json import parse_json, within_depth
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider
from studio.core.wire.server_events import EventSplitter, LineSplitter, ServerEvent

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport
    from openai import APIStatusError, AsyncOpenAI, AsyncStream
    from openai._types import RequestOptions

KeySource: TypeAlias = Callable[[], Awaitable[SecretLookup]]
"""Looks a key up when it is needed; a keyring may ask the user."""

_CONNECT_SECONDS = 10.0
_LIST_SECONDS = 20.0
_SEND_SECONDS = 600.0
"""The longest that a file of requests may take to be sent."""

_MOST_WAITING = 1000
_LAST_BYTES_SECONDS = 0.05
"""How long the last bytes after `[DONE]` may take; a connection that was read to its end serves
the next request too, without another handshake."""

_ANTHROPIC_VERSION = "2023-06-01"
_OWN_APIS: Mapping[Provider, str] = {
    "anthropic": "Anthropic's API",
    "ollama": "Ollama's API",
    "gemini": "Gemini's API",
}
_LISTS: Mapping[Provider, str] = {
    "anthropic": "/models?limit=1000",
    "gemini": "/models?pageSize=1000",
    "ollama": "/api/tags",
}
"""Where the list of models is; `/models` elsewhere."""

_EMBEDDINGS: Mapping[Provider, str] = {
    "gemini": "/openai/embeddings",
    "ollama": "/v1/embeddings",
}
"""Where vectors are made; `/embeddings` elsewhere."""

_MOST_DESCRIBED = 40
"""Models that a server is asked about one by one."""


class EventStream:
    """A reply on its way."""

    def __init__(self, stream: AsyncStream[object], client: OpenAIClient) -> None:
        self._stream = stream
        self._client = client
        self._come: list[object] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self.is_done = False
        """Whether the server has said `[DONE]`."""

    @property
    def content_type(self) -> str:
        """What the server says it sends, in lower case."""
        return str(self._stream.response.headers.get("content-type", "")).lower()

    @property
    def is_events(self) -> bool:
        """Whether it is a stream of events, and not one body."""
        return self.content_type.startswith("text/event-stream") or self._is_lines

    @property
    def _is_lines(self) -> bool:
        return self.content_type.startswith("application/x-ndjson")

    async def some(self) -> list[object]:
        """The data of all events that have come by now, at least one; empty at the end.

        A network packet holds dozens of events of a fast model: together they cost one turn of the
        loop instead of one each.

        Raises:
            ModelError: the stream broke or holds something else; what came before was given.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_on())
        if not self._come and not self.is_done and not self._reading.done():
            self._news.clear()
            await self._news.wait()
        taken, self._come = self._come, []
        self._room.set()
        if not taken and not self.is_done:
            await self._reading  # it is over; what broke it is raised here
        return taken

    async def _read_on(self) -> None:
        """Take every event, but not far ahead of who reads them."""
        events = LineSplitter() if self._is_lines else EventSplitter()
        try:
            async for piece in self._stream.response.aiter_bytes():
                for event in events.feed(piece):
                    self._take(event)
                if self.is_done:
                    self._news.set()
                elif len(self._come) >= _MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
            last = events.close()
            if last is not None and (last.data.startswith("[DONE]") or _is_json(last.data)):
                self._take(last)
        except _raised() as error:
            raise self._client.fault(error) from None
        finally:
            self._news.set()

    def _take(self, event: ServerEvent) -> None:
        if self.is_done:
            return
        if event.data.startswith("[DONE]"):
            self.is_done = True
            return
        value: object = parse_json(event.data)
        if event.name == "error" and not (isinstance(value, Mapping) and value.get("error")):
            value = {"error": value}
        self._come.append(value)
        self._news.set()

    async def body(self) -> str:
        """All of a reply that is no stream of events.

        Raises:
            ModelError: the connection broke.
        """
        try:
            return (await self._stream.response.aread()).decode(errors="replace")
        except _raised() as error:
            raise self._client.fault(error) from None

    async def close(self) -> None:
        """Break off: the server sees the connection close, unless it has said all."""
        if self._reading is not None:
            if self.is_done:
                await asyncio.wait({self._reading}, timeout=_LAST_BYTES_SECONDS)
            self._reading.cancel()
            await asyncio.wait({self._reading})
            if not self._reading.cancelled():
                self._reading.exception()  # looked at: nobody waits for it any more
        await self._stream.close()


def _with_id(model: JsonObject) -> JsonObject:
    """A model with its id under the name that OpenAI's list has for it."""
    named = model.get("id") or model.get("model") or model.get("name")
    return {**model, "id": named.removeprefix("models/")} if isinstance(named, str) else model


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _vectors(answer: object) -> tuple[tuple[float, ...], ...]:
    """The vectors of an answer, in the order of the texts; fewer where it holds something else."""
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


class OpenAIClient:
    """One server and one key."""

    def __init__(
        self, connection: Connection, key: Secret | KeySource | None, target: Endpoint
    ) -> None:
        """Take where; nothing is opened, imported or looked up before the first use."""
        self._connection = connection
        self._key_source = key if callable(key) else None
        self._key = None if callable(key) else key
        self._target = target
        self._proxy: Proxy | None = None
        self._sdk: AsyncOpenAI | None = None
        self._masker = Masker()
        self._note_key()

    def __repr__(self) -> str:
        return f"OpenAIClient({self._target.address!r})"

    async def prepare(self) -> None:
        """Import the SDK and look the key up, for which no server is to be blamed.

        Raises:
            ModelError: the key is missing.
        """
        await self._client()

    async def post(self, path: str, body: JsonObject) -> EventStream:
        """Send a request whose reply is a stream.

        Raises:
            ModelError: the server cannot be reached or refuses, or its key is missing.
        """
        client = await self._client()
        from openai import AsyncStream

        try:
            stream = await client.post(
                path,
                cast_to=object,
                body=dict(body),
                options=self._options(),
                stream=True,
                stream_cls=AsyncStream[object],
            )
        except _raised() as error:
            raise self.fault(error) from None
        return EventStream(stream, self)

    async def models(self) -> tuple[JsonObject, ...]:
        """The server's own descriptions of the models that it offers.

        Raises:
            ModelError: the server cannot be reached, refuses, or has no such list.
        """
        client = await self._client()
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                path = _LISTS.get(provider_at(self._connection), "/models")
                answer: object = await client.get(path, cast_to=object, options=self._options())
        except _raised() as error:
            raise self.fault(error) from None
        under = "models" if provider_at(self._connection) in ("ollama", "gemini") else "data"
        items = answer.get(under) if isinstance(answer, Mapping) else None
        if not isinstance(items, list):
            raise self.bad_reply("its list of models is not one")
        listed = (_with_id(item) for item in items if isinstance(item, Mapping))
        found = tuple(item for item in listed if item.get("id"))
        return await self._described(found) if self._connection.kind == "ollama" else found

    async def _described(self, models: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
        """Ollama's models with what its server says of each: its window, and what it can do.

        One of which it says nothing stays as it was listed.
        """
        client = await self._client()

        async def described(model: JsonObject) -> JsonObject:
            try:
                async with asyncio.timeout(_LIST_SECONDS):
                    said: object = await client.post(
                        "/api/show",
                        cast_to=object,
                        body={"model": model["id"]},
                        options=self._options(),
                    )
            except _raised():
                return model
            return {**model, **said} if isinstance(said, Mapping) else model

        first = await asyncio.gather(*map(described, models[:_MOST_DESCRIBED]))
        return (*first, *models[_MOST_DESCRIBED:])

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """A vector for each text.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
        """
        client = await self._client()
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        path = _EMBEDDINGS.get(provider_at(self._connection), "/embeddings")
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                answer: object = await client.post(
                    path, cast_to=object, body=body, options=self._options()
                )
        except _raised() as error:
            raise self.fault(error) from None
        vectors = _vectors(answer)
        if len(vectors) != len(texts) or len(set(map(len, vectors))) != 1:
            raise self.bad_reply("it holds no vector for each text")
        return vectors

    async def exchange(
        self, method: Literal["get", "post", "delete"], path: str, body: JsonObject | bytes = b""
    ) -> JsonObject:
        """Ask for something that is no reply of a model, and is answered by an object.

        Args:
            method: of HTTP.
            path: below the connection's address.
            body: of a `post`; bytes are JSON already.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
        """
        client = await self._client()
        options, answer = self._options(), None
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                match method:
                    case "get":
                        answer = await client.get(path, cast_to=object, options=options)
                    case "delete":
                        answer = await client.delete(path, cast_to=object, options=options)
                    case "post" if isinstance(body, bytes):
                        kind = {"Content-Type": "application/json"}
                        options["headers"] = {**options.get("headers", {}), **kind}
                        answer = await client.post(
                            path, cast_to=object, content=body or None, options=options
                        )
                    case "post":
                        answer = await client.post(
                            path, cast_to=object, body=dict(body), options=options
                        )
            within_depth(answer)
        except RecursionError:
            raise self.bad_reply("it is nested too deeply") from None
        except _raised() as error:
            raise self.fault(error) from None
        if not isinstance(answer, Mapping):
            raise self.bad_reply("its answer is not an object")
        return answer

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, data: bytes
    ) -> JsonObject:
        """Send a file.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
        """
        client = await self._client()
        options = self._options()
        form = {"Content-Type": "multipart/form-data"}
        options["headers"] = {**options.get("headers", {}), **form}
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                answer: object = await client.post(
                    path, cast_to=object, body=dict(fields), options=options,
                    files=[("file", (name, data, "application/jsonl"))],
                )  # fmt: skip
        except _raised() as error:
            raise self.fault(error) from None
        if not isinstance(answer, Mapping):
            raise self.bad_reply("its answer is not an object")
        return answer

    async def lines(self, path: str) -> AsyncGenerator[JsonObject, None]:
        """The objects of a file that has one in each line, while it comes.

        Raises:
            ModelError: the server cannot be reached or refuses, or the file breaks off.
        """
        client = await self._client()
        from openai import AsyncStream

        splitter = LineSplitter()
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                stream = await client.get(
                    path, cast_to=object, options=self._options(), stream=True,
                    stream_cls=AsyncStream[object],
                )  # fmt: skip
        except _raised() as error:
            raise self.fault(error) from None
        try:
            pieces = stream.response.aiter_bytes()
            while True:
                try:
                    async with asyncio.timeout(self._connection.stall_seconds):
                        piece = await anext(pieces, b"")
                    found = [*splitter.feed(piece)] if piece else [splitter.close()]
                    read = [parse_json(each.data) for each in found if each is not None]
                except _raised() as error:
                    raise self.fault(error) from None
                for each in read:
                    if isinstance(each, Mapping):
                        yield each
                if not piece:
                    return
        finally:
            await stream.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._sdk is not None:
            client, self._sdk = self._sdk, None
            await client.close()

    def fault(self, error: Exception) -> ModelError:
        """The named fault of whatever the SDK raised, without any key in it."""
        from openai import APIConnectionError, APIError, APIStatusError

        from studio.core.wire.bounded import too_much

        if (much := too_much(error)) is not None:
            return ModelError(
                "too-large",
                f"{self._target.name} was stopped: {much}.",
                "What had come is kept. Allow more in the connection "
                "(reply_megabytes, event_megabytes).",
            )
        if isinstance(error, APIStatusError):
            body = _whole_body(error)
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return status_fault(error.status_code, headers, body, self._target, self.mask)
        if isinstance(error, APIError) and not isinstance(error, APIConnectionError):
            return stream_fault(error.body or error.message, self._target, self.mask)
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
            return self.bad_event("that is not JSON")
        if isinstance(error, ValueError):
            return self.bad_event(f"that cannot be used: {error}")
        return network_fault(error, self._target)

    def bad_reply(self, what: str) -> ModelError:
        """The fault of a server that answers something else."""
        return ModelError(
            "bad-reply",
            f"{self._target.name} gave no usable reply: {what}.",
            f"Check that the address is the one of {self._api} (it usually ends in /v1), and try "
            "again.",
        )

    @property
    def _api(self) -> str:
        return _OWN_APIS.get(provider_at(self._connection), "an OpenAI-compatible API")

    def bad_event(self, what: str) -> ModelError:
        """The fault of a stream that holds something else in its middle; another try may help."""
        return RetryLaterError(
            "bad-reply",
            f"{self._target.name} sent an event {what}.",
            "What had come is kept. Run again; where it stays so, check that the address is the "
            f"one of {self._api} (it usually ends in /v1).",
        )

    def mask(self, text: str) -> str:
        """A text without the key; some servers repeat it in their messages."""
        return self._masker.mask(text)

    def _note_key(self) -> None:
        """The key, and the password of the proxy, are known from now on."""
        if self._key:
            named = self._connection.key if self._connection.key not in ("", KEYRING) else ""
            reference = named or key_reference(self._connection.name)
            self._masker.note(reference, self._key.reveal(), is_key=True)
        for secret in self._proxy.secrets if self._proxy else ():
            self._masker.note(key_reference("proxy"), secret.reveal(), is_key=True)

    async def _look_up(self, source: KeySource) -> Secret | None:
        found = await source()
        if found.secret is None and self._connection.key:
            raise ModelError(
                "no-key",
                f"{self._target.name} needs a key: {found.reason}.",
                "Enter the key in the connection, or set the variable that it names.",
            )
        return found.secret

    def _options(self) -> RequestOptions:
        from openai import Omit

        # A redirect could carry the prompt to a server that nobody was asked about.
        options: RequestOptions = {"follow_redirects": False}
        if self._is_anthropic:
            # Anthropic's API takes no bearer.
            own = {"x-api-key": self._key.reveal()} if self._key is not None else {}
            options["headers"] = {"Authorization": Omit(), **own}
        elif provider_at(self._connection) == "gemini":
            key = {"x-goog-api-key": self._key.reveal()} if self._key is not None else {}
            options["headers"] = {"Authorization": Omit(), **key}
        elif self._key is None:
            options["headers"] = {"Authorization": Omit()}
        return options

    @property
    def _is_anthropic(self) -> bool:
        return self._connection.kind == "anthropic"

    async def _client(self) -> AsyncOpenAI:
        if self._sdk is None:
            if self._key_source is not None:
                self._key = await self._look_up(self._key_source)
            transport, proxy = transport_to(address_of(self._connection))
            self._proxy = proxy
            if proxy is not None:
                self._target = replace(self._target, proxy=proxy.shown)
            self._note_key()
            self._sdk = _make_client(self._connection, self._key, transport)
        return self._sdk


def _whole_body(error: APIStatusError) -> object:
    """What the server said: the SDK gives what stands under `error`, be it only a word of it."""
    if not isinstance(error.body, str):
        return error.body
    try:
        whole = parse_json(error.response.text)
    except (ValueError, RuntimeError):  # no JSON, or not read any more
        return error.body
    return whole


def _raised() -> tuple[type[Exception], ...]:
    """What the SDK and what is under it raise for faults of the network and the server."""
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        OSError,  # also TimeoutError
        ValueError,  # no JSON, no UTF-8, or JSON beyond a bound
    )


def _make_client(
    connection: Connection, key: Secret | None, transport: AsyncHTTPTransport
) -> AsyncOpenAI:
    """The SDK's client, without retries of its own.

    The SDK takes an organisation and a project from the environment; they are nobody's business but
    OpenAI's.
    """
    import httpx2
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Omit

    from studio.core.wire.bounded import BoundedTransport, ReplyBounds

    most = int(connection.reply_megabytes * 1024**2)
    bounds = ReplyBounds(
        most,
        min(most, int(connection.event_megabytes * 1024**2)),
        int(connection.error_kilobytes * 1024),
    )
    bounded = BoundedTransport(transport, bounds)
    headers: dict[str, Any] = dict(connection.headers)
    if connection.kind == "anthropic":
        headers = {"anthropic-version": _ANTHROPIC_VERSION, **headers}
    if connection.kind != "openai":
        headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    shared: dict[str, Any] = {
        "max_retries": 0,
        "timeout": httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        "default_headers": headers,
        "http_client": DefaultAsyncHttpxClient(transport=bounded),
    }
    value = key.reveal() if key else "none"
    if connection.kind == "azure" and connection.api_version:
        return AsyncAzureOpenAI(
            api_key=value,
            azure_endpoint=connection.base_url,
            api_version=connection.api_version,
            **shared,
        )
    address = address_of(connection)
    if connection.kind == "azure" and "/openai/" not in address:
        address = address.rstrip("/") + "/openai/v1/"
    return AsyncOpenAI(api_key=value, base_url=address, **shared)
