"""Asking cells in batches, in the place of the `Asker` that asks each by itself."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from studio.application.experiments.asking import Asker
from studio.application.experiments.batches.carrier import BatchCarrier, BatchLine, TellBatch
from studio.application.experiments.batches.waves import BatchedModel, BatchWaves
from studio.application.experiments.cell_asker import AskedCell
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.turns import LeasedCell, LimitedTurns, WaitingModel
from studio.application.words import translate
from studio.core.experiments.identity import SentCell
from studio.core.experiments.limiter import ConnectionLimiter
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow
from studio.core.models.base import ChatModel, ModelError
from studio.core.models.batches.open_batches import has_batches, open_batches
from studio.core.models.batches.values import PRICE_SHARE
from studio.core.models.choice import ModelChoice
from studio.core.models.remote.model import RemoteModel

_tr = partial(translate, "ExperimentBatches")

MOST_CELLS = 10_000
"""Cells that wait for waves at once, where `--concurrency` says nothing."""


class BatchAsker:
    """Cells run here as they always do; their requests leave in waves."""

    is_timed = False
    """What a batch takes is no latency of the model."""

    price_share = PRICE_SHARE
    """What a request costs, of what it costs by itself."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        tell: TellBatch = lambda _: None,
    ) -> None:
        """Take a plan; nothing is opened before `open`.

        Args:
            plan: what is run.
            services: what it is run with.
            ledger: where it is noted what is under way.
            tell: told what happens to batches, a sentence each.

        Raises:
            ExperimentError: a connection has no batches.
        """
        _check(plan)
        self._plan = plan
        self._services = services
        self._ledger = ledger
        self._tell = tell
        self._here = Asker(plan, services, self)
        self._direct = LimitedTurns(self._here.limiter)
        self._lines: dict[tuple[str, str], BatchLine] = {}
        self._carrier: BatchCarrier | None = None
        self._waves: BatchWaves | None = None

    @property
    def room(self) -> int:
        """How many cells are worth having under way."""
        return self._plan.options.concurrency or MOST_CELLS

    @property
    def turns(self) -> BatchAsker:
        """Decides when judges ask: in a wave of their own."""
        return self

    def limiter(self, connection: str, *, is_local: bool = False) -> ConnectionLimiter:
        """The room for what is asked by itself: embeddings, and judges without batches."""
        return self._here.limiter(connection, is_local=is_local)

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> WaitingModel:
        """A model for one run of one cell; see `Turns`."""
        if (
            choice is None
            or not isinstance(model, RemoteModel)
            or not has_batches(choice.connection)
        ):
            return self._direct.model(model, choice, cell, name)
        assert self._waves is not None  # `start` comes first
        return BatchedModel(model, self._line(choice), self._waves, cell, name)

    def _line(self, choice: ModelChoice) -> BatchLine:
        connection = choice.connection
        place = connection.name, choice.declaration.id or connection.model
        if place not in self._lines:
            api = open_batches(connection, self._services.secrets)
            self._lines[place] = BatchLine(*place, api, connection.retries)
        return self._lines[place]

    async def open(self) -> None:
        """Open the models and tools; see `Asker`."""
        await self._here.open()

    async def start(self, result: int) -> None:
        """Get ready for the cells of a result."""
        store = self._ledger.batches
        mask = self._services.secrets.masker.mask
        self._carrier = BatchCarrier(store, result, mask, self._tell)
        self._waves = BatchWaves(store, result, self._carrier)

    async def sent(self, at: int, row: ExperimentRow) -> SentCell | str:
        """What a cell would send first; a text says why it cannot be rendered."""
        return await self._here.sent(at, row)

    def begin_cell(self) -> None:
        """A cell begins: no wave leaves before it waits, too."""
        assert self._waves is not None  # `start` comes first
        self._waves.begin()

    def end_cell(self) -> None:
        """A cell is over."""
        assert self._waves is not None  # `start` comes first
        self._waves.end()

    async def ask(self, cell: LeasedCell, row: ExperimentRow) -> AskedCell:
        """Run a cell to its end."""
        return await self._here.ask(cell, row)

    async def close(self) -> None:
        """Let go of everything; batches go on at their providers."""
        if self._waves is not None:
            self._waves.close()
        if self._carrier is not None:
            await self._carrier.close()
        for line in self._lines.values():
            with suppress(ModelError):
                await line.api.close()
        await self._here.close()


def batch_plan(plan: ExperimentPlan) -> ExperimentPlan:
    """The plan without pauses between cells, which would make a batch of each."""
    return replace(plan, file=replace(plan.file, options=replace(plan.options, delay_ms=0)))


def _check(plan: ExperimentPlan) -> None:
    """Refuse connections that have no batches.

    Raises:
        ExperimentError: each line is one of them.
    """
    words = _tr(
        "{variant}: {connection} has no batches; OpenAI, Azure, Anthropic and servers that speak "
        "OpenAI's API have them. Ask this variant without batches."
    )
    reasons = [
        words.format(variant=each.name, connection=each.choice.connection.name)
        for each in plan.variants
        if each.choice is not None and not has_batches(each.choice.connection)
    ]
    if plan.turns_before:
        reasons.append(
            _tr("The turns of a `_conversation` wait for each other: ask them without batches.")
        )
    if reasons:
        raise ExperimentError("\n".join(reasons))
