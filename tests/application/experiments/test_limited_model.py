"""What becomes of those that wait for vectors when none come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from studio.application.experiments.turns import BatchedEmbeddings, ConnectionLimiter, LimitedModel
from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedModel
from tests.support import patience


class Broken(ScriptedModel):
    """A model whose first request for vectors fails by a fault of the program."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked = 0

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        self.asked += 1
        if self.asked == 1:
            raise ValueError("no such shape")
        return tuple((1.0,) for _ in texts)


class Splitting(ScriptedModel):
    """A model that refuses several texts at once, and says nothing of one alone."""

    def __init__(self) -> None:
        super().__init__([])
        self.is_alone = asyncio.Event()

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        if len(texts) > 1:
            raise ModelError("bad-request", "one at a time")
        self.is_alone.set()
        await asyncio.Event().wait()
        return ()


def over(model: ScriptedModel) -> BatchedEmbeddings:
    return BatchedEmbeddings(LimitedModel(model, ConnectionLimiter(), 0), "tiny")


async def test_each_that_waits_gets_the_fault_itself_and_the_next_are_asked() -> None:
    embeddings = over(Broken())
    found = await asyncio.gather(embeddings.of(["a"]), embeddings.of(["b"]), return_exceptions=True)
    assert [repr(each) for each in found] == ["ValueError('no such shape')"] * 2
    assert await embeddings.of(["c"]) == ((1.0,),)
    await embeddings.close()


async def test_closing_lets_go_of_all_that_wait_also_while_a_request_is_split() -> None:
    model = Splitting()
    embeddings = over(model)
    waiting = [asyncio.create_task(embeddings.of([text])) for text in "abc"]
    await asyncio.wait_for(model.is_alone.wait(), patience.SECONDS)
    await embeddings.close()
    done, left = await asyncio.wait(waiting, timeout=patience.SECONDS)
    assert (len(done), len(left)) == (3, 0)
    assert all(each.cancelled() for each in done)
