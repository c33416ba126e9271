"""Models behind the limiter of their connection: each call waits for room and tries again.

Vectors of the texts of several cells are asked for in one request.
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
"""A request that a busy server refuses (429) is sent again so often; the seconds before the first
time, and their growth: the last ones wait for some seconds, far above what a server asks for."""

STALE_CELL = "stale-cell"
"""Kind of the error of a cell whose server has just refused an option."""

_BACKOFF = 0.5
_LONGEST = 60.0
"""Seconds of one wait, at most, whatever the server asks for."""
_HOPELESS = 900.0
"""Seconds: a server that asks to wait longer (a daily limit) has refused the cell."""

Vector = tuple[float, ...]

_MOST_TEXTS = 256

_MOST_CHARACTERS = 200_000
"""Of one request: OpenAI takes 2,048 texts and 300,000 tokens."""


class LimitedModel(WrappingModel[ChatModel]):
    """One for each cell, around the model that its variant shares."""

    def __init__(
        self,
        model: ChatModel,
        limiter: ConnectionLimiter,
        retries: int,
        refused: frozenset[str] | None = None,
    ) -> None:
        """Take a model.

        Args:
            model: what answers; it does not try again by itself.
            limiter: the room at its connection.
            retries: how often a call is tried again that fails for now; 0 means never.
            refused: names of the options that the server may refuse; None for any.
        """
        super().__init__(model)
        self._limiter = limiter
        self._retries = retries
        self._refused = refused
        self.waited = 0.0
        """Seconds that were spent on waiting and on calls that were refused: no latency."""
        self.on_wait: Callable[[str], None] = lambda _words: None
        """Callback with the reason for a wait and its length, in words."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer once there is room.

        Raises:
            ModelError: the model cannot answer, also when asked again.
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
                # Being too many is no fault of the request: it comes later and later, and then in.
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
        """Refuse to go on without an option that the cell's identity counts on.

        Raises:
            ModelError: "stale-cell"; nothing was answered, and the cell is to be named anew.
        """
        if self._refused is not None and option.name not in self._refused:
            raise ModelError(STALE_CELL, option.sentence)

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """Return a vector for each text, once there is room.

        Raises:
            ModelError: the server gives none, also when asked again.
        """
        if not isinstance(self._inner, EmbeddingModel):
            raise ModelError("no-embeddings", "The connection gives no embeddings.")
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
    """A cell that waits for vectors."""

    texts: tuple[str, ...]
    vectors: asyncio.Future[tuple[Vector, ...]]


class BatchedEmbeddings:
    """While one request is under way, the texts of the cells that come over meanwhile collect."""

    def __init__(self, model: LimitedModel, name: str) -> None:
        """Take who is asked.

        Args:
            model: the connection's, with its limiter and its retries.
            name: of the model that makes vectors.
        """
        self._model = model
        self._name = name
        self._waiting: deque[_Asker] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def of(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return a vector for each text.

        Raises:
            ModelError: there are none.
        """
        asker = _Asker(tuple(texts), asyncio.get_running_loop().create_future())
        self._waiting.append(asker)
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await asker.vectors

    async def close(self) -> None:
        """Ask for no more."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait([self._sending])

    async def _send(self) -> None:
        taken: list[_Asker] = []
        try:
            while self._waiting:
                await asyncio.sleep(0)  # cells that come over in the same moment go together
                taken = self._taken()
                await self._answer(taken)
        finally:
            self._sending = None
            for asker in (*taken, *self._waiting):
                asker.vectors.cancel()
            self._waiting.clear()

    def _taken(self) -> list[_Asker]:
        """Take the askers that fit into one request."""
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
        """Give each its vectors; where a request is refused for what it holds, each asks alone."""
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


# Find the number of parallel requests that a connection accepts while it is used.
#
# The number grows by one a round trip until a request is refused (429), then shrinks by 15 %,
# once a round trip; above the number that was refused it grows slowly, and goes back by one where
# that is refused. Only the refused request waits as long as the server asks; all wait only where
# even one at a time is too much.


START = 8.0
MOST = 100.0
_SHRINK = 0.85
_LEAST = 1.0
_SLOW = 0.1


class ConnectionLimiter:
    """The room for requests at one connection; cells and judges share it."""

    def __init__(self, *, start: float = START, most: float = MOST) -> None:
        """Begin with some requests at once.

        Args:
            start: how many at first.
            most: the bound of growing.
        """
        self.limit = min(start, most)
        """Maximum number of parallel requests."""
        self.busy = 0
        """Number of running requests."""
        self.refused = 0
        """Number of refused requests so far."""
        self.resting = 0
        """Number of refused requests that wait for a retry; they take no room."""
        self._most, self._roof = most, most
        self._cut = self._until = 0.0
        self._wake = asyncio.Condition()

    def bound(self, most: float) -> None:
        """Take another bound of growing: a share of what a connection bears elsewhere too."""
        self._most = max(_LEAST, most)
        self._roof = min(self._roof, self._most)
        self.limit = min(self.limit, self._most)

    async def take(self) -> float:
        """Wait for room; gives the time at which the request begins, for `give`."""
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
        """Give a place back after a request.

        Args:
            began: of `take`.
            refused: whether the server asked to be called less often.
            after: seconds that it asks to wait.
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


# Whose turn it is: what stands between a cell and the model that its variant shares.

Limiters = Callable[..., ConnectionLimiter]
"""The room at a connection: `(name, is_local=…)`."""


@dataclass(frozen=True, slots=True)
class LeasedCell:
    """A cell that is under way."""

    key: CellKey
    """Which one."""

    identity: bytes
    """Of all that it sends, its repeat included."""

    refused: tuple[RefusedOption, ...] | None = None
    """Refused options that the identity does not count; None lets the server refuse any."""


class WaitingModel(ChatModel, Protocol):
    """A model for one cell, which may have to wait before it asks."""

    @property
    def waited(self) -> float:
        """Seconds that were spent on waiting: no latency."""
        ...


class Turns(Protocol):
    """Decides when a cell's requests are sent."""

    @property
    def is_timed(self) -> bool:
        """Whether the time that an answer takes is the model's own."""
        ...

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> WaitingModel:
        """Return a model for one run of one cell.

        Args:
            model: what answers.
            choice: its connection; None for `echo`.
            cell: who asks.
            name: begins the names of the requests: `s` for the cell's own, `j1s` for its first
                judge.
        """
        ...


class LimitedTurns:
    """Each request as soon as there is room at its connection."""

    is_timed = True

    def __init__(self, limiters: Limiters) -> None:
        """Take the rooms."""
        self._limiters = limiters

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> LimitedModel:
        """Return a model behind the limiter of its connection; see `Turns`."""
        if choice is None:
            return LimitedModel(model, self._limiters("echo"), 0)
        connection = choice.connection
        limiter = self._limiters(connection.name, is_local=connection.kind == "embedded")
        refused = cell.refused if name == "s" else None  # a judge's options are its own
        known = None if refused is None else frozenset(option.name for option in refused)
        return LimitedModel(model, limiter, connection.retries, known)
