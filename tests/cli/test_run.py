"""Runs on the command line: stepping, breakpoints, recordings, replays and forks."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from studio.__main__ import main
from studio.cli.main import run_command
from studio.cli.terminal import FINE, INTERRUPTED, PROBLEMS, USAGE
from studio.core.paths import resource
from tests.cli.test_main import script

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
    say(
        monkeypatch,
        "m",
        "s",
        "s",
        'args {"expression": "6 * 8"}',
        "s",
        "what",
        "obs 43",
        "s",
        "s",
        "s",
        "s",
        "final It is 43.",
        "c",
    )
    assert run_command([*RUN, "--step"]) == FINE
    printed = capsys.readouterr()
    for place in ("before_request", "reply", "tool_call", "observation", "step_end", "answer"):
        assert f", {place}: " in printed.err
    assert 'calculator {"expression": "6 * 8"} → 48' in printed.err
    assert "'what' is not a command" in printed.err
    assert printed.out.endswith("It is 43.\n")


def test_a_tool_result_that_a_run_leaves_out_is_named(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "It is 42.")
    file = tmp_path / "a.prompty"
    file.write_text("user:\nHi\n\ntool[tool_call_id=c0]:\nlost\n\nuser:\nAnd?\n", "utf-8")
    assert run_command(["run", str(file)]) == FINE
    assert "This result answers no open call 'c0'; a run leaves it out." in capsys.readouterr().err


def test_going_on_leaves_the_stepping_until_something_else_stops(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, CALL, ANSWER)
    say(monkeypatch, "c", "s", "c")
    assert run_command([*RUN, "--step", "--break", "observation"]) == FINE
    printed = capsys.readouterr()
    assert re.findall(r"-- step (\d, \w+): ", printed.err) == [
        "1, before_request",
        "1, observation",
        "1, step_end",
    ]


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
    assert (
        printed.err.count(
            "step 2, tool_call: a call is ready (breakpoint) Before a tool · calculator"
        )
        == 1
    )
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
    assert "differs from the recorded one" in capsys.readouterr().err


def test_a_cassette_that_cannot_be_written_is_told_before_anything_is_sent(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALL, ANSWER)
    assert run_command([*RUN, "--record", str(tmp_path)]) == USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"prompt-studio: --record {tmp_path}: ")


def test_a_run_without_any_input_is_stopped_where_it_would_ask(
    user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALL, ANSWER)
    monkeypatch.setattr("sys.stdin", None)  # `<&-`
    assert main([*RUN, "--step"]) == PROBLEMS
    assert "end of input: stopped" in capsys.readouterr().err


def test_an_interrupted_run_leaves_with_130(
    user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    script(user_home, CALL, ANSWER)
    monkeypatch.setattr("studio.cli.run.drive.drive", interrupted)
    assert main(RUN) == INTERRUPTED
    assert capsys.readouterr().err == "prompt-studio: stopped\n"


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


def test_what_kept_a_reply_or_a_call_from_being_used_is_written(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = 'Thought: multiply\nAction: calculatr\nArgs: {"expression": "6 * 7"}'
    script(user_home, "no labels", wrong, CALL, ANSWER)
    assert run_command(RUN) == FINE
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Error: ")
    assert any(line.startswith("Error: ") and "calculatr" in line for line in lines[1:])
    assert lines[-1] == "It is 42."


def test_stepping_says_what_is_wrong_and_what_was_given(
    user_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, "no labels", CALL, CALL, ANSWER)
    say(monkeypatch, "args {}", "c", "no too dear", "as forty", "c")
    assert run_command([*RUN, "--break", "PX", "--break", "P3"]) == FINE
    printed = capsys.readouterr()
    error = next(line for line in printed.out.splitlines() if line.startswith("Error: "))
    assert error.removeprefix("Error: ") in printed.err.split("(step)")[0]
    assert "CallEdited" not in printed.err
    assert "Refused: too dear\n" in printed.out
    assert "Observation (given): forty\n" in printed.out


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_run_of_no_steps_is_wrong_usage(
    number: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, ANSWER)
    with pytest.raises(SystemExit) as ended:
        run_command([*RUN, "--max-iterations", number])
    assert ended.value.code == USAGE
    assert f"{number!r} is not a whole number from 1 to " in capsys.readouterr().err


def test_what_a_terminal_would_act_on_and_half_characters_are_shown_escaped(
    user_home: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    answer = "\x1b[31mred\x1b[0m \ud800 half, \U0001f469\u200d\U0001f467 family, a\u00a0b"
    script(user_home, f"Thought: \x07\nFinal Answer: {answer}")
    assert run_command(RUN) == FINE
    shown = capfdbinary.readouterr().out.decode()
    assert shown == "Thought: \\x07\n\\x1b[31mred\\x1b[0m \\ud800 half, 👩‍👧 family, a\u00a0b\n"
    assert run_command([*RUN, "--json"]) == FINE
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert json.loads(lines[-1])["answer"] == answer
    assert run_command(["runs", "list", "--json"]) == FINE
    assert [run["status"] for run in json.loads(capfdbinary.readouterr().out)] == ["done", "done"]


def test_a_failure_is_told_once_with_what_to_do(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, {"error": {"message": "It broke.", "hint": "Mend it."}})
    assert run_command(RUN) == PROBLEMS
    assert capsys.readouterr().err == "prompt-studio: It broke. Mend it.\n"
