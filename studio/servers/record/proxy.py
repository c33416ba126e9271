"""`prompt-studio record`: a proxy on this machine between a program and its models.

No request can choose a host: each path of the proxy leads to one server, which the program's
variables, the SDK's default or `--to` set at the start. Every request carries the token of the
session in its path; a request with an `Origin` (from a web page) or another `Host` is refused.
"""

import asyncio
import contextlib
import hmac
import re
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import httpx2
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from studio.core.agent.values.options import RunOptions
from studio.core.masking.masker import Masker
from studio.core.models.capabilities import price_table
from studio.core.models.connections import ConnectionKind
from studio.core.runs.rows import RECORDING
from studio.core.runs.store import RunStore
from studio.core.text.values import reason_of
from studio.servers.record.exchange import (
    AddressError,
    Exchange,
    Head,
    Headers,
    ProgramKeys,
    Upstream,
    exchange_of,
    sent_headers,
)
from studio.servers.record.faults import Fault
from studio.servers.record.program_run import OnProgramEvent, ProgramRun
from studio.servers.record.results import ProgramResults

LOOPBACK = "127.0.0.1"
"""The only address that the proxy listens on."""

MOST_BODY = 64 * 1024**2
"""Maximum size of a request body in bytes."""

_CLIMBS = re.compile(rb"(?i)^[^?]*/(?:\.|%2e){1,2}(?:[/?\\]|%2f|%5c|$)")
"""Paths with a part that a server may resolve to a path above its base URL."""

_END_SECONDS = 2.0
"""Seconds that runs get to record the end of an answer that the program already has."""

_NOTE_SECONDS = 0.05
"""Seconds that an answer gets to pass through before its request is recorded."""

_MOST_BEHIND = 50
"""Maximum number of requests that are passed on before they are recorded; others wait."""

_MOST_OPEN = 500
"""Maximum number of conversations that a request can continue; others are in the history only."""


@dataclass(frozen=True, slots=True)
class BaseAddress:
    """An API whose base URL SDKs read from environment variables."""

    name: str
    """Name of the API in the proxy address."""

    kind: ConnectionKind
    """Kind of connection, used for prices."""

    variables: tuple[str, ...]
    """Environment variables that SDKs read."""

    default: str = ""
    """Base URL that SDKs use without the variables.

    If it is empty, the variables choose the provider and are replaced only if they were set.
    """


