"""What a terminal would act on is shown by the command line, and not done."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import PROBLEMS, USAGE, Interruption, printable, tell

COMMANDS = Path(__file__).resolve().parents[2] / "studio" / "cli"
OWN_SIGNS = ("\\r", "\\x1b")
"""What the bars of progress write to a terminal themselves."""


def test_signs_of_a_terminal_and_turned_text_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tell("a\x1b]0;title\x07\u202eb\x9bc\r\n\td", end="?\n")
    assert capsys.readouterr().err == "a\\x1b]0;title\\x07\\u202eb\\x9bc\n\td?\n"
    assert printable("plain é 日本\n") == "plain é 日本\n"


def to_standard_error(path: Path) -> list[str]:
    """The calls of `print` in a file that write there."""
    text = path.read_text(encoding="utf-8")
    calls = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)]
    return [
        ast.get_source_segment(text, each) or ""
        for each in calls
        if isinstance(each.func, ast.Name)
        and each.func.id == "print"
        and any(
            word.arg == "file" and ast.unparse(word.value) == "sys.stderr" for word in each.keywords
        )
    ]


def test_what_is_told_goes_by_one_road() -> None:
    found = {
        (path.name, call)
        for path in COMMANDS.rglob("*.py")
        for call in to_standard_error(path)
        if not any(sign in call for sign in OWN_SIGNS)
    }
    assert {name for name, _ in found} <= {"terminal.py", "improve.py"}, found


def test_a_file_of_servers_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {"mcpServers": {"one\x1b]0;mine\x07": {"command": "x"}}}
    path = tmp_path / ".mcp.json"
    path.write_text(json.dumps(servers), encoding="utf-8")
    assert run_command(["tools", "list", str(path), "--server", "two"]) == USAGE
    told = capsys.readouterr()
    assert "\\x1b]0;mine\\x07" in told.err
    assert "\x1b" not in told.out + told.err


def test_a_file_that_is_checked_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.experiment.yaml"
    path.write_text(
        'prompts: ["a\\e[31m.prompty"]\nproviders: [x]\ntests: "file://b\\e[31m.csv"\n', "utf-8"
    )
    assert run_command(["check", str(path)]) == PROBLEMS
    assert run_command(["experiment", "plan", str(path)]) == USAGE
    prompt = tmp_path / "a.prompty"
    prompt.write_text("user:\nHi \x1b]0;mine\x07\n", encoding="utf-8")
    run_command(["messages", str(prompt)])
    told = capsys.readouterr()
    assert "\\x1b[31m" in told.out
    assert "\\x1b]0;mine\\x07" in told.out
    assert "\x1b" not in told.out + told.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_signal_that_is_ignored_stays_so_and_another_stops() -> None:
    async def stopped_by() -> int:
        stop = asyncio.Event()
        interruption = Interruption(stop.set, signal.SIGHUP, signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.wait()
        return interruption.number

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert asyncio.run(stopped_by()) == signal.SIGTERM
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
