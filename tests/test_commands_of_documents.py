"""Commands that the documents show are taken by the command line as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from studio.cli.main import parser_of
from studio.cli.terminal import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SHOWN = re.compile(r"^(?: {4})?prompt-studio ([^\n]+)$", re.MULTILINE)
MENTIONED = re.compile(r"`prompt-studio ([^`\n]+)`")
OPEN = re.compile(r"[…|\[]")
"""What stands for something else: such a mention is not a command yet."""


def arguments_of(line: str) -> list[str]:
    """The words of a command, without a comment and what its output goes to."""
    words = shlex.split(line, comments=True)
    ends = [words.index(sign) for sign in ("|", ">", "<") if sign in words]
    return words[: min(ends, default=len(words))]


def fault_of(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the parser of a command says of it; empty where it is taken, or is the window's."""
    name, *rest = arguments_of(line)
    if name not in COMMANDS:
        return ""
    try:
        parser_of(name).parse_args(rest)
    except SystemExit as end:
        return capsys.readouterr().err.splitlines()[-1] if end.code else ""
    return ""


def test_a_wrong_option_and_a_comment_are_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert fault_of("check a.prompty  # finds 'it", capsys) == ""
    assert "--nothing" in fault_of("check a.prompty --nothing", capsys)
    assert "'nothing'" in fault_of("runs nothing", capsys)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_of_a_document_is_taken(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text(encoding="utf-8")
    faults = {line: fault_of(line, capsys) for line in SHOWN.findall(text)}
    for line in MENTIONED.findall(text):
        if not OPEN.search(line):
            fault = fault_of(line, capsys)
            faults[line] = "" if "arguments are required" in fault else fault
    assert {line: fault for line, fault in faults.items() if fault} == {}
