"""A chat-completions server on loopback that answers, streams and misbehaves as scripted.

It runs in a thread of its own, so that it serves asyncio tests, window tests and child processes
alike. Every request takes the next answer of the script; without one it gets a short default reply.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.support import patience
from tests.support.serving import serving

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass
class Received:
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    data: bytes = b""
    """The body as it came."""
    answered: bytearray = field(default_factory=bytearray)
    """All that was sent back, the head too."""
    client_left: threading.Event = field(default_factory=threading.Event)
    """Set once the client has closed its side of the connection."""


@dataclass
class Exchange:
    """What an answer works with."""

    request: Received
    writer: asyncio.StreamWriter

    async def head(self, status: int = 200, kind: str = EVENTS, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines) + "\r\n\r\n")

    async def send(self, data: str | bytes) -> None:
        encoded = data.encode() if isinstance(data, str) else data
        self.request.answered += encoded
        self.writer.write(encoded)
        await self.writer.drain()

    async def event(self, value: object) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        await self.send(f"data: {text}\n\n")


Answer: TypeAlias = Callable[[Exchange], Awaitable[None]]


class ChatServer:
    """Handed to the test by `chat_server`."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.models: list[dict[str, Any]] = [{"id": "scripted-1", "object": "model"}]
        self.list_answer: Answer | None = None
        """How the list of models is answered; as usual where None."""
        self.port = 0
        self.arrived = threading.Event()
        self._answers: deque[Answer] = deque()
        self._always: Answer = streamed("Hello from the server.")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *answers: Answer) -> None:
        """Answer the next completion requests like this, in order."""
        self._answers.extend(answers)

    def first(self, answer: Answer) -> None:
        """Answer the next completion request like this, and nothing else of the script."""
        self._answers.clear()
        self._answers.append(answer)

    def always(self, answer: Answer) -> None:
        """Answer like this whenever the script is used up."""
        self._always = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        finally:
            writer.close()  # also where the server ends while a request is still coming

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            return
        self.requests.append(request)
        self.arrived.set()
        watch = asyncio.create_task(watch_client(reader, request))
        answer = self._answer(request)
        task = asyncio.create_task(answer(Exchange(request, writer)))
        try:
            # The server itself may be going away, in the middle of an answer.
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
                if task.done() and not isinstance(task.exception(), ConnectionError):
                    task.result()
        finally:
            task.cancel()
            watch.cancel()
            await asyncio.gather(task, watch, return_exceptions=True)

    def _answer(self, request: Received) -> Answer:
        if request.method == "GET" and request.path.partition("?")[0].endswith("/models"):
            return self.list_answer or json_body({"object": "list", "data": self.models})
        return self._answers.popleft() if self._answers else self._always


@contextmanager
def chat_server(kind: type[ChatServer] | None = None) -> Iterator[ChatServer]:
    """Run a server in a thread until the block ends."""
    server = (kind or ChatServer)()
    ready = threading.Event()
    stop: list[Callable[[], object]] = []

    async def main() -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(ended.set))
        async with serving(server.serve) as server.port:
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="chat-server", daemon=True)
    thread.start()
    assert ready.wait(patience.SECONDS)
    try:
        yield server
    finally:
        stop[0]()
        thread.join(patience.SECONDS)


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a streamed completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [choice], **more}


def text_chunks(text: str, size: int = 8, finish: str = "stop") -> list[dict[str, Any]]:
    """A whole streamed reply with usage."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    usage = {"prompt_tokens": 11, "completion_tokens": len(pieces), "total_tokens": 11}
    return [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in pieces),
        chunk({}, finish),
        {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage},
    ]


def streamed(text: str, size: int = 8, *, delay: float = 0.0, finish: str = "stop") -> Answer:
    """Stream a reply."""
    return events([*text_chunks(text, size, finish), "[DONE]"], delay=delay)


def events(values: Iterable[object], *, delay: float = 0.0, then: Sequence[Answer] = ()) -> Answer:
    """Stream events, then go on with other answers on the same connection."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        for value in values:
            await exchange.event(value)
            if delay:
                await asyncio.sleep(delay)
        for each in then:
            await each(exchange)

    return answer


def json_body(value: object, status: int = 200, kind: str = JSON, **headers: str) -> Answer:
    """Answer with one body."""

    async def answer(exchange: Exchange) -> None:
        data = value if isinstance(value, str) else json.dumps(value)
        raw = data.encode()
        await exchange.head(status, kind, content_length=str(len(raw)), **headers)
        await exchange.send(raw)

    return answer


def failure(
    status: int, message: str = "", code: str = "", param: str = "", **headers: str
) -> Answer:
    """Answer with an error as OpenAI writes it."""
    error = {"message": message or f"scripted {status}", "type": "scripted", "code": code or None}
    return json_body({"error": {**error, "param": param or None}}, status, **headers)


def silent() -> Answer:
    """Accept the request and never answer."""

    async def answer(exchange: Exchange) -> None:
        await asyncio.Event().wait()

    return answer


def late(seconds: float, answer: Answer) -> Answer:
    """Answer, but later."""

    async def wait(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await answer(exchange)

    return wait


def raw(data: str | bytes) -> Answer:
    """Send bytes as they are, right behind what was sent before, and close."""

    async def answer(exchange: Exchange) -> None:
        await exchange.send(data)

    return answer


def cut_body(values: Iterable[object]) -> Answer:
    """Promise more than is sent: a chunked body that breaks off."""

    async def answer(exchange: Exchange) -> None:
        await exchange.send(
            f"HTTP/1.1 200 Scripted\r\ncontent-type: {EVENTS}\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for value in values:
            text = f"data: {json.dumps(value)}\n\n".encode()
            await exchange.send(f"{len(text):x}\r\n".encode() + text + b"\r\n")

    return answer


async def _read(reader: asyncio.StreamReader) -> Received:
    first_byte = await reader.readexactly(1)
    if not first_byte.isalpha():
        raise ValueError("no HTTP: the client greets with TLS")
    head = (first_byte + await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)
    }
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(data) if data else None, data)


async def watch_client(reader: asyncio.StreamReader, request: Received) -> None:
    """See the client go; it sends nothing more on this connection."""
    with suppress(ConnectionError):
        await reader.read()
    request.client_left.set()
