"""Carry batches step by step: store, send, poll, read.

Each step is written to the ledger before the next one begins. After a crash the cells request their
replies again, and the requests identify their batches: these are found, polled and read, so that
nothing a provider may have accepted is sent a second time.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from uuid import uuid4

from studio.application.words import tr
from studio.core.experiments.results.batch_store import HASH_BYTES, BatchStore, KeptBatch
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.base import ModelError
from studio.core.models.batches.open_batches import (
    BatchApi,
    BatchPart,
    BatchReply,
    BatchRequest,
    NotedBatch,
    RemoteBatch,
    open_batches,
)
from studio.core.models.connections import Connections
from studio.core.models.remote.faults import RetryLaterError
from studio.core.models.secrets import SecretStore

_FIRST_SECONDS, _GROWTH, _LONGEST_SECONDS = 0.2, 1.5, 60.0
"""Delays between polls of a batch, in seconds: about seventy polls in the first hour."""

_KEPT_AT_ONCE = 200
_MOST_FULL, _LONGEST_FULL = 24, 900.0
"""Limits for sending a batch again when the provider has no capacity: attempts, and longest delay
in seconds; about five hours in total.
"""

_LEAST_LOOKS = 3
_NOT_TAKEN = ("refused", "dns", "tls", "proxy", "bad-address", "rate-limited")
"""Kinds of errors after which a request cannot have reached the provider."""

_NAME = re.compile(r"[0-9a-f]+-(?P<variant>\d+)-(?P<row>\d+)-(?P<repeat>\d+)-(?P<name>\w+)")

TellBatch = Callable[[str], None]


@dataclass(frozen=True)
class BatchLine:
    """A connection and model whose requests are sent as batches."""

    connection: str
    """Name of the connection."""

    model: str
    """Model; a batch has only one."""

    api: BatchApi
    """Batch API of the server."""

    retries: int
    """Number of retries after a temporary failure."""


@dataclass(frozen=True, slots=True)
class CellRequest:
    """A request of a cell, as a line of a batch."""

    key: CellKey
    """The cell."""

    name: str
    """Name of the request within the cell: `s2` for its second step."""

    sent: BatchRequest
    """Request to send."""

    hash: bytes
    """Hash of the complete request, including options that the server rejects."""


def hash_of(request: BatchRequest) -> bytes:
    """Return the hash of a request."""
    return sha256(request.line).digest()[:HASH_BYTES]


def request_name(identity: bytes, key: CellKey, name: str) -> str:
    """Return the `custom_id` of a cell's request."""
    return f"{identity.hex()[:20]}-{key.variant}-{key.row}-{key.repeat}-{name}"


def cell_of(custom_id: str) -> tuple[CellKey, str] | None:
    """Return the cell and name of one of our requests; None for others."""
    found = _NAME.fullmatch(custom_id)
    if found is None:
        return None
    key = CellKey(int(found["repeat"]), int(found["row"]), int(found["variant"]))
    return key, found["name"]


