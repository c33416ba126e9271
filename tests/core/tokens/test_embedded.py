from __future__ import annotations

import pytest

from studio.core.models.base import ModelRequest
from studio.core.models.embedded.client import LlamaClient
from studio.core.models.embedded.prompt import template_messages
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.tokens.embedded import count_embedded

REQUEST = ModelRequest(
    prepare(
        parse("system:\nYou know {{ city }}.\n\nuser:\nWhat is up?\n"), {"city": "Lisbon"}
    ).messages.messages
)


async def test_a_server_that_does_not_run_is_not_started() -> None:
    server = EmbeddedServer()
    assert await count_embedded(server, REQUEST, {}) is None
    assert server.state == "stopped"


@pytest.mark.embedded
async def test_the_figures_are_the_servers_own() -> None:
    server = EmbeddedServer()
    try:
        address = await server.start()
        counted = await count_embedded(server, REQUEST, {})
        assert counted is not None
        async with LlamaClient(address) as client:
            prompt = await client.template(template_messages(REQUEST))
            assert counted.total == await client.count(prompt)
            assert counted.messages == tuple(
                [await client.count(message.text) for message in REQUEST.messages]
            )
            assert counted.by_input == {"city": await client.count("Lisbon")}
        assert counted.is_exact
        assert counted.frame > 0
    finally:
        await server.stop()
    assert await count_embedded(server, REQUEST, {}) is None
