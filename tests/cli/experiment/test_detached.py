"""Runs that go on by themselves: started, watched, stopped, and never run twice."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from studio.application.experiments.report import ledger_path, report_of
from studio.application.experiments.run.spending import ExperimentProgress
from studio.cli.experiment.progress import RunProgress
from studio.cli.main import run_command
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, PROMPT, ROWS
from tests.support.chat_server import ChatServer, Exchange, chat_server, streamed
from tests.support.patience import wait_until

FILE = "capital.experiment.yaml"


class Gate:
    """Holds answers back until the test opens it."""

    def __init__(self) -> None:
        self.open = threading.Event()

    async def answer(self, exchange: Exchange) -> None:
        text = exchange.request.body["messages"][-1]["content"]
        while text != "Norway" and not self.open.is_set():
            await asyncio.sleep(0.01)
        await streamed(CAPITALS.get(text, text))(exchange)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: Gate) -> Iterator[ChatServer]:
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capital.prompty").write_text(PROMPT)
    (tmp_path / FILE).write_text(EXPERIMENT)
    (tmp_path / "rows.csv").write_text(ROWS)
    with chat_server() as made:
        (home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{made.url}"\n'
        )
        made.always(gate.answer)
        yield made


@contextmanager
def opened(tmp_path: Path) -> Iterator[ExperimentLedger]:
    ledger = ExperimentLedger(ledger_path(tmp_path / FILE))
    try:
        yield ledger
    finally:
        ledger.close()


def process_in(text: str) -> int:
    return int(text.partition("(process ")[2].partition(",")[0])


def test_a_detached_run_is_watched_to_its_end_and_is_nobodys_child(
    server: ChatServer,
    gate: Gate,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = RunProgress.show

    def show(self: RunProgress, found: ExperimentProgress) -> None:
        shown(self, found)
        gate.open.set()  # what is watched goes on once it was seen

    assert run_command(["experiment", "run", FILE, "--detach"]) == 0
    said = capsys.readouterr().out
    assert "#1 runs by itself" in said
    process = process_in(said)
    assert os.getsid(process) == process != os.getsid(0)  # a closed terminal does not end it
    with opened(tmp_path) as ledger:
        wait_until(lambda: ledger.is_run(1), "the run")
        assert run_command(["experiment", "run", FILE, "--resume"]) == 3
        assert "#1 is being run by another process" in capsys.readouterr().err
        wait_until(
            lambda: [each.done for each in ledger.scans.variant_totals(1)] == [1, 1],
            "Norway's answers",
        )
        monkeypatch.setattr(RunProgress, "show", show)
        assert run_command(["experiment", "attach", FILE]) == 1  # without gates every row must pass
        said = capsys.readouterr()
        assert "2 of 6 cells" in said.err
        assert "capital #1, done" in said.out
        assert not ledger.is_run(1)
        assert len(server.requests) == 6  # this process asked nothing
        assert report_of(ledger, 1).is_whole
    assert run_command(["experiment", "attach", FILE]) == 1  # it is over: its report
    assert "capital #1, done" in capsys.readouterr().out


def test_a_detached_run_is_stopped_and_gone_on_with(
    server: ChatServer, gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["experiment", "run", FILE, "--detach", "--concurrency", "1"]
    assert run_command(command) == 0
    with opened(tmp_path) as ledger:
        wait_until(lambda: len(server.requests) >= 3, "the third request")
        stopped = threading.Thread(
            target=lambda: (
                wait_until(lambda: ledger.state(1) != "running", "the word") and gate.open.set()
            )
        )
        stopped.start()
        assert run_command(["experiment", "stop", FILE]) == 0
        stopped.join()
        assert ledger.state(1) in ("cancelled", "done")
    assert run_command(["experiment", "stop", FILE]) == 1
    assert "nobody runs #1" in capsys.readouterr().err
    assert run_command(["experiment", "run", FILE, "--resume"]) == 1
    with opened(tmp_path) as ledger:
        assert report_of(ledger, 1).is_whole
    assert len(server.requests) in (6, 7)  # what was under way is cut off after five seconds


def test_a_run_whose_process_died_is_said_to_be_nobodys(
    server: ChatServer, gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.open.set()
    assert run_command(["experiment", "run", FILE]) == 1
    with opened(tmp_path) as ledger:
        ledger.end(1, "running")  # as a kill -9 leaves it
    assert run_command(["experiment", "attach", FILE]) == 3
    assert "nobody runs #1 any more" in capsys.readouterr().err


def test_the_desktop_is_told_where_somebody_wants_it(
    server: ChatServer,
    gate: Gate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gate.open.set()
    programs = tmp_path / "programs"
    programs.mkdir()
    told = tmp_path / "told.txt"
    name = "osascript" if sys.platform == "darwin" else "notify-send"
    program = programs / name
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{told}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert run_command(["experiment", "run", FILE]) == 1
    assert not told.exists()
    assert run_command(["experiment", "run", FILE, "--notify"]) == 1
    assert "capital: the experiment has ended" in told.read_text()
    assert "passes" in told.read_text()
    program.unlink()
    monkeypatch.setenv("PATH", str(programs))
    assert run_command(["experiment", "attach", FILE, "--notify"]) == 1
    assert "nothing here tells the desktop" in capsys.readouterr().err


def test_a_run_that_cannot_begin_says_why(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["experiment", "run", FILE, "--detach", "--workers", "tcp://elsewhere.example:8786"]
    assert run_command(command) == 3
    assert "is not encrypted" in capsys.readouterr().err
    assert not server.requests
