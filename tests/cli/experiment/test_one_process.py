"""A result is run by one process, and its end is shown on the desktop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from studio.application.experiments.report import ledger_path, report_of
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


def test_one_process_runs_a_result(
    server: ChatServer, gate: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "studio", "experiment", "run", FILE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: len(server.requests) >= 1, "a request")
        assert run_command(["experiment", "run", FILE, "--resume"]) == 3
        assert "#1 is being run by another process" in capsys.readouterr().err
        gate.open.set()
        process.communicate()
    assert process.returncode == 1  # without gates every row must pass
    assert len(server.requests) == 6
    with opened(tmp_path) as ledger:
        assert not ledger.is_run(1)
        assert report_of(ledger, 1).is_whole


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
    assert run_command(["experiment", "run", FILE, "--notify"]) == 1
    assert "no program for desktop notifications" in capsys.readouterr().err
