"""`experiment run --batch` as a program: killed for real, listed, cancelled, and not mixed up."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.main import run_command
from tests.support.batch_server import BatchServer, Ending, batch_server, wait_for

FILE = "a.experiment.yaml"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.prompty").write_text("user:\n{{ q }}\n")
    (tmp_path / FILE).write_text(
        "prompts: [a.prompty]\nproviders: [small]\ntests: [{vars: {q: one}}, {vars: {q: two}}]\n"
        "defaultTest: {assert: [{type: equals, value: 'yes'}]}\n"
    )
    with batch_server() as made:
        (home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{made.url}"\n'
        )
        yield made


def test_a_killed_command_leaves_batches_that_are_listed_cancelled_and_gone_on_with(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.endings = [Ending("cancelled", looks=10**9, answered=1)]
    command = [sys.executable, "-m", "studio", "experiment", "run", FILE, "--batch"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(server.reached["look"])
    child.send_signal(signal.SIGKILL)
    assert "small: a batch was sent (batch_1); its requests: 2." in child.communicate()[1]
    assert run_command(["experiment", "run", FILE, "--resume"]) == 2
    assert "--batch continues them" in capsys.readouterr().err
    assert run_command(["experiment", "batches", FILE]) == 0
    assert "small\tm\tbatch_1\tgoing\t0 of 2 answered" in capsys.readouterr().out
    assert run_command(["experiment", "batches", FILE, "--cancel"]) == 0
    assert "batch_1\tcancelled" in capsys.readouterr().out
    server.endings = [Ending()]
    assert run_command(["experiment", "run", FILE, "--batch", "--resume"]) == 3
    assert run_command(["experiment", "run", FILE, "--batch", "--only", "errors"]) == 0
    assert list(server.asked.values()) == [1, 1]
    assert run_command(["experiment", "batches", FILE]) == 0


def test_the_plan_says_that_it_is_at_half_the_price(
    server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["experiment", "plan", FILE, "--batch"]) == 0
    assert "2 will be sent in batches, at half the price" in capsys.readouterr().out
    assert server.requests == []
    assert run_command(["experiment", "run", FILE, "--batch", "--workers", "local:1"]) == 2


def test_an_interrupted_run_leaves_its_batch_and_is_gone_on_with(
    server: BatchServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.endings = [Ending(looks=10**9)]
    command = [sys.executable, "-m", "studio", "experiment", "run", FILE, "--batch"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(server.reached["look"])
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert b"still answered and charged: experiment run --batch" in errors
    file = tmp_path / FILE
    text = file.read_text()
    file.write_text(text.replace("{q: two}}", "{q: two}}, {vars: {q: three}}"))
    assert run_command(["experiment", "run", FILE, "--batch", "--resume"]) == 3
    assert "restore the file to read them" in capsys.readouterr().err
    file.write_text(text)
    server.batches["batch_1"].ending.looks = 0
    assert run_command(["experiment", "run", FILE, "--batch", "--resume"]) == 0
    assert list(server.asked.values()) == [1, 1]
