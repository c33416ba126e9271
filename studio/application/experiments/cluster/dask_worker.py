"""Functions that run inside a Dask worker."""

import shutil
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import distributed

from studio import __version__
from studio.application.experiments.cluster.worker import CellWorker, WorkBundle, missing_names


class _DaskWorker(Protocol):
    local_directory: str


class CellPlugin(distributed.WorkerPlugin):  # type: ignore[misc]
    """The bundle on a worker; Dask also sends it to workers that join later."""

    def __init__(self, bundle: WorkBundle, sharers: int) -> None:
        """Store the bundle, and the number of workers on a machine."""
        self._sharers = sharers
        self._bundle = bundle
        self._folder: Path | None = None
        self._cells: CellWorker | None = None

    def setup(self, worker: _DaskWorker) -> None:
        """Unpack the bundle into a folder of the worker."""
        self._folder = Path(tempfile.mkdtemp(prefix="cells-", dir=worker.local_directory))
        self._cells = CellWorker(self._folder, self._bundle.data, self._sharers)

    def teardown(self, worker: _DaskWorker) -> None:
        """Close models and tools, and delete the bundle."""
        del worker
        if self._cells is not None:
            self._cells.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, cells: list[dict[str, Any]], shares: Mapping[str, float]) -> list[Any]:
        """Run a batch of cells."""
        assert self._cells is not None  # Dask sets up a plugin before the first task
        return self._cells.ask(cells, shares)


def ask_cells(digest: str, cells: list[dict[str, Any]], shares: dict[str, float]) -> list[Any]:
    """Run cells on a worker, in one of its threads; this is the only kind of task."""
    plugin: CellPlugin = distributed.get_worker().plugins[plugin_name(digest)]
    return plugin.ask(cells, shares)


async def worker_report(variables: list[str], owners: list[str]) -> dict[str, Any]:
    """Describe a worker: names only, never values."""
    lacking = await missing_names(variables, owners)
    return {"host": socket.gethostname(), "version": __version__, "lacking": lacking}


def plugin_name(digest: str) -> str:
    """Return the name of the plugin with a bundle."""
    return f"cells-{digest[:16]}"
