"""What the batches of every server have in common: they are listed in pages, and known by an id."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from studio.core.models.batches.values import BatchReply, RemoteBatch
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.text.values import JsonObject, objects_of

_MOST_PAGES = 20
_PAGE = 100


@dataclass(frozen=True, slots=True)
class BatchHost:
    """Where batches are."""

    client: OpenAIClient
    """Sends, and reads what is said of a batch."""

    downloads: OpenAIClient
    """Reads the files of replies, which are larger than any reply."""

    target: Endpoint
    """Who answers."""

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()
        await self.downloads.close()


class RemoteBatches(ABC):
    """The batches of one server at one path."""

    def __init__(self, server: BatchHost, path: str, cursor: str) -> None:
        """Take where; nothing is opened yet.

        Args:
            server: closed by `close`.
            path: where its batches are.
            cursor: what the identifier is called after which a page of their list begins.
        """
        self._server = server
        self._client = server.client
        self._path = path
        self._cursor = cursor

    @abstractmethod
    def _read(self, batch: JsonObject) -> RemoteBatch:
        """A batch as the server describes it."""

    @abstractmethod
    def _reply(self, line: JsonObject) -> BatchReply | None:
        """What a line of the results says; None where it is about no request."""

    async def look(self, batch: str) -> RemoteBatch:
        """How far a batch is; see `BatchApi`."""
        return self._read(await self._client.exchange("get", f"{self._path}/{batch}"))

    async def cancel(self, batch: str) -> None:
        """Let the provider begin no more of its requests; see `BatchApi`."""
        await self._client.exchange("post", f"{self._path}/{batch}/cancel")

    async def replies(self, batch: RemoteBatch) -> AsyncGenerator[BatchReply, None]:
        """The lines of all results, whatever the batch ended by; see `BatchApi`."""
        for path in batch.results:
            async with aclosing(self._server.downloads.lines(path)) as lines:
                async for line in lines:
                    reply = self._reply(line)
                    if reply is not None:
                        yield reply

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _listed(self) -> AsyncGenerator[list[JsonObject], None]:
        """The pages of the list of batches, the newest first, as far as it is worth looking."""
        path = f"{self._path}?limit={_PAGE}"
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._client.exchange("get", path + after)
            batches = objects_of(page.get("data"))
            yield batches
            if not batches or page.get("has_more") is not True:
                return
            after = f"&{self._cursor}={batches[-1].get('id')}"

    def _id(self, batch: JsonObject) -> str:
        found = batch.get("id")
        if not isinstance(found, str) or not found:
            raise self._client.bad_reply("its batch has no id")
        return found
