"""Anthropic's batches of messages: the requests in one body, the replies line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from studio.core.models.base import ModelError
from studio.core.models.batches.remote_batches import BatchHost, RemoteBatches
from studio.core.models.batches.values import (
    BatchBounds,
    BatchPart,
    BatchReply,
    BatchRequest,
    BatchStatus,
    NotedBatch,
    RemoteBatch,
    as_line,
)
from studio.core.models.remote.faults import status_fault
from studio.core.text.values import Json, JsonObject

_BOUNDS = BatchBounds(100_000, 240 * 1024**2)
"""Anthropic takes 100,000 requests and 256 MB in one batch."""

_CLOCKS_DIFFER = 600.0
_STATUS_OF_ERROR: Mapping[str, int] = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "timeout_error": 504, "api_error": 500, "overloaded_error": 529,
}  # fmt: skip
"""The kinds of errors in results, by the status that they have elsewhere."""


class AnthropicBatches(RemoteBatches):
    """The batches of one account."""

    def __init__(self, server: BatchHost) -> None:
        """Take where; nothing is opened yet.

        Args:
            server: closed by `close`.
        """
        super().__init__(server, "/messages/batches", "after_id")

    @property
    def bounds(self) -> BatchBounds:
        """How much one batch takes."""
        return _BOUNDS

    def request(self, name: str, body: JsonObject) -> BatchRequest:
        """A request as one of a batch."""
        return BatchRequest(name, as_line({"custom_id": name, "params": body}))

    async def send(self, part: BatchPart, uploaded: Callable[[str], None]) -> RemoteBatch:
        """Begin a batch; there is no file before it. See `BatchApi`."""
        data = b'{"requests":[' + b",".join(each.line for each in part.requests) + b"]}"
        return self._read(await self._client.exchange("post", self._path, data))

    async def find(self, noted: NotedBatch) -> RemoteBatch | None:
        """Look for a batch of that time and size that holds the names; see `BatchApi`.

        A batch carries no mark here, and shows the names of its requests only when it is over: one
        that goes on and may be it is taken for it, and looked at again then.
        """
        async with aclosing(self._listed()) as pages:
            async for batches in pages:
                for each in batches:
                    if _seconds(each.get("created_at")) < noted.noted - _CLOCKS_DIFFER:
                        return None
                    found = self._read(each)
                    if found.id in noted.known or found.total != noted.requests:
                        continue
                    if found.status == "going":
                        return replace(found, is_guess=True)
                    if await self._holds(found, noted):
                        return found
        return None

    async def _holds(self, batch: RemoteBatch, noted: NotedBatch) -> bool:
        async with aclosing(self.replies(batch)) as replies:
            async for reply in replies:
                return noted.holds(reply.name)
        return False

    def _read(self, batch: JsonObject) -> RemoteBatch:
        found = self._id(batch)
        counts = batch.get("request_counts")
        count = counts if isinstance(counts, Mapping) else {}
        numbers = {key: each for key, each in count.items() if isinstance(each, int)}
        total, waiting = sum(numbers.values()), numbers.get("processing", 0)
        status: BatchStatus = "going"
        if batch.get("processing_status") == "ended":
            status = "completed"
            if numbers.get("canceled"):
                status = "cancelled"
            elif numbers.get("expired"):
                status = "expired"
        # The address of the results is the server's; the path is the same and stays with its host.
        return RemoteBatch(
            found, status, total - waiting, total, (f"{self._path}/{found}/results",)
        )

    def _reply(self, line: JsonObject) -> BatchReply | None:
        name, result = line.get("custom_id"), line.get("result")
        if not isinstance(name, str) or not isinstance(result, Mapping):
            return None
        message = result.get("message")
        match result.get("type"):
            case "succeeded" if isinstance(message, Mapping):
                return BatchReply(name, message)
            case "expired":
                return BatchReply(name, unanswered="expired")
            case "canceled" | "cancelled":
                return BatchReply(name, unanswered="cancelled")
            case "errored":
                return BatchReply(name, fault=self._fault(result.get("error")))
            case _:
                return BatchReply(name, fault=self._client.bad_reply("a result holds no message"))

    def _fault(self, error: Json) -> ModelError:
        held = error.get("error", error) if isinstance(error, Mapping) else error
        kind = str(held.get("type")) if isinstance(held, Mapping) else ""
        status = _STATUS_OF_ERROR.get(kind, 500)
        return status_fault(status, {}, held, self._server.target, self._server.downloads.mask)


def _seconds(text: Json) -> float:
    """A time of the provider's, in seconds since 1970; one that cannot be read is now and later."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return float("inf")
