"""`prompt-studio experiment` as a program: exit codes, exports, and kill -9 at any moment."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.application.experiments.report import ledger_path
from studio.cli.main import run_command
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, PROMPT, ROWS, answering
from tests.support.chat_server import ChatServer, Exchange, chat_server, failure
from tests.support.hostile_answers import HASTE, HOSTILE
from tests.support.patience import SECONDS, wait_until


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capital.prompty").write_text(PROMPT)
    (tmp_path / "capital.experiment.yaml").write_text(EXPERIMENT)
    (tmp_path / "rows.csv").write_text(ROWS)
    with chat_server() as made:
        (home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{made.url}"\nretries = 1\n'
        )
        made.always(answering([], lambda text: CAPITALS.get(text, text)))
        yield made


FILE = "capital.experiment.yaml"


def test_the_exit_code_says_how_it_went(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["experiment", "run", FILE]) == 1  # without gates every row must pass
    (tmp_path / FILE).write_text(EXPERIMENT + "gates: {pass_rate: 0.6, lost_rows: 0}\n")
    assert run_command(["experiment", "run", FILE]) == 0
    assert "6 answered before, 0 will be sent" in capsys.readouterr().err
    assert run_command(["experiment", "run", FILE, "--fail-under", "0.9"]) == 1
    assert "gate pass_rate of edit: 0.666667 (at least 0.9)" in capsys.readouterr().err
    assert run_command(["experiment", "run", FILE, "--max-tokens", "1", "--no-cache"]) == 4
    server.always(failure(400, "no \x1b[31mred"))
    assert run_command(["experiment", "run", FILE, "--no-cache", "--format", "github"]) == 3
    printed, told = capsys.readouterr()
    assert "::warning file=rows.csv,line=2::" in printed
    assert "no \\x1b[31mred" in printed
    assert "\x1b" not in printed
    assert "6 cells: " in told
    assert "no \\x1b[31mred" in told.partition("6 cells: ")[2]
    assert run_command(["experiment", "show", FILE]) == 0
    assert "no row was answered" in capsys.readouterr().out
    server.always(answering([], lambda text: CAPITALS.get(text, text)))
    assert run_command(["experiment", "run", FILE, "--only", "errors"]) == 0
    assert run_command(["experiment", "run", "no.experiment.yaml"]) == 2
    (tmp_path / FILE).write_text("prompts: [a\n")
    assert run_command(["experiment", "run", FILE]) == 2
    assert f"{FILE}:1:10: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("baseline", "gates", "arguments", "words"),
    [
        ("accepted", "pass_rate: 0.1", [], "The baseline 'accepted' does not exist"),
        ("'#99'", "lost_rows: 0", [], "The baseline '#99' does not exist"),
        ("main", "lost_rows: 0", ["--baseline", "mian"], "The baseline 'mian' does not exist"),
        ("''", "{lost_rows: 0, p_value: 0.05}", [], "gates: lost_rows, p_value need a baseline"),
        ("''", "pass_rate: 0.1", ["--max-lost", "0"], "gates: lost_rows need a baseline"),
        (
            "main",
            "lost_rows: 0",
            ["--variant", "main"],
            "'main', which is the only variant that is asked",
        ),
    ],
)
def test_a_gate_without_its_baseline_is_refused(
    server: ChatServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    baseline: str,
    gates: str,
    arguments: list[str],
    words: str,
) -> None:
    text = EXPERIMENT.replace("baseline: main", f"baseline: {baseline}")
    gates = gates if gates.startswith("{") else f"{{{gates}}}"
    (tmp_path / FILE).write_text(f"{text}gates: {gates}\n")
    assert run_command(["experiment", "run", FILE, *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not server.requests


@pytest.mark.parametrize("command", ["run", "plan", "list", "show", "compare", "export"])
def test_results_that_cannot_be_used_are_said(
    command: str, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ledger_path(tmp_path / FILE)
    place.mkdir(parents=True)
    more = {"compare": ["release"], "export": ["--format", "junit"]}.get(command, [])
    assert run_command(["experiment", command, FILE, *more]) in (2, 3)
    assert "a folder has this name; move the folder away" in capsys.readouterr().err
    assert not server.requests


def test_results_are_listed_shown_compared_exported_and_blessed(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["experiment", "plan", FILE]) == 0
    assert not server.requests
    assert "0 answered before, 6 will be sent" in capsys.readouterr().out
    junit = tmp_path / "junit.xml"
    run = ["experiment", "run", FILE, "--rows", "1-2", "--format", "junit", "-o", str(junit)]
    assert run_command(run) == 0
    assert junit.read_text().count("<testcase") == 2, "the candidate's"
    assert run_command(["baseline", "set", FILE, "--label", "release"]) == 0
    assert run_command(["experiment", "run", FILE]) == 1
    capsys.readouterr()
    assert run_command(["experiment", "list", FILE]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert (first[:3], "accepted release" in second) == ("#2\t", True)
    assert run_command(["experiment", "compare", FILE, "release"]) == 0
    assert "release 100 %: 0 rows won, 0 lost." in capsys.readouterr().out
    assert run_command(["experiment", "show", FILE, "--cell", "3:edit"]) == 0
    assert "Cuzco\nfailed\tfact" in capsys.readouterr().out
    assert run_command(["experiment", "accept", FILE, "3:edit"]) == 0
    assert "Peru,Cuzco" in (tmp_path / "rows.csv").read_text()
    assert run_command(["experiment", "run", FILE, "--format", "json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(json.loads(line) for line in lines if line.startswith("{"))
    assert head["gates_hold"]


class Turnstile:
    """Lets so many requests be answered, and holds the others until it lets more."""

    def __init__(self, asked: list[str]) -> None:
        self.allowed = 0.0
        self._answer = answering(asked, lambda text: text)
        self._answered = 0

    async def __call__(self, exchange: Exchange) -> None:
        while self._answered >= self.allowed:
            await asyncio.sleep(0.005)
            for _ in range(5):  # a client that was killed meanwhile is noticed, and not answered
                await asyncio.sleep(0)
        self._answered += 1
        await self._answer(exchange)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_killed_run_goes_on_where_it_was(server: ChatServer, tmp_path: Path) -> None:
    rows = [f"c{number}" for number in range(20)]
    (tmp_path / "rows.csv").write_text("country,expected\n" + "".join(f"{r},{r}\n" for r in rows))
    asked: list[str] = []
    gate = Turnstile(asked)
    server.always(gate)
    command = [sys.executable, "-m", "studio", "experiment", "run", FILE, "--concurrency", "3"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    kills = 0
    for wanted in (4, 12, 24):
        gate.allowed = wanted
        with subprocess.Popen(
            [*command, "--resume"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            wait_until(lambda n=wanted: len(asked) >= n or running.poll() is not None, "requests")
            if running.poll() is None:
                running.send_signal(signal.SIGKILL)
                kills += 1
            running.wait(SECONDS)
    ledger = ExperimentLedger(ledger_path(tmp_path / FILE))
    (head,) = ledger.results()
    finished = 40 - ledger.waiting(head.id)
    ledger.close()
    before = len(asked)
    gate.allowed = float("inf")
    done = subprocess.run(
        [*command, "--resume"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert kills == 3
    left = 40 - finished
    assert f"{finished} of 40 cells are done, {left} are left: 0 answered before" in done.stderr
    # What was finished is not asked again; what was under way is, three at most for each kill.
    assert len(asked) - before == 40 - finished
    assert 40 <= len(asked) <= 40 + 3 * kills
    ledger = ExperimentLedger(ledger_path(tmp_path / FILE))
    (head,) = ledger.results()
    assert [each.passed for each in ledger.scans.variant_totals(head.id)] == [20, 20]
    ledger.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_an_interrupt_ends_with_130_and_can_be_resumed(server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(
        "country,expected\n" + "".join(f"c{n},c{n}\n" for n in range(30))
    )
    asked: list[str] = []
    gate = Turnstile(asked)
    gate.allowed = 6
    server.always(gate)
    command = [sys.executable, "-m", "studio", "experiment", "run", FILE, "--concurrency", "2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: len(asked) >= 4, "requests")
        running.send_signal(signal.SIGINT)
        gate.allowed = float("inf")  # what is under way ends
        _, said = running.communicate(timeout=SECONDS)
    assert running.returncode == 130, said
    assert "--resume continues" in said
    done = subprocess.run(
        [*command, "--resume"], env=environment, check=False, capture_output=True, timeout=SECONDS
    )
    assert done.returncode == 0
    assert len(asked) == len(set(asked)) == 60


@pytest.mark.parametrize("name", HOSTILE)
def test_an_experiment_ends_whatever_the_server_sends(
    server: ChatServer, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "home" / "config" / "connections.toml"
    path.write_text(path.read_text().replace("retries = 1\n", HASTE))
    server.always(HOSTILE[name])
    assert run_command(["experiment", "run", FILE, "--no-cache"]) in (1, 3)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert "\x1b[31m" not in printed.out


def test_a_server_on_this_machine_is_free_and_no_answer_has_no_time(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["experiment", "plan", FILE]) == 0
    assert ", free" in capsys.readouterr().out
    server.always(failure(400, "no"))
    assert run_command(["experiment", "run", FILE]) == 3
    printed, told = capsys.readouterr()
    assert "p95 –" in printed
    assert " 0 ms" not in printed
    assert ", free" in told
