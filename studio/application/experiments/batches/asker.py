"""Run cells with batches, in place of the `Asker` that sends each request separately.

All requests that cells wait for are sent together as a wave, in as few batches as possible.

A wave is sent when every cell is waiting for one. Cells with a single call form one wave; an
agent's next request, which follows from its first reply, is in the next wave; judges have their own
wave after the answers. For a cell's run this is a model whose requests wait for their wave.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace

from studio.application.experiments.asking import Asker
from studio.application.experiments.batches.carrier import (
    BatchCarrier,
    BatchLine,
    CellRequest,
    TellBatch,
    hash_of,
    request_name,
)
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.turns import LeasedCell, LimitedTurns, WaitingModel
from studio.application.words import tr
from studio.core.experiments.results.batch_store import BatchStore
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.base import (
    ChatModel,
    ModelError,
    ModelRequest,
    WrappingModel,
    nothing_asked,
)
from studio.core.models.batches.open_batches import (
    PRICE_SHARE,
    BatchReply,
    has_batches,
    open_batches,
    parts_of,
    unstreamed,
)
from studio.core.models.bodies import as_sent
from studio.core.models.choice import ModelChoice
from studio.core.models.remote.faults import RetryLaterError, UnsupportedParameterError
from studio.core.models.remote.model import RemoteModel
from studio.core.text.values import JsonObject, object_of, parse_json
from studio.core.wire.reply import ReplyDelta, ReplyNotice, UsageDelta
from studio.core.wire.request import holds_message
from studio.core.wire.whole import BadReplyError, deltas_of_response
from studio.core.wire.wire_call import WireRecorder

_GATHER_SECONDS = 0.05
"""Time that a wave waits for more cells, in seconds; only affects the size of waves."""


class BatchWaves:
    """The requests of running cells, collected until they are sent together."""

    def __init__(
        self, store: BatchStore, result: int, carrier: BatchCarrier, *, shares: bool
    ) -> None:
        """Store the carrier, and whether equal requests of a wave share one answer."""
        self._store = store
        self._result = result
        self._carrier = carrier
        self._cells = self._asking = 0
        self._waiting: list[tuple[BatchLine, str, CellRequest]] = []
        self._shares = shares
        self._shared: dict[tuple[object, ...], asyncio.Future[BatchReply]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Register a new cell; no wave is sent until it waits or ends."""
        self._cells += 1

    def end(self) -> None:
        """Register the end of a cell."""
        self._cells -= 1
        self._look()

    async def ask(
        self, line: BatchLine, cell: LeasedCell, name: str, body: JsonObject, whole: JsonObject
    ) -> BatchReply:
        """Return the reply to a request; equal requests are sent once for each repeat.

        Args:
            line: connection and model.
            cell: the cell.
            name: name of the request within the cell.
            body: the body to send.
            whole: the body including options that the server rejects.
        """
        equal = hash_of(line.api.request("", body))
        place = line.connection, line.model, cell.key.repeat, name, equal
        first = self._shared.get(place)
        if first is None or not self._shares or not name.startswith("s"):  # judges are never shared
            answer = self._shared[place] = asyncio.get_running_loop().create_future()
            try:
                reply = await self._sent(line, cell, name, body, whole)
                answer.set_result(reply)
            finally:
                answer.cancel()
                self._shared.pop(place, None)
            return reply
        self._asking += 1
        self._look()
        try:
            return replace(await asyncio.shield(first), is_shared=True)
        finally:
            self._asking -= 1

    async def _sent(
        self, line: BatchLine, cell: LeasedCell, name: str, body: JsonObject, whole: JsonObject
    ) -> BatchReply:
        """Return the reply to a request; one that was sent before is not sent again."""
        custom_id = request_name(cell.identity, cell.key, name)
        sent = line.api.request(custom_id, body)
        asked = hash_of(line.api.request(custom_id, whole))
        request = CellRequest(cell.key, name, sent, asked)
        self._asking += 1
        try:
            kept = self._store.request(self._result, cell.key, name)
            if kept is not None and kept.asked == request.hash:
                # The stored request may omit other options than the current one.
                known = sent if kept.sent == hash_of(sent) else None
                if kept.line is not None:
                    read = line.api.read(kept.line) or _older(sent.name, kept.line)
                    return replace(read, request=known)
                if not kept.batch.is_over:
                    promise = self._carrier.promise(sent.name)
                    self._carrier.take_up(line, kept.batch, sent.name)
                    self._look()
                    reply = await promise
                    if reply is not None:
                        return replace(reply, request=known)
            promise = self._carrier.promise(sent.name)
            self._waiting.append((line, name[:1], request))
            self._look()
            reply = await promise
            assert reply is not None  # a request sent here has an answer or an error
            return replace(reply, request=sent)
        finally:
            self._asking -= 1
            with suppress(ValueError):  # a canceled cell no longer waits
                self._waiting.remove((line, name[:1], request))

    def _look(self) -> None:
        if self._timer is None and self._is_whole:
            self._timer = asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._leave)

    @property
    def _is_whole(self) -> bool:
        return bool(self._waiting) and self._asking >= self._cells

    def _leave(self) -> None:
        self._timer = None
        if not self._is_whole:
            return
        wave: defaultdict[tuple[str, str, str], list[CellRequest]] = defaultdict(list)
        lines: dict[tuple[str, str, str], BatchLine] = {}
        for line, kind, request in self._waiting:
            place = line.connection, line.model, kind
            lines[place] = line
            wave[place].append(request)
        self._waiting.clear()
        for place, requests in wave.items():
            at = 0
            for part in parts_of([each.sent for each in requests], lines[place].api.bounds):
                self._carrier.send(lines[place], requests[at : at + len(part)])
                at += len(part)

    def close(self) -> None:
        """Stop sending waves."""
        if self._timer is not None:
            self._timer.cancel()


