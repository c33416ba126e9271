"""One worker of an experiment: a thread with an event loop, on which its cells are asked.

A worker opens the models and tools of its bundle once, and shares them among all its cells. It
marks nothing and keeps nothing: what came of a cell goes back to the leader, whose ledger is the
truth.
"""

from __future__ import annotations

import asyncio
import io
import os
import threading
import zipfile
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from studio.application.experiments.asking import AskedCell, Asker
from studio.application.experiments.cluster.bundle import read_bundle
from studio.application.experiments.turns import LeasedCell
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.values import ExperimentCase, ExperimentRow
from studio.core.models.secrets import KEYRING, secret_store
from studio.core.text.values import Json

T = TypeVar("T")


class CellWorker:
    """Asks cells of one bundle; made once in each worker process."""

    def __init__(self, folder: Path, data: bytes, sharers: int = 1) -> None:
        """Unpack the bundle and start the loop; models are opened with the first cells.

        Args:
            folder: an empty folder of the worker's own.
            data: the zip.
            sharers: workers of this run on this machine, this one among them.

        Raises:
            ValueError: the zip names a place outside of the folder.
        """
        _unpack(data, folder)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cells", daemon=True)
        self._thread.start()
        self._values: dict[tuple[int, int], Mapping[str, Json]] = {}
        self._numbers = count(2)  # 1 is the row that opens the tools
        self._asker = self._on_loop(self._made(folder, sharers)).result()
        self._opened: asyncio.Task[None] | None = None
        self._seen: dict[str, int] = {}

    def ask(self, cells: Sequence[Mapping[str, Json]], shares: Mapping[str, float]) -> list[Any]:
        """Ask cells, all at once; called in a thread of the worker's own.

        Args:
            cells: each as `encode_cell` made it.
            shares: requests at once that each connection has room for here.

        Returns:
            An object for each cell, and one of requests that servers refused, by connection.

        Raises:
            ModelError: a connection lacks something on this machine.
            ToolSourceError: the tools cannot be started on this machine.
        """
        return self._on_loop(self._ask(cells, shares)).result()

    def close(self) -> None:
        """Let go of models and tools, and end the thread."""
        self._on_loop(self._asker.close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _on_loop(self, going: Coroutine[object, object, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(going, self._loop)

    async def _made(self, folder: Path, sharers: int) -> Asker:
        plan, services = read_bundle(folder)
        self._values.update(plan.values)
        return Asker(replace(plan, values=self._values), replace(services, sharers=sharers))

    async def _ask(
        self, cells: Sequence[Mapping[str, Json]], shares: Mapping[str, float]
    ) -> list[Any]:
        if self._opened is None:
            self._opened = asyncio.create_task(self._asker.open())
        try:
            await self._opened
        except BaseException:
            self._opened = None
            raise
        for name, share in shares.items():
            self._asker.limiter(name).bound(share)
        asked = await asyncio.gather(*(self._cell(each) for each in cells))
        refused = {name: self._asker.limiter(name).refused for name in shares}
        new = {name: count - self._seen.get(name, 0) for name, count in refused.items()}
        self._seen = refused
        return [asked, new]

    async def _cell(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        case = ExperimentCase(cell["variables"], options=cell["options"])
        place = cell["variant"], next(self._numbers)  # rows come in any order, also twice at once
        self._values[place] = cell["values"]
        try:
            leased = LeasedCell(CellKey(1, place[1], place[0]), b"")
            return encode_asked(await self._asker.ask(leased, ExperimentRow("", case, place[1])))
        finally:
            del self._values[place]


async def missing_names(variables: Sequence[str], owners: Sequence[str]) -> list[str]:
    """Which variables and keys this machine lacks; their values stay here."""
    lacking = [name for name in variables if not os.environ.get(name, "").strip()]
    store = secret_store()
    for name in owners:
        if not (await store.read(KEYRING, name)).secret:
            lacking.append(f"the key of {name}")
    return lacking


def encode_cell(variant: int, row: ExperimentRow, values: Mapping[str, Json]) -> dict[str, Json]:
    """What a worker needs of a cell: all that decides what is sent, nothing to mark."""
    case = row.case
    return {
        "variant": variant,
        "values": dict(values),
        "variables": dict(case.variables),
        "options": dict(case.options),
    }


def encode_asked(asked: AskedCell) -> dict[str, Any]:
    """What came of a cell, as JSON."""
    answer: dict[str, Any] | None = None
    if asked.answer is not None:
        found = asked.answer
        answer = {name: getattr(found, name) for name in CellAnswer.__dataclass_fields__}
        answer["calls"] = [
            {
                "tool": each.tool,
                "arguments": dict(each.arguments),
                "is_error": each.is_error,
                "is_valid": each.is_valid,
            }
            for each in found.calls
        ]
    journal = asked.journal.decode("utf-8", "surrogatepass")
    return {"answer": answer, "error": asked.error, "journal": journal, "refused": asked.refused}


def decode_asked(found: Mapping[str, Any]) -> AskedCell:
    """What a worker said of a cell."""
    answer = found["answer"]
    if answer is not None:
        calls = tuple(MadeCall(**each) for each in answer["calls"])
        answer = CellAnswer(**{**answer, "calls": calls})
    journal = found["journal"].encode("utf-8", "surrogatepass")
    return AskedCell(answer, found["error"], journal, found["refused"])


def _unpack(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or "\\" in name:
                raise ValueError(f"the bundle names {name!r}, outside of its folder")
        archive.extractall(folder)
