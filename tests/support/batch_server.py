"""A server on loopback with OpenAI's and Anthropic's batches, which end as a test wants them to.

What it answers is what their public descriptions say: two files of results or one, in another order
than the requests, with errors in the body of a response, ids that are empty, and answers that were
paid for in batches that expired or were cancelled.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support import patience
from tests.support.chat_server import (
    ChatServer,
    Exchange,
    Received,
    chat_server,
    json_body,
    raw,
    watch_client,
)

Body = dict[str, Any]


@dataclass
class Ending:
    """How a batch goes and ends."""

    status: str = "completed"
    """OpenAI's word; Anthropic's results say the same by their types."""

    looks: int = 0
    """How often it is still going when it is looked at."""

    answered: int | None = None
    """How many of its requests are answered; None answers all."""

    errors: Callable[[str, Body], tuple[int, Body] | None] = lambda name, body: None
    """Status and error of a request; None answers it."""

    said: tuple[Body, ...] = ()
    """`errors.data` of a batch that failed."""

    empty_ids: bool = False
    """Whether files that are not there have the id `""`."""


@dataclass
class HeldBatch:
    """A batch that was taken."""

    id: str
    requests: list[tuple[str, Body]]
    ending: Ending
    metadata: Body = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    looks: int = 0
    cancelled: bool = False


class BatchServer(ChatServer):
    """Handed to the test by `batch_server`."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: dict[str, HeldBatch] = {}
        self.files: dict[str, bytes] = {}
        self.downloads: list[bytes] = []
        """The lines of results, as they were asked for."""
        self.asked: Counter[str] = Counter()
        """How often each question was in a batch that was taken and answered it."""
        self.endings: list[Ending] = []
        """Of the next batches; the last stays."""
        self.answer: Callable[[Body], str | Body] = lambda body: "yes"
        """The text of a reply, or the whole message of chat completions."""
        self.hold: dict[str, threading.Event] = {}
        """Steps at which it does not answer: `upload`, `create`, `created`, `look`, `results`."""
        self.reached = {
            step: threading.Event() for step in ("upload", "create", "created", "look", "results")
        }
        self.held: dict[str, Received] = {}
        """The request that is held at a step; given up once its client leaves."""
        self.faults: dict[str, list[tuple[int, bool]]] = {}
        """Status of the next answers of a step; True: it is done all the same. 0 cuts."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            self.requests.append(request)
            watch = asyncio.create_task(watch_client(reader, request))
            try:
                await self._batch(Exchange(request, writer))
            finally:
                watch.cancel()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _batch(self, exchange: Exchange) -> None:
        request = exchange.request
        path = request.path.partition("?")[0].removeprefix("/v1")
        match request.method, path.strip("/").split("/"):
            case "POST", ["files"]:
                await self._step("upload", exchange, self._upload)
            case "POST", ["batches"] | ["messages", "batches"]:
                await self._stopped("create", request)
                await self._step("created", exchange, self._create)
            case "GET", ["batches"] | ["messages", "batches"]:
                held = [self._shown(each) for each in reversed(self.batches.values())]
                await json_body({"data": held, "has_more": False})(exchange)
            case "GET", ["batches", name] | ["messages", "batches", name]:
                self.batches[name].looks += 1
                await self._step("look", exchange, lambda _: self._shown(self.batches[name]))
            case "POST", [*_, name, "cancel"]:
                self.batches[name].cancelled = True
                await json_body(self._shown(self.batches[name]))(exchange)
            case "GET", ["files", name, "content"]:
                await self._lines(exchange, self.files[name])
            case "GET", ["messages", "batches", name, "results"]:
                await self._lines(exchange, self._results(self.batches[name]))
            case "DELETE", ["files", name]:
                self.files.pop(name, None)
                await json_body({"id": name, "deleted": True})(exchange)
            case "POST", ["chat", "completions"] | ["messages"]:
                await self._answer(request)(exchange)
            case _:
                await json_body({"error": {"message": "no such path"}}, 404)(exchange)

    async def _stopped(self, step: str, request: Received) -> None:
        """Hold a request where that is wanted; what its client no longer waits for goes no further.

        Else a batch would be made for a client that is gone, while the next one looks for it.
        """
        held = self.hold.get(step)
        if held is not None:
            self.held[step] = request
        self.reached[step].set()
        while held is not None and not held.is_set():
            if request.client_left.is_set():
                raise ConnectionResetError(f"the client left at {step}")
            await asyncio.sleep(0.005)

    async def _step(self, step: str, exchange: Exchange, act: Callable[[Received], Body]) -> None:
        status, is_done = (self.faults.get(step) or [(200, True)]).pop(0)
        made = act(exchange.request) if is_done else {}
        await self._stopped(step, exchange.request)
        if status == 0:
            return
        if status != 200:
            made = {"error": {"message": "scripted", "type": "scripted"}}
        await json_body(made, status)(exchange)

    async def _lines(self, exchange: Exchange, data: bytes) -> None:
        self.downloads.append(data)
        half = len(data) // 2 if "results" in self.hold else len(data)
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/jsonl\r\ncontent-length: {len(data)}"
        await raw(f"{head}\r\nconnection: close\r\n\r\n".encode() + data[:half])(exchange)
        await self._stopped("results", exchange.request)
        cut = self.faults.get("results")
        if not cut or cut.pop(0)[0] != 0:
            await exchange.send(data[half:])

    # What is kept ---------------------------------------------------------------------------------

    def _upload(self, request: Received) -> Body:
        name = f"file-{len(self.files) + 1}"
        boundary = request.headers["content-type"].partition("boundary=")[2]
        (part,) = [
            each for each in request.body.split(f"--{boundary}".encode()) if b"filename=" in each
        ]
        self.files[name] = part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        return {"id": name, "object": "file", "purpose": "batch"}

    def _create(self, request: Received) -> Body:
        body = json.loads(request.body)
        if "requests" in body:
            lines = [(each["custom_id"], each["params"]) for each in body["requests"]]
            name = f"msgbatch_{len(self.batches) + 1}"
        else:
            text = self.files[body["input_file_id"]].decode()
            parsed = [json.loads(line) for line in text.splitlines()]
            assert {each["url"] for each in parsed} == {body["endpoint"]}
            lines = [(each["custom_id"], each["body"]) for each in parsed]
            name = f"batch_{len(self.batches) + 1}"
        assert len({each for each, _ in lines}) == len(lines)
        assert len({each["model"] for _, each in lines}) == 1
        ending = self.endings.pop(0) if len(self.endings) > 1 else (self.endings or [Ending()])[0]
        batch = HeldBatch(name, lines, ending, body.get("metadata") or {})
        self.batches[name] = batch
        if ending.status != "failed":
            for at, (_, each) in enumerate(lines):
                if self._is_answered(batch, at):
                    self.asked[question(each)] += 1
        return self._shown(batch)

    @staticmethod
    def _is_answered(batch: HeldBatch, at: int) -> bool:
        most = batch.ending.answered
        return most is None or at < most

    def _status(self, batch: HeldBatch) -> str:
        if batch.cancelled:
            return "cancelled"
        return "in_progress" if batch.looks < batch.ending.looks else batch.ending.status

    def _shown(self, batch: HeldBatch) -> Body:
        status = self._status(batch)
        if batch.id.startswith("msgbatch"):
            return self._shown_by_anthropic(batch, status)
        shown: Body = {
            "id": batch.id,
            "object": "batch",
            "status": status,
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "request_counts": {"total": len(batch.requests), "completed": 0, "failed": 0},
        }
        if status == "failed":
            shown["errors"] = {"object": "list", "data": list(batch.ending.said)}
        elif status != "in_progress":
            good, bad = [], []
            for at, (name, body) in enumerate(batch.requests):
                line = self._line(name, body, batch, at)
                (good if (line["response"] or {}).get("status_code") == 200 else bad).append(line)
            nothing = "" if batch.ending.empty_ids else None
            for key, lines in (("output_file_id", good), ("error_file_id", bad)):
                self.files[f"{key}-{batch.id}"] = _jsonl(lines[::-1])
                shown[key] = f"{key}-{batch.id}" if lines else nothing
        return shown

    def _shown_by_anthropic(self, batch: HeldBatch, status: str) -> Body:
        counts = Counter(
            {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        )
        for at, (name, body) in enumerate(batch.requests):
            kind = self._result(name, body, batch, at)["result"]["type"]
            counts["processing" if status == "in_progress" else kind] += 1
        created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(batch.created))
        return {
            "id": batch.id,
            "type": "message_batch",
            "created_at": f"{created}.000000Z",
            "processing_status": "in_progress" if status == "in_progress" else "ended",
            "request_counts": counts,
            "results_url": None,
        }

    def _line(self, name: str, body: Body, batch: HeldBatch, at: int) -> Body:
        line: Body = {"id": f"r{at}", "custom_id": name, "response": None, "error": None}
        if not self._is_answered(batch, at):
            code = "batch_cancelled" if self._status(batch) == "cancelled" else "batch_expired"
            line["error"] = {"code": code, "message": "not run"}
            return line
        error = batch.ending.errors(name, body)
        if error is not None:
            line["response"] = {"status_code": error[0], "body": {"error": error[1]}}
            return line
        said = self.answer(body)
        message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
        line["response"] = {
            "status_code": 200,
            "request_id": f"q{at}",
            "body": {
                "id": "c",
                "object": "chat.completion",
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": message,
                        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                    }
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            },
        }
        return line

    def _results(self, batch: HeldBatch) -> bytes:
        lines = [
            self._result(name, body, batch, at) for at, (name, body) in enumerate(batch.requests)
        ]
        return _jsonl(lines[::-1])

    def _result(self, name: str, body: Body, batch: HeldBatch, at: int) -> Body:
        if not self._is_answered(batch, at):
            kind = "canceled" if self._status(batch) == "cancelled" else "expired"
            return {"custom_id": name, "result": {"type": kind}}
        error = batch.ending.errors(name, body)
        if error is not None:
            held = {"type": "error", "error": error[1]}
            return {"custom_id": name, "result": {"type": "errored", "error": held}}
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": self.answer(body)}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return {"custom_id": name, "result": {"type": "succeeded", "message": message}}


def question(body: Body) -> str:
    """All that a request says, to be counted."""
    return json.dumps(body.get("messages", body.get("input")), sort_keys=True)


def _jsonl(lines: list[Body]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)
    }
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, data)


@contextmanager
def batch_server() -> Iterator[BatchServer]:
    """Run a server in a thread until the block ends."""
    with chat_server(BatchServer) as server:
        assert isinstance(server, BatchServer)
        try:
            yield server
        finally:
            for held in server.hold.values():
                held.set()


def wait_for(event: threading.Event) -> None:
    """Wait until the server is at a step."""
    assert event.wait(patience.SECONDS)