def _older(name: str, response: str) -> BatchReply:
    """Return the reply for a response stored by an older version without its line."""
    return BatchReply(name, object_of(parse_json(response)))


def _record(wire: WireRecorder, reply: BatchReply) -> None:
    """Record the lines of a request and its result as one wire call."""
    if reply.request is not None:
        wire.sent(reply.request.path.encode(), (), reply.request.line)
        if reply.line:
            response = object_of(object_of(parse_json(reply.line)).get("response"))
            status = response.get("status_code")
            wire.answered(
                status if isinstance(status, int) else 200,
                {"x-request-id": str(response.get("request_id", ""))},
            )
            wire.received(reply.line.encode())


class BatchedModel(WrappingModel[RemoteModel]):
    """The model for one run of a cell, around its variant's shared model."""

    def __init__(
        self, model: RemoteModel, line: BatchLine, waves: BatchWaves, cell: LeasedCell, name: str
    ) -> None:
        """Store the settings.

        Args:
            model: builds the bodies, and knows the price of tokens.
            line: connection and model of the requests.
            waves: collects the requests of all cells.
            cell: the cell.
            name: prefix of the requests' names.
        """
        super().__init__(model)
        self._line = line
        self._waves = waves
        self._cell = cell
        self._name = name
        self._step = 0
        self.waited = 0.0
        """Seconds spent waiting for waves."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the reply after its wave was answered.

        Raises:
            ModelError: the request has no answer, also after retries in later waves.
            MissingValueError: a secret in the request has no value here.
        """
        request = as_sent(request)
        self._step += 1
        attempt = 0
        while True:
            body, refused = self._inner.sent_body(request)
            if not holds_message(body):
                raise nothing_asked()
            began = time.monotonic()
            name = f"{self._name}{self._step}"
            whole = self._inner.whole_body(request)
            reply = await self._waves.ask(
                self._line, self._cell, name, unstreamed(body), unstreamed(whole)
            )
            self.waited += time.monotonic() - began
            if request.wire is not None:
                _record(request.wire, reply)
            try:
                deltas = self._deltas(reply)
            except UnsupportedParameterError as error:
                if not self._inner.do_without(error, body):
                    raise
            except ModelError as error:
                error.is_exhausted = True
                if not error.retryable or attempt >= self._line.retries:
                    raise
                attempt += 1
                yield ReplyNotice(
                    tr("{said} It is sent again in the next batch.").format(said=error.message)
                )
            else:
                for delta in (*refused, *deltas):
                    yield delta
                return

    def _deltas(self, reply: BatchReply) -> tuple[ReplyDelta, ...]:
        """Return the reply as deltas.

        Raises:
            ModelError: there is no reply.
        """
        if reply.fault is not None:
            raise reply.fault
        if reply.unanswered == "cancelled":
            raise ModelError(
                "cancelled",
                tr("The batch was cancelled before {connection} answered this request.").format(
                    connection=self._line.connection
                ),
                tr("Run cells without an answer again."),
            )
        if reply.response is None:
            raise RetryLaterError(
                "timeout",
                tr("The batch expired before {connection} answered this request.").format(
                    connection=self._line.connection
                ),
                tr("Run cells without an answer again."),
            )
        try:
            deltas = deltas_of_response(self._inner.provider, reply.response)
        except BadReplyError as error:
            raise ModelError("bad-reply", str(error)) from None
        share = 0.0 if reply.is_shared else PRICE_SHARE
        return tuple(self._priced(delta, share) for delta in deltas)

    def _priced(self, delta: ReplyDelta, share: float) -> ReplyDelta:
        price = self._inner.price
        if price is None or not isinstance(delta, UsageDelta) or delta.usage.cost is not None:
            return delta
        cost = price.of(delta.usage)
        return UsageDelta(replace(delta.usage, cost=None if cost is None else cost * share))


