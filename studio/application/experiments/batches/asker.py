"""Asking cells in batches, in the place of the `Asker` that asks each by itself.

A request waits for its wave.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from studio.application.experiments.asking import Asker
from studio.application.experiments.batches.carrier import BatchCarrier, BatchLine, TellBatch
from studio.application.experiments.batches.waves import BatchWaves
from studio.application.experiments.cell_asker import AskedCell
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.turns import LeasedCell, LimitedTurns, WaitingModel
from studio.application.words import translate
from studio.core.experiments.identity import SentCell
from studio.core.experiments.limiter import ConnectionLimiter
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow
from studio.core.models.base import (
    ChatModel,
    ModelError,
    ModelRequest,
    WrappingModel,
    nothing_asked,
)
from studio.core.models.batches.open_batches import has_batches, open_batches
from studio.core.models.batches.values import PRICE_SHARE, BatchReply, unstreamed
from studio.core.models.choice import ModelChoice
from studio.core.models.remote.faults import RetryLaterError, UnsupportedParameterError
from studio.core.models.remote.model import RemoteModel
from studio.core.models.sending import as_sent
from studio.core.wire.reply import ReplyDelta, ReplyNotice, UsageDelta
from studio.core.wire.request import holds_message
from studio.core.wire.whole import BadReplyError, deltas_of_response

_tr = partial(translate, "ExperimentBatches")


class BatchedModel(WrappingModel[RemoteModel]):
    """One for each run of a cell, around the model that its variant shares."""

    def __init__(
        self, model: RemoteModel, line: BatchLine, waves: BatchWaves, cell: LeasedCell, name: str
    ) -> None:
        """Take a model.

        Args:
            model: makes the bodies, and knows what tokens cost.
            line: where they go.
            waves: collects the requests of all cells.
            cell: who asks.
            name: begins the names of the requests.
        """
        super().__init__(model)
        self._line = line
        self._waves = waves
        self._cell = cell
        self._name = name
        self._step = 0
        self.waited = 0.0
        """Seconds until waves were answered."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer once the wave was answered.

        Raises:
            ModelError: the request has no answer, also in the waves after.
            MissingValueError: a secret that is to be sent has no value here.
        """
        request = as_sent(request)
        self._step += 1
        attempt = 0
        while True:
            body = self._inner.request_body(request)
            if not holds_message(body):
                raise nothing_asked()
            began = time.monotonic()
            name = f"{self._name}{self._step}"
            whole = self._inner.whole_body(request)
            reply = await self._waves.ask(
                self._line, self._cell, name, unstreamed(body), unstreamed(whole)
            )
            self.waited += time.monotonic() - began
            try:
                deltas = self._deltas(reply)
            except UnsupportedParameterError as error:
                notice = self._inner.do_without(error, body)
                if notice is None:
                    raise
                yield ReplyNotice(notice)
            except ModelError as error:
                error.is_exhausted = True
                if not error.retryable or attempt >= self._line.retries:
                    raise
                attempt += 1
                yield ReplyNotice(_tr("{said} It is asked again in the next batch.").format(
                    said=error.message))  # fmt: skip
            else:
                for delta in deltas:
                    yield delta
                return

    def _deltas(self, reply: BatchReply) -> tuple[ReplyDelta, ...]:
        """The reply in pieces.

        Raises:
            ModelError: there is none.
        """
        if reply.fault is not None:
            raise reply.fault
        if reply.unanswered == "cancelled":
            raise ModelError(
                "cancelled",
                _tr("The batch was cancelled before {connection} answered this request.").format(
                    connection=self._line.connection
                ),
                _tr("Ask cells without an answer again."),
            )
        if reply.response is None:
            raise RetryLaterError(
                "timeout",
                _tr("The batch expired before {connection} answered this request.").format(
                    connection=self._line.connection
                ),
                _tr("Ask cells without an answer again."),
            )
        try:
            deltas = deltas_of_response(self._inner.provider, reply.response)
        except BadReplyError as error:
            raise ModelError("bad-reply", str(error)) from None
        return tuple(self._priced(delta) for delta in deltas)

    def _priced(self, delta: ReplyDelta) -> ReplyDelta:
        price = self._inner.price
        if price is None or not isinstance(delta, UsageDelta) or delta.usage.cost is not None:
            return delta
        cost = price.of(delta.usage)
        half = None if cost is None else cost * PRICE_SHARE
        return UsageDelta(replace(delta.usage, cost=half))


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
        if choice is None or not isinstance(model, RemoteModel) or not has_batches(
            choice.connection
        ):  # fmt: skip
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
    ]  # fmt: skip
    if reasons:
        raise ExperimentError("\n".join(reasons))
