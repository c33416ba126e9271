"""One server, asked by openai's client: what it refuses or breaks off is named.

The SDK builds addresses and headers, and sends. Bodies and events are `wire`'s.

What goes wrong on the way to a server: names, proxies, certificates, refusals, time.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from studio.core.masking.masker import Masker, key_reference
from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.models.proxies import Proxy, transport_to
from studio.core.models.remote.faults import (
    LONGEST_TEXT,
    Endpoint,
    RetryLaterError,
    fault_of,
    status_fault,
    stream_fault,
)
from studio.core.models.remote.sdk import EventStream, make_client, raised, whole_body
from studio.core.models.secrets import KEYRING, Secret, SecretLookup
from studio.core.text.values import JsonObject, parse_json, within_depth
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
"""Kinds of faults with the types of exceptions that are one, by name, and words that say it."""


def network_fault(error: BaseException, target: Endpoint) -> ModelError:
    """Return the fault of a connection that could not be made or broke."""
    causes = list(_causes(error))
    if target.proxy and (fault := _proxy_fault(causes, target)) is not None:
        return fault
    key = next((key for key, signs in _CAUSES.items() if _first(causes, *signs)), "cut-off")
    detail = _first(causes, "SSLError")
    reason = getattr(detail, "verify_message", "") or getattr(detail, "reason", "") or ""
    return fault_of(key, target, text=f": {reason}" if reason else "")


def _proxy_fault(causes: list[BaseException], target: Endpoint) -> ModelError | None:
    """Return the error of the way to the proxy; `None` for an error behind it."""
    if refusal := _first(causes, "ProxyError"):
        words = " ".join(str(refusal).split())[:LONGEST_TEXT].rstrip(".")
        if words.startswith("407") or "auth" in words.lower() or "password" in words.lower():
            return fault_of("proxy/name", target)
        return fault_of("proxy/refusal", target, text=f": {words}" if words else "")
    is_silent = _first(causes, "ConnectError|ConnectTimeout") and not _first(causes, *_TLS)
    return fault_of("proxy/down", target) if is_silent else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and everything behind it, groups opened."""
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
    """Return the first exception of a type, by its name, or with some words."""
    for each in causes:
        is_one = any(re.fullmatch(names, kind.__name__) for kind in type(each).__mro__)
        if is_one or (words and re.search(words, str(each))):
            return each
    return None


KeySource: TypeAlias = Callable[[], Awaitable[SecretLookup]]
"""Looks a key up when it is needed; a keyring may ask the user."""

Method: TypeAlias = Literal["get", "post", "delete"]
"""Of HTTP."""

_SEND_SECONDS = 600.0
"""The longest that a file of requests may take to be sent."""

_OWN_APIS: Mapping[Provider, str] = {
    "anthropic": "Anthropic's API",
    "ollama": "Ollama's API",
    "gemini": "Gemini's API",
}


class OpenAIClient:
    """One server and one key."""

    def __init__(
        self, connection: Connection, key: Secret | KeySource | None, target: Endpoint
    ) -> None:
        """Take where; nothing is opened, imported or looked up before the first use."""
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
        """Import the SDK and look the key up, for which no server is to be blamed.

        Raises:
            ModelError: the key is missing.
        """
        await self._client()

    async def post(
        self, path: str, body: JsonObject, wire: WireRecorder | None = None
    ) -> EventStream:
        """Send a request whose reply is a stream.

        Args:
            path: below the connection's address.
            body: of the request.
            wire: records the exchange.

        Raises:
            ModelError: the server cannot be reached or refuses, or its key is missing.
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
        """Ask for something that is not a reply of a model, and is answered by JSON.

        Args:
            method: of HTTP.
            path: below the connection's address.
            body: of a `post`; bytes are JSON already.
            seconds: the longest that it may take.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
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
        """Ask as `ask` does for what is answered by an object.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
        """
        return self._object(await self.ask(method, path, body))

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, data: bytes
    ) -> JsonObject:
        """Send a file.

        Raises:
            ModelError: the server cannot be reached, refuses, or answers something else.
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
        """Yield each line of a file of JSON lines with its object, while it comes.

        Raises:
            ModelError: the server cannot be reached or refuses, or the file breaks off.
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
        """Turn exceptions of the SDK into named errors."""
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
        """Return the named fault of whatever the SDK raised, without any key in it."""
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
            body = whole_body(error)
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
        """Return the fault of a server that answers something else."""
        return ModelError(
            "bad-reply",
            f"{self._target.name} gave no usable reply: {what}.",
            f"Check that the address is the one of {self._api} (it usually ends in /v1), and try "
            "again.",
        )

    @property
    def _api(self) -> str:
        return _OWN_APIS.get(provider_at(self.connection), "an OpenAI-compatible API")

    def bad_event(self, what: str) -> ModelError:
        """Return the fault of a stream with something else in its middle; a retry may help."""
        return RetryLaterError(
            "bad-reply",
            f"{self._target.name} sent an event {what}.",
            "What had come is kept. Run again; where it stays so, check that the address is the "
            f"one of {self._api} (it usually ends in /v1).",
        )

    def mask(self, text: str) -> str:
        """Return a text without the key; some servers repeat it in their messages."""
        return self._masker.mask(text)

    def _note_key(self) -> None:
        """Add the key and the proxy's password to the secrets that are masked."""
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

        # A redirect could carry the prompt to a server that nobody was asked about.
        options: RequestOptions = {"follow_redirects": False}
        if self._is_anthropic:
            # Anthropic's API takes no bearer.
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
        async with self._opening:  # calls that begin together look the key up once
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
    """Return the options of a request with such a body."""
    return {**options, "headers": {**options.get("headers", {}), "Content-Type": kind}}
