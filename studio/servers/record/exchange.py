"""One request of a recorded program: its destination, and the path of its answer back.

Bytes are passed on unchanged. They are parsed from a copy, so a reply that cannot be parsed is
still passed on.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeAlias, TypeGuard, TypeVar
from urllib.parse import parse_qsl

import httpx2

from studio.core.imports.request_json import messages_of
from studio.core.masking.masker import SHORTEST_KEY, Masker, key_reference
from studio.core.masking.redact import (
    is_placeholder,
    keys_in,
    names_secret,
    names_secret_variable,
)
from studio.core.models.base import ModelError
from studio.core.models.connections import ConnectionKind, origin
from studio.core.models.proxies import transport_to
from studio.core.models.remote.reply_stream import joined
from studio.core.models.scripted import deltas_of
from studio.core.prompty.document import Message
from studio.core.text.diff import beginnings_of
from studio.core.text.values import JsonObject, object_of, objects_of, parse_json, reason_of
from studio.core.wire.bounded import ENCODINGS, TooMuchError, decoded
from studio.core.wire.chunks import chunk_error
from studio.core.wire.events import EventSplitter, LineSplitter, ServerEvent, chunk_reader
from studio.core.wire.reply import Finished, ReplyDelta
from studio.core.wire.request import Provider, asked_at
from studio.core.wire.whole import read_response
from studio.core.wire.wire_call import WireRecorder
from studio.servers.record.faults import NO_FAULT, Fault
from studio.servers.record.passing import Passing

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""Header names in lower case with their values, in order."""

_Waited = TypeVar("_Waited")

_OF_ONE_HOP = frozenset(
    b"connection expect host keep-alive proxy-connection te trailer upgrade".split()
) | {b"transfer-encoding"}
"""Headers that belong to a connection, not to a message (RFC 9110, 7.6.1)."""

CUT_OFF = "cut-off"
"""Failure kind of a call whose answer ended too early."""

BEAT_SECONDS = 15.0
"""Seconds of silence after which a stream whose reply is held gets a keep-alive event."""

_BEATS: Mapping[Provider, bytes] = {
    "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
    "openai-chat": b": held\n\n",
    "openai-responses": b": held\n\n",
}
"""Keep-alive bytes of each API, which clients ignore."""

_TIMES = {"connect": 10.0, "read": None, "write": None, "pool": None}
_MOST_WHOLE = 64 * 1024**2


