"""A project that narrows which connections may be used: refused everywhere, and never granted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.support.chat_server import ChatServer, chat_server, streamed

EXPERIMENT = """\
prompts: [a.prompty]
providers: [{provider}]
tests: [{{assert: [{{type: llm-rubric, value: It is polite, provider: {judge}}}]}}]
"""


@pytest.fixture
def server(user_home: Path) -> Iterator[ChatServer]:
    """Two connections to one server; `local` is the default."""
    with chat_server() as server:
        text = 'default = "local"\n'
        for name in ("local", "paid"):
            text += f'[[connection]]\nname = "{name}"\nkind = "compatible"\nmodel = "m"\n'
            text += f"base_url = {json.dumps(server.url)}\n"
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(text, encoding="utf-8")
        server.always(streamed('{"pass": true, "score": 1, "reason": "It is."}'))
        yield server


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    made = tmp_path / "project" / "prompts" / "a.prompty"
    made.parent.mkdir(parents=True)
    made.write_text("---\nname: a\n---\nuser:\nHello\n", encoding="utf-8")
    return made


def allow(prompt: Path, text: str) -> None:
    (prompt.parents[1] / "prompt-studio.toml").write_text(text, encoding="utf-8")


def test_another_connection_is_refused_also_when_it_is_named(
    server: ChatServer, prompt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    allow(prompt, 'connections = ["local"]\n')
    assert run_command(["run", str(prompt)]) == FINE
    assert len(server.requests) == 1
    assert run_command(["run", str(prompt), "--connection", "paid"]) != FINE
    assert "does not allow the connection 'paid'; it allows 'local'." in capsys.readouterr().err
    assert run_command(["connections", "use", "paid", "--in", str(prompt.parent)]) == FINE
    assert run_command(["run", str(prompt)]) != FINE, "a choice for the folder grants nothing"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('connections = ["paid"]\n', False),
        ("connections = []\n", False),
        ('connections = "local"\n', False),
        ("connections = [\n", False),
        ("[check]\n", True),
    ],
)
def test_what_is_not_named_is_not_used(
    server: ChatServer, prompt: Path, text: str, sent: bool
) -> None:
    allow(prompt, text)
    assert (run_command(["run", str(prompt)]) == FINE) == sent
    assert len(server.requests) == sent


@pytest.mark.parametrize(("provider", "judge"), [("paid", "local"), ("local", "paid")])
def test_experiments_and_their_judges_are_narrowed(
    server: ChatServer, prompt: Path, provider: str, judge: str
) -> None:
    file = prompt.parent / "a.experiment.yaml"
    file.write_text(EXPERIMENT.format(provider=provider, judge=judge), encoding="utf-8")
    assert run_command(["experiment", "run", str(file), "--trust"]) == FINE
    asked = len(server.requests)
    assert asked == 2
    allow(prompt, 'connections = ["local"]\n')
    file.write_text(file.read_text("utf-8") + "evaluateOptions: {cache: false}\n", "utf-8")
    assert run_command(["experiment", "run", str(file), "--trust"]) != FINE
    assert len(server.requests) - asked == (provider == "local")


def test_a_nested_project_narrows_further_and_grants_nothing(
    server: ChatServer, prompt: Path
) -> None:
    nearer = prompt.parent / "pyproject.toml"
    for outer, inner, is_sent in (
        (["local"], ["local", "paid"], True),
        (["paid"], ["local"], False),
        (["local", "paid"], ["paid"], False),
    ):
        server.requests.clear()
        allow(prompt, f"connections = {outer}\n")
        nearer.write_text(f"[tool.prompt-studio]\nconnections = {inner}\n", encoding="utf-8")
        assert (run_command(["run", str(prompt)]) == FINE) == is_sent
        assert len(server.requests) == is_sent
