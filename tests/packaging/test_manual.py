"""The manual page says what the parsers read, in roff that its reader takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.cli.terminal import COMMANDS
from tests.packaging.tool import ROOT, load

MANUAL = load("manual")


@pytest.fixture(scope="module")
def page() -> str:
    frame = (ROOT / "packaging" / "linux" / "prompt-studio.1").read_text(encoding="utf-8")
    made: str = MANUAL.filled(frame, "1.2.3", "2026-11-22")
    return made


def test_every_command_and_option_is_told(page: str) -> None:
    for command in COMMANDS:
        assert f".SS prompt\\-studio {command}".replace("-set", "\\-set") in page
    assert '.BI "\\-\\-exit\\-zero"' in page
    assert '.BI "\\-\\-screenshot" " OUT.png"' in page
    assert not re.search(r"@[A-Z]+@", page)
    assert page.isascii()


@pytest.mark.parametrize(
    "reader", ["groff -ww -Wbreak -man -Tascii -z", "mandoc -Tlint -W warning"]
)
def test_the_readers_of_manuals_take_it(page: str, reader: str, tmp_path: Path) -> None:
    program, *options = reader.split()
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    path = tmp_path / "prompt-studio.1"
    path.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [program, *options, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout + done.stderr).strip() == ""
    assert done.returncode == 0
