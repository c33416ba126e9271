"""A model on the loopback server, and what comes of asking it."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import Message, TextPart
from studio.core.wire.reply import Reply, accumulate

KEY = "sk-test-9f31c7d2aa-very-secret"
HELLO = ModelRequest((Message("user", (TextPart("Hello"),)),))


def model_at(url: str, **changes: object) -> RemoteModel:
    """A model that tries once, with a key."""
    connection = Connection("Test server", "compatible", base_url=url, retries=0)
    return RemoteModel(replace(connection, **changes), "scripted-1", Secret(KEY))  # type: ignore[arg-type]


async def ask(model: RemoteModel) -> tuple[Reply, ModelError | None]:
    """All that came, and what broke it off."""
    reply = Reply()
    try:
        async with aclosing(model.stream(HELLO)) as deltas:
            async for delta in deltas:
                reply = accumulate(reply, delta)
    except ModelError as error:
        return reply, error
    finally:
        await model.close()
    return reply, None
