"""What the command line keeps is the user's alone, also under a mask that lets others read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, USAGE
from tests.cli.test_main import script

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")


def test_everything_that_a_run_keeps_is_private(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "project" / "x.prompty"
    prompt.parent.mkdir()
    prompt.write_text("---\nname: x\n---\nuser:\nHi\n", encoding="utf-8")
    script(user_home, "Hello.")
    held = os.umask(0o022)
    try:
        assert run_command(["run", str(prompt), "--trust"]) == FINE
    finally:
        os.umask(held)
    kept = [path for path in user_home.rglob("*") if path.name != "script.json"]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in kept}
    assert {"runs.sqlite", "trust.json", "connections.toml"} <= modes.keys()
    wide = {name: oct(mode) for name, mode in modes.items() if mode & 0o077}
    assert not wide


def test_a_name_with_a_line_break_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", "a\u202e\nb.prompty"]) == USAGE
    assert capsys.readouterr().err == "prompt-studio: a\\u202e\\nb.prompty: no such file\n"
