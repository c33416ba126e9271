"""What the command line counts is said of one thing as of one thing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.cli.test_main import script

_WRONG = re.compile(r"(?<![\d.,-])1 [a-z]+s\b(?<!is)(?<!has)(?<!was)")


def test_an_experiment_of_one_cell(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "ok")
    (tmp_path / "p.prompty").write_text("---\nname: p\n---\nuser:\nHi\n", encoding="utf-8")
    file = tmp_path / "one.experiment.yaml"
    file.write_text("prompts: [p.prompty]\ntests: [{vars: {}}]\n", encoding="utf-8")
    skill = tmp_path / "hi" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: hi\ndescription: Hi\n---\nHi\n", encoding="utf-8")
    for command in (
        ["experiment", "plan", file],
        ["experiment", "run", file],
        ["experiment", "list", file],
        ["messages", skill],
    ):
        assert run_command([str(each) for each in command]) == FINE
    said = capsys.readouterr()
    assert "1 row × 1 variant × 1 repeat" in said.out
    assert "about 1 token)" in said.out
    assert _WRONG.findall(said.out + said.err) == []
