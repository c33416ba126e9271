"""Models behind the limiter of their connection: each call waits for its turn and retries.

Embeddings of the texts of several cells are requested together.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey
from studio.core.models.base import (
    ChatModel,
    EmbeddingModel,
    ModelError,
    ModelRequest,
    WrappingModel,
)
from studio.core.models.choice import ModelChoice
from studio.core.models.remote.faults import RetryLaterError
from studio.core.wire.reply import RefusedOption, ReplyDelta, ReplyNotice

_REFUSALS, _APART, _GROWTH = 15, 0.01, 1.5
"""Number of retries of a request that a busy server rejects (429), the seconds before the first
retry, and their growth: the last ones wait for some seconds, far longer than servers ask for.
"""

STALE_CELL = "stale-cell"
"""Kind of error of a cell whose server has just rejected an option."""

_BACKOFF = 0.5
_LONGEST = 60.0
"""Maximum time of one wait in seconds, even if the server asks for more."""
_HOPELESS = 900.0
"""Wait in seconds, requested by a server, above which the cell fails (a daily limit)."""

Vector = tuple[float, ...]

_MOST_TEXTS = 256

_MOST_CHARACTERS = 200_000
"""Maximum number of characters in one request: OpenAI accepts 2,048 texts and 300,000 tokens."""


class LimitedModel(WrappingModel[ChatModel]):
    """The model for one cell, around its variant's shared model."""

    def __init__(
        self,
        model: ChatModel,
        limiter: ConnectionLimiter,
        retries: int,
        refused: frozenset[str] | None = None,
    ) -> None:
        """Store the settings.

        Args:
            model: the model, which does not retry itself.
            limiter: limiter of its connection.
            retries: number of retries after a temporary failure.
            refused: names of the options that the server may reject; None for any.
        """
        super().__init__(model)
        self._limiter = limiter
        self._retries = retries
        self._refused = refused
        self.waited = 0.0
        """Seconds of waiting and of rejected calls, which are not latency."""
        self.on_wait: Callable[[str], None] = lambda _words: None
        """Callback with the reason and length of a wait, as text."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the reply when the limiter allows the request.

        Raises:
            ModelError: the model cannot answer, even after retries.
        """
        attempt = refusals = 0
        while True:
            started = time.monotonic()
            began = await self._limiter.take()
            self.waited += began - started
            has_replied, failed = False, None
            try:
                async with _closing(self._inner.stream(request)) as deltas:
                    async for delta in deltas:
                        if isinstance(delta, RefusedOption):
                            self._check(delta)
                        elif not isinstance(delta, ReplyNotice):
                            has_replied = True
                        yield delta
            except ModelError as error:
                failed = error
            finally:
                refused = failed is not None and failed.kind == "rate-limited"
                after = _asked_to_wait(failed)
                await self._limiter.give(began, refused=refused, after=min(_LONGEST, after))
            if failed is None:
                return
            spent = refusals >= _REFUSALS if refused else attempt >= self._retries
            spent = spent or after > _HOPELESS
            if has_replied or not failed.retryable or spent:
                failed.is_exhausted = True
                raise failed
            if refused:
                # "Too many requests" is no fault of the request: it is retried later and later.
                wait = min(_LONGEST, max(after, _APART * _GROWTH**refusals))
                refusals += 1
            else:
                wait = min(_LONGEST, after or _BACKOFF * 2**attempt)
                attempt += 1
            self._limiter.resting += 1
            words = tr("Tries again in {seconds} s. {reason}")
            self.on_wait(words.format(reason=failed.message, seconds=math.ceil(wait)))
            try:
                await asyncio.sleep(wait)
            finally:
                self._limiter.resting -= 1
            self.waited += time.monotonic() - began

    def _check(self, option: RefusedOption) -> None:
        """Raise an error if the rejected option is part of the cell's identity.

        Raises:
            ModelError: "stale-cell"; there is no answer, and the identity must be computed again.
        """
        if self._refused is not None and option.name not in self._refused:
            raise ModelError(STALE_CELL, option.sentence)

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """Return an embedding for each text when the limiter allows the request.

        Raises:
            ModelError: the server returns none, even after retries.
        """
        if not isinstance(self._inner, EmbeddingModel):
            raise ModelError("no-embeddings", "The connection supports no embeddings.")
        for attempt in range(self._retries + 1):
            began = await self._limiter.take()
            refused = False
            try:
                return await self._inner.embed(texts, model)
            except ModelError as error:
                refused = error.kind == "rate-limited"
                if not error.retryable or attempt == self._retries:
                    raise
                wait = min(_LONGEST, _asked_to_wait(error) or _BACKOFF * 2**attempt)
            finally:
                await self._limiter.give(began, refused=refused)
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _asked_to_wait(error: ModelError | None) -> float:
    return (error.after or 0.0) if isinstance(error, RetryLaterError) else 0.0


