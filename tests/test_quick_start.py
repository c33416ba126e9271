"""What a start keeps of Shiboken's compiled modules, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

START = """
import builtins
compiled, own = [], compile
def counting(source, filename, mode, *rest, **named):
    compiled.append(filename)
    return own(source, filename, mode, *rest, **named)
builtins.compile = counting
from studio import quick_start
assert builtins.compile is counting
print(len([name for name in compiled if str(name).startswith("shibokensupport")]))
from PySide6.QtCore import QObject
try:
    QObject().setParent("x")
except TypeError as error:
    print("Supported signatures" in str(error))
"""


def start(home: Path, **environment: str) -> tuple[int, bool]:
    """How many modules a start compiles, and whether their work (the signatures) is done."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    made = subprocess.run(
        [sys.executable, "-c", START],
        env={**kept, "PROMPT_STUDIO_HOME": str(home), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    count, works = made.stdout.split()
    return int(count), works == "True"


def kept_file(home: Path) -> Path:
    (file,) = (home / "cache").iterdir()
    return file


def test_a_second_start_compiles_nothing_of_shiboken(tmp_path: Path) -> None:
    first, works = start(tmp_path)
    assert first > 0
    assert works
    assert start(tmp_path) == (0, True)


def test_a_damaged_file_is_written_again(tmp_path: Path) -> None:
    first, _ = start(tmp_path)
    file = kept_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-2000] + bytes(2000))
    assert start(tmp_path) == (first, True)
    assert kept_file(tmp_path).read_bytes()[:12] == whole[:12]
    assert start(tmp_path) == (0, True)


@pytest.mark.parametrize("case", ["no place", "told not to write"])
def test_where_nothing_can_be_kept_each_start_compiles(tmp_path: Path, case: str) -> None:
    environment = {}
    if case == "no place":
        (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    else:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    first, works = start(tmp_path, **environment)
    assert first > 0
    assert works
    assert start(tmp_path, **environment) == (first, True)
