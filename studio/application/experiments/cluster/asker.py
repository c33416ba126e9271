"""Asking cells on workers, in the place of the `Asker` of one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from studio.application.experiments.asking import Asker
from studio.application.experiments.cell_asker import AskedCell
from studio.application.experiments.cluster.address import WorkersAddress
from studio.application.experiments.cluster.bundle import make_bundle
from studio.application.experiments.cluster.dask_pool import DaskPool
from studio.application.experiments.cluster.dispatch import CellDispatcher, WorkerPool, WorkersError
from studio.application.experiments.cluster.worker import decode_asked, encode_cell
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.turns import LeasedCell, Turns
from studio.application.words import translate
from studio.core.experiments.identity import SentCell
from studio.core.experiments.limiter import MOST, ConnectionLimiter
from studio.core.experiments.values import ExperimentRow

_tr = partial(translate, "ExperimentCluster")


class ClusterAsker:
    """What is sent is worked out here; it is asked on workers; it is marked and kept here."""

    price_share = 1.0

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        address: WorkersAddress,
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
        self._plan = plan
        self._services = services
        self._address = address
        self._tell = tell
        self._here = Asker(plan, services, is_leader=True)
        self._pool: DaskPool | None = None
        self._dispatcher: CellDispatcher | None = None

    @property
    def room(self) -> int:
        """How many cells are worth having under way."""
        return self._dispatcher.room if self._dispatcher is not None else 1

    @property
    def turns(self) -> Turns:
        """Decides when judges ask: they are asked here."""
        return self._here.turns

    @property
    def refused(self) -> int:
        """Requests that servers refused so far (429)."""
        away = self._dispatcher.refused if self._dispatcher is not None else 0
        return self._here.refused + away

    def limiter(self, connection: str, *, is_local: bool = False) -> ConnectionLimiter:
        """The room for embeddings at a connection: they are asked here."""
        return self._here.limiter(connection, is_local=is_local)

    async def open(self) -> None:
        """Open the models and tools that say what would be sent.

        Raises:
            ModelError: a connection lacks something.
            ToolSourceError: the tools cannot be started.
        """
        await self._here.open()

    async def start(self, result: int) -> None:
        """Find or start the workers, and ship the experiment.

        Raises:
            WorkersError: there are none, or they lack something.
        """
        try:
            bundle = make_bundle(self._plan, self._services)
        except ValueError as error:
            raise WorkersError(str(error)) from None
        self._pool = DaskPool(self._address, bundle)
        await self._pool.open()
        for sentence in bundle.left_out:
            self._tell(sentence)
        self._tell(_found(self._pool))
        self._dispatcher = dispatcher_of(self._plan, self._pool)

    async def sent(self, at: int, row: ExperimentRow) -> SentCell | str:
        """What a cell would send first; a text says why it cannot be rendered."""
        return await self._here.sent(at, row)

    def begin_cell(self) -> None:
        """Nothing: cells do not wait for each other."""

    def end_cell(self) -> None:
        """Nothing: cells do not wait for each other."""

    async def ask(self, cell: LeasedCell, row: ExperimentRow) -> AskedCell:
        """Run a cell on a worker.

        Raises:
            WorkersError: the workers stay away.
        """
        assert self._dispatcher is not None  # `start` comes first
        at = cell.key.variant
        encoded = encode_cell(at, row, self._plan.values_of(at, row))
        return decode_asked(await self._dispatcher.ask(encoded))

    async def close(self) -> None:
        """Let go of everything."""
        if self._dispatcher is not None:
            await self._dispatcher.close()
        if self._pool is not None:
            await self._pool.close()
        await self._here.close()


def _found(pool: DaskPool) -> str:
    count = pool.workers
    text = _tr("1 worker.") if count == 1 else _tr("{count} workers.").format(count=count)
    if not pool.dashboard:
        return text
    return text + " " + _tr("The scheduler's page: {address}").format(address=pool.dashboard)


def dispatcher_of(plan: ExperimentPlan, pool: WorkerPool) -> CellDispatcher:
    """A dispatcher with the rates of a plan's connections; an embedded model has its own."""
    most = float(plan.options.concurrency or 0) or MOST
    names = {
        "echo" if each.choice is None else each.choice.connection.name
        for each in plan.variants
        if each.choice is None or each.choice.connection.kind != "embedded"
    }
    return CellDispatcher(pool, dict.fromkeys(names, most))