BASE_ADDRESSES = (
    BaseAddress(
        "openai", "openai", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1"
    ),
    BaseAddress("anthropic", "anthropic", ("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    BaseAddress(
        "gemini",
        "gemini",
        ("GOOGLE_GEMINI_BASE_URL",),
        "https://generativelanguage.googleapis.com",
    ),
    BaseAddress("ollama", "ollama", ("OLLAMA_HOST",), "http://127.0.0.1:11434"),
    BaseAddress("groq", "compatible", ("GROQ_BASE_URL",), "https://api.groq.com"),
    BaseAddress("mistral", "compatible", ("MISTRAL_API_BASE",), "https://api.mistral.ai/v1"),
    BaseAddress("azure", "azure", ("AZURE_OPENAI_ENDPOINT",)),
)
"""The APIs, in the order in which they are printed."""


def upstreams_of(environment: Mapping[str, str], to: str = "") -> dict[str, Upstream]:
    """Return the server of each API by name.

    Args:
        environment: environment variables of the program.
        to: one address for all of them; empty for the program's own.

    Raises:
        AddressError: an address is not that of a server.
        ModelError: the system's proxy or certificates cannot be used.
    """
    found: dict[str, Upstream] = {}
    for row in BASE_ADDRESSES:
        name = next((each for each in row.variables if environment.get(each)), "")
        own = environment.get(name, "")
        address = (to if own or row.default else "") or own or row.default
        if row.name == "ollama" and address == own:
            address = _ollama_address(own)
        try:
            if address:
                found[row.name] = Upstream.at(row.name, row.kind, address)
        except AddressError as error:
            raise AddressError(f"{'--to' if to else name}: {error}") from None
    return found


def _ollama_address(host: str) -> str:
    """Return the base URL for a value of `OLLAMA_HOST`, in which each part is optional."""
    if "://" in host:
        return host
    name, _, path = host.partition("/")
    name = name if name and not name.startswith(":") else f"127.0.0.1{name}"
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
    return f"http://{name if has_port else f'{name}:11434'}/{path}"


class Recording:
    """The conversations of a program, each with its run."""

    def __init__(
        self,
        program: Sequence[str],
        masker: Masker,
        options: RunOptions,
        store: RunStore | None,
        on_event: OnProgramEvent,
        folder: str = "",
    ) -> None:
        """Create an empty recording.

        Args:
            program: command line of the program.
            masker: replaces the secrets of its environment.
            options: pause points.
            store: history that stores the runs; None stores nothing.
            on_event: called with each event of each run.
            folder: working directory of the program; empty for that of this process.
        """
        self.faults = deque[Fault]()
        """Faults to inject into the next requests, one each."""
        self.begun = 0
        """Number of conversations that were started."""
        self._program, self._folder = tuple(program), Path(folder)
        self._masker = masker
        self._keys = ProgramKeys(masker)
        self.options = options
        """Run options of conversations that start from now on."""
        self._store = store
        self._on_event = on_event
        self._asked = 0
        self._results = ProgramResults()
        self._tasks: dict[ProgramRun, asyncio.Task[None]] = {}
        self._filed: dict[ProgramRun, bytes] = {}
        """Digest by which each conversation is filed, least recently used first."""
        self._by_messages: dict[bytes, dict[ProgramRun, None]] = {}
        """Conversations by the digest of all messages of their newest request."""
        self._is_closed = False
        self._behind: deque[tuple[Exchange, float]] = deque()
        """Requests that are not recorded yet, each with its deadline."""
        self._noting: asyncio.Task[None] | None = None
        price_table()  # load it now: it takes 0.2 s, which would delay the first request
        self.tag = f"{RECORDING}{secrets.token_hex(4)}"
        """Tag that all runs of this recording have in the history."""

    others = None
    """None: requests that are not for a model are passed on."""

    def take(self, exchange: Exchange) -> None:
        """Take a request; one that is never held is passed on before it is recorded."""
        if self._is_closed:
            exchange.refuse(503, "The recording has ended.")
            return
        if self.faults:
            exchange.fault = self.faults.popleft()
        elif len(self._behind) < _MOST_BEHIND and not self._may_hold:
            exchange.pass_on()
        if exchange.passing is None and not self._behind:
            self._note(exchange)
            return
        self._behind.append((exchange, asyncio.get_running_loop().time() + _NOTE_SECONDS))
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._note_behind())

    @property
    def _may_hold(self) -> bool:
        """Whether a request that arrives now may be held or changed."""
        options = self.options
        places = options.breakpoints or options.pause_at or options.stop_at_entry
        is_open = bool(places) or any(each.holds for each in self.conversations)
        return not options.headless and is_open

    async def _note_behind(self) -> None:
        """Record requests in order, each after its answer or at its deadline."""
        while self._behind:
            exchange, due = self._behind[0]
            if exchange.passing is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(due):
                        await exchange.passing.ended.wait()
            for each in self._known(exchange):
                while (latest := each.latest).is_behind and not self._tasks[each].done():
                    assert latest.passing is not None
                    both = {latest.passing.noted, self._tasks[each]}
                    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            self._behind.popleft()
            self._note(exchange)

    def _note(self, exchange: Exchange) -> None:
        """Add a request to its conversation, or start a new one."""
        self._keys.note(exchange)
        self._asked += 1
        exchange.number = self._asked
        best = self._continued(exchange) or self._begin(exchange)
        if best.latest is not exchange:
            best.arrive(exchange)
        self._file(best)
        self._results.take(exchange)
        self._make_room()

    def _continued(self, exchange: Exchange) -> ProgramRun | None:
        """Return the conversation that a request continues: the one that shares most messages."""
        return next((each for each in self._known(exchange) if each.continues(exchange)), None)

    def _known(self, exchange: Exchange) -> Sequence[ProgramRun]:
        """Return the conversations that a request may continue, the longest first."""
        if exchange.continued:  # the server stores the beginning
            return self.conversations
        beginnings = reversed(exchange.beginnings)
        return [each for one in beginnings for each in self._by_messages.get(one, ())]

    def _begin(self, exchange: Exchange) -> ProgramRun:
        self.begun += 1
        script = next((each for each in self._program[1:] if (self._folder / each).is_file()), "")
        program = Path(script or (self._program[0] if self._program else "program")).name
        conversation = ProgramRun(
            f"{program} {self.begun}",
            " ".join(self._program) or "a program that was started elsewhere",
            exchange,
            self._masker,
            self.options,
            self._results,
        )
        going = conversation.go(self._store, self.tag, self._on_event)
        self._tasks[conversation] = asyncio.create_task(going)
        return conversation

    def _file(self, conversation: ProgramRun) -> None:
        """File a conversation by the messages of its newest request, as the most recently used."""
        self._unfile(conversation)
        self._filed[conversation] = conversation.latest.beginnings[-1]
        self._by_messages.setdefault(self._filed[conversation], {})[conversation] = None

    def _unfile(self, conversation: ProgramRun) -> None:
        beginning = self._filed.pop(conversation, b"")
        if same := self._by_messages.get(beginning):
            del same[conversation]
            if not same:
                del self._by_messages[beginning]

    def _make_room(self) -> None:
        """Remove the answered conversations that were not used for the longest time."""
        for conversation in [*islice(self._filed, max(0, len(self._filed) - _MOST_OPEN))]:
            if conversation.latest.is_answered and not conversation.is_ending:
                self._unfile(conversation)
                self._tasks.pop(conversation).cancel()

    @property
    def conversations(self) -> tuple[ProgramRun, ...]:
        """Return the conversations that can continue, in the order of their start."""
        return tuple(self._tasks)

    @property
    def going(self) -> tuple[tuple[ProgramRun, asyncio.Task[None]], ...]:
        """Return the conversations, each with the task that drives it."""
        return tuple(self._tasks.items())

    async def close(self) -> None:
        """Stop the runs that wait for the program, and refuse its open requests."""
        self._is_closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                while self._behind or any(each.is_ending for each in self._tasks):
                    await asyncio.sleep(0.01)
        if self._noting is not None:
            self._noting.cancel()
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())


