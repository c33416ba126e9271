"""A program logs in for itself (OAuth 2): a real service gives the token, and wants it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from studio.core.tools.openapi.source import OpenApiSource

BASIC = "Basic " + base64.b64encode(b"me:s%2Fcret").decode()


class Service(BaseHTTPRequestHandler):
    """Gives tokens for one client, and its answer for the newest of them."""

    given = 0
    asked: tuple[dict[str, list[str]], ...] = ()
    in_form = False

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        Service.asked += (form,)
        is_known = self.headers["Authorization"] == BASIC
        if Service.in_form:
            is_known = form.get("client_secret") == ["s/cret"]
        if not is_known:
            return self._answer(401, {"error": "invalid_client"})
        Service.given += 1
        return self._answer(
            200, {"access_token": f"token-of-the-service-{Service.given}", "expires_in": 3600}
        )

    def do_GET(self) -> None:
        sent = self.headers.get("Authorization")
        is_newest = (
            sent == f"Bearer token-of-the-service-{Service.given}" and self.path != "/expired"
        )
        self._answer(200 if is_newest else 401, {"sent": sent})

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    Service.given, Service.asked, Service.in_form = 0, (), False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def source(folder: Path, address: str, **connection: object) -> OpenApiSource:
    flows = {"clientCredentials": {"tokenUrl": f"{address}/token", "scopes": {}}}
    login = {"security": [{"login": []}]}
    api = {
        "openapi": "3.0.0",
        "servers": [{"url": address}],
        "components": {"securitySchemes": {"login": {"type": "oauth2", "flows": flows}}},
        "paths": {
            "/a": {"get": {"operationId": "a", **login}},
            "/expired": {"get": {"operationId": "expired", **login}},
            "/open": {"get": {"operationId": "open", "security": []}},
        },
    }
    path = folder / "api.json"
    path.write_text(json.dumps(api), encoding="utf-8")
    known = {"SECRET": "s/cret"}
    written = {"clientId": "me", "clientSecret": "${env:SECRET}", **connection}
    return OpenApiSource("api", path, written, environment=lambda: known)


async def test_a_token_is_asked_for_once_and_again_after_a_refusal(
    tmp_path: Path, address: str
) -> None:
    api = source(tmp_path, address, scopes=["read", "write"])
    assert await api.list_tools()
    assert "Authorization: Bearer •••" in await api.request_text("a", {})
    assert Service.given == 0
    for _ in range(2):
        outcome = await api.call("a", {})
        assert outcome.status == "ok"
        assert "token-of-the-service" not in outcome.text
    assert Service.asked == ({"grant_type": ["client_credentials"], "scope": ["read write"]},)
    await api.call("open", {})
    assert (await api.call("expired", {})).status == "error"
    assert (await api.call("a", {})).status == "ok"
    assert Service.given == 2
    shown = "".join(each.text + each.curl for each in api.traffic.messages if each.curl)
    assert "Bearer •••" in shown
    assert "token-of" not in shown


async def test_the_secret_goes_in_the_form_where_the_header_is_refused(
    tmp_path: Path, address: str
) -> None:
    Service.in_form = True
    assert (await source(tmp_path, address).call("a", {})).status == "ok"


async def test_a_refused_login_is_told(tmp_path: Path, address: str) -> None:
    outcome = await source(tmp_path, address, clientSecret="wrong").call("a", {})
    assert outcome.status == "error"
    assert f"the login at {address}/token was refused: HTTP 401 Unauthorized" in outcome.text
    assert "wrong" not in outcome.text
    nowhere = source(tmp_path, address, tokenUrl="http://127.0.0.1:9/token")
    assert "cannot be reached" in (await nowhere.call("a", {})).text
