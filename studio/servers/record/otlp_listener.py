"""`prompt-studio trace listen`: the traces of programs on this machine as runs of the history.

OTLP over HTTP, as protobuf or JSON. Nothing says that a trace has ended: it is taken once its first
span has come and nothing followed for a moment, or nothing at all for a while.
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
    """The ASGI application that takes `POST …/v1/traces`, below whatever path an SDK adds."""

    def __init__(self, store: RunStore, masker: Masker, taken: Callable[[str], None]) -> None:
        """Make it.

        Args:
            store: history that keeps the runs.
            masker: knows the secrets that are replaced.
            taken: is told the id of each run.
        """
        self.port = 0
        """Port that is listened on."""
        self._store, self._masker, self._taken = store, masker, taken
        self._traces: dict[str, list[TraceSpan]] = {}
        self._heard: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, as ASGI has it."""
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
            await answer(send, 400, f"These are no traces: {reason_of(error)}.\n".encode())
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
        """Take traces as they end, until it is canceled; then take what is there."""
        try:
            while True:
                await asyncio.sleep(_QUIET_SECONDS / 4)
                self.take_ended()
        finally:
            self.take_ended(everything=True)

    def take_ended(self, *, everything: bool = False) -> None:
        """Take the traces that have ended into the history."""
        for trace, spans in list(self._traces.items()):
            silent = time.monotonic() - self._heard[trace]
            has_first = any(not span.parent for span in spans)
            if everything or silent > (_QUIET_SECONDS if has_first else _SILENT_SECONDS):
                del self._traces[trace], self._heard[trace]
                for run in take_spans(spans, self._store):
                    self._taken(run)


def _text(body: bytes, kind: bytes, encoding: bytes) -> str:
    """Return traces as OTLP's JSON.

    Raises:
        ValueError: they are in another form, or broken.
        OverflowError: they are too large.
    """
    if encoding == b"gzip":
        packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            body = packed.decompress(body, MOST_BODY + 1)
        except zlib.error as error:
            raise ValueError(str(error)) from None
    elif encoding not in (b"", b"identity"):
        raise ValueError(f"the encoding {encoding.decode('latin-1')} is not known")
    if len(body) > MOST_BODY:
        raise OverflowError
    if kind == b"application/json":
        return body.decode("utf-8")
    if kind != b"application/x-protobuf":
        raise ValueError("they are neither application/x-protobuf nor application/json")
    return text_of_protobuf(body)


def text_of_protobuf(body: bytes) -> str:
    """Return an `ExportTraceServiceRequest` as OTLP's JSON.

    Raises:
        ValueError: it is none.
    """
    from google.protobuf.json_format import Error, MessageToDict
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        return json.dumps(MessageToDict(ExportTraceServiceRequest.FromString(body)))
    except (DecodeError, Error, RecursionError) as error:
        raise ValueError(f"the protobuf cannot be read: {error}") from error
