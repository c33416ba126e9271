"""Over HTTP nothing is answered without the token, or for a page of another site."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from studio.servers.mcp.served_folder import ServedFolder
from studio.servers.mcp.server import LOOPBACK, StudioServer, TokenGuard

ASK = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
KINDS = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer right"}, 200),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "right"}, 401),
        ({}, 401),
        ({"Authorization": "Bearer right", "Host": "elsewhere.example"}, 421),
        ({"Authorization": "Bearer right", "Origin": "https://elsewhere.example"}, 403),
    ],
)
async def test_a_request_needs_the_token_and_this_machine(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    server = StudioServer(ServedFolder(tmp_path))
    app = server.streamable_http_app(host=LOOPBACK, json_response=True)
    transport = httpx2.ASGITransport(TokenGuard(app, "right"))
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=f"http://{LOOPBACK}:8000") as client,
    ):
        answer = await client.post("/mcp", json=ASK, headers={**KINDS, **headers})
    await server.close()
    assert answer.status_code == status
