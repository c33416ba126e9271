"""One request of a recorded program: where it goes, and the way of its answer back.

Bytes go through as they came. What is read from them on the way is read from a copy, so a reply
that cannot be read is passed on all the same.
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
"""Names in lower case and values, in their order."""

_Waited = TypeVar("_Waited")

_OF_ONE_HOP = frozenset(
    b"connection expect host keep-alive proxy-connection te trailer upgrade".split()
) | {b"transfer-encoding"}
"""Headers of a connection and not of a message (RFC 9110, 7.6.1)."""

CUT_OFF = "cut-off"
"""Kind of the failure of a call whose answer did not come to its end."""

BEAT_SECONDS = 15.0
"""Seconds after which a stream whose reply is held gets a sign of life, and between them."""

_BEATS: Mapping[Provider, bytes] = {
    "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
    "openai-chat": b": held\n\n",
    "openai-responses": b": held\n\n",
}
"""Bytes that a client of an API reads over."""

_TIMES = {"connect": 10.0, "read": None, "write": None, "pool": None}
_MOST_WHOLE = 64 * 1024**2


class AddressError(ValueError):
    """An address that leads to no server; the text names it."""


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
            AddressError: it is no address of a server.
            ModelError: the system's proxy or certificates cannot be used.
        """
        whole = address if "://" in address else f"http://{address}"
        if not origin(whole) or re.search(r"[\s?#]", whole):
            raise AddressError(f"{address!r} is no address such as https://host/v1")
        return cls(name, kind, whole.rstrip("/"), transport_to(whole, connections=None)[0])

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

    number: int = 0
    """Number among the requests of a recording, from 1."""

    is_held: bool = False
    """Whether the answer waits here until the run lets it go."""

    is_asked: bool = False
    """Whether the server is being asked."""

    is_gone: bool = False
    """Whether the program has closed its connection before it had the answer."""

    is_answered: bool = False
    """Whether the whole answer was given."""

    is_failed: bool = False
    """Whether the answer is an error, after which the program may ask again."""

    is_broken: bool = False
    """Whether the server's answer broke off, as the program then sees it, too."""

    fault: Fault = NO_FAULT
    """Fault on purpose."""

    edited: JsonObject = field(default_factory=dict)
    """Options that the user sets in the body; null takes one out."""

    answer_id: str = ""
    """Id by which a later request of the Responses API can go on from the answer."""

    passing: Passing | None = None
    """The way of an answer that goes through at once; None where the run gives it."""

    _parts: asyncio.Queue[Head | bytes | None] = field(default_factory=asyncio.Queue)
    _held: list[Head | bytes] = field(default_factory=list)
    _has_head: bool = False
    _limit: asyncio.Timeout | None = None

    @cached_property
    def known(self) -> tuple[tuple[str, object], ...]:
        """Return what tells conversations apart: the roles and parts of the messages."""
        return tuple((message.role, message.parts) for message in self.messages)

    @cached_property
    def beginnings(self) -> tuple[bytes, ...]:
        """Return a digest of the first message, of the first two, and so on."""
        return beginnings_of(self.known, self.continued)

    @property
    def continued(self) -> str:
        """Return the answer or the conversation at the server that it goes on with, else ""."""
        value = self.data.get("conversation")
        kept = value.get("id") if isinstance(value, Mapping) else value
        return str(
            self.data.get("previous_response_id") or (f"conversation {kept}" if kept else "")
        )

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
        if self.passing is not None:
            return  # the program has it
        self._has_head = True
        if self.is_held:
            self._held.append(part)
        else:
            self._parts.put_nowait(part)

    def end(self) -> None:
        """End the answer; one that was held stays here for the next try of a program that left."""
        if self.is_gone or self.is_answered:
            self.is_answered = True
            return
        self.is_held, self.is_answered = False, True
        for part in (*self._held, None):
            self._parts.put_nowait(part)
        self._held = []

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
        self.give(_whole_head(status, kind, body))
        self.give(body)
        self.end()

    def refuse(self, status: int, words: str) -> None:
        """Answer with an error in the shape that all the APIs share."""
        self.answer(status, "application/json", _error_body(words))

    def fail(self, words: str) -> None:
        """End the answer of a call that failed: as far as it came, else with an error."""
        self.is_failed = True
        self.note()
        if self._has_head:
            self.end()
        else:
            self.refuse(502, words)

    def leave(self) -> None:
        """Note that the program has closed its connection; the server is asked no longer."""
        if self.is_answered:
            return
        self.is_gone, self.is_failed = True, self.is_asked
        if self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def while_there(self, work: Awaitable[_Waited]) -> _Waited:
        """Wait for the server, but not longer than the program waits for its answer.

        Raises:
            ModelError: the program has closed its connection.
        """
        try:
            async with asyncio.timeout(0 if self.is_gone else None) as self._limit:
                return await work
        except TimeoutError:
            if not self.is_gone:
                raise  # of the network
            raise left_failure() from None
        finally:
            self._limit = None

    def note(self) -> None:
        """Note that the run has read the answer which the program has."""
        if self.passing is not None:
            self.passing.note()

    @property
    def is_behind(self) -> bool:
        """Whether the program may go on from an answer that the run has not read yet."""
        is_noted = self.passing is None or self.passing.noted.done()
        return not is_noted and (self.is_answered or self.is_gone)

    def is_again(self, before: Exchange) -> bool:
        """Return whether it is the next try of a request that got no answer."""
        is_open = before.is_failed or before.is_gone
        is_same = self.body == before.body and self.target == before.target
        return is_open and is_same and self.upstream is before.upstream and self is not before

    def take_over(self, before: Exchange) -> None:
        """Go on where the request is held whose connection the program has closed."""
        self.is_held, self._held, self._has_head = before.is_held, before._held, before._has_head
        self.edited = before.edited
        if before.is_answered:
            self.end()

    async def parts(self) -> AsyncGenerator[Head | bytes, None]:
        """Yield the parts of the answer as they may go to the program.

        A stream that is held for long begins, and gets signs of life before its first bytes.
        """
        if self.passing is not None:
            async with aclosing(self._passed(self.passing)) as passed:
                async for each in passed:
                    yield each
            return
        has_begun = False
        while True:
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
                return
            if isinstance(part, Head) and has_begun:
                if part.status != 200:
                    self.is_broken = True  # the program has another status already
                    return
                continue
            yield part

    async def _passed(self, passing: Passing) -> AsyncGenerator[Head | bytes, None]:
        """Ask the server and yield its answer, without a look at what it holds."""
        ask = partial(self.upstream.send, "POST", self.target, self.headers, self.body)
        try:
            async with aclosing(passing.parts(ask)) as parts:
                async for part in parts:
                    if self.is_answered:  # its run was stopped
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
        """Return whether an answer is a stream into which bytes of the recorder's own can go."""
        if not isinstance(head, Head) or head.status != 200 or self.api not in _BEATS:
            return False
        named = {name.lower(): value for name, value in head.headers}
        is_events = named.get(b"content-type", b"").startswith(b"text/event-stream")
        return is_events and not named.keys() & {b"content-encoding", b"content-length"}


