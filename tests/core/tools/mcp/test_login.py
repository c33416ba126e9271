"""OAuth against a real service: a program's own login, and the user's, who comes back by a page."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.mcp.server_config import HttpServer, server_address
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits, ToolSourceError
from tests.support import patience

LIMITS = ToolLimits(patience.SECONDS, patience.SECONDS)
BASIC = "Basic " + base64.b64encode(b"me:secret").decode()
TOKEN = "token-of-the-server"
TOOLS = {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "s", "version": "1"},
}
ANSWERS = {"initialize": HELLO, "tools/list": TOOLS, "tools/call": {"content": []}}


class Service(BaseHTTPRequestHandler):
    """An MCP server that wants a token, and the authorization server that gives it."""

    challenge = ""

    def do_GET(self) -> None:
        base = f"http://{self.headers['Host']}"
        path = urlsplit(self.path).path
        if path.startswith("/.well-known/oauth-protected-resource"):
            return self._say(200, {"resource": f"{base}/mcp", "authorization_servers": [base]})
        if path.startswith("/.well-known/oauth-authorization-server"):
            places = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
            places["registration_endpoint"] = "register"
            return self._say(
                200,
                {
                    "issuer": base,
                    **{name: f"{base}/{place}" for name, place in places.items()},
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                },
            )
        if path == "/authorize":
            asked = {name: each[0] for name, each in parse_qs(urlsplit(self.path).query).items()}
            Service.challenge = asked["code_challenge"]
            back = urlencode({"code": "the-code", "state": asked["state"]})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        return self._say(405, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/register":
            asked = json.loads(body)
            return self._say(201, {"client_id": "registered", **asked})
        if self.path == "/token":
            return self._give(parse_qs(body.decode()))
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self._say(401, {}, **{"WWW-Authenticate": "Bearer"})
        asked = json.loads(body)
        if "id" not in asked:
            return self._say(202, {})
        answer = ANSWERS.get(asked["method"])
        rest = {"result": answer} if answer else {"error": {"code": -32601, "message": "no"}}
        return self._say(200, {"jsonrpc": "2.0", "id": asked["id"], **rest})

    def do_DELETE(self) -> None:
        self._say(200, {})

    def _give(self, form: dict[str, list[str]]) -> None:
        if form["grant_type"] == ["client_credentials"]:
            is_known = self.headers["Authorization"] == BASIC
        else:
            digest = hashlib.sha256(form["code_verifier"][0].encode()).digest()
            shown = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            is_known = form["code"] == ["the-code"] and shown == Service.challenge
        if is_known:
            self._say(200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
        else:
            self._say(401, {"error": "invalid_client"})

    def _say(self, status: int, body: object, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


def at(url: str, auth: object) -> HttpServer:
    address = server_address({"url": url, "auth": auth}, None)  # type: ignore[dict-item, arg-type]
    assert isinstance(address, HttpServer)
    return address


async def test_a_program_logs_in_for_itself(url: str) -> None:
    known = {"SECRET": "secret"}
    auth = {"clientId": "me", "clientSecret": "${env:SECRET}"}
    source = McpSource("s", at(url, auth), limits=LIMITS, environment=lambda: known)
    assert [spec.name for spec in await source.list_tools()] == ["hello"]
    await source.close()
    wrong = McpSource("s", at(url, {**auth, "clientSecret": "wrong"}), limits=LIMITS)
    with pytest.raises(ToolSourceError):
        await wrong.list_tools()
    await wrong.close()


async def test_the_user_logs_in_by_a_page(url: str) -> None:
    asked: list[InputWanted] = []

    async def browser(wanted: InputWanted) -> InputGiven:
        asked.append(wanted)
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            page = await http.get(wanted.url)
        assert "close this page" in page.text
        return InputGiven("accept")

    source = McpSource("s", at(url, "browser"), limits=LIMITS, ask=browser)
    assert [spec.name for spec in await source.list_tools()] == ["hello"]
    await source.restart()
    assert (await source.call("hello", {})).status == "ok"
    assert len(asked) == 1  # the token is kept
    assert (asked[0].server, asked[0].url.partition("?")[0]) == ("s", url[:-3] + "authorize")
    await source.close()


async def test_who_declines_is_not_asked_again(url: str) -> None:
    asked: list[InputWanted] = []

    async def decline(wanted: InputWanted) -> InputGiven:
        asked.append(wanted)
        return InputGiven("decline")

    source = McpSource("s", at(url, "browser"), limits=LIMITS, ask=decline)
    for _ in range(2):
        with pytest.raises(ToolSourceError, match="which was declined"):
            await source.list_tools()
        source._failure = None  # as if the time had passed
    assert len(asked) == 1
    await source.close()


async def test_the_user_logs_in_by_a_client_that_the_server_knows(url: str) -> None:
    asked: list[str] = []

    async def browser(wanted: InputWanted) -> InputGiven:
        asked.append(parse_qs(urlsplit(wanted.url).query)["client_id"][0])
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            await http.get(wanted.url)
        return InputGiven("accept")

    auth = {"browser": True, "clientId": "known-app"}
    source = McpSource("s", at(url, auth), limits=LIMITS, ask=browser)
    assert [spec.name for spec in await source.list_tools()] == ["hello"]
    assert asked == ["known-app"]
    await source.close()
