"""Waves: what all cells wait for is sent at once, in as few batches as it fits into.

A wave leaves when no cell is doing anything else. Cells that answer in one call make one wave; an
agent's next request, worked out by the pure machine from what came back, is in the wave after it;
judges ask in a wave of their own once the answers are there.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress

from studio.application.experiments.batches.carrier import (
    BatchCarrier,
    BatchLine,
    CellRequest,
    hash_of,
    request_name,
)
from studio.application.experiments.turns import LeasedCell
from studio.core.experiments.results.batch_store import BatchStore
from studio.core.models.batches.values import BatchReply, parts_of
from studio.core.text.values import JsonObject

_GATHER_SECONDS = 0.05
"""How long a wave waits for cells that begin just then; it decides its size, nothing else."""


class BatchWaves:
    """Requests of the cells under way, until they leave together."""

    def __init__(self, store: BatchStore, result: int, carrier: BatchCarrier) -> None:
        """Take who carries them."""
        self._store = store
        self._result = result
        self._carrier = carrier
        self._cells = self._asking = 0
        self._waiting: list[tuple[BatchLine, str, CellRequest]] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A cell begins; until it waits or ends, no wave leaves."""
        self._cells += 1

    def end(self) -> None:
        """A cell is over."""
        self._cells -= 1
        self._look()

    async def ask(
        self,
        line: BatchLine,
        cell: LeasedCell,
        name: str,
        body: JsonObject,
        whole: JsonObject,
    ) -> BatchReply:
        """What comes of a request; what was sent before is not sent again.

        Args:
            line: where it goes.
            cell: who asks.
            name: which of the cell's requests it is.
            body: what is sent.
            whole: the body before anything was left out that its server does not take.
        """
        custom_id = request_name(cell.identity, cell.key, name)
        sent = line.api.request(custom_id, body)
        asked = hash_of(line.api.request(custom_id, whole))
        request = CellRequest(cell.key, name, sent, asked)
        self._asking += 1
        try:
            kept = self._store.request(self._result, cell.key, name)
            if kept is not None and kept.hash == request.hash:
                if kept.response is not None:
                    return BatchReply(sent.name, kept.response)
                if not kept.batch.is_over:
                    promise = self._carrier.promise(sent.name)
                    self._carrier.take_up(line, kept.batch, sent.name)
                    self._look()
                    reply = await promise
                    if reply is not None:
                        return reply
            promise = self._carrier.promise(sent.name)
            self._waiting.append((line, name[:1], request))
            self._look()
            reply = await promise
            assert reply is not None  # what is sent here is answered, or has a fault
            return reply
        finally:
            self._asking -= 1
            with suppress(ValueError):  # a cell that is cancelled waits no more
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
        """Let no wave leave any more."""
        if self._timer is not None:
            self._timer.cancel()
