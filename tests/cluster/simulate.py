"""A thousand workers against the leader's own code, in virtual time: `make cluster`.

What is simulated is the time that workers take; `CellDispatcher`, which decides what is sent where
and what happens to what is lost, is the one that the studio runs. The figures are explained in
docs/scale.md.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from studio.application.experiments.cluster.dispatch import CellDispatcher
from tests.application.experiments.cluster.virtual import VirtualPool, in_virtual_time

_DAY = 86_400


async def _all(dispatcher: CellDispatcher, cells: int) -> None:
    waiting = iter(range(cells))

    async def one_after_another(numbers: Iterator[int]) -> None:
        for number in numbers:
            await dispatcher.ask({"number": number})

    await asyncio.gather(*(one_after_another(waiting) for _ in range(dispatcher.room)))


def simulate(
    title: str,
    cells: int,
    workers: int,
    seconds: float,
    *,
    most: float = 1e9,
    lost: float = 0.0,
    slow: float = 0.0,
    borne: float = float("inf"),
    ideal: float = 0.0,
) -> None:
    """Print one line."""
    pool = VirtualPool(
        workers, seconds=seconds, lost=lost, slow=slow, borne=borne, away=5.0, seed=24
    )

    async def going() -> CellDispatcher:
        dispatcher = CellDispatcher(pool, {"server": most})
        await _all(dispatcher, cells)
        await dispatcher.close()
        return dispatcher

    began = time.process_time()
    dispatcher, took = in_virtual_time(going())
    cpu = time.process_time() - began
    asked = Counter(cell["number"] for batch in pool.batches for cell in batch)
    again = sum(asked.values()) - cells
    whole = ideal or cells * seconds * 1.1 / (workers * 20)
    print(
        f"{title:34} {took:8.1f} s  {took / whole:5.2f} × ideal  {again / cells:6.2%} again  "
        f"{dispatcher.refused / cells:6.2f} refusals a cell  {cells / took * _DAY / 1e6:7.1f} "
        f"million a day  leader {cpu / cells * 1e6:5.0f} µs a cell",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    simulate("10 workers, 2 s answers", 20_000, 10, 2.0)
    simulate("100 workers", 100_000, 100, 2.0)
    simulate("1,000 workers", 200_000, 1000, 2.0)
    simulate("1,000, 1 % of batches lost", 200_000, 1000, 2.0, lost=0.01)
    simulate("1,000, 5 % ten times as slow", 200_000, 1000, 2.0, slow=0.05)
    simulate(
        "1,000, a server that bears 2,000",
        200_000,
        1000,
        2.0,
        most=20_000,
        borne=2000,
        ideal=200_000 * 2.0 / 2000,
    )


if __name__ == "__main__":
    main()
