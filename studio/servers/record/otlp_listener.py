"""`prompt-studio trace listen`: store traces of programs on this machine as runs of the history.

It receives OTLP over HTTP, as protobuf or JSON. OTLP does not mark the end of a trace: a trace is
taken shortly after its root span, or after a longer time without any span.
"""

import asyncio
import json
import time
import zlib
from collections.abc import Callable, Sequence

from starlette.types import Receive, Scope, Send

from studio.application.exchange.runs import take_spans
from studio.core.masking.masker import Masker
from studio.core.masking.redact import without_keys
from studio.core.runs.codec import JournalError
from studio.core.runs.spans import MOST_SPANS, TraceSpan, spans_of_text
from studio.core.runs.store import RunStore
from studio.core.text.values import reason_of
from studio.servers.record.proxy import MOST_BODY, answer, body_of, is_local

_QUIET_SECONDS = 2.0
_SILENT_SECONDS = 30.0


class OtlpListener:
    """The ASGI application for `POST …/v1/traces`, with any path prefix that an SDK adds."""

    def __init__(self, store: RunStore, masker: Masker, taken: Callable[[str], None]) -> None:
        """Create the application.

        Args:
            store: history that stores the runs.
            masker: replaces secrets.
            taken: called with the id of each stored run.
        """
        self.port = 0
        """Port of the listener."""
        self._store, self._masker, self._taken = store, masker, taken
        self._traces: dict[str, list[TraceSpan]] = {}
        self._heard: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        if not is_local(list(scope["headers"]), self.port):
            await answer(send, 403, b"This address is for programs of this machine alone.\n")
            return
        if scope["method"] != "POST" or not scope["path"].endswith("/v1/traces"):
            await answer(send, 404, b"Traces are taken at POST /v1/traces.\n")
            return
        body = await body_of(receive)
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        try:
            if body is None:
                raise OverflowError
            text = _text(body, kind, headers.get(b"content-encoding", b"").strip().lower())
            self._keep(spans_of_text(without_keys(self._masker.mask(text))))
        except OverflowError:
            await answer(send, 413, b"The traces are larger than is taken at once.\n")
        except (ValueError, JournalError) as error:
            await answer(send, 400, f"This is not a trace: {reason_of(error)}.\n".encode())
        else:
            whole = b"{}" if kind == b"application/json" else b""
            await answer(send, 200, whole, kind)

    def _keep(self, spans: Sequence[TraceSpan]) -> None:
        if sum(map(len, self._traces.values())) + len(spans) > MOST_SPANS:
            raise OverflowError
        for span in spans:
            self._traces.setdefault(span.trace, []).append(span)
            self._heard[span.trace] = time.monotonic()

    async def follow(self) -> None:
        """Store traces as they end until the task is canceled, then store the remaining ones."""
        try:
            while True:
                await asyncio.sleep(_QUIET_SECONDS / 4)
                self.take_ended()
        finally:
            self.take_ended(everything=True)

    def take_ended(self, *, everything: bool = False) -> None:
        """Store the traces that have ended in the history."""
        for trace, spans in list(self._traces.items()):
            silent = time.monotonic() - self._heard[trace]
            has_first = any(not span.parent for span in spans)
            if everything or silent > (_QUIET_SECONDS if has_first else _SILENT_SECONDS):
                del self._traces[trace], self._heard[trace]
                for run in take_spans(spans, self._store):
                    self._taken(run)


def _text(body: bytes, kind: bytes, encoding: bytes) -> str:
    """Decode a request body to OTLP JSON.

    Raises:
        ValueError: the body has another format or is damaged.
        OverflowError: the body is too large.
    """
    if encoding == b"gzip":
        packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            body = packed.decompress(body, MOST_BODY + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
    elif encoding not in (b"", b"identity"):
        raise ValueError(f"the encoding {encoding.decode('latin-1')} is unknown")
    if len(body) > MOST_BODY:
        raise OverflowError
    if kind == b"application/json":
        return body.decode("utf-8")
    if kind != b"application/x-protobuf":
        raise ValueError("it is neither application/x-protobuf nor application/json")
    return text_of_protobuf(body)


def text_of_protobuf(body: bytes) -> str:
    """Convert an `ExportTraceServiceRequest` to OTLP JSON.

    Raises:
        ValueError: the body is not such a message.
    """
    from google.protobuf.json_format import Error, MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        return json.dumps(MessageToDict(ExportTraceServiceRequest.FromString(body)))
    except (DecodeError, Error, RecursionError) as error:
        raise ValueError(f"the protobuf cannot be read: {error}") from error
