"""From a document's wish to a model that answers."""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.models.base import ChatModel, ModelError, ModelRequest
from studio.core.models.choice import (
    EmbeddedServers,
    ModelChoice,
    embedded_settings,
    grammar_level,
    open_model,
)
from studio.core.models.connections import (
    EMBEDDED,
    PRESETS,
    Connection,
    Connections,
    Preset,
    write_connections,
)
from studio.core.models.embedded.model import EmbeddedModel
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.probe import probe
from studio.core.models.scripted import read_script
from studio.core.models.secrets import KEYRING, Secret, SecretStore
from studio.core.prompty.document import Message, ModelDeclaration, TextPart
from studio.core.wire.reply import Reply, accumulate
from tests.support.chat_server import ChatServer, failure, streamed

HELLO = ModelRequest((Message("user", (TextPart("Hello"),)),))
SECRETS = SecretStore({"KEY": "sk-for-the-test"}, use_keyring=False)


def choice(connection: Connection, model: str = "") -> ModelChoice:
    return ModelChoice(connection, ModelDeclaration(id=model or connection.model), "a test")


async def answer(model: ChatModel) -> Reply:
    reply = Reply()
    async for delta in model.stream(HELLO):
        reply = accumulate(reply, delta)
    await model.close()
    return reply


MISSING = {
    "azure": "no-address",
    "compatible": "no-address",
    "manual": "no-person",
    "scripted": "no-script",
    "replay": "no-recording",
}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_every_preset_opens_or_says_what_is_missing(preset: Preset) -> None:
    if preset.id not in MISSING:
        assert open_model(choice(preset.connection, "m"), secrets=SECRETS).label
        return
    with pytest.raises(ModelError) as caught:
        open_model(choice(preset.connection, "m"), secrets=SECRETS)
    assert caught.value.kind == MISSING[preset.id]
    assert caught.value.hint


async def test_a_server_with_its_key(server: ChatServer) -> None:
    connection = Connection("Mine", "compatible", base_url=server.url, key="${env:KEY}")
    model = open_model(choice(connection, "gpt-4o-mini"), secrets=SECRETS)
    assert server.requests == []
    reply = await answer(model)
    assert server.requests[0].headers["authorization"] == "Bearer sk-for-the-test"
    assert reply.usage is not None
    assert reply.usage.cost is not None
    assert reply.usage.cost > 0


async def test_a_missing_key_is_said_before_anything_is_sent(server: ChatServer) -> None:
    connection = Connection("Mine", "compatible", base_url=server.url, key="${env:OTHER}")
    model = open_model(choice(connection, "m"), secrets=SECRETS)
    with pytest.raises(ModelError) as caught:
        await answer(model)
    await model.close()
    assert caught.value.kind == "no-key"
    assert "OTHER" in caught.value.message
    assert server.requests == []


def test_what_is_missing_is_said_at_once() -> None:
    with pytest.raises(ModelError, match="no address"):
        open_model(choice(Connection("A", "azure"), "m"))
    with pytest.raises(ModelError, match="names a model"):
        open_model(choice(Connection("B", "openai")))


