"""`experiment improve` and `experiment propose` against a scripted server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.__main__ import main
from studio.core.models.connections import EMBEDDED, Connection, Connections, write_connections
from studio.core.paths import user_paths
from tests.application.experiments.conftest import PROMPT
from tests.application.experiments.improve.conftest import COUNTRIES, GOOD, PLAIN, replied
from tests.support.chat_server import ChatServer, Exchange, chat_server, streamed

IMPROVE = ["experiment", "improve", "capital.experiment.yaml", "--section", "system"]
PROPOSE = ["experiment", "propose", "capital.experiment.yaml", "--section", "system"]


async def answer(exchange: Exchange) -> None:
    system, user = [each["content"] for each in exchange.request.body["messages"]]
    if "You improve one section" in system:
        await streamed(replied(GOOD))(exchange)
    else:
        await streamed(f"{user}-City" if "capital" in system else "nothing")(exchange)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capital.prompty").write_text(PROMPT)
    (tmp_path / "capital.experiment.yaml").write_text(PLAIN)
    rows = "".join(f"{each},{each}-City\n" for each in COUNTRIES)
    (tmp_path / "rows.csv").write_text(f"country,expected\n{rows}")
    with chat_server() as made:
        small = Connection("small", "compatible", model="scripted-1", base_url=made.url)
        write_connections(user_paths().config / "connections.toml", Connections((EMBEDDED, small)))
        made.always(answer)
        yield made


def test_a_section_is_improved_and_written(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gepa", reason="needs the extra `improve`")
    command = [*IMPROVE, "--model", "small", "--max-calls", "60"]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "Have small scripted-1 propose up to 12 texts" in said
    assert "at most 60 cells?" in said
    assert not server.requests
    assert main([*command, "--yes"]) == 0
    said = capsys.readouterr().out
    assert f"-Answer in one word.\n+{GOOD}\n" in said
    assert "6 won, 0 lost, p = 0.031: unlikely to be chance." in said
    assert (tmp_path / "capital.prompty").read_text() == PROMPT  # nobody said --write
    count = len(server.requests)
    assert main([*command, "--yes", "--write"]) == 0
    assert (tmp_path / "capital.prompty").read_text() == PROMPT.replace("Answer in one word.", GOOD)
    asked = [each.body["messages"][0]["content"] for each in server.requests[count:]]
    assert all("You improve one section" in each for each in asked)  # cells are known
    capsys.readouterr()
    assert main(["experiment", "list", "capital.experiment.yaml"]) == 0
    assert capsys.readouterr().out.count("\n") == 2  # the two decisions, no step of the search


def test_what_is_missing_is_said(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*IMPROVE, "--model", "small", "--yes"]) == 2
    assert "Set a budget" in capsys.readouterr().err
    assert main([*IMPROVE, "--model", "nobody", "--yes", "--max-calls", "9"]) == 2
    assert "no connection 'nobody'" in capsys.readouterr().err
    for name in ("gepa", "gepa.api"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main([*IMPROVE, "--model", "small", "--yes", "--max-calls", "9"]) == 2
    assert "pip install 'prompt-studio[improve]'" in capsys.readouterr().err
    assert not server.requests


def test_texts_become_variants_of_the_experiment(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [GOOD, "Say which capital it has.", "{{ country }}?", "Of what country is it capital?"]
    server.script(*(streamed(replied(each)) for each in texts))
    assert main([*PROPOSE, "--model", "small"]) == 1
    assert "Send capital.prompty to small scripted-1 for 3 texts?" in capsys.readouterr().err
    assert not server.requests
    assert main([*PROPOSE, "--model", "small", "--yes", "--write"]) == 0
    said = capsys.readouterr()
    assert "refused: It adds expressions: {{ country }}." in said.err
    assert f"+{GOOD}" in said.out
    assert len(server.requests) == 4
    assert main(["experiment", "run", "capital.experiment.yaml", "--rows", "1-2"]) == 1
    said = capsys.readouterr()
    assert "main · system 3 " in said.out
    assert main([*PROPOSE, "--model", "small", "--variant", "main", "--count", "1"]) == 1
    assert "and 2 rows of the newest result" in capsys.readouterr().err
