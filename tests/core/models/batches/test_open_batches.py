"""Batches at a server: the file of replies may be large, what is said of a batch may not."""

from __future__ import annotations

import time
from contextlib import aclosing

import pytest

from studio.core.models.base import ModelError
from studio.core.models.batches.open_batches import BatchPart, NotedBatch, open_batches
from studio.core.models.connections import Connection, ConnectionKind
from studio.core.models.secrets import secret_store
from tests.support.batch_server import batch_server

KILOBYTES = 2


@pytest.mark.parametrize("kind", ["compatible", "anthropic"])
async def test_only_the_file_of_replies_may_be_larger_than_a_reply(kind: ConnectionKind) -> None:
    with batch_server() as server:
        server.answer = lambda body: "word " * 40
        connection = Connection(
            "small", kind, model="m", base_url=server.url, reply_megabytes=KILOBYTES / 1024
        )
        api = open_batches(connection, secret_store())
        try:
            body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            requests = tuple(api.request(f"r{number}", body) for number in range(20))
            batch = await api.look((await api.send(BatchPart("x", requests), lambda _: None)).id)
            async with aclosing(api.replies(batch)) as replies:
                read = [reply.name async for reply in replies]
            assert sorted(read) == sorted(each.name for each in requests)
            server.answer = lambda body: "yes"
            for _ in range(10):
                await api.send(BatchPart("x", requests[:1]), lambda _: None)
            with pytest.raises(ModelError, match="sent more than 2,048 bytes"):
                await api.find(NotedBatch("other", time.time(), 3, lambda _: False))
        finally:
            await api.close()