def _closing(deltas: AsyncIterator[ReplyDelta]) -> aclosing[AsyncGenerator[ReplyDelta, None]]:
    return aclosing(deltas)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class _Asker:
    """A cell that waits for embeddings."""

    texts: tuple[str, ...]
    vectors: asyncio.Future[tuple[Vector, ...]]


class BatchedEmbeddings:
    """A model that collects texts while a request is running, and embeds them together."""

    def __init__(self, model: LimitedModel, name: str) -> None:
        """Store the settings.

        Args:
            model: the connection's model, with its limiter and retries.
            name: name of the embedding model.
        """
        self._model = model
        self._name = name
        self._waiting: deque[_Asker] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def of(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return an embedding for each text.

        Raises:
            ModelError: there are none.
        """
        asker = _Asker(tuple(texts), asyncio.get_running_loop().create_future())
        self._waiting.append(asker)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await asker.vectors

    async def close(self) -> None:
        """Send no more requests."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    async def _send(self) -> None:
        taken: list[_Asker] = []
        try:
            while self._waiting:
                await asyncio.sleep(0)  # cells that finish in the same turn of the loop go together
                taken = self._taken()
                await self._answer(taken)
        finally:
            self._sending = None
            for asker in (*taken, *self._waiting):
                asker.vectors.cancel()
            self._waiting.clear()

    def _taken(self) -> list[_Asker]:
        """Take the waiting cells that fit into one request."""
        taken: list[_Asker] = []
        texts = characters = 0
        while self._waiting:
            asker = self._waiting[0]
            texts += len(asker.texts)
            characters += sum(map(len, asker.texts))
            if taken and (texts > _MOST_TEXTS or characters > _MOST_CHARACTERS):
                break
            taken.append(self._waiting.popleft())
        return taken

    async def _answer(self, askers: Sequence[_Asker]) -> None:
        """Return each asker's embeddings; if the joint request is rejected, send one for each."""
        texts = list(dict.fromkeys(text for asker in askers for text in asker.texts))
        try:
            found = dict(zip(texts, await self._model.embed(texts, self._name), strict=True))
        except Exception as error:  # noqa: BLE001 - raised on by each cell that waits
            is_refused = isinstance(error, ModelError) and error.kind == "bad-request"
            if len(askers) > 1 and is_refused:
                for asker in askers:
                    await self._answer([asker])
                return
            for asker in askers:
                if not asker.vectors.done():
                    asker.vectors.set_exception(error)
            return
        for asker in askers:
            if not asker.vectors.done():
                asker.vectors.set_result(tuple(found[text] for text in asker.texts))


# Finds the number of parallel requests that a connection accepts. The number grows by one per round
# trip until a request is rejected (429), then shrinks by 15 %, once per round trip; above a
# rejected number it grows slowly, and shrinks by one if that is rejected. Only the rejected request
# waits as long as the server asks; all requests wait only if even one at a time is too much.


START = 8.0
MOST = 100.0
_SHRINK = 0.85
_LEAST = 1.0
_SLOW = 0.1


class ConnectionLimiter:
    """The limit of parallel requests at one connection, which cells and judges share."""

    def __init__(self, *, start: float = START, most: float = MOST) -> None:
        """Start with a number of parallel requests.

        Args:
            start: the first number.
            most: maximum number.
        """
        self.limit = min(start, most)
        """Maximum number of parallel requests."""
        self.busy = 0
        """Number of running requests."""
        self.refused = 0
        """Number of refused requests so far."""
        self.resting = 0
        """Number of rejected requests that wait for a retry and do not count as running."""
        self._most, self._roof = most, most
        self._cut = self._until = 0.0
        self._wake = asyncio.Condition()

    def bound(self, most: float) -> None:
        """Set another maximum: a share of the connection's limit."""
        self._most = max(_LEAST, most)
        self._roof = min(self._roof, self._most)
        self.limit = min(self.limit, self._most)

    async def take(self) -> float:
        """Wait for permission to send; return the start time for `give`."""
        async with self._wake:
            while True:
                wait = self._until - time.monotonic()
                if wait <= 0 and self.busy < int(self.limit):
                    self.busy += 1
                    return time.monotonic()
                if wait > 0:
                    try:
                        await asyncio.wait_for(self._wake.wait(), wait)
                    except TimeoutError:
                        continue
                else:
                    await self._wake.wait()

    async def give(self, began: float, *, refused: bool = False, after: float = 0.0) -> None:
        """Report the end of a request.

        Args:
            began: the time from `take`.
            refused: whether the server rejected it as too many.
            after: the server's seconds to wait.
        """
        async with self._wake:
            self.busy -= 1
            now = time.monotonic()
            if refused:
                self.refused += 1
                if began >= self._cut:
                    is_probe = self.limit > self._roof
                    less = int(self.limit) - 1 if is_probe else self.limit * _SHRINK
                    self._roof = self.limit = max(_LEAST, less)
                    self._cut = now
                elif int(self.limit) <= _LEAST:
                    self._until = now + after
            else:
                step = 1.0 if self.limit < self._roof else _SLOW
                self.limit = min(self._most, self.limit + step / self.limit)
            self._wake.notify(2)


# Order the requests of cells: a layer between a cell and its variant's shared model.

Limiters = Callable[..., ConnectionLimiter]
"""Function that returns the limiter of a connection: `(name, is_local=…)`."""


@dataclass(frozen=True, slots=True)
class LeasedCell:
    """A running cell."""

    key: CellKey
    """Key of the cell."""

    identity: bytes
    """Identity of everything that it sends, including its repeat."""

    refused: tuple[RefusedOption, ...] | None = None
    """Rejected options that are not part of the identity; None if the server may reject any."""


class WaitingModel(ChatModel, Protocol):
    """A model for one cell, which may wait before its requests."""

    @property
    def waited(self) -> float:
        """Seconds of waiting, which are not latency."""
        ...


class Turns(Protocol):
    """A policy for when a cell's requests are sent."""

    @property
    def is_timed(self) -> bool:
        """Whether the time of an answer is the model's own."""
        ...

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> WaitingModel:
        """Return a model for one run of one cell.

        Args:
            model: the model.
            choice: its connection; None for `echo`.
            cell: the cell.
            name: prefix of the requests' names: `s` for the cell's own, `j1s` for its first judge.
        """
        ...


class LimitedTurns:
    """A policy that sends each request as soon as the limiter of its connection allows it."""

    is_timed = True

    def __init__(self, limiters: Limiters) -> None:
        """Store the limiters."""
        self._limiters = limiters

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> LimitedModel:
        """Return a model behind the limiter of its connection; see `Turns`."""
        if choice is None:
            return LimitedModel(model, self._limiters("echo"), 0)
        connection = choice.connection
        limiter = self._limiters(connection.name, is_local=connection.kind == "embedded")
        refused = cell.refused if name == "s" else None  # a judge has its own options
        known = None if refused is None else frozenset(option.name for option in refused)
        return LimitedModel(model, limiter, connection.retries, known)
