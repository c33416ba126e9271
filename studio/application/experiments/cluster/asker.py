"""Run cells on workers, in place of the `Asker` of one process.

The workers are those of Dask (the extra `dask`), which transports batches but stores nothing.

Dask keeps a result in a worker's memory until its future is released, and computes it again if the
worker is lost, which would request paid answers twice. So each future is read and released at once,
and few run at a time (`dispatch`).
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
    """The workers of one scheduler, for one experiment."""

    def __init__(self, address: dispatch.WorkersAddress, bundle: worker.WorkBundle) -> None:
        """Check and store the address; nothing is opened before `open`.

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
        """Number of workers."""
        return self._total("n_workers")

    @property
    def threads(self) -> int:
        """Number of batches that the workers can run at once."""
        return self._total("total_threads")

    def _total(self, name: str) -> int:
        # From the scheduler's status, sent every two seconds, including joined and retired workers.
        known = self._client.scheduler_info() if self._client is not None else {}
        count = known.get(name, 0)
        return count if isinstance(count, int) else 0

    @property
    def dashboard(self) -> str:
        """Address of the scheduler's dashboard; empty if it has none."""
        if self._client is None or self._address.local is not None:
            return ""
        return str(self._client.dashboard_link or "")

    async def open(self) -> None:
        """Start or find the workers, send them the bundle, and check their requirements.

        Raises:
            WorkersError: there are no workers, or they lack a key, a variable, or this version.
        """
        if self._address.local is not None:
            self._cluster = await self._dask.LocalCluster(
                n_workers=self._address.local,
                threads_per_worker=_THREADS,
                asynchronous=True,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=50,
                # Without a dashboard Dask still serves HTTP: use a free port, as 8787 may be in
                # use.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            )
        else:  # lost connections, which it logs, are also raised as exceptions
            for name in ("distributed", "distributed.client"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        await self._connect()

    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        """Run a batch on a worker.

        Raises:
            BatchLostError: its worker or the scheduler is lost.
            ModelError: a connection is incomplete on the worker.
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
        """Wait for the scheduler and a worker, and send the bundle again.

        Raises:
            WorkersError: there are none after a minute.
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
        """Disconnect from the scheduler; end the workers that were started here."""
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
        """Connect to the scheduler, and send the bundle and its requirements to the workers."""
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
        """Wait for a worker; check that each worker can run the cells."""
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
        assert folder is not None  # `check` refuses it otherwise
        authority, certificate, key = (str(folder / name) for name in dispatch.CERTIFICATES)
        return self._dask.Security(
            tls_ca_file=authority,
            tls_client_cert=certificate,
            tls_client_key=key,
            require_encryption=True,
        )


class _UnfitError(dispatch.WorkersError):
    """Raised when workers cannot run the cells, so that waiting does not help."""


def _unfit(report: Mapping[str, Any]) -> str:
    """Return why a worker cannot run the cells; empty if it can."""
    host = report["host"]
    if report["version"] != __version__:
        return tr(
            "The worker on {host} has Prompt Studio {theirs}; this machine has {ours}."
        ).format(host=host, theirs=report["version"], ours=__version__)
    if report["lacking"]:
        return tr("The worker on {host} lacks: {names}.").format(
            host=host, names=", ".join(report["lacking"])
        )
    return ""


def _lost_errors(dask: ModuleType) -> tuple[type[Exception], ...]:
    """Return Dask's exceptions for a lost worker or scheduler."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    return CancelledError, CommClosedError, dask.KilledWorker, dask.TimeoutError, OSError


class ClusterAsker(Asker):
    """A runner of cells on workers; this process prepares, judges and stores them."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        address: dispatch.WorkersAddress,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Store the settings; nothing is opened before the first cell.

        Args:
            plan: the plan of the run.
            services: the shared services.
            address: address of the workers.
            tell: receives sentences on the workers found, and on files that are not sent.

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
        """Number of cells that can be started now."""
        return self._dispatcher.room if self._dispatcher is not None else 1

    @property
    def refused(self) -> int:
        """Number of requests that servers rejected so far (429)."""
        away = self._dispatcher.refused if self._dispatcher is not None else 0
        return super().refused + away

    async def start(self, result: int) -> None:
        """Find or start the workers, and send them the experiment.

        Raises:
            WorkersError: there are no workers, or they lack something.
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
            WorkersError: the workers are lost.
        """
        assert self._dispatcher is not None  # `start` is called first
        at = cell.key.variant
        encoded = worker.encode_cell(at, row, self._plan.values_of(at, row))
        asked = worker.decode_asked(await self._dispatcher.ask(encoded))
        self.learn(at, asked.learned)
        return asked

    async def close(self) -> None:
        """Close everything."""
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
    """Return a dispatcher with the rates of a plan's connections."""
    most = float(plan.options.concurrency or 0) or MOST
    names = {
        "echo" if each.choice is None else each.choice.connection.name
        for each in plan.variants
        if each.choice is None or each.choice.connection.kind != "embedded"
    }
    return dispatch.CellDispatcher(pool, dict.fromkeys(names, most))
