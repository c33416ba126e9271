"""The leader's side, with workers in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from studio.application.experiments.cluster.dispatch import (
    AHEAD,
    BATCH,
    BatchLostError,
    CellDispatcher,
    WorkersError,
)
from tests.application.experiments.cluster.virtual import VirtualPool, in_virtual_time


async def _all(dispatcher: CellDispatcher, cells: int) -> list[int]:
    """Ask as the runner does: never more under way than there is room for."""
    answered: list[int] = []
    waiting = iter(range(cells))
    tasks: set[asyncio.Task[dict[str, Any]]] = set()
    while True:
        while len(tasks) < dispatcher.room and (number := next(waiting, None)) is not None:
            tasks.add(asyncio.create_task(dispatcher.ask({"number": number})))
        if not tasks:
            return answered
        done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        answered += [each.result()["number"] for each in done]


def _run(pool: VirtualPool, cells: int, most: float = 1e9) -> tuple[list[int], float]:
    async def going() -> list[int]:
        dispatcher = CellDispatcher(pool, {"server": most})
        try:
            return await _all(dispatcher, cells)
        finally:
            await dispatcher.close()

    return in_virtual_time(going())


def test_every_cell_comes_back_once_and_workers_are_never_idle() -> None:
    pool = VirtualPool(4, seconds=1.0)
    answered, took = _run(pool, 800)
    assert sorted(answered) == list(range(800))
    # Eight threads, ten cells at once each, a second for each: ten rounds.
    assert took < 10 * 1.3 + 1
    assert max(len(each) for each in pool.batches) == BATCH


def test_few_batches_are_under_way() -> None:
    pool = VirtualPool(3, seconds=1.0)
    _run(pool, 600)
    assert pool.most_under_way == AHEAD * pool.threads


def test_the_last_cells_are_spread_over_the_workers() -> None:
    pool = VirtualPool(5, seconds=1.0)
    _run(pool, 20)
    assert [len(each) for each in pool.batches] == [1] * 20


def test_lost_batches_are_asked_again_and_nothing_else_is() -> None:
    pool = VirtualPool(10, seconds=1.0, lost=0.1, seed=7)
    answered, _ = _run(pool, 3000)
    assert sorted(answered) == list(range(3000))
    asked = Counter(cell["number"] for batch in pool.batches for cell in batch)
    again = sum(count - 1 for count in asked.values())
    assert 0 < again < 0.2 * 3000
    assert pool.restored


def test_a_connection_s_rate_is_shared_among_workers_and_shrinks_where_servers_refuse() -> None:
    pool = VirtualPool(8, seconds=1.0, borne=40)
    answered, _ = _run(pool, 2000, most=160)
    assert len(answered) == 2000
    assert pool.shares[0] == {"server": 20.0}
    # 40 at once are borne by the server: 5 for each worker, found within the first rounds.
    assert min(each["server"] for each in pool.shares) < 8
    assert pool.shares[-1]["server"] < 10


def test_a_server_that_refuses_does_not_starve_anybody() -> None:
    pool = VirtualPool(100, seconds=0.5, borne=250)
    answered, took = _run(pool, 5000, most=1000)
    assert len(answered) == 5000
    assert took < 60


class _GonePool(VirtualPool):
    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        raise BatchLostError("nobody is there")

    async def restore(self) -> None:
        raise WorkersError("The workers stay away.")


def test_workers_that_stay_away_end_every_cell_with_the_sentence() -> None:
    async def going() -> list[BaseException | dict[str, Any]]:
        dispatcher = CellDispatcher(_GonePool(2, seconds=1.0), {})
        asked = [dispatcher.ask({"number": number}) for number in range(30)]
        return await asyncio.gather(*asked, return_exceptions=True)

    found, _ = in_virtual_time(going())
    assert {str(each) for each in found} == {"The workers stay away."}


def test_a_batch_that_kills_every_worker_is_given_up() -> None:
    pool = VirtualPool(2, seconds=1.0, lost=1.0)
    with pytest.raises(WorkersError, match="lost 6 times"):
        _run(pool, 1)


def test_closing_leaves_nobody_waiting() -> None:
    async def going() -> BaseException | None:
        dispatcher = CellDispatcher(VirtualPool(1, seconds=1000.0), {})
        task = asyncio.create_task(dispatcher.ask({"number": 1}))
        await asyncio.sleep(1)
        await dispatcher.close()
        await asyncio.wait([task])
        return task.exception()

    error, _ = in_virtual_time(going())
    assert isinstance(error, WorkersError)
