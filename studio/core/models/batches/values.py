"""Batches of requests that a provider answers within a day, at half the price."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from studio.core.models.base import ModelError
from studio.core.text.values import JsonObject

PRICE_SHARE = 0.5
"""Price of a request in a batch, as a share of its normal price: the same at all providers that
have batches."""

_STREAMED = ("stream", "stream_options")
"""Options for a streamed reply, which no batch accepts."""

BatchStatus: TypeAlias = Literal["going", "completed", "failed", "expired", "cancelled"]
"""State of a batch. `failed`: the provider accepted none of its requests; `expired` and
`cancelled`: some can be answered, and are paid for."""

Unanswered: TypeAlias = Literal["expired", "cancelled"]
"""Reason why a request has neither an answer nor a fault of its own; it cost nothing."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One line of a batch."""

    name: str
    """Its `custom_id`: letters, digits and hyphens, at most 64."""

    line: bytes
    """As it is sent, without the line's end."""

    path: str
    """Path of the API that answers it."""


@dataclass(frozen=True, slots=True)
class BatchBounds:
    """The size limits of one batch."""

    requests: int
    """Requests."""

    bytes: int
    """Bytes of all of them."""


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The requests of one batch."""

    mark: str
    """Its hash, under which it is found again at the provider."""

    requests: tuple[BatchRequest, ...]
    """At least one."""


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider describes it."""

    id: str
    """The provider's identifier."""

    status: BatchStatus
    """State of the batch."""

    answered: int = 0
    """Requests that are over."""

    total: int = 0
    """All of them; 0 where the provider does not say (yet)."""

    results: tuple[str, ...] = ()
    """Paths of what is to be read once it is over."""

    failure: str = ""
    """Error message of the provider."""

    is_guess: bool = False
    """Whether only time and size say that it is the one that was looked for; once it is over its
    names say so."""

    is_full: bool = False
    """Whether it failed because too much is waiting there already; later it may be taken."""


@dataclass(frozen=True, slots=True)
class BatchReply:
    """The result of one request."""

    name: str
    """Its `custom_id`."""

    response: JsonObject | None = None
    """The whole response; None where there is none."""

    fault: ModelError | None = None
    """Reason why there is none."""

    unanswered: Unanswered | None = None
    """Reason why it was not even asked."""

    line: str = ""
    """The line of the results as it came; empty where there is none."""

    request: BatchRequest | None = None
    """The request as it was sent; None until a cell gets the reply."""

    is_shared: bool = False
    """Whether an equal request of another cell was sent and paid for both."""


@dataclass(frozen=True, slots=True)
class NotedBatch:
    """A batch of which it was noted that it would be sent, and not that it was."""

    mark: str
    """Its hash."""

    noted: float
    """When, in seconds since 1970."""

    requests: int
    """Number of requests."""

    holds: Callable[[str], bool]
    """Whether a name is one of its requests."""

    known: Collection[str] = ()
    """Identifiers at the provider of other batches."""


class BatchApi(Protocol):
    """The batches of one server."""

    @property
    def bounds(self) -> BatchBounds:
        """Return the size limits of one batch."""
        ...

    def request(self, name: str, body: JsonObject) -> BatchRequest:
        """A request as a line of a batch."""
        ...

    async def send(self, part: BatchPart, uploaded: Callable[[str], None]) -> RemoteBatch:
        """Send a batch.

        Args:
            part: its requests.
            uploaded: told the file that was sent first, where the provider wants one.

        Raises:
            ModelError: it was not taken, or (`retryable`) perhaps it was.
        """
        ...

    async def find(self, noted: NotedBatch) -> RemoteBatch | None:
        """Find a batch that was sent but not noted; None if there is none.

        Raises:
            ModelError: the server cannot be asked.
        """
        ...

    async def look(self, batch: str) -> RemoteBatch:
        """Return the state of a batch.

        Raises:
            ModelError: the server cannot be asked, or knows no such batch.
        """
        ...

    def replies(self, batch: RemoteBatch) -> AsyncGenerator[BatchReply, None]:
        """Return the results of its requests, in any order; some can be missing.

        Raises:
            ModelError: the results cannot be read; what came before was given.
        """
        ...

    def read(self, line: str) -> BatchReply | None:
        """Read a line of the results that was kept; None if it belongs to no request."""
        ...

    async def cancel(self, batch: str) -> None:
        """Let the provider begin no more of its requests.

        Raises:
            ModelError: the server cannot be asked.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def unstreamed(body: JsonObject) -> JsonObject:
    """A body as a batch takes it: the same, but for the words that ask for a stream."""
    return {key: value for key, value in body.items() if key not in _STREAMED}


def as_line(value: Mapping[str, object]) -> bytes:
    """JSON in one line of UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def parts_of(
    requests: Sequence[BatchRequest], bounds: BatchBounds
) -> Iterator[tuple[BatchRequest, ...]]:
    """Split requests into batches, in order; a request that is too large is a batch of its own."""
    part: list[BatchRequest] = []
    size = 0
    for each in requests:
        if part and (len(part) >= bounds.requests or size + len(each.line) + 1 > bounds.bytes):
            yield tuple(part)
            part, size = [], 0
        part.append(each)
        size += len(each.line) + 1
    if part:
        yield tuple(part)
