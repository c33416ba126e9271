"""Read a server's response within limits on its decoded size.

A reply of three megabytes can decompress to gigabytes, and an error's body may never end. The
transport decodes the content in small pieces, so that no reader above it gets more.
"""

import sys
import zlib
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

import httpx2

from studio.core.wire.wire_call import RECORDER, WireRecorder

ENCODINGS = "gzip, deflate"
"""Content encodings that servers are offered."""

_PIECE = 64 * 1024
_BLANK_LINES = (b"\n\n", b"\r\r", b"\r\n\r\n")


@dataclass(frozen=True, slots=True)
class ReplyBounds:
    """The limits of a response, in bytes after decoding."""

    body: int = 64 * 1024 * 1024
    """Size of a whole reply, streamed or not."""

    event: int = 16 * 1024 * 1024
    """Size of one event of a stream."""

    error: int = 256 * 1024
    """Size of an error's body; the rest is not read."""

    is_endless: bool = False
    """Whether events may come forever: then only the size of each is limited."""


class TooMuchError(OSError):
    """Raised when a server sends too much; the text says what and how much."""


def too_much(error: BaseException | None) -> TooMuchError | None:
    """Return the exceeded limit that caused an error; None if there is none."""
    while error is not None and not isinstance(error, TooMuchError):
        error = error.__cause__
    return error


class BoundedTransport(httpx2.AsyncBaseTransport):
    """A transport that limits the responses of an inner one."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, bounds: ReplyBounds) -> None:
        self._inner = inner
        self._bounds = bounds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return the response with decoded content."""
        request.headers["Accept-Encoding"] = ENCODINGS
        recorder = RECORDER.get()
        if recorder is not None:
            headers = request.headers.multi_items()
            recorder.sent(request.url.raw_path, headers, request.content)
        answer = await self._inner.handle_async_request(request)
        if recorder is not None:
            recorder.answered(answer.status_code, answer.headers)
        encodings = answer.headers.get("Content-Encoding", "").lower().replace(" ", "")
        decoded = [
            (name, value)
            for name, value in answer.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length")
            or (name.lower() == b"content-length" and not encodings)
        ]
        is_events = answer.headers.get("Content-Type", "").lower().startswith("text/event-stream")
        stream = _BoundedStream(
            answer,
            encodings,
            self._bounds,
            recorder,
            is_events=is_events and answer.status_code < 400,
        )
        return httpx2.Response(
            answer.status_code, headers=decoded, stream=stream, extensions=answer.extensions
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(
        self,
        answer: httpx2.Response,
        encodings: str,
        bounds: ReplyBounds,
        recorder: WireRecorder | None,
        *,
        is_events: bool,
    ) -> None:
        self._recorder = recorder
        self._answer = answer
        self._encodings = encodings
        self._bounds = bounds
        self._is_events = is_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        is_error = self._answer.status_code >= 400
        most = self._bounds.error if is_error else self._bounds.body
        if self._is_events and self._bounds.is_endless:
            most = sys.maxsize
        total = event = 0
        assert isinstance(self._answer.stream, httpx2.AsyncByteStream)
        async for piece in decoded(self._answer.stream, self._encodings):
            if self._recorder is not None:
                self._recorder.received(piece)
            total += len(piece)
            if total > most:
                if is_error:
                    yield piece[: len(piece) - (total - most)]
                    return
                raise TooMuchError(f"it sent more than {most:,} bytes, which is the limit")
            if self._is_events:
                event = _since_blank_line(piece, event)
                if event > self._bounds.event:
                    limit = self._bounds.event
                    raise TooMuchError(f"it sent an event of more than {limit:,} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the connection."""
        await self._answer.aclose()


def _since_blank_line(piece: bytes, before: int) -> int:
    """Return the length of the unfinished event after a piece."""
    ends = [at + len(line) for line in _BLANK_LINES if (at := piece.rfind(line)) >= 0]
    return len(piece) - max(ends) if ends else before + len(piece)


async def decoded(stream: AsyncIterable[bytes], encodings: str) -> AsyncIterator[bytes]:
    """Yield the content in pieces of at most 64 KB; refuse double or unknown encodings."""
    if encodings in ("", "identity"):
        async for data in stream:
            for at in range(0, len(data), _PIECE):
                yield data[at : at + _PIECE]
        return
    if encodings not in ("gzip", "x-gzip", "deflate"):
        raise TooMuchError(f"it sent {encodings!r}, an encoding that was not requested")
    unpack, head = zlib.decompressobj(zlib.MAX_WBITS | 16), b""
    is_open = encodings == "deflate"  # whether the form of "deflate" is still unknown
    async for packed in stream:
        data, made = head + packed, b""
        if is_open:
            # The first byte may arrive alone, and two are needed to tell the forms apart.
            if len(data) < 2:
                head = data
                continue
            window = zlib.MAX_WBITS if _has_zlib_head(data) else -zlib.MAX_WBITS
            unpack, head, is_open = zlib.decompressobj(window), b"", False
        while (data or made) and not unpack.eof:
            try:
                made = unpack.decompress(data, _PIECE)
            except zlib.error as error:
                raise httpx2.DecodingError(str(error)) from error
            data = unpack.unconsumed_tail
            if made:
                yield made
    if not unpack.eof:
        raise httpx2.DecodingError("the packed reply is incomplete")


def _has_zlib_head(data: bytes) -> bool:
    """Return whether compressed data has an RFC 1950 header; some servers omit it (RFC 1951)."""
    return data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