def _whole_head(status: int, kind: str, body: bytes) -> Head:
    """Return the head of an answer of the recorder's own."""
    length = str(len(body)).encode()
    return Head(status, [(b"content-type", kind.encode()), (b"content-length", length)])


def _error_body(words: str) -> bytes:
    return json.dumps({"error": {"message": words}}, ensure_ascii=False).encode()


def exchange_of(
    upstream: Upstream, target: bytes, headers: Headers, body: bytes
) -> Exchange | None:
    """Return a request to a model; None for any other, which is only passed on."""
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
        return None  # it asks for nothing: so a model is loaded, or the server refuses it
    return Exchange(upstream, target, sent_headers(headers), body, api, data, messages)


class ProgramKeys:
    """The keys that a program sends: once seen, its masker knows them."""

    def __init__(self, masker: Masker) -> None:
        """Take the masker; no key is seen yet."""
        self._masker = masker
        self._seen: set[str] = set()

    def note(self, exchange: Exchange) -> None:
        """Note the keys of a request, before anything of it is kept or compared."""
        for key in _keys_of(exchange):
            if key not in self._seen and len(key) >= SHORTEST_KEY and not is_placeholder(key):
                self._seen.add(key)
                reference = key_reference(f"{exchange.upstream.name} {len(self._seen)}")
                self._masker.note(reference, key, is_key=True)


def _keys_of(exchange: Exchange) -> Iterator[str]:
    """Yield the keys in headers and in the query, and those of a known form in the body."""
    for name, value in exchange.headers:
        if names_secret(name.decode("latin-1")):
            yield value.decode("latin-1").rpartition(" ")[2]  # behind `Bearer`
    for parameter, text in parse_qsl(exchange.target.decode("ascii", "replace").partition("?")[2]):
        if names_secret(parameter) or names_secret_variable(parameter):
            yield text
    body = exchange.body.decode("utf-8")
    yield from (body[start:end] for start, end in keys_in(body))


class ReplyReader:
    """Reads a copy of an answer into the pieces of a reply."""

    def __init__(self, api: Provider, content_type: str) -> None:
        """Take the API and the media type of the answer."""
        self._reader = chunk_reader(api)
        is_lines = "ndjson" in content_type or "jsonl" in content_type
        is_events = content_type.startswith("text/event-stream")
        self._lines = LineSplitter() if is_lines else EventSplitter() if is_events else None
        self._whole = bytearray()
        self._names_answer = api == "openai-responses"
        self.answer_id = ""
        """Id of an answer of the Responses API; empty for any other."""
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
        if isinstance(value, list):  # Gemini streams a list where no events were asked for
            for each in objects_of(value):
                yield from self._reader.read(each)
            yield from self._reader.end()
        elif isinstance(value, Mapping):
            self._note_id(value)
            reply = read_response(value)
            yield from deltas_of(reply, max(1, len(self._whole)))  # each text in one piece
            yield Finished(reply.finish_reason or "unknown")


async def read_answer(
    answer: httpx2.Response, exchange: Exchange, reader: ReplyReader, wire: WireRecorder | None
) -> AsyncIterator[bytes]:
    """Yield what can be read of an answer's body; all of it goes through to the program."""
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
    """Yield an answer's bytes, each piece given to the program before it is read."""
    assert isinstance(answer.stream, httpx2.AsyncByteStream)
    pieces = aiter(answer.stream)
    while (piece := await exchange.while_there(anext(pieces, None))) is not None:
        if exchange.fault.is_cut:
            exchange.give(piece[: len(piece) // 2])
            raise httpx2.ReadError("cut on purpose")
        exchange.give(piece)
        yield piece


def left_failure() -> ModelError:
    """Return the failure of a call whose program waits no longer."""
    error = failure_of(0, "The program closed its connection before it had the answer.")
    error.kind, error.hint = CUT_OFF, "If it asks again, the run goes on here."
    return error


def failure_of(status: int, words: str) -> ModelError:
    """Return the failure of a call, which the program may try again."""
    kinds = {401: "unauthorised", 403: "unauthorised", 404: "not-found", 429: "rate-limited"}
    kind = kinds.get(status, "server-error" if status >= 500 else "refused")
    error = ModelError(kind, words, "The program got this answer, too.", retryable=True)
    error.retries = 1_000_000  # whether it is tried again is the program's decision
    return error