class Answering(Protocol):
    """Answers a program's requests to models."""

    @property
    def others(self) -> list[str] | None:
        """Refused requests that were not for a model; None if they are passed on."""
        ...

    def take(self, exchange: Exchange) -> None:
        """Take a request; its answer is passed through the exchange."""
        ...


class RecorderProxy:
    """The ASGI application: passes on the requests of the program and refuses others."""

    def __init__(self, upstreams: Mapping[str, Upstream], recording: Answering) -> None:
        """Create the proxy for the servers, with the object that answers requests."""
        self.token = secrets.token_urlsafe(24)
        """Token in the path of every address of this session."""
        self.port = 0
        """Port of the proxy, known once `serving` has started."""
        self._upstreams = upstreams
        self._recording = recording

    def environment(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return environment variables with the addresses of this proxy."""
        made = dict(before)
        for row in BASE_ADDRESSES:
            for name in row.variables if row.name in self._upstreams else ():
                if row.default or name in before:
                    made[name] = self.address(row.name)
        for name in ("NO_PROXY", "no_proxy"):
            made[name] = ",".join(filter(None, (before.get(name, ""), LOOPBACK)))
        return made

    def address(self, name: str) -> str:
        """Return the proxy address of an API."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/{name}"

    def settings(self) -> list[str]:
        """Return the variables for a program that is started elsewhere, one per line."""
        rows = (row for row in BASE_ADDRESSES if row.default)
        return [f"{row.variables[0]}={self.address(row.name)}" for row in rows]

    @contextlib.asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[None]:
        """Listen while the block runs; port 0 picks a free one.

        Raises:
            PortError: the port cannot be used.
        """
        try:
            async with serving(self, port) as self.port:
                yield
        finally:
            for upstream in self._upstreams.values():
                await upstream.transport.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        if scope["type"] != "http":
            return
        headers: Headers = list(scope["headers"])
        upstream, target = self._route(scope, headers)
        if _CLIMBS.search(target):
            await answer(send, 400, b"A path with . or .. leaves its server's address.\n")
            return
        if upstream is None:
            await answer(send, 403, b"This address is for the recorded program alone.\n")
            return
        body = await body_of(receive)
        if body is None:
            await answer(send, 413, b"The request is larger than the recorder passes on.\n")
            return
        exchange = None
        if scope["method"] == "POST":
            exchange = exchange_of(upstream, target, headers, body)
        if exchange is not None:
            self._recording.take(exchange)
            if not await _while_there(receive, _give(exchange, send)):
                exchange.leave()
        elif self._recording.others is not None:
            path = target.partition(b"?")[0].decode("ascii", "replace")
            self._recording.others.append(f"{scope['method']} {path}")
            await answer(send, 404, b"The recording holds requests to models alone.\n")
        else:
            passing = _pass_on(upstream, scope["method"], target, headers, body, send)
            await _while_there(receive, passing)

    def _route(self, scope: Scope, headers: Headers) -> tuple[Upstream | None, bytes]:
        """Return the server that a path leads to, and the remaining path with its query."""
        raw = scope.get("raw_path") or scope["path"].encode()
        _, _, rest = raw.partition(b"/")
        token, _, rest = rest.partition(b"/")
        name, slash, rest = rest.partition(b"/")
        if not hmac.compare_digest(token, self.token.encode()) or not is_local(headers, self.port):
            return None, b""
        query = scope["query_string"]
        target = slash + rest + (b"?" + query if query else b"")
        return self._upstreams.get(name.decode("ascii", "replace")), target


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, port: int) -> AsyncIterator[int]:
    """Serve on loopback while the block runs; yields the port (0 picks a free one).

    Raises:
        PortError: the port cannot be used.
    """
    try:
        opened = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise PortError(f"port {port} of this machine: {reason_of(error)}") from None
    # The head and body of an answer are two packets: without this, the second is delayed by 40 ms.
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with opened as listening:
        config = uvicorn.Config(
            app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([listening]))
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def is_local(headers: Headers, port: int) -> bool:
    """Return whether a request is addressed to this machine and not from a web page."""
    named = dict(headers)
    host = named.get(b"host", b"").decode("latin-1")
    return b"origin" not in named and host in (f"{LOOPBACK}:{port}", f"localhost:{port}")