class BatchCarrier:
    """A sender of batches of one result that waits for them and hands out the replies."""

    def __init__(
        self, store: BatchStore, result: int, mask: Callable[[str], str], tell: TellBatch
    ) -> None:
        """Store the settings.

        Args:
            store: the ledger's batches.
            result: number of the cells' result.
            mask: masks secrets in stored texts.
            tell: receives a sentence for each event of a batch.
        """
        self._store = store
        self._result = result
        self._mask = mask
        self._tell = tell
        self._promises: dict[str, asyncio.Future[BatchReply | None]] = {}
        self._joined: dict[int, set[str]] = {}
        self._taken_up: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def promise(self, name: str) -> asyncio.Future[BatchReply | None]:
        """Return a future of a request's reply; it gives None if the request was never sent."""
        future: asyncio.Future[BatchReply | None] = asyncio.get_running_loop().create_future()
        self._promises[name] = future
        return future

    def send(self, line: BatchLine, requests: Sequence[CellRequest]) -> None:
        """Start sending promised requests as one batch."""
        self._begin([each.sent.name for each in requests], self._carry(line, requests))

    def take_up(self, line: BatchLine, kept: KeptBatch, name: str) -> None:
        """Continue the batch of an earlier process that contains a promised request."""
        names = self._joined.setdefault(kept.id, set())
        names.add(name)
        task = self._taken_up.get(kept.id)
        if task is None or task.done():
            self._taken_up[kept.id] = self._begin(names, self._go_on(line, kept, names))

    async def close(self) -> None:
        """Stop waiting; the batches continue at their providers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(
        self, names: Collection[str], going: Coroutine[object, object, None]
    ) -> asyncio.Task[None]:
        async def guarded() -> None:
            try:
                await going
            except ModelError as error:
                for name in tuple(names):
                    self._keep_promise(name, BatchReply(name, fault=error))
            except LedgerError as error:
                for name in tuple(names):
                    future = self._promises.pop(name, None)
                    if future is not None and not future.done():
                        future.set_exception(error)
            except Exception as error:  # noqa: BLE001 - else the cells would wait for ever
                fault = ModelError("crashed", f"{type(error).__name__}: {error}")
                for name in tuple(names):
                    self._keep_promise(name, BatchReply(name, fault=fault))

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _keep_promise(self, name: str, reply: BatchReply | None) -> None:
        future = self._promises.pop(name, None)
        if future is not None and not future.done():
            future.set_result(reply)

    # Sending --------------------------------------------------------------------------------------

    async def _carry(
        self, line: BatchLine, requests: Sequence[CellRequest], refusals: int = 0
    ) -> None:
        """Send a batch and follow it to its end."""
        lines = b"\n".join(each.sent.line for each in requests)
        mark = f"{sha256(lines).hexdigest()[:32]}-{uuid4().hex[:8]}"
        kept = self._store.note(
            self._result,
            line.connection,
            line.model,
            mark,
            [(each.key, each.name, each.hash + hash_of(each.sent)) for each in requests],
        )
        remote = await self._sent(
            line, kept, BatchPart(mark, tuple(each.sent for each in requests))
        )
        remote = await self._ended(line, remote)
        if remote.status == "failed" and remote.is_full and refusals < _MOST_FULL:
            self._store.note_over(kept.id)
            await asyncio.sleep(min(_LONGEST_FULL, _FIRST_SECONDS * 2**refusals))
            half = (len(requests) + 1) // 2
            for part in filter(None, (requests[:half], requests[half:])):
                names = [each.sent.name for each in part]
                self._begin(names, self._carry(line, part, refusals + 1))
            return
        await self._read(line, kept, remote, [each.sent.name for each in requests])

    async def _sent(self, line: BatchLine, kept: KeptBatch, part: BatchPart) -> RemoteBatch:
        """Send a stored batch; before a retry, check whether the first attempt arrived.

        Raises:
            ModelError: the batch was not accepted, or this is unknown.
        """
        for attempt in count():
            try:
                remote = await line.api.send(part, partial(self._store.note_file, kept.id))
            except ModelError as error:
                is_taken = None
                if error.retryable and error.kind not in _NOT_TAKEN:
                    is_taken = await self._found(line, kept)
                if is_taken is None:
                    if not error.retryable or attempt >= line.retries:
                        self._store.note_over(kept.id)
                        raise
                    await asyncio.sleep(_wait_after(error, attempt))
                    continue
                remote = is_taken
            self._store.note_sent(kept.id, remote.id)
            self._tell(
                tr("{connection}: a batch was sent ({id}); its requests: {count}.").format(
                    connection=line.connection, count=len(part.requests), id=remote.id
                )
            )
            return remote
        raise AssertionError("the last try raises")

    # Continuing -----------------------------------------------------------------------------------

    async def _go_on(self, line: BatchLine, kept: KeptBatch, names: Collection[str]) -> None:
        """Continue a batch of an earlier process from its current state to its end."""
        remote: RemoteBatch | None
        if kept.remote:
            remote = await _patiently(partial(line.api.look, kept.remote))
        else:
            remote = await self._found(line, kept)
        if remote is not None:
            self._store.note_sent(kept.id, remote.id)
            remote = await self._ended(line, remote)
        if remote is None or remote.status == "failed":
            self._store.note_over(kept.id)
            for name in tuple(names):
                self._keep_promise(name, None)
            return
        await self._read(line, kept, remote, names)

    async def _found(self, line: BatchLine, kept: KeptBatch) -> RemoteBatch | None:
        """Find a batch that was sent without confirmation; None if there is none."""
        members = {request_name(*each) for each in self._store.members(kept.id)}
        noted = NotedBatch(
            kept.mark, kept.noted, kept.requests, members.__contains__, self._store.remotes()
        )
        for attempt in count():
            try:
                found = await line.api.find(noted)
                if found is None or not found.is_guess:
                    return found
                await self._ended(line, found)
            except ModelError as error:
                if not error.retryable or attempt >= max(line.retries, _LEAST_LOOKS):
                    raise
                await asyncio.sleep(_wait_after(error, attempt))
        raise AssertionError("the last try raises")

    async def _ended(self, line: BatchLine, remote: RemoteBatch) -> RemoteBatch:
        """Return the batch once it has ended, with or without success."""
        wait = _FIRST_SECONDS
        while remote.status == "going":
            await asyncio.sleep(wait)
            wait = min(_LONGEST_SECONDS, wait * _GROWTH)
            remote = await _patiently(partial(line.api.look, remote.id))
        return remote

    # Reading --------------------------------------------------------------------------------------

    async def _read(
        self, line: BatchLine, kept: KeptBatch, remote: RemoteBatch, names: Collection[str]
    ) -> None:
        """Store and hand out all replies of a batch, however it ended."""
        others: dict[str, BatchReply] = {}
        for attempt in count():
            try:
                await self._read_once(line, kept, remote, others)
                break
            except ModelError as error:
                if not error.retryable:
                    raise
                await asyncio.sleep(_wait_after(error, attempt))
        self._store.note_over(kept.id)
        left = [name for name in names if name in self._promises]
        self._tell(
            tr("{connection}: {id} is over ({status}); without an answer: {count}.").format(
                connection=line.connection, id=remote.id, status=remote.status, count=len(left)
            )
        )
        for name in left:
            self._keep_promise(name, others.get(name) or _missing(name, line, remote))

    async def _read_once(
        self, line: BatchLine, kept: KeptBatch, remote: RemoteBatch, others: dict[str, BatchReply]
    ) -> None:
        come: list[BatchReply] = []
        try:
            async with aclosing(line.api.replies(remote)) as replies:
                async for reply in replies:
                    if reply.response is None:
                        others[reply.name] = reply
                        continue
                    come.append(reply)
                    if len(come) >= _KEPT_AT_ONCE:
                        self._hand_out(kept, come)
                        come = []
                        await asyncio.sleep(0)
        finally:
            self._hand_out(kept, come)

    def _hand_out(self, kept: KeptBatch, come: Sequence[BatchReply]) -> None:
        """Store replies, then hand them to the cells that wait for them."""
        made: list[tuple[CellKey, str, str]] = []
        for reply in come:
            place = cell_of(reply.name)
            if place is not None and reply.response is not None:
                made.append((*place, self._mask(reply.line)))
        self._store.keep(self._result, made, kept.id)
        for reply in come:
            self._keep_promise(reply.name, reply)


def _missing(name: str, line: BatchLine, remote: RemoteBatch) -> BatchReply:
    """Return the error for a request without a result in a finished batch."""
    match remote.status:
        case "expired" | "cancelled":
            return BatchReply(name, unanswered=remote.status)
        case "failed":
            words = remote.failure or tr("it does not say why")
            fault = ModelError(
                "bad-request",
                tr("{connection} rejected the batch: {said}").format(
                    connection=line.connection, said=words
                ),
                tr("Run without batches to see which request is wrong."),
            )
            fault.retryable = remote.is_full
        case _:
            fault = RetryLaterError(
                "bad-reply",
                tr("{connection} returned no answer in the batch.").format(
                    connection=line.connection
                ),
                tr("Ask again."),
            )
    return BatchReply(name, fault=fault)


async def _patiently(look: Callable[[], Awaitable[RemoteBatch]]) -> RemoteBatch:
    """Poll until the server answers; the batch continues at the provider meanwhile."""
    for attempt in count():
        try:
            return await look()
        except ModelError as error:
            if not error.retryable:
                raise
            await asyncio.sleep(_wait_after(error, attempt))
    raise AssertionError("the loop ends by a return")


def _wait_after(error: ModelError, attempt: int) -> float:
    asked = error.after if isinstance(error, RetryLaterError) else None
    return min(_LONGEST_SECONDS, asked or _FIRST_SECONDS * 2.0 ** min(attempt, 20))


# The running batches of a result, with their current state at the providers.


@dataclass(frozen=True)
class ListedBatch:
    """A batch that is not fully read."""

    kept: KeptBatch
    """The batch in the ledger."""

    status: str = ""
    """Status at the provider; `noted` if it is unknown whether it was sent."""

    answered: int = 0
    """Number of finished requests."""

    fault: str = ""
    """Error of the request to the provider, one sentence; empty for none."""


async def batches_under_way(
    ledger: ExperimentLedger,
    result: int,
    connections: Connections,
    secrets: SecretStore,
    *,
    cancel: bool = False,
) -> list[ListedBatch]:
    """Request the state of a result's batches from their providers.

    Args:
        ledger: the ledger with the batches.
        result: number of the result.
        connections: the user's connections.
        secrets: store of the keys.
        cancel: whether to cancel the batches.
    """
    return [
        await _looked_at(each, connections, secrets, cancel=cancel)
        for each in ledger.batches.under_way(result)
    ]


async def _looked_at(
    kept: KeptBatch, connections: Connections, secrets: SecretStore, *, cancel: bool
) -> ListedBatch:
    if not kept.remote:
        return ListedBatch(kept, "noted")
    connection = connections.named(kept.connection)
    if connection is None:
        words = tr("the connection {name!r} no longer exists")
        return ListedBatch(kept, fault=words.format(name=kept.connection))
    try:
        api = open_batches(replace(connection, model=kept.model), secrets)
        try:
            if cancel:
                await api.cancel(kept.remote)
            remote = await api.look(kept.remote)
        finally:
            with suppress(ModelError):
                await api.close()
    except ModelError as error:
        return ListedBatch(kept, fault=str(error))
    return ListedBatch(kept, remote.status, remote.answered)
