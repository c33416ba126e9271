"""A child process that writes a run for ever; its test kills it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.runs.store import RunStore
from tests.core.agent.runs import NATIVE, call, calling, run_of


async def main(path: Path) -> None:
    store = RunStore(path)
    writer = store.journal("r1")

    def write(event: object) -> None:
        writer(event)
        print(event.seq, flush=True)  # only what is on disk is told

    options = RunOptions(headless=True, limits=Limits(None))
    replies = [calling(call(), text="x" * 2000) for _ in range(100_000)]
    run, _ = run_of(NATIVE, replies, options=options, journal=write)
    await run.go()


asyncio.run(main(Path(sys.argv[1])))
