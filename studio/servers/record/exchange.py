"""One request of a recorded program: where it goes, and the way of its answer back.

Bytes go through as they came. What is read from them on the way is read from a copy, so a reply
that cannot be read is passed on all the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import httpx2

from studio.core.imports.request_json import messages_of
from studio.core.models.base import ModelError
from studio.core.models.connections import ConnectionKind
from studio.core.models.proxies import transport_to
from studio.core.models.remote.reply_stream import joined
from studio.core.models.scripted import deltas_of
from studio.core.prompty.document import Message
from studio.core.text.values import JsonObject, objects_of, parse_json, reason_of
from studio.core.wire.bounded import ENCODINGS
from studio.core.wire.chunks import chunk_error
from studio.core.wire.events import EventSplitter, LineSplitter, ServerEvent, chunk_reader
from studio.core.wire.reply import Finished, ReplyDelta
from studio.core.wire.request import Provider
from studio.core.wire.whole import read_response

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""Names in lower case and values, in their order."""

_OF_ONE_HOP = frozenset(
    b"connection expect host keep-alive proxy-connection te trailer upgrade".split()
) | {b"transfer-encoding"}
"""Headers of a connection and not of a message (RFC 9110, 7.6.1)."""

_PATHS: Sequence[tuple[re.Pattern[str], Provider, str]] = (
    (re.compile(r"/chat/completions$"), "openai-chat", "messages"),
    (re.compile(r"/responses$"), "openai-responses", "input"),
    (re.compile(r"/messages$"), "anthropic", "messages"),
    (re.compile(r"/api/chat$"), "ollama", "messages"),
    (re.compile(r":(?:stream)?[gG]enerateContent$"), "gemini", "contents"),
)
"""Ends of the addresses at which models answer, with the key of the messages in the body."""

_TIMES = {"connect": 10.0, "read": None, "write": None, "pool": None}
_MOST_WHOLE = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server that a program means."""

    name: str
    """Name of the API in the address that the program gets ("openai")."""

    kind: ConnectionKind
    """Kind of connection, for prices."""

    address: str
    """Base address; what the program adds to its own base address is added here."""

    transport: httpx2.AsyncHTTPTransport
    """Connections to it."""

    @classmethod
    def at(cls, name: str, kind: ConnectionKind, address: str) -> Upstream:
        """Make ready to send to an address; nothing is sent yet.

        Raises:
            ModelError: the system's proxy or certificates cannot be used.
        """
        whole = address if "://" in address else f"http://{address}"
        return cls(name, kind, whole.rstrip("/"), transport_to(whole)[0])

    def path(self, target: bytes) -> bytes:
        """Return the whole path of what follows the base address."""
        return httpx2.URL(self.address).raw_path.rstrip(b"/") + target

    async def send(
        self, method: str, target: bytes, headers: Headers, body: bytes
    ) -> httpx2.Response:
        """Send a request and return the head of its answer; a redirect is an answer.

        Args:
            method: its method.
            target: what follows the base address, with its query, as it came.
            headers: its headers, `Host` left out.
            body: its body.

        Raises:
            httpx2.HTTPError: the server cannot be reached.
        """
        url = httpx2.URL(self.address).copy_with(raw_path=self.path(target))
        request = httpx2.Request(
            method, url, headers=headers, content=body, extensions={"timeout": _TIMES}
        )
        return await self.transport.handle_async_request(request)


def sent_headers(headers: Headers, body: bytes | None = None) -> Headers:
    """Return the headers to pass on.

    Args:
        headers: as they came.
        body: another body than the one that came; None for that one.
    """
    made: Headers = []
    for name, value in headers:
        if name == b"accept-encoding" and re.search(rb"br|zstd|compress|\*", value):
            made.append((name, ENCODINGS.encode()))  # what the copy that is read can be packed in
        elif name == b"content-length" and body is not None:
            made.append((name, str(len(body)).encode()))
        elif name not in _OF_ONE_HOP:
            made.append((name, value))
    return made


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer."""

    status: int
    """Status."""

    headers: Headers
    """Headers to pass on."""