async def test_a_script_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    calls = [{"name": "lookup", "arguments": {"q": "x"}}]
    path.write_text(
        json.dumps(["one", {"tool_calls": calls}, {"text": "t", "error": {"kind": "timeout"}}])
    )
    model = open_model(choice(Connection("S", "scripted", settings={"script": str(path)})))
    assert (await answer(model)).text == "one"
    second = await answer(model)
    assert [(call.name, call.arguments) for call in second.tool_calls] == [("lookup", '{"q": "x"}')]
    with pytest.raises(ModelError) as caught:
        await answer(model)
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "[3]", '[{"finish_reason": "x"}]'])
def test_a_file_that_is_no_script(text: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_script(path)
    assert caught.value.kind == "no-script"
    with pytest.raises(ModelError):
        read_script(tmp_path / "missing.json")


async def test_recording_through_another_connection(server: ChatServer, tmp_path: Path) -> None:
    mine = Connection("Mine", "compatible", model="m", base_url=server.url)
    settings = {"recording": str(tmp_path / "r.jsonl"), "through": "Mine"}
    record = Connection("Tape", "replay", settings=settings)
    known = Connections((EMBEDDED, mine, record))
    first = await answer(open_model(choice(record, "m"), secrets=SECRETS, connections=known))
    replay = replace(record, settings={"recording": settings["recording"]})
    second = await answer(open_model(choice(replay)))
    assert second == first
    assert len(server.requests) == 1
    with pytest.raises(ModelError, match="is not there"):
        open_model(choice(record, "m"), connections=Connections())


def test_an_embedded_connection_says_how_it_runs(tmp_path: Path) -> None:
    settings = {"weights": str(tmp_path / "x.gguf"), "context": 2048, "threads": 3}
    own = Connection("Own", "embedded", settings=settings)
    made = embedded_settings(own)
    assert (made.weights, made.context, made.threads) == (tmp_path / "x.gguf", 2048, 3)
    assert grammar_level(own) == "syntax"
    assert grammar_level(EMBEDDED) == "grounded"
    assert grammar_level(replace(own, settings={"grammar": "off"})) == "off"
    odd = replace(own, settings={"context": -1, "threads": "all", "grammar": "all"})
    assert embedded_settings(odd) == embedded_settings(EMBEDDED)
    assert grammar_level(odd) == "grounded"
    shared = EmbeddedServer()
    opened = open_model(choice(own), embedded=shared)
    assert isinstance(opened, EmbeddedModel)
    assert opened.label == "x (embedded)"


async def test_trying_a_server(server: ChatServer) -> None:
    server.models = [{"id": "b"}, {"id": "a", "context_length": 8192}, {"no": "id"}]
    connection = Connection("Mine", "compatible", base_url=server.url, model="c", key="${env:KEY}")
    found = await probe(connection, SECRETS)
    assert found.works
    assert found.models == ("a", "b")
    assert "2 models" in found.message
    assert "'c'" in found.hint
    assert server.requests[0].headers["authorization"] == "Bearer sk-for-the-test"


async def test_trying_what_does_not_work(server: ChatServer) -> None:
    missing = Connection("Mine", "compatible", base_url=server.url, key="${env:NONE}")
    assert not (await probe(missing, SECRETS)).works
    nowhere = Connection("Mine", "compatible", base_url="http://127.0.0.1:1/v1")
    found = await probe(nowhere, SECRETS)
    assert not found.works
    assert found.hint
    assert not (await probe(Connection("Mine", "azure"), SECRETS)).works


@pytest.mark.embedded
async def test_trying_the_embedded_model() -> None:
    found = await probe(EMBEDDED, SECRETS)
    assert found.works, found.message
    assert found.seconds > 0
    assert "SmolLM2" in found.message


async def test_a_planted_key_is_in_no_file_and_no_text(
    server: ChatServer, user_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "sk-planted-7e1f00aa55"
    store = SecretStore({"PLANTED": key}, use_keyring=False)
    await store.keep("Kept", Secret(key))
    mine = Connection("Mine", "compatible", model="m", base_url=server.url, key="${env:PLANTED}")
    kept = replace(mine, name="Kept", key=KEYRING)
    settings = {"recording": str(user_home / "r.jsonl"), "through": "Mine"}
    record = Connection("Tape", "replay", settings=settings)
    known = Connections((EMBEDDED, mine, kept, record))
    write_connections(user_home / "connections.toml", known)
    server.script(streamed("Fine."), failure(401, f"Bad key {key}."))
    seen: list[str] = [repr(store), repr(known)]
    for connection in (record, kept):
        model = open_model(choice(connection, "m"), secrets=store, connections=known)
        seen += [repr(model), json.dumps(model.request_body(HELLO))]
        try:
            seen.append(repr(await answer(model)))
        except ModelError as error:
            seen += traceback.format_exception(error)
            await model.close()
    assert [request.headers["authorization"] for request in server.requests] == [
        f"Bearer {key}"
    ] * 2
    assert key not in "".join(seen) + caplog.text
    written = [path for path in user_home.rglob("*") if path.is_file()]
    assert len(written) >= 2
    assert all(key.encode() not in path.read_bytes() for path in written)


@pytest.mark.parametrize(("cores", "sharers", "threads"), [(9, 1, 8), (9, 4, 2), (2, 2, 1)])
def test_workers_of_one_machine_share_its_threads(
    cores: int, sharers: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    connection = Connection("small", "embedded")
    choice = ModelChoice(connection, ModelDeclaration(), "")
    servers = EmbeddedServers(None, sharers)
    assert servers.settings(choice).threads == threads
    named = replace(choice, connection=replace(connection, settings={"threads": 5}))
    assert servers.settings(named).threads == 5


def test_a_model_whose_variable_is_not_set_is_not_asked_for() -> None:
    """The reference itself was sent as the model's name."""
    office = Connection("office", "compatible", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelError, match=r"\$\{env:DEPLOYMENT\}") as caught:
        open_model(choice(office, "${env:DEPLOYMENT}"), secrets=SECRETS)
    assert caught.value.kind == "no-model"
