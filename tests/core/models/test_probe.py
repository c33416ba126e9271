"""Trying a connection: what is learned from servers that list their models, and from others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from studio.core.models.connections import Connection, ConnectionKind
from studio.core.models.probe import probe
from studio.core.models.secrets import SecretStore
from tests.support.chat_server import ChatServer, failure, json_body, silent
from tests.support.serving import serving

KEY = "sk-planted-for-the-probe-123456"
SECRETS = SecretStore({"PROBE_KEY": KEY}, use_keyring=False)


@pytest.fixture
def connection(server: ChatServer) -> Connection:
    return Connection(
        "Server", "compatible", model="scripted-1", base_url=server.url, key="${env:PROBE_KEY}"
    )


async def test_a_list_of_models(server: ChatServer, connection: Connection) -> None:
    server.models = [{"id": "b", "context_window": 10}, {"id": "a"}, {"no": "id"}]
    found = await probe(connection, SECRETS)
    assert (found.works, found.models) == (True, ("a", "b"))
    assert found.listed[0]["context_window"] == 10
    assert "2 models" in found.message
    assert "'scripted-1' is not among" in found.hint
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "listing",
    [
        failure(404),
        failure(405),
        failure(403, "This key may not list models."),
        failure(400),
        json_body("<html>A page</html>", kind="text/html"),
        json_body({"models": []}),
    ],
    ids=["404", "405", "403", "400", "page", "other"],
)
async def test_without_a_list_it_is_asked_for_one_token(
    server: ChatServer, connection: Connection, listing: object
) -> None:
    server.list_answer = listing  # type: ignore[assignment]
    found = await probe(connection, SECRETS)
    assert found.works, found.message
    assert "answers as 'scripted-1'" in found.message
    assert "does not list" in found.hint
    asked = server.requests[-1]
    assert asked.path == "/v1/chat/completions"
    limits = [asked.body.get(name) for name in ("max_tokens", "max_completion_tokens")]
    assert 1 in limits
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_list_and_a_model_it_says_what_is_missing(
    server: ChatServer, connection: Connection
) -> None:
    server.list_answer = failure(404)
    found = await probe(replace(connection, model=""), SECRETS)
    assert not found.works
    assert "does not list its models" in found.message
    assert "id of a model" in found.hint
    assert len(server.requests) == 1


async def test_a_page_and_a_refusal_are_said_as_what_they_are(
    server: ChatServer, connection: Connection
) -> None:
    draft = replace(connection, model="")
    server.list_answer = json_body("<html>Sign in</html>", kind="text/html")
    found = await probe(draft, SECRETS)
    assert "not like a model server" in found.message
    assert server.url in found.message
    assert "usually ends in /v1" in found.hint
    server.list_answer = failure(403, "Country not supported")
    found = await probe(draft, SECRETS)
    assert "Country not supported" in found.message
    assert (found.works, found.lists) == (False, False)


async def test_what_the_short_request_fails_at_is_said(
    server: ChatServer, connection: Connection
) -> None:
    server.list_answer = failure(404)
    server.always(failure(404, "The model `scripted-1` does not exist."))
    found = await probe(connection, SECRETS)
    assert not found.works
    assert "does not exist" in found.message
    assert len(server.requests) == 2  # the list, and one request without further tries


async def test_a_fault_that_is_not_the_lists_ends_it(
    server: ChatServer, connection: Connection
) -> None:
    server.list_answer = failure(401, f"Wrong key {KEY}")
    found = await probe(connection, SECRETS)
    assert not found.works
    assert "does not accept the key" in found.message
    assert KEY not in found.message
    assert len(server.requests) == 1


async def test_a_list_that_never_comes_ends_in_time(
    server: ChatServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.core.models.remote.openai_client._SECONDS", 0.2)
    server.list_answer = silent()
    found = await probe(connection, SECRETS)
    assert not found.works
    assert "in time" in found.message


async def test_anthropics_list_takes_the_key_its_own_way(
    server: ChatServer, connection: Connection
) -> None:
    found = await probe(replace(connection, kind="anthropic"), SECRETS)
    assert found.works
    sent = server.requests[0].headers
    assert (sent["x-api-key"], sent["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in sent


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[int]:
    """A program that answers whatever it is sent with these bytes, and ends the connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with serving(serve) as port:
        yield port


def http(status: str, body: str = "", headers: str = "") -> bytes:
    kind = "application/json" if body.startswith("{") else "text/html"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{headers}"
    return f"{head}Connection: close\r\n\r\n{body}".encode()


def azure(code: str, message: str) -> str:
    return json.dumps({"error": {"code": code, "message": message}})


@pytest.mark.parametrize(
    ("kind", "answer", "said", "hint"),
    [
        (
            "compatible",
            http("302 Found", headers="Location: https://login.example/x\r\n"),
            "redirects from http://127.0.0.1",
            "sign-in page",
        ),
        (
            "compatible",
            b"SSH-2.0-OpenSSH_9.6\r\n",
            "closes the connection without",
            "check the port",
        ),
        ("compatible", b"\x15\x03\x03\x00\x02\x02\x46", "is not a web server", "another program"),
        (
            "azure",
            http("404 Not Found", azure("DeploymentNotFound", "It does not exist.")),
            "has no deployment 'chat'",
            "name of a deployment",
        ),
        (
            "azure",
            http("404 Not Found", azure("404", "Resource not found")),
            "There is no API at",
            "openai.azure.com",
        ),
        (
            "azure",
            http("400 Bad Request", azure("BadRequest", "API version not supported")),
            "version of the API",
            "API version empty",
        ),
        (
            "azure",
            http("401 Unauthorized", azure("401", "invalid subscription key or endpoint")),
            "another resource",
            "one page",
        ),
        (
            "azure",
            http("400 Bad Request", azure("OperationNotSupported", "not with ada")),
            "cannot chat",
            "a chat model",
        ),
    ],
)
async def test_what_answers_is_told_as_what_it_is(
    kind: ConnectionKind, answer: bytes, said: str, hint: str
) -> None:
    async with raw_server(answer) as port:
        address = f"http://127.0.0.1:{port}" + ("" if kind == "azure" else "/v1")
        tried = Connection("Mine", kind, model="chat", base_url=address, key="${env:PROBE_KEY}")
        found = await probe(tried, SECRETS)
    assert not found.works
    assert said in found.message
    assert hint in found.hint


async def test_a_proxys_own_answer_is_not_the_servers_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "<html><head><title>Cannot be retrieved</title></head></html>"
    async with raw_server(http("502 Bad Gateway", page)) as port:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        tried = Connection("Mine", "compatible", base_url="http://models.example/v1")
        found = await probe(tried, SECRETS)
    assert f"or the proxy http://127.0.0.1:{port} on the way" in found.message
    assert "Cannot be retrieved" in found.message
    assert "NO_PROXY" in found.hint
