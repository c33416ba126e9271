"""A server on this machine that takes the requests of another program and logs them."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from studio.core.export.sent import SentRequest
from studio.core.text.values import JsonObject, object_of

ADDRESS_HEADER = "x-studio-address"
"""Header with the address that a redirected request was meant for."""

ROUND_HEADER = "x-studio-round"
"""Header with the number of the round that a request belongs to."""

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_MESSAGE = {"role": "assistant", "content": "ok"}
_ANSWERS: Mapping[str, object] = {
    "/chat/completions": {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
        "usage": _USAGE,
    },
    "/responses": {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "o",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "ok", "annotations": []}],
            }
        ],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    },
    "/messages": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "/embeddings": {
        "object": "list",
        "model": "m",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.0]}],
        "usage": _USAGE,
    },
}
"""Answers by the end of the path: what clients need to go on."""


@dataclass
class RequestLog:
    """Requests in the order in which they came."""

    address: str
    """Address of the server, `http://127.0.0.1:PORT`."""

    requests: list[tuple[int, SentRequest]] = field(default_factory=list)
    """Number of the round, and the request."""

    def first_of(self, number: int) -> SentRequest | None:
        """Return the first request of a round; None where it sent none."""
        return next((request for count, request in self.requests if count == number), None)


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Log the request and give the answer that its path asks for."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        own = f"http://{headers.get('host', '')}{self.path}"
        address = headers.get(ADDRESS_HEADER, own)
        body: JsonObject = {}
        with suppress(ValueError):
            body = object_of(json.loads(self.rfile.read(int(headers.get("content-length", "0")))))
        number = int(headers.get(ROUND_HEADER, "0"))
        log: RequestLog = self.server.log  # type: ignore[attr-defined]
        log.requests.append((number, SentRequest(address, body, headers, self.command)))
        path = address.partition("?")[0]
        answer = next((item for end, item in _ANSWERS.items() if path.endswith(end)), {})
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Write nothing: the log has it."""


@contextmanager
def recorded() -> Iterator[RequestLog]:
    """Serve on a free port of this machine until the block ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    log = RequestLog(f"http://127.0.0.1:{server.server_port}")
    server.log = log  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, name="export recorder", daemon=True)
    thread.start()
    try:
        yield log
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
