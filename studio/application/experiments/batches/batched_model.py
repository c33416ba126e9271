"""A model whose answers come in batches: a request waits for its wave."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial

from studio.application.experiments.batches.carrier import BatchLine
from studio.application.experiments.batches.waves import BatchWaves
from studio.application.experiments.turns import LeasedCell
from studio.application.words import translate
from studio.core.models.base import ModelError, ModelRequest, WrappingModel, nothing_asked
from studio.core.models.batches.values import PRICE_SHARE, BatchReply, unstreamed
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