class AddressError(ValueError):
    """Error for an address that is not that of a server; the text names it."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server that a program addresses."""

    name: str
    """Name of the API in the proxy address that the program gets ("openai")."""

    kind: ConnectionKind
    """Kind of connection, used for prices."""

    address: str
    """Base URL; the path that the program adds to its own base URL is appended."""

    transport: httpx2.AsyncHTTPTransport
    """HTTP transport to the server."""

    @classmethod
    def at(cls, name: str, kind: ConnectionKind, address: str) -> Upstream:
        """Create an upstream for an address; nothing is sent yet.

        Raises:
            AddressError: the address is not that of a server.
            ModelError: the system's proxy or certificates cannot be used.
        """
        whole = address if "://" in address else f"http://{address}"
        if not origin(whole) or re.search(r"[\s?#]", whole):
            raise AddressError(f"{address!r} is not an address such as https://host/v1")
        return cls(name, kind, whole.rstrip("/"), transport_to(whole, connections=None)[0])

    def path(self, target: bytes) -> bytes:
        """Return the full path for a path relative to the base URL."""
        return httpx2.URL(self.address).raw_path.rstrip(b"/") + target

    async def send(
        self, method: str, target: bytes, headers: Headers, body: bytes
    ) -> httpx2.Response:
        """Send a request and return the head of its answer; redirects are not followed.

        Args:
            method: HTTP method.
            target: path and query relative to the base URL, unchanged.
            headers: its headers without `Host`.
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
        headers: headers of the program.
        body: replacement of the body; None if it is unchanged.
    """
    made: Headers = []
    for name, value in headers:
        if name == b"accept-encoding" and re.search(rb"br|zstd|compress|\*", value):
            made.append((name, ENCODINGS.encode()))  # encodings that the reader supports
        elif name == b"content-length" and body is not None:
            made.append((name, str(len(body)).encode()))
        elif name not in _OF_ONE_HOP:
            made.append((name, value))
    return made


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer: status and headers."""

    status: int
    """HTTP status."""

    headers: Headers
    """Headers to pass on."""


@dataclass(eq=False)
class Exchange:
    """A request to a model and the progress of its answer."""

    upstream: Upstream
    """Server that the request is sent to."""

    target: bytes
    """Path and query relative to the base URL."""

    headers: Headers
    """Headers to pass on."""

    body: bytes
    """Request body, unchanged."""

    api: Provider
    """API of the request."""

    data: JsonObject
    """Request body as a JSON value."""

    messages: tuple[Message, ...]
    """Messages of the request."""

    number: int = 0
    """Number of the request in the recording, from 1."""

    is_held: bool = False
    """Whether the answer is held here until the run releases it."""

    is_asked: bool = False
    """Whether the request was sent to the server."""

    is_gone: bool = False
    """Whether the program closed its connection before it received the whole answer."""

    is_answered: bool = False
    """Whether the whole answer was passed on."""

    is_failed: bool = False
    """Whether the answer is an error, after which the program may retry."""

    is_broken: bool = False
    """Whether the server's answer broke off, which the program sees as well."""

    fault: Fault = NO_FAULT
    """Fault to inject."""

    edited: JsonObject = field(default_factory=dict)
    """Options that the user sets in the body; null removes one."""

    answer_id: str = ""
    """Id by which a later request of the Responses API can continue from the answer."""

    passing: Passing | None = None
    """Path of an answer that is passed on at once; None if the run passes it on."""

    _parts: asyncio.Queue[Head | bytes | None] = field(default_factory=asyncio.Queue)
    _held: list[Head | bytes] = field(default_factory=list)
    _has_head: bool = False
    _limit: asyncio.Timeout | None = None

    @cached_property
    def known(self) -> tuple[tuple[str, object], ...]:
        """Return what distinguishes conversations: the roles and parts of the messages."""
        return tuple((message.role, message.parts) for message in self.messages)

    @cached_property
    def beginnings(self) -> tuple[bytes, ...]:
        """Return digests of the first message, of the first two, and so on."""
        return beginnings_of(self.known, self.continued)

    @property
    def continued(self) -> str:
        """Return the id of the answer or stored conversation that the request continues, or ""."""
        value = self.data.get("conversation")
        kept = value.get("id") if isinstance(value, Mapping) else value
        return str(
            self.data.get("previous_response_id") or (f"conversation {kept}" if kept else "")
        )

    @property
    def said(self) -> str:
        """Return the last message that is a text."""
        return next((each.text for each in reversed(self.messages) if each.text), "")

    @property
    def model(self) -> str:
        """Return the id of the requested model."""
        if self.api == "gemini":
            return self.target.decode("ascii", "replace").rpartition("/")[2].partition(":")[0]
        return str(self.data.get("model", ""))

    @property
    def streams(self) -> bool:
        """Whether the request asks for a stream."""
        if self.api == "gemini":
            return b":streamGenerateContent" in self.target
        return self.data.get("stream", self.api == "ollama") is True

    def give(self, part: Head | bytes) -> None:
        """Pass on a part of the answer, or keep it while the answer is held."""
        if self.passing is not None:
            return  # already passed on
        self._has_head = True
        if self.is_held:
            self._held.append(part)
        else:
            self._parts.put_nowait(part)

    def end(self) -> None:
        """End the answer; a held answer stays for a retry by a program that disconnected."""
        if self.is_gone or self.is_answered:
            self.is_answered = True
            return
        self.is_held, self.is_answered = False, True
        for part in (*self._held, None):
            self._parts.put_nowait(part)
        self._held = []

    def pass_on(self) -> None:
        """Ask the server, and pass its answer on as it comes."""
        self.passing, self.is_asked = Passing(), True
        self._parts.put_nowait(None)

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """Answer with a body that is not from the server.

        Args:
            status: HTTP status.
            kind: its media type.
            body: the body.
        """
        if self.is_answered:
            return
        self._held = []
        self.give(_whole_head(status, kind, body))
        self.give(body)
        self.end()

    def refuse(self, status: int, words: str) -> None:
        """Answer with an error in the format that all APIs share."""
        self.answer(status, "application/json", _error_body(words))

    def fail(self, words: str) -> None:
        """End the answer of a failed call: cut it off if it has begun, otherwise send an error."""
        self.is_failed = True
        self.note()
        if self._has_head:
            self.end()
        else:
            self.refuse(502, words)

    def leave(self) -> None:
        """Note that the program closed its connection, and cancel the request to the server."""
        if self.is_answered:
            return
        self.is_gone, self.is_failed = True, self.is_asked
        if self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def while_there(self, work: Awaitable[_Waited]) -> _Waited:
        """Wait for the server, but no longer than the program waits for its answer.

        Raises: ModelError: the program has closed its connection.
        """
        try:
            async with asyncio.timeout(0 if self.is_gone else None) as self._limit:
                return await work
        except TimeoutError:
            if not self.is_gone:
                raise  # a cancellation in the network code
            raise left_failure() from None
        finally:
            self._limit = None

    def note(self) -> None:
        """Note that the run has read the answer, which the program already has."""
        if self.passing is not None:
            self.passing.note()

    @property
    def is_behind(self) -> bool:
        """Whether the program may act on an answer that the run has not read yet."""
        is_noted = self.passing is None or self.passing.noted.done()
        return not is_noted and (self.is_answered or self.is_gone)

    def is_again(self, before: Exchange) -> bool:
        """Return whether this is a retry of a request that got no answer."""
        is_open = before.is_failed or before.is_gone
        is_same = self.body == before.body and self.target == before.target
        return is_open and is_same and self.upstream is before.upstream and self is not before

    def take_over(self, before: Exchange) -> None:
        """Continue where an earlier request is held whose connection the program closed."""
        self.is_held, self._held, self._has_head = before.is_held, before._held, before._has_head
        self.edited = before.edited
        if before.is_answered:
            self.end()

    async def parts(self) -> AsyncGenerator[Head | bytes, None]:
        """Yield the parts of the answer when they may be passed to the program.

        A stream that is held for long starts with keep-alive events before its first bytes.
        """
        has_begun = False
        while self.passing is None:
            try:
                is_coming = self._has_head and not self.is_held
                async with asyncio.timeout(None if is_coming else BEAT_SECONDS):
                    part = await self._parts.get()
            except TimeoutError:
                head = next(iter(self._held), None)
                if self.is_held and not has_begun and self._takes_beats(head):
                    has_begun = True
                    yield head
                if self.is_held and has_begun:
                    yield _BEATS[self.api]
                continue
            if part is None:
                if self.is_answered:
                    return
                continue  # it is passed on after all
            if isinstance(part, Head) and has_begun:
                if part.status != 200:
                    self.is_broken = True  # another status was already sent
                    return
                continue
            yield part
        async with aclosing(self._passed(self.passing)) as passed:
            async for each in passed:
                yield each

    async def _passed(self, passing: Passing) -> AsyncGenerator[Head | bytes, None]:
        """Send the request and yield its answer without parsing it."""
        ask = partial(self.upstream.send, "POST", self.target, self.headers, self.body)
        try:
            async with aclosing(passing.parts(ask)) as parts:
                async for part in parts:
                    if self.is_answered:  # the run was stopped
                        self.is_broken = True
                        return
                    if isinstance(part, bytes):
                        yield part
                        continue
                    self._has_head, self.is_failed = True, part.status_code >= 400
                    yield Head(part.status_code, sent_headers(part.headers.raw))
        except (httpx2.HTTPError, OSError) as error:
            self.is_failed, self.is_broken = True, self._has_head
            if not self._has_head:
                body = _error_body(
                    f"{self.upstream.address} cannot be reached ({reason_of(error)})."
                )
                yield _whole_head(502, "application/json", body)
                yield body
        self.is_answered = True

    def _takes_beats(self, head: Head | bytes | None) -> TypeGuard[Head]:
        """Return whether an answer is a stream into which keep-alive bytes can be inserted."""
        if not isinstance(head, Head) or head.status != 200 or self.api not in _BEATS:
            return False
        named = {name.lower(): value for name, value in head.headers}
        is_events = named.get(b"content-type", b"").startswith(b"text/event-stream")
        return is_events and not named.keys() & {b"content-encoding", b"content-length"}


