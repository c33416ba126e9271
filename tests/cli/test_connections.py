"""`prompt-studio connections`, and a model named on the command line, on a loopback server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.models.connections import read_connections
from studio.core.models.remote.faults import LearnedRefusal, kept_refusals
from tests.support.chat_server import ChatServer, Exchange, chat_server, chunk

ABILITIES = ("streaming", "tools", "parallel", "schema", "vision", "reasoning", "stop")


@pytest.fixture
def server(user_home: Path) -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


def connections(user_home: Path) -> list[str]:
    found = read_connections(user_home / "config" / "connections.toml")
    return [each.name for each in found.connections]


def call(index: int) -> dict[str, Any]:
    function = {"name": "add", "arguments": '{"a": 2, "b": 3}'}
    return {"index": index, "id": f"c{index}", "function": function}


async def able(exchange: Exchange) -> None:
    """A server that does all but calls at once, and refuses pictures."""
    body = exchange.request.body
    content = body["messages"][0]["content"]
    if not isinstance(content, str):
        await exchange.head(400, "application/json")
        await exchange.send(json.dumps({"error": {"message": "image input is not for this model"}}))
        return
    await exchange.head()
    if body.get("tools"):
        await exchange.event(chunk({"tool_calls": [call(0)]}, "tool_calls"))
    elif body.get("response_format"):
        await exchange.event(chunk({"content": '{"city": "Oslo", "people": 7}'}, "stop"))
    elif body.get("reasoning_effort"):
        await exchange.event(chunk({"reasoning_content": "Hm."}))
        await exchange.event(chunk({"content": "Yes."}, "stop"))
    else:
        await exchange.event(chunk({"content": "one "}))
        await exchange.event(chunk({"content": "two "}, "stop"))
    await exchange.event("[DONE]")


def test_add_list_test_and_remove(
    server: ChatServer, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.always(able)
    made = ["connections", "add", "Here", "--url", server.url, "-m", "scripted-1"]
    assert run_command([*made, "--default"]) == FINE  # a server of this machine needs no key
    assert run_command(["connections", "list"]) == FINE
    assert f"* Here                 compatible  scripted-1  {server.url}" in capsys.readouterr().out
    assert run_command(["connections", "test", "Here"]) == FINE
    table = capsys.readouterr().out
    assert [line.split()[0] for line in table.splitlines()[2:]] == list(ABILITIES)
    here = read_connections(user_home / "config" / "connections.toml").named("Here")
    assert here is not None
    assert here.tried == {
        "model": "scripted-1",
        "streaming": "yes",
        "tools": "yes",
        "parallel": "no",
        "schema": "yes",
        "vision": "refused",
        "reasoning": "yes",
        "stop": "yes",
    }
    kept_refusals().learn(LearnedRefusal(server.url, "openai-chat", "scripted-1", "seed"))
    run_command(["connections", "list"])
    assert "scripted-1: without seed, refused on 20" in capsys.readouterr().out
    assert run_command(["connections", "forget", "Here"]) == FINE
    run_command(["connections", "list"])
    assert "seed" not in capsys.readouterr().out
    assert run_command(["connections", "remove", "Here"]) == FINE
    assert connections(user_home) == ["Embedded model"]


def test_a_key_is_asked_of_the_key_store_only_for_servers_elsewhere(user_home: Path) -> None:
    for name, url in (("here", "http://localhost:9/v1"), ("there", "http://10.0.0.7:9/v1")):
        assert run_command(["connections", "add", name, "--url", url]) == FINE
    asked = ["connections", "add", "locked", "--url", "http://[::1]:9/v1", "--key", "keyring"]
    assert run_command(asked) == FINE
    known = read_connections(user_home / "config" / "connections.toml")
    keys = {each.name: each.key for each in known.connections if each.is_remote}
    assert keys == {"here": "", "there": "keyring", "locked": "keyring"}


def test_a_folder_has_a_connection_until_it_is_undone(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["connections", "add", "lab", "--url", "http://localhost:9/v1"]) == FINE
    use = ["connections", "use", "lab", "--in", str(tmp_path)]
    assert run_command(use) == FINE
    assert run_command(["connections", "list"]) == FINE
    assert f"in {tmp_path}: lab" in capsys.readouterr().out
    assert run_command(["connections", "use", "nowhere", "--in", str(tmp_path)]) == USAGE
    assert run_command(["connections", "use", "lab", "--in", str(tmp_path / "gone")]) == USAGE
    assert run_command(["connections", "use", "--in", str(tmp_path)]) == FINE
    assert read_connections(user_home / "config" / "connections.toml").folders == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "Embedded model", "--url", "http://x.test/v1"],
        ["add", "New"],
        ["add", "New", "--from", "nothing"],
        ["add", "New", "--url", "http://x.test/v1", "--key", "sk-written-out-123456"],
        ["add", "New", "--url", "nonsense"],
        ["add", "New", "--url", "http://x.test:99999/v1"],
        ["add", "New", "--url", "http://me:sk-written-out-123456@x.test/v1"],
        ["add", "New", "--url", "http://x.test/v1?key=sk-written-out-123456"],
        ["add", "New", "--from", "ollama", "--url", "ftp://x.test"],
        ["add", " ", "--url", "http://x.test/v1"],
        ["remove", "Embedded model"],
        ["remove", "Nowhere"],
        ["test", "Nowhere"],
    ],
)
def test_what_cannot_be_is_wrong_usage(
    arguments: list[str], user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["connections", *arguments]) == USAGE
    told = capsys.readouterr().err
    assert told.startswith("prompt-studio: ")
    assert "sk-written-out-123456" not in told
    assert connections(user_home) == ["Embedded model"]


def test_a_server_that_is_not_there_is_said(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["connections", "add", "Gone", "--url", "http://127.0.0.1:9/v1", "--key", ""]
    assert run_command(made) == FINE
    assert run_command(["connections", "test", "Gone"]) == PROBLEMS
    assert "Nothing responds" in capsys.readouterr().out


def test_a_model_is_named_on_the_command_line(
    server: ChatServer, user_home: Path, tmp_path: Path
) -> None:
    made = ["connections", "add", "Here", "--url", server.url, "-m", "other", "--key", ""]
    assert run_command([*made, "--default"]) == FINE
    path = tmp_path / "p.prompty"
    path.write_text("---\nname: p\n---\nuser:\nHello\n", encoding="utf-8")
    assert run_command(["run", str(path), "-m", "wanted"]) == FINE
    assert server.requests[-1].body["model"] == "wanted"


def test_an_answer_streams_to_a_terminal_and_stands_there_once(
    server: ChatServer,
    user_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = ["connections", "add", "Here", "--url", server.url, "-m", "m", "--key", ""]
    assert run_command([*made, "--default"]) == FINE
    path = tmp_path / "p.prompty"
    path.write_text("---\nname: p\n---\nuser:\nHello\n", encoding="utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run_command(["run", str(path)]) == FINE
    assert capsys.readouterr().out == "Hello from the server.\n"
