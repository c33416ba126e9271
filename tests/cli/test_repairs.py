"""`run --repair`: what becomes of a reply that a small change would make readable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.cli.test_main import script
from tests.cli.test_run import ANSWER, CALL, RUN

CALLED = 'Thought: t\nAction: Calculator(expression="6 * 7")'


def calls_made(capsys: pytest.CaptureFixture[str]) -> tuple[int, int]:
    """How often the model was asked, and how often a tool was called."""
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kinds = [event["t"] for event in events]
    return kinds.count("ModelCalled"), kinds.count("ToolCalled")


def test_always_repairs_without_asking_and_counts(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALLED, ANSWER)
    assert run_command([*RUN, "--repair", "always", "--trust"]) == FINE
    printed = capsys.readouterr()
    assert "repaired in the replies: call_syntax (1)" in printed.err
    assert "Observation: 42" in printed.out


@pytest.mark.parametrize("word", ["ask", "never"])
def test_nothing_is_repaired_silently(
    word: str, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALLED, CALL, ANSWER)
    assert run_command([*RUN, "--repair", word, "--json", "--trust"]) == FINE
    assert calls_made(capsys) == (3, 1)


def test_a_name_that_is_nearly_right_is_repaired_too(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, CALL.replace("calculator", "functions.calculator"), ANSWER)
    assert run_command([*RUN, "--repair", "always", "--json", "--trust"]) == FINE
    assert calls_made(capsys) == (2, 1)
