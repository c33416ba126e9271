"""Trying a connection: what is learned from servers that list their models, and from others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.core.models.connections import Connection
from studio.core.models.probe import probe
from studio.core.models.secrets import SecretStore
from tests.support.chat_server import ChatServer, failure, json_body, silent

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
    assert "not as a model server does" in found.message
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
    monkeypatch.setattr("studio.core.models.remote.offers._SECONDS", 0.2)
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