def _whole_head(status: int, kind: str, body: bytes) -> Head:
    """Return the head of an answer that the recorder writes itself."""
    length = str(len(body)).encode()
    return Head(status, [(b"content-type", kind.encode()), (b"content-length", length)])


def _error_body(words: str) -> bytes:
    return json.dumps({"error": {"message": words}}, ensure_ascii=False).encode()


def exchange_of(
    upstream: Upstream, target: bytes, headers: Headers, body: bytes
) -> Exchange | None:
    """Parse a request to a model; return None for any other request, which is only passed on."""
    asked = asked_at(target.decode("ascii", "replace"))
    if asked is None:
        return None
    api, key = asked
    try:
        data = parse_json(body.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(data, Mapping) or key not in data:
        return None
    messages = tuple(messages_of(data, api))
    if not messages:
        return None  # no messages: the request loads a model, or the server refuses it
    return Exchange(upstream, target, sent_headers(headers), body, api, data, messages)


class ProgramKeys:
    """Adds the keys that a program sends to the masker."""

    def __init__(self, masker: Masker) -> None:
        """Store the masker; no key is known yet."""
        self._masker = masker
        self._seen: set[str] = set()

    def note(self, exchange: Exchange) -> None:
        """Note the keys of a request before any of it is stored or compared."""
        for key in _keys_of(exchange):
            if key not in self._seen and len(key) >= SHORTEST_KEY and not is_placeholder(key):
                self._seen.add(key)
                reference = key_reference(f"{exchange.upstream.name} {len(self._seen)}")
                self._masker.note(reference, key, is_key=True)


def _keys_of(exchange: Exchange) -> Iterator[str]:
    """Yield the keys in headers and in the query, and known forms of keys in the body."""
    for name, value in exchange.headers:
        if names_secret(name.decode("latin-1")):
            yield value.decode("latin-1").rpartition(" ")[2]  # after `Bearer`
    for parameter, text in parse_qsl(exchange.target.decode("ascii", "replace").partition("?")[2]):
        if names_secret(parameter) or names_secret_variable(parameter):
            yield text
    body = exchange.body.decode("utf-8")
    yield from (body[start:end] for start, end in keys_in(body))


class ReplyReader:
    """Parses a copy of an answer into the deltas of a reply."""

    def __init__(self, api: Provider, content_type: str) -> None:
        """Create a reader for an API and a media type."""
        self._reader = chunk_reader(api)
        is_lines = "ndjson" in content_type or "jsonl" in content_type
        is_events = content_type.startswith("text/event-stream")
        self._lines = LineSplitter() if is_lines else EventSplitter() if is_events else None
        self._whole = bytearray()
        self._names_answer = api == "openai-responses"
        self.answer_id = ""
        """Id of an answer of the Responses API; empty for other APIs."""
        self.fault = ""
        """Reason why the answer cannot be parsed, or the error in it; empty if there is none."""

    def feed(self, piece: bytes) -> Iterator[ReplyDelta]:
        """Parse a piece and yield its deltas; after a fault, yield nothing."""
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
        """Yield the remaining deltas; the last one is `Finished`."""
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
            return  # `[DONE]`, or not an event of the API
        value = parse_json(event.data)
        if isinstance(value, Mapping):
            self.fault = self.fault or chunk_error(value) or ""
            self._note_id(object_of(value.get("response")))
            yield from self._reader.read(value)

    def _note_id(self, response: JsonObject) -> None:
        if self._names_answer:
            self.answer_id = str(response.get("id") or "") or self.answer_id

    def _of_whole(self) -> Iterator[ReplyDelta]:
        value = parse_json(self._whole.decode("utf-8"))
        for each in objects_of(value if isinstance(value, list) else [value]):
            self.fault = self.fault or chunk_error(each) or ""
        if self.fault:
            return
        if isinstance(value, list):  # Gemini streams a list unless events were requested
            for each in objects_of(value):
                yield from self._reader.read(each)
            yield from self._reader.end()
        elif isinstance(value, Mapping):
            self._note_id(value)
            reply = read_response(value)
            yield from deltas_of(reply, max(1, len(self._whole)))  # each text as one delta
            yield Finished(reply.finish_reason or "unknown")


async def read_answer(
    answer: httpx2.Response, exchange: Exchange, reader: ReplyReader, wire: WireRecorder | None
) -> AsyncIterator[bytes]:
    """Yield the readable bytes of an answer's body while all of it is passed to the program."""
    passed = _passed(answer, exchange)
    encodings = answer.headers.get("content-encoding", "").lower().replace(" ", "")
    try:
        try:
            async for piece in decoded(passed, encodings):
                if wire is not None:
                    wire.received(piece)
                yield piece
        except (httpx2.DecodingError, TooMuchError) as error:
            reader.fault = f"the answer cannot be read ({reason_of(error)})"
            async for piece in passed:
                if wire is not None:
                    wire.skipped(piece)
    except (httpx2.HTTPError, OSError) as error:
        exchange.is_broken = True
        reader.fault = reader.fault or f"the answer broke off ({reason_of(error)})"


async def _passed(answer: httpx2.Response, exchange: Exchange) -> AsyncIterator[bytes]:
    """Yield the bytes of an answer, each piece passed to the program before it is parsed."""
    assert isinstance(answer.stream, httpx2.AsyncByteStream)
    pieces = aiter(answer.stream)
    while (piece := await exchange.while_there(anext(pieces, None))) is not None:
        if exchange.fault.is_cut:
            exchange.give(piece[: len(piece) // 2])
            raise httpx2.ReadError("cut off on purpose")
        exchange.give(piece)
        yield piece


def left_failure() -> ModelError:
    """Return the error for a call whose program has disconnected."""
    error = failure_of(0, "The program closed its connection before it received the answer.")
    error.kind, error.hint = CUT_OFF, "If it retries, the run continues here."
    return error


def failure_of(status: int, words: str) -> ModelError:
    """Return the error for a failed call, which the program may retry."""
    kinds = {401: "unauthorised", 403: "unauthorised", 404: "not-found", 429: "rate-limited"}
    kind = kinds.get(status, "server-error" if status >= 500 else "refused")
    error = ModelError(kind, words, "The program got this answer, too.", retryable=True)
    error.retries = 1_000_000  # the program decides whether to retry
    return error
