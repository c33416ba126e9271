"""An answer that is passed on at once while its run reads a copy afterwards."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

import httpx2


class Passing:
    """The path of an answer that is never held."""

    def __init__(self) -> None:
        """Create the path; nothing is requested yet."""
        loop = asyncio.get_running_loop()
        self.noted: asyncio.Future[None] = loop.create_future()
        """Done when the run has read the copy."""
        self.ended = asyncio.Event()
        """Set when no more bytes will arrive."""
        self._answer: asyncio.Future[httpx2.Response | Exception] = loop.create_future()
        self._copy = _Copy()

    async def parts(
        self, ask: Callable[[], Awaitable[httpx2.Response]]
    ) -> AsyncGenerator[httpx2.Response | bytes, None]:
        """Yield the head of the server's answer and the pieces of its body after copying each.

        Raises:
            httpx2.HTTPError, OSError: the server cannot be reached, or its answer breaks off.
        """
        try:
            answer = await ask()
            copied = httpx2.Response(answer.status_code, headers=answer.headers, stream=self._copy)
            self._answer.set_result(copied)
            try:
                yield answer
                assert isinstance(answer.stream, httpx2.AsyncByteStream)
                async for piece in answer.stream:
                    self._copy.pieces.put_nowait(piece)
                    yield piece
            finally:
                await answer.aclose()
            self._copy.pieces.put_nowait(None)
        except (httpx2.HTTPError, OSError) as error:
            if not self._answer.done():
                self._answer.set_result(error)
            self._copy.pieces.put_nowait(error)
            raise
        finally:
            self.ended.set()

    async def copied(self) -> httpx2.Response:
        """Return the copy of the answer.

        Raises:
            httpx2.HTTPError, OSError: the server could not be reached.
        """
        answer = await asyncio.shield(self._answer)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def note(self) -> None:
        """Note that the run has read the copy."""
        if not self.noted.done():
            self.noted.set_result(None)


class _Copy(httpx2.AsyncByteStream):
    """A copy of the body of an answer that was already passed on."""

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self.pieces.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece
