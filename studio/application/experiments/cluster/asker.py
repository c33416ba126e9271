"""Asking cells on workers, in the place of the `Asker` of one process.

Workers by Dask (the extra `dask`): it carries batches, and keeps nothing of them.

Dask holds a result in a worker's memory until its future is released, and computes it anew where
that worker is lost: paid answers would be asked for twice. So each future is read and released at
once, and few are under way (`dispatch`).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

from studio import __version__
from studio.application.experiments.asked_cell import AskedCell
from studio.application.experiments.asking import Asker
from studio.application.experiments.cluster import dispatch, worker
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.turns import MOST, LeasedCell
from studio.application.words import tr
from studio.core.experiments.values import ExperimentRow
from studio.core.text.amounts import by_count
from studio.core.text.values import reason_of

_AWAY_SECONDS = 60.0
_CONNECT_SECONDS = 10.0
_THREADS = 2


class DaskPool:
    """Workers of one scheduler, for one experiment."""

    def __init__(self, address: dispatch.WorkersAddress, bundle: worker.WorkBundle) -> None:
        """Take the address; nothing is opened before `open`.

        Raises:
            WorkersError: the address cannot be used, or Dask is not installed.
        """
        address.check()
        try:
            import distributed

            from studio.application.experiments.cluster import dask_worker
        except ImportError:
            raise dispatch.WorkersError(
                tr("Workers need Dask: pip install 'prompt-studio[dask]'.")
            ) from None
        self._dask = distributed
        self._work = dask_worker
        self._address = address
        self._bundle = bundle
        self._cluster: Any = None
        self._client: Any = None
        self._lost = _lost_errors(distributed)

    @property
    def workers(self) -> int:
        """Return the number of workers."""
        return self._total("n_workers")

    @property
    def threads(self) -> int:
        """Return the number of batches that the workers run at once."""
        return self._total("total_threads")

    def _total(self, name: str) -> int:
        # What the scheduler tells its clients every two seconds, joined and retired ones included.
        known = self._client.scheduler_info() if self._client is not None else {}
        count = known.get(name, 0)
        return count if isinstance(count, int) else 0

    @property
    def dashboard(self) -> str:
        """The address of the scheduler's page; empty where it has none."""
        if self._client is None or self._address.local is not None:
            return ""
        return str(self._client.dashboard_link or "")

    async def open(self) -> None:
        """Start or find the workers, give them the bundle, and ask what they lack.

        Raises:
            WorkersError: there are none, or they lack a key, a variable, or this version.
        """
        if self._address.local is not None:
            self._cluster = await self._dask.LocalCluster(
                n_workers=self._address.local,
                threads_per_worker=_THREADS,
                asynchronous=True,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=50,
                # Without a page Dask still serves HTTP: at a free port, as another may have 8787.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            )
        else:  # what it logs of a lost connection comes as an exception, too
            for name in ("distributed", "distributed.client"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        await self._connect()

    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        """Ask a batch on some worker.

        Raises:
            BatchLostError: its worker or the scheduler went away.
            ModelError: a connection lacks something on the worker.
        """
        client = self._client
        if client is None:
            raise dispatch.BatchLostError(tr("There is no connection to the scheduler."))
        future = client.submit(
            self._work.ask_cells, self._bundle.digest, cells, dict(shares), pure=False
        )
        try:
            asked, refused = await future.result()
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            raise dispatch.BatchLostError(tr("The connection to the scheduler was lost.")) from None
        except self._lost as error:
            raise dispatch.BatchLostError(str(error)) from error
        finally:
            with suppress(Exception):
                future.release()
        return asked, refused

    async def restore(self) -> None:
        """Wait for the scheduler and a worker, and give the bundle again.

        Raises:
            WorkersError: they stay away for a minute.
        """
        until = asyncio.get_running_loop().time() + _AWAY_SECONDS
        while True:
            try:
                if self._client is not None and self._client.status == "running":
                    await self._greet(until - asyncio.get_running_loop().time())
                else:
                    await self._forget_client()
                    await self._connect()
            except _UnfitError as error:
                raise dispatch.WorkersError(str(error)) from None
            except (dispatch.WorkersError, OSError, TimeoutError) as error:
                if asyncio.get_running_loop().time() >= until:
                    raise dispatch.WorkersError(
                        tr("The workers at {address} do not answer: {reason}").format(
                            address=self._address.address, reason=reason_of(error)
                        )
                    ) from error
                await self._forget_client()
                await asyncio.sleep(0.5)
            else:
                return

    async def close(self) -> None:
        """Let go of the scheduler; end the workers that were started here."""
        if self._client is not None and self._client.status == "running":
            with suppress(Exception):
                await self._client.unregister_worker_plugin(
                    self._work.plugin_name(self._bundle.digest)
                )
        await self._forget_client()
        if self._cluster is not None:
            await self._cluster.close()
            self._cluster = None

    async def _forget_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                await client.close(timeout=2)

    async def _connect(self) -> None:
        """Connect to the scheduler, and give the workers the bundle and all that it needs."""
        where = self._cluster if self._cluster is not None else self._address.address
        try:
            self._client = await self._dask.Client(
                where,
                asynchronous=True,
                security=self._security(),
                timeout=_CONNECT_SECONDS,
                set_as_default=False,
            )
        except (OSError, TimeoutError) as error:
            raise dispatch.WorkersError(
                tr("No scheduler answers at {address}: {reason}").format(
                    address=self._address.address, reason=reason_of(error)
                )
            ) from error
        await self._greet(_AWAY_SECONDS)

    async def _greet(self, seconds: float) -> None:
        """Wait for a worker; see to it that each can do the work."""
        try:
            await self._client.wait_for_workers(1, timeout=max(1.0, seconds))
        except TimeoutError:
            raise dispatch.WorkersError(
                tr("The scheduler at {address} has no workers.").format(
                    address=self._address.address
                )
            ) from None
        try:
            reports = await self._client.run(
                self._work.worker_report,
                list(self._bundle.variables),
                list(self._bundle.key_owners),
            )
            wrong = [text for report in reports.values() if (text := _unfit(report))]
            if wrong:
                raise _UnfitError("\n".join(dict.fromkeys(wrong)))
            name = self._work.plugin_name(self._bundle.digest)
            plugin = self._work.CellPlugin(self._bundle, self._address.local or 1)
            await self._client.register_plugin(plugin, name=name)
        except ModuleNotFoundError as error:
            raise _UnfitError(
                tr(
                    "A worker does not have Prompt Studio ({reason}); install the same version "
                    "there."
                ).format(reason=error)
            ) from error

    def _security(self) -> object:
        if not self._address.address.startswith("tls://"):
            return None
        folder = self._address.certificates
        assert folder is not None  # `check` refused it otherwise
        authority, certificate, key = (str(folder / name) for name in dispatch.CERTIFICATES)
        return self._dask.Security(
            tls_ca_file=authority,
            tls_client_cert=certificate,
            tls_client_key=key,
            require_encryption=True,
        )


class _UnfitError(dispatch.WorkersError):
    """Workers that are there and cannot do the work; waiting does not help."""


def _unfit(report: Mapping[str, Any]) -> str:
    """Return why a worker cannot do the work; empty if it can."""
    host = report["host"]
    if report["version"] != __version__:
        return tr("The worker on {host} has Prompt Studio {theirs}, and here is {ours}.").format(
            host=host, theirs=report["version"], ours=__version__
        )
    if report["lacking"]:
        return tr("The worker on {host} lacks: {names}.").format(
            host=host, names=", ".join(report["lacking"])
        )
    return ""


def _lost_errors(dask: ModuleType) -> tuple[type[Exception], ...]:
    """Return the exceptions of Dask for a lost worker or scheduler."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    return CancelledError, CommClosedError, dask.KilledWorker, dask.TimeoutError, OSError


class ClusterAsker(Asker):
    """Asks cells on workers; requests are made, judged and kept in this process."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        address: dispatch.WorkersAddress,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take an address; nothing is opened before the first cell is asked for.

        Args:
            plan: what is run.
            services: what it is run with.
            address: where the workers are.
            tell: told which workers were found, and what is not shipped, a sentence each.

        Raises:
            WorkersError: the address cannot be used, or Dask is not installed.
        """
        address.check()
        super().__init__(plan, services, is_leader=True)
        self._address = address
        self._tell = tell
        self._pool: DaskPool | None = None
        self._dispatcher: dispatch.CellDispatcher | None = None

    @property
    def room(self) -> int:
        """Return the number of cells that can be started now."""
        return self._dispatcher.room if self._dispatcher is not None else 1

    @property
    def refused(self) -> int:
        """Requests that servers refused so far (429)."""
        away = self._dispatcher.refused if self._dispatcher is not None else 0
        return super().refused + away

    async def start(self, result: int) -> None:
        """Find or start the workers, and ship the experiment.

        Raises:
            WorkersError: there are none, or they lack something.
        """
        try:
            bundle = worker.make_bundle(self._plan, self._services)
        except ValueError as error:
            raise dispatch.WorkersError(str(error)) from None
        self._pool = DaskPool(self._address, bundle)
        await self._pool.open()
        for sentence in bundle.left_out:
            self._tell(sentence)
        self._tell(_found(self._pool))
        self._dispatcher = dispatcher_of(self._plan, self._pool)

    async def ask(self, cell: LeasedCell, row: ExperimentRow) -> AskedCell:
        """Run a cell on a worker.

        Raises:
            WorkersError: the workers stay away.
        """
        assert self._dispatcher is not None  # `start` comes first
        at = cell.key.variant
        encoded = worker.encode_cell(at, row, self._plan.values_of(at, row))
        asked = worker.decode_asked(await self._dispatcher.ask(encoded))
        self.learn(at, asked.learned)
        return asked

    async def close(self) -> None:
        """Let go of everything."""
        if self._dispatcher is not None:
            await self._dispatcher.close()
        if self._pool is not None:
            await self._pool.close()
        await super().close()


def _found(pool: DaskPool) -> str:
    count = pool.workers
    text = by_count(count, tr("1 worker."), tr("{count} workers."))
    if not pool.dashboard:
        return text
    return text + " " + tr("The scheduler's page: {address}").format(address=pool.dashboard)


def dispatcher_of(plan: ExperimentPlan, pool: dispatch.WorkerPool) -> dispatch.CellDispatcher:
    """Return a dispatcher with the rates of a plan's connections; an embedded model has its own."""
    most = float(plan.options.concurrency or 0) or MOST
    names = {
        "echo" if each.choice is None else each.choice.connection.name
        for each in plan.variants
        if each.choice is None or each.choice.connection.kind != "embedded"
    }
    return dispatch.CellDispatcher(pool, dict.fromkeys(names, most))