MOST_CELLS = 10_000
"""Default maximum number of cells that wait for waves at once, without `--concurrency`."""


class BatchAsker(Asker):
    """A runner of cells in this process that sends their requests in waves."""

    is_timed = False
    """Whether durations count as latency; never for batches."""

    price_share = PRICE_SHARE
    """Price of a request in a batch, as a share of its normal price."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        tell: TellBatch = lambda _: None,
    ) -> None:
        """Store the settings; nothing is opened before `open`.

        Args:
            plan: the plan of the run.
            services: the shared services.
            ledger: the ledger, which stores the batches.
            tell: receives a sentence for each event of a batch.

        Raises:
            ExperimentError: a connection has no batches.
        """
        _check(plan)
        super().__init__(plan, services, self)
        self._ledger = ledger
        self._tell = tell
        self._direct = LimitedTurns(self.limiter)
        self._lines: dict[tuple[str, str], BatchLine] = {}
        self._carrier: BatchCarrier | None = None
        self._waves: BatchWaves | None = None

    @property
    def room(self) -> int:
        """Number of cells that can be started now."""
        return self._plan.options.concurrency or MOST_CELLS

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> WaitingModel:
        """Return a model for one run of one cell; see `Turns`."""
        if (
            choice is None
            or not isinstance(model, RemoteModel)
            or not has_batches(choice.connection)
        ):
            return self._direct.model(model, choice, cell, name)
        assert self._waves is not None  # `start` is called first
        return BatchedModel(model, self._line(choice), self._waves, cell, name)

    def _line(self, choice: ModelChoice) -> BatchLine:
        connection = choice.connection
        place = connection.name, choice.declaration.id or connection.model
        if place not in self._lines:
            api = open_batches(connection, self._services.secrets)
            self._lines[place] = BatchLine(*place, api, connection.retries)
        return self._lines[place]

    async def start(self, result: int) -> None:
        """Prepare for the cells of a result."""
        store = self._ledger.batches
        mask = self._services.secrets.masker.mask
        self._carrier = BatchCarrier(store, result, mask, self._tell)
        self._waves = BatchWaves(store, result, self._carrier, shares=self._plan.options.cache)

    def begin_cell(self) -> None:
        """Register a new cell; no wave is sent until it waits or ends."""
        assert self._waves is not None  # `start` is called first
        self._waves.begin()

    def end_cell(self) -> None:
        """Register the end of a cell."""
        assert self._waves is not None  # `start` is called first
        self._waves.end()

    async def close(self) -> None:
        """Close everything; batches continue at their providers."""
        if self._waves is not None:
            self._waves.close()
        if self._carrier is not None:
            await self._carrier.close()
        for line in self._lines.values():
            with suppress(ModelError):
                await line.api.close()
        await super().close()


def batch_plan(plan: ExperimentPlan) -> ExperimentPlan:
    """Return the plan without delays between cells, which would put each in its own batch."""
    return replace(plan, file=replace(plan.file, options=replace(plan.options, delay_ms=0)))


def _check(plan: ExperimentPlan) -> None:
    """Refuse connections without batches.

    Raises:
        ExperimentError: each line names one of them.
    """
    words = tr(
        "{variant}: {connection} has no batches; OpenAI, Azure, Anthropic and servers that speak "
        "OpenAI's API have them. Run this variant without batches."
    )
    reasons = [
        words.format(variant=each.name, connection=each.choice.connection.name)
        for each in plan.variants
        if each.choice is not None and not has_batches(each.choice.connection)
    ]
    if plan.turns_before:
        reasons.append(
            tr("The turns of a `_conversation` depend on each other: run them without batches.")
        )
    if reasons:
        raise ExperimentError("\n".join(reasons))
