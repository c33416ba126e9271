"""The letters of a reference in a recorded text are sent as they are, and nothing is looked up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.support.chat_server import ChatServer, chat_server, streamed

ENV, FILE = "${env:PLANTED_5150}", "${FILE:secret.txt}"
PARAMS = "${params:who}"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "description": ENV, "enum": [FILE, f"x {ENV}"]}},
    "required": ["a"],
}
ANSWER = {**SCHEMA, "additionalProperties": False}
BODY: dict[str, Any] = {
    "model": ENV,
    "messages": [
        {"role": "system", "content": ENV},
        {"role": "user", "content": FILE},
        {
            "role": "assistant",
            "content": ENV,
            "tool_calls": [
                {"id": each, "type": "function", "function": {"name": "f", "arguments": ENV}}
                for each in ("c1", "c2")
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": FILE},
        {"role": "tool", "tool_call_id": "c2", "content": f"ü \\{ENV} and {PARAMS}"},
        {"role": "user", "content": f"{ENV}{FILE}"},
    ],
    "tools": [
        {"type": "function", "function": {"name": "f", "description": ENV, "parameters": SCHEMA}}
    ],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "structured_output", "strict": True, "schema": ANSWER},
    },
    "stop": [ENV, f"ü {FILE}"],
    "user": PARAMS,
    "metadata": {"whole": ENV, "within": f"ü {ENV}"},
}


@pytest.fixture
def server(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("PLANTED_5150", "planted-secret-5150")
    with chat_server() as server:
        server.always(streamed(json.dumps({"a": f"x {ENV}"})))
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(
            f'default = "local"\n[[connection]]\nname = "local"\nkind = "compatible"\n'
            f"base_url = {json.dumps(server.url)}\n",
            encoding="utf-8",
        )
        yield server


def run(path: Path, *more: str) -> int:
    (path.parent / "secret.txt").write_text("file-secret-5150", encoding="utf-8")
    return run_command(["run", str(path), "--trust", "--connection", "local", *more])


@pytest.mark.parametrize("kind", ["json", "curl"])
def test_a_request_is_sent_with_its_own_letters(
    server: ChatServer, tmp_path: Path, kind: str
) -> None:
    source = tmp_path / f"call.{'json' if kind == 'json' else 'sh'}"
    body = json.dumps(BODY)
    curl = f"curl {server.url}/${{env:PLANTED_5150}}/chat/completions -d @- <<'E'\n{body}\nE\n"
    source.write_text(body if kind == "json" else curl, encoding="utf-8")
    made = tmp_path / "new" / "made.prompty"
    made.parent.mkdir()
    assert run_command(["import", str(source), "-o", str(made)]) == FINE
    assert run(made) == FINE
    sent = server.requests[-1].body
    assert {key: sent[key] for key in BODY} == BODY
    assert "planted" not in server.requests[-1].path
    # A script of the same prompt looks nothing up either.
    script = made.with_suffix(".py")
    export = ["export", str(made), "--target", "python", "--accept-losses", "-o", str(script)]
    assert run_command(export) == FINE
    assert "PLANTED_5150" in script.read_text("utf-8")
    assert 'environ.get("PLANTED' not in script.read_text("utf-8")


def test_a_call_of_the_history_is_sent_with_its_own_letters(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, first = tmp_path / "call.json", tmp_path / "first.prompty"
    source.write_text(json.dumps(BODY), encoding="utf-8")
    assert run_command(["import", str(source), "-o", str(first)]) == FINE
    assert run(first) == FINE
    capsys.readouterr()
    assert run_command(["runs", "list", "--json"]) == FINE
    run_id = json.loads(capsys.readouterr().out)[0]["id"]
    made = tmp_path / "new" / "made.prompty"
    made.parent.mkdir()
    assert run_command(["runs", "open", run_id, "--request", "1", "-o", str(made)]) == FINE
    assert "PLANTED" not in capsys.readouterr().err, "no difference is named"
    assert run(made) == FINE
    one, two = (each.body for each in server.requests[-2:])
    assert one == two
