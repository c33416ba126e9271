"""Vectors of texts, those of several cells in one request."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from studio.application.experiments.limited_model import LimitedModel
from studio.core.models.base import ModelError

Vector = tuple[float, ...]

_MOST_TEXTS = 256
_MOST_CHARACTERS = 200_000
"""Of one request: OpenAI takes 2,048 texts and 300,000 tokens."""


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
        """A vector for each text.

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
        """Those that fit into one request."""
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