@dataclass(eq=False)
class Exchange:
    """A request to a model, and its answer on the way."""

    upstream: Upstream
    """Server that it is for."""

    target: bytes
    """Path and query below the base address."""

    headers: Headers
    """Headers to pass on."""

    body: bytes
    """Body as it came."""

    api: Provider
    """API that it speaks."""

    data: JsonObject
    """Body as a value."""

    messages: tuple[Message, ...]
    """Messages in it."""

    is_held: bool = False
    """Whether the answer waits here until the run lets it go."""

    is_gone: bool = False
    """Whether the program has closed its connection."""

    is_answered: bool = False
    """Whether the whole answer was given."""

    is_failed: bool = False
    """Whether the answer is an error, after which the program may ask again."""

    is_broken: bool = False
    """Whether the server's answer broke off, as the program then sees it, too."""

    _parts: asyncio.Queue[Head | bytes | None] = field(default_factory=asyncio.Queue)
    _held: list[Head | bytes] = field(default_factory=list)

    @cached_property
    def known(self) -> tuple[tuple[str, object], ...]:
        """Return what tells conversations apart: the roles and parts of the messages."""
        return tuple((message.role, message.parts) for message in self.messages)

    @property
    def model(self) -> str:
        """Return the id of the model that is asked."""
        if self.api == "gemini":
            return self.target.decode("ascii", "replace").rpartition("/")[2].partition(":")[0]
        return str(self.data.get("model", ""))

    @property
    def streams(self) -> bool:
        """Whether the answer is asked for piece by piece."""
        if self.api == "gemini":
            return b":streamGenerateContent" in self.target
        return self.data.get("stream", self.api == "ollama") is True

    def give(self, part: Head | bytes) -> None:
        """Pass a part of the answer on, or keep it while the answer is held."""
        if self.is_held:
            self._held.append(part)
        else:
            self._parts.put_nowait(part)

    def end(self) -> None:
        """End the answer."""
        self.is_held, held = False, self._held
        for part in held:
            self._parts.put_nowait(part)
        self._held = []
        if not self.is_answered:
            self.is_answered = True
            self._parts.put_nowait(None)

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """Answer with another body than the server's.

        Args:
            status: its status.
            kind: its media type.
            body: the body.
        """
        if self.is_answered:
            return
        self._held = []
        length = str(len(body)).encode()
        headers = [(b"content-type", kind.encode()), (b"content-length", length)]
        self.give(Head(status, headers))
        self.give(body)
        self.end()

    def refuse(self, status: int, words: str) -> None:
        """Answer with an error in the shape that all the APIs share."""
        body = json.dumps({"error": {"message": words}}, ensure_ascii=False)
        self.answer(status, "application/json", body.encode())

    def leave(self) -> None:
        """Note that the program has closed its connection."""
        self.is_gone = True
        self._parts.put_nowait(None)

    async def parts(self) -> AsyncIterator[Head | bytes]:
        """Yield the parts of the answer as they may go to the program."""
        while (part := await self._parts.get()) is not None:
            yield part


def exchange_of(
    upstream: Upstream, target: bytes, headers: Headers, body: bytes
) -> Exchange | None:
    """Return a request to a model; None for any other, which is only passed on."""
    path = target.decode("ascii", "replace").partition("?")[0]
    for pattern, api, key in _PATHS:
        if not pattern.search(path):
            continue
        try:
            data = parse_json(body.decode("utf-8"))
        except ValueError:
            return None
        if not isinstance(data, Mapping) or key not in data:
            return None
        messages = tuple(messages_of(data, api))
        return Exchange(upstream, target, sent_headers(headers), body, api, data, messages)
    return None


class ReplyReader:
    """Reads a copy of an answer into the pieces of a reply."""

    def __init__(self, api: Provider, content_type: str) -> None:
        """Take the API and the media type of the answer."""
        self._reader = chunk_reader(api)
        is_lines = "ndjson" in content_type or "jsonl" in content_type
        is_events = content_type.startswith("text/event-stream")
        self._lines = LineSplitter() if is_lines else EventSplitter() if is_events else None
        self._whole = bytearray()
        self.fault = ""
        """Reason why the answer cannot be read, or the error in it; empty for none."""

    def feed(self, piece: bytes) -> Iterator[ReplyDelta]:
        """Yield the deltas of a piece; after a fault nothing more."""
        return joined(self._deltas(piece))

    def _deltas(self, piece: bytes) -> Iterator[ReplyDelta]:
        if self._lines is None:
            self._whole += piece[: _MOST_WHOLE - len(self._whole)]
            return
        try:
            for event in self._lines.feed(piece) if not self.fault else ():
                yield from self._read(event)
        except ValueError as error:
            self.fault = f"an event of the answer cannot be read ({reason_of(error)})"

    def end(self) -> Iterator[ReplyDelta]:
        """Yield the last deltas; the very last is `Finished`."""
        try:
            if self._lines is None:
                yield from self._of_whole()
                return
            last = self._lines.close()
            if last is not None:
                yield from self._read(last)
            yield from self._reader.end()
        except ValueError as error:
            self.fault = self.fault or f"the answer cannot be read ({reason_of(error)})"

    def _read(self, event: ServerEvent) -> Iterator[ReplyDelta]:
        if not event.data.startswith("{"):
            return  # `[DONE]`, and what is no event of an API
        value = parse_json(event.data)
        if isinstance(value, Mapping):
            self.fault = self.fault or chunk_error(value) or ""
            yield from self._reader.read(value)

    def _of_whole(self) -> Iterator[ReplyDelta]:
        value = parse_json(self._whole.decode("utf-8"))
        for each in objects_of(value if isinstance(value, list) else [value]):
            self.fault = self.fault or chunk_error(each) or ""
        if self.fault:
            return
        if isinstance(value, list):  # Gemini streams a list where no events were asked for
            for each in objects_of(value):
                yield from self._reader.read(each)
            yield from self._reader.end()
        elif isinstance(value, Mapping):
            reply = read_response(value)
            yield from deltas_of(reply, max(1, len(self._whole)))  # each text in one piece
            yield Finished(reply.finish_reason or "unknown")


def failure_of(status: int, words: str) -> ModelError:
    """Return the failure of a call, which the program may try again."""
    kinds = {401: "unauthorised", 403: "unauthorised", 404: "not-found", 429: "rate-limited"}
    kind = kinds.get(status, "server-error" if status >= 500 else "refused")
    error = ModelError(kind, words, "The program got this answer, too.", retryable=True)
    error.retries = 1_000_000  # whether it is tried again is the program's decision
    return error
