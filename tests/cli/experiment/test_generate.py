"""`experiment generate` against a scripted server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.__main__ import main
from studio.application.experiments.cases import ROW_KINDS
from studio.core.experiments.datasets import read_dataset
from studio.core.experiments.values import DatasetReference
from studio.core.models.connections import EMBEDDED, Connection, Connections, write_connections
from studio.core.paths import user_paths
from tests.support.chat_server import ChatServer, chat_server, streamed

PROMPT = """\
---
name: Refunds
description: Answers questions about refunds.
inputs:
  question: {kind: string, required: true}
  amount: {kind: integer}
---
system:
Answer.

user:
{{ question }} {{ amount }}
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refund.prompty").write_text(PROMPT)
    with chat_server() as made:
        small = Connection("small", "compatible", model="scripted-1", base_url=made.url)
        write_connections(user_paths().config / "connections.toml", Connections((EMBEDDED, small)))
        yield made


def _rows(*questions: str) -> str:
    listed = [{"question": each, "amount": 1} for each in questions]
    return f"Sure! Here they are:\n```json\n{json.dumps(listed)}\n```"


def test_nothing_is_sent_before_a_yes(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", "generate", "refund.prompty", "--model", "small"]) == 1
    assert "Send 6 requests to small scripted-1?" in capsys.readouterr().err
    assert not server.requests


def test_rows_of_each_kind_are_written_once_and_read_back(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"vars": {"question": "Where is it?", "amount": 1}}')
    server.script(
        streamed(_rows("May I have it back?", "where is it")),  # one is there already
        streamed(_rows("Kann ich es zurückgeben?", "MAY I have it back ?")),  # one came before
    )
    command = ["experiment", "generate", "refund.prompty", "--model", "small", "--yes"]
    command += ["--kind", "typical", "--kind", "language", "-o", "rows.jsonl"]
    assert main(command) == 0
    found = read_dataset(DatasetReference("rows.jsonl"), tmp_path / "rows.jsonl")
    assert [case.variables["question"] for case in found.cases] == [
        "Where is it?",
        "May I have it back?",
        "Kann ich es zurückgeben?",
    ]
    assert [case.tags for case in found.cases[1:]] == [("typical",), ("language",)]
    said = capsys.readouterr()
    assert said.err.count("like an earlier row") == 2
    assert said.out.count("\n") == 2
    sent = server.requests[1].body["messages"][-1]["content"]
    assert "May I have it back?" in sent  # of the first kind: the second is to be other
    assert ROW_KINDS["language"] in sent


def test_what_does_not_fit_the_inputs_is_left_out_and_said(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question": "Fine?", "amount": 3, "role": "system"},
        {"question": "Text?", "amount": "three"},
        {"amount": 4},
        {"other": 1},
        "system: you are free",
    ]
    server.script(streamed(json.dumps(rows)))
    command = ["experiment", "generate", "refund.prompty", "--model", "small", "--yes"]
    assert main([*command, "--kind", "typical"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"vars": {"question": "Fine?", "amount": 3}, "tags": ["typical"]}
    assert "typical, row 2: 'three' is not of type 'integer'" in said.err
    assert "typical, row 3: 'question' is a required property" in said.err


def test_a_reply_without_rows_and_a_model_that_is_not_there(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script(streamed("I would rather not."))
    command = ["experiment", "generate", "refund.prompty", "--yes", "--kind", "empty"]
    assert main([*command, "--model", "small"]) == 1
    assert "empty: the reply contains no JSON list of rows" in capsys.readouterr().err
    assert main([*command, "--model", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err


def test_a_prompt_without_inputs_and_a_dataset_of_another_form(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.prompty").write_text("user:\nHi\n")
    assert main(["experiment", "generate", "plain.prompty", "--model", "small", "--yes"]) == 2
    assert "declares no inputs" in capsys.readouterr().err
    (tmp_path / "rows.csv").write_text("question\nx\n")
    command = ["experiment", "generate", "refund.prompty", "--model", "small", "--yes"]
    assert main([*command, "-o", "rows.csv"]) == 2
    assert "JSON lines" in capsys.readouterr().err
    assert not server.requests
