"""Runs on the command line: stepping, breakpoints, recordings, replays and forks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from studio.cli import run_command
from studio.cli_words import FINE, PROBLEMS, USAGE
from studio.core.resource_files import resource
from tests.test_cli import script

REACT = resource("examples", "react-agent.prompty")
RUN = ["run", str(REACT), "-i", "question=What is 6 * 7?"]
CALL = 'Thought: multiply\nAction: calculator\nArgs: {"expression": "6 * 7"}'
ANSWER = "Thought: done\nFinal Answer: It is 42."


def say(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def last_run(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run_command(["runs", "list", "--json"]) == FINE
    return json.loads(capsys.readouterr().out)[0]["id"]


def test_stepping_shows_each_place_and_takes_commands(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, CALL, ANSWER)
    say(monkeypatch, "m", "s", "s", 'args {"expression": "6 * 8"}', "s", "what", "obs 43", "c",
        "c", "c", "c", "final It is 43.", "c")  # fmt: skip
    assert run_command([*RUN, "--step"]) == FINE
    printed = capsys.readouterr()
    for place in ("P1", "P2", "P3", "P4", "P5", "P6"):
        assert f", {place}: " in printed.err
    assert 'calculator {"expression": "6 * 8"} → 48' in printed.err
    assert "'what' is no command" in printed.err
    assert printed.out.endswith("It is 43.\n")


def test_the_end_of_input_stops_the_run(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, CALL, ANSWER)
    say(monkeypatch, "s")
    assert run_command([*RUN, "--step", "--json"]) == PROBLEMS
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[-1]["status"] == "stopped"


def test_a_breakpoint_with_a_condition_stands_before_the_tool(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, CALL, CALL, ANSWER)
    say(monkeypatch, "as forty-two", "c")
    where = 'calculator: iteration == 2 and "6" in args.expression'
    assert run_command([*RUN, "--break", where]) == FINE
    printed = capsys.readouterr()
    assert printed.err.count("step 2, P3: a call is ready (breakpoint) break-1") == 1
    assert "step 1" not in printed.err


@pytest.mark.parametrize("text", ["P3:((", ":x", "calculator:nobody > 1"])
def test_a_breakpoint_that_cannot_be_met_is_wrong_usage(
    text: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, ANSWER)
    assert run_command([*RUN, "--break", text]) == USAGE
    assert "prompt-studio: " in capsys.readouterr().err


def test_a_run_is_replayed_without_model_and_tools(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, CALL, ANSWER)
    say(monkeypatch, "no too dear", "c")
    assert run_command([*RUN, "--break", "calculator"]) == FINE
    run = last_run(capsys)
    (user_home / "config" / "connections.toml").unlink()
    replay = ["run", str(REACT), "--json", "--replay", run[:6]]
    assert run_command(replay) == FINE
    first = capsys.readouterr().out
    assert json.loads(first.splitlines()[-1])["answer"] == "It is 42."
    assert "too dear" in first
    assert run_command(replay) == FINE
    assert capsys.readouterr().out == first
    assert run_command(["run", str(REACT), "--replay", run, "-i", "question=Other?"]) == PROBLEMS
    assert "not the recorded one" in capsys.readouterr().err


def test_a_cassette_answers_as_recorded(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALL, ANSWER)
    cassette = tmp_path / "cassette.jsonl"
    assert run_command([*RUN, "--record", str(cassette)]) == FINE
    (user_home / "config" / "connections.toml").unlink()
    capsys.readouterr()
    assert run_command([*RUN, "--replay", str(cassette)]) == FINE
    assert capsys.readouterr().out.endswith("Observation: 42\nThought: done\nIt is 42.\n")


def test_a_fork_goes_on_from_a_step_and_keeps_what_was(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALL, ANSWER)
    assert run_command(RUN) == FINE
    run = last_run(capsys)
    script_file = user_home / "script.json"
    script_file.write_text(json.dumps(["Thought: again\nFinal Answer: Still 42."]), "utf-8")
    fork = ["run", str(REACT), "--fork", f"{run}@2", "--max-iterations", "5"]
    assert run_command(fork) == FINE
    assert capsys.readouterr().out.endswith("Still 42.\n")
    assert run_command(["runs", "list", "--json"]) == FINE
    (line,) = json.loads(capsys.readouterr().out)
    assert (line["id"], line["branches"]) == (run, 1)
    for wrong in (f"{run}@9", run, "nothing@1"):
        assert run_command(["run", str(REACT), "--fork", wrong]) == USAGE
