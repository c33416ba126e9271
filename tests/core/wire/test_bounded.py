"""Packed replies, in whatever pieces the network brings them."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import httpx2
import pytest

from studio.core.wire.bounded import BoundedTransport, ReplyBounds

TEXT = b'{"content": "Hi"}' * 20
FORMS = {
    "gzip": zlib.MAX_WBITS | 16,
    "deflate": zlib.MAX_WBITS,
    "Deflate": -zlib.MAX_WBITS,  # without a head, as some servers send it
}


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, data: bytes, size: int) -> None:
        self._data = data
        self._size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self._data), self._size):
            yield self._data[at : at + self._size]


class Answering(httpx2.AsyncBaseTransport):
    def __init__(self, data: bytes, size: int, encoding: str) -> None:
        self._answer = Pieces(data, size)
        self._encoding = encoding

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {"content-encoding": self._encoding, "content-type": "application/json"}
        return httpx2.Response(200, headers=headers, stream=self._answer)


def packed(form: str) -> bytes:
    pack = zlib.compressobj(9, zlib.DEFLATED, FORMS[form])
    return pack.compress(TEXT) + pack.flush()


async def read(data: bytes, size: int, encoding: str) -> bytes:
    transport = BoundedTransport(Answering(data, size, encoding), ReplyBounds())
    async with httpx2.AsyncClient(transport=transport) as client:
        return (await client.get("http://127.0.0.1/")).content


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("form", FORMS)
async def test_the_pieces_make_no_difference(form: str, size: int) -> None:
    assert await read(packed(form), size, form) == TEXT


@pytest.mark.parametrize("form", FORMS)
async def test_a_reply_that_is_cut_is_an_error(form: str) -> None:
    with pytest.raises(httpx2.DecodingError, match="incomplete"):
        await read(packed(form)[:-9], 5, form)
    with pytest.raises(httpx2.DecodingError):
        await read(packed(form)[:1], 5, form)
