"""Parameters on the command line: by -i, --param and --inputs, in every command on a prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.models.connections import Connection, Connections, write_connections
from tests.support.chat_server import chat_server, streamed

TEXT = """---
name: greeting
model:
  options:
    temperature: ${params:heat}
template: {parser: {kind: section}}
---
user[name="${params:who}"]:
Hello ${params:who}
"""
GIVEN = [
    ["-i", "who=Ann", "-i", "heat=0.5"],
    ["--param", "who=Ann", "--param", "heat=0.5"],
    ["--inputs", "values.json"],
]


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("greeting.prompty").write_text(TEXT, encoding="utf-8")
    Path("values.json").write_text('{"who": "Ann", "heat": 0.5}', encoding="utf-8")
    return "greeting.prompty"


def test_a_check_waits_for_them(prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", prompt]) == FINE
    assert "hint param-not-given The parameter 'who' has no value" in capsys.readouterr().out


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: given[0])
def test_every_way_of_giving_them_reaches_messages_and_requests(
    given: list[str], prompt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["messages", prompt, "--json", *given]) == FINE
    assert json.loads(capsys.readouterr().out) == [
        {"role": "user", "name": "Ann", "content": "Hello Ann"}
    ]
    assert run_command(["request", prompt, *given]) == FINE
    body = json.loads(capsys.readouterr().out)
    assert body["temperature"] == 0.5
    assert body["messages"][0]["content"] == "Hello Ann"


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: given[0])
def test_a_run_sends_them(
    given: list[str], prompt: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with chat_server() as server:
        server.script(streamed("Hi."))
        local = Connection("Local", "compatible", model="m", base_url=server.url)
        write_connections(
            user_home / "config" / "connections.toml", Connections((local,), local.name)
        )
        assert run_command(["run", prompt, *given]) == FINE
    assert capsys.readouterr().out.endswith("Hi.\n")
    [body] = [each.body for each in server.requests if each.method == "POST"]
    assert body["temperature"] == 0.5
    assert body["messages"] == [{"role": "user", "name": "Ann", "content": "Hello Ann"}]


def test_a_run_without_a_value_is_refused(
    prompt: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", prompt, "-i", "heat=1"]) == PROBLEMS
    printed = capsys.readouterr()
    assert "error param-not-given The parameter 'who' has no value" in printed.err
    assert "does not use the input" not in printed.err


def test_wrong_values_and_names_are_said(prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["messages", prompt, "-i", "heat=warm", "-i", "who=Ann"]) == USAGE
    assert "parameter 'heat' is used as float" in capsys.readouterr().err
    assert run_command(["messages", prompt, *GIVEN[0], "--param", "whom=Bob"]) == FINE
    assert "the prompt does not use the parameter 'whom'" in capsys.readouterr().err
    assert run_command(["messages", prompt, "--param", "who"]) == USAGE
    assert "write --param name=value" in capsys.readouterr().err


def test_a_saved_set_is_proven_too(prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("greeting.inputs.json").write_text('{"Bob": {"who": "Bob", "heat": 1}}', encoding="utf-8")
    assert (
        run_command(["export", prompt, "--target", "openai-chat", "--accept-losses", *GIVEN[0]])
        == FINE
    )
    printed = capsys.readouterr()
    assert "round trip, Bob: same request" in printed.err
    assert "Hello Ann" in printed.out
