"""A run says what nothing reads and what stays letters, before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, USAGE
from studio.core.paths import resource
from tests.cli.test_main import script


@pytest.fixture
def prompt(tmp_path: Path, user_home: Path) -> str:
    script(user_home, "Hello.")
    path = tmp_path / "single.prompty"
    path.write_text(
        "---\nmodel: {id: scripted-1}\n---\nuser:\nUse {tools} for {question}.\n", encoding="utf-8"
    )
    return str(path)


def test_a_given_value_that_nothing_reads_ends_with_2_where_nobody_is_asked(
    prompt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", prompt, "-i", "question=Why?"]) == USAGE
    printed = capsys.readouterr()
    assert "The prompt does not use 'question'. Run anyway?" in printed.err
    assert "fstring-suggested" in printed.err
    assert printed.out == ""


def test_yes_runs_without_it(prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", prompt, "-i", "question=Why?", "--yes"]) == FINE
    assert "Hello." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("user:\n{{ question }}\n", "question"),
        ("---\nmetadata: {agent: {protocol: react}}\n---\nuser:\n{{ chat_history }}\n", "question"),
        ("user:\n![thread]\n", "thread"),
        ("user:\n${params:who}\n", "who"),
        ("---\ninputs: {talk: {kind: thread}}\n---\nuser:\nHi\n", "talk"),
    ],
)
def test_what_the_prompt_reads_is_no_question(
    text: str, name: str, tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, *["Hello."] * 3)
    path = tmp_path / "a.prompty"
    path.write_text(text, encoding="utf-8")
    value = "x" if name in ("question", "who") else "[]"
    run_command(["run", str(path), "-i", f"{name}={value}", "--max-iterations", "1"])
    assert "Nothing reads" not in capsys.readouterr().err


def test_what_is_dropped_of_a_reply_is_said(
    user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = 'Thought: t\nAction: calculator\nArgs: {"expression": "6 * 7"}\n'
    script(user_home, f"{call}Final Answer: 41", "Thought: d\nFinal Answer: 42")
    react = str(resource("examples", "react-agent.prompty"))
    assert run_command(["run", react, "-i", "question=?"]) == FINE
    assert "the answer is not used.)" in capsys.readouterr().out