class PortError(OSError):
    """Error for a port that cannot be used; the text names it."""


class _Server(uvicorn.Server):
    """A server that leaves the signals of the process to the command line."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: no signal is captured."""
        yield


async def body_of(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it exceeds the maximum size.

    Raises:
        ConnectionAbortedError: the program closed its connection before the end of the body.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        body += message.get("body", b"")
        if len(body) > MOST_BODY:
            return None
        if not message.get("more_body"):
            return bytes(body)


async def _while_there(receive: Receive, answering: Coroutine[Any, Any, None]) -> bool:
    """Answer until the program closes its connection; return whether the answer was complete."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    work, leaving = asyncio.create_task(answering), asyncio.create_task(gone())
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
        return work.done()
    finally:
        work.cancel()
        leaving.cancel()


async def _give(exchange: Exchange, send: Send) -> None:
    """Send the answer of a model request to the program as it arrives."""
    async with contextlib.aclosing(exchange.parts()) as parts:
        async for part in parts:
            await send(_asgi(part))
    if exchange.is_broken:
        raise ConnectionError("the answer broke off")  # the program sees it, too
    await send({"type": "http.response.body", "body": b""})


async def answer(send: Send, status: int, text: bytes, kind: bytes = b"text/plain") -> None:
    """Answer with a body that the proxy writes itself."""
    await send(_asgi(Head(status, [(b"content-type", kind)])))
    await send({"type": "http.response.body", "body": text})


async def _pass_on(
    upstream: Upstream, method: str, target: bytes, headers: Headers, body: bytes, send: Send
) -> None:
    """Forward a request that is not for a model, and its answer."""
    try:
        came = await upstream.send(method, target, sent_headers(headers), body)
    except (httpx2.HTTPError, OSError) as error:
        words = f"{upstream.address} cannot be reached ({reason_of(error)}).\n"
        await answer(send, 502, words.encode())
        return
    assert isinstance(came.stream, httpx2.AsyncByteStream)
    try:
        await send(_asgi(Head(came.status_code, sent_headers(came.headers.raw))))
        async for piece in came.stream:
            await send(_asgi(piece))
        await send({"type": "http.response.body", "body": b""})
    finally:
        await came.aclose()


def _asgi(part: Head | bytes) -> AsgiMessage:
    if isinstance(part, Head):
        return {"type": "http.response.start", "status": part.status, "headers": part.headers}
    return {"type": "http.response.body", "body": part, "more_body": True}
