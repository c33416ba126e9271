from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.core.experiments.results.database import LedgerDatabase, LedgerError
from studio.core.runs.database import Database, StoreError, explain_fault


def _good(path: Path) -> None:
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE a (b)")
        made.executemany("INSERT INTO a VALUES (?)", [("x" * 900,)] * 50)
    made.close()


def _locked(path: Path) -> None:
    holder, other = sqlite3.connect(path), sqlite3.connect(path, timeout=0)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
    finally:
        holder.close()
        other.close()


def _run(path: Path, *lines: str, mode: str = "rw") -> None:
    connection = sqlite3.connect(f"file:{path}?mode={mode}", uri=True)
    try:
        for line in lines:
            connection.execute(line).fetchall()
    finally:
        connection.close()


def _full(path: Path) -> None:
    _run(path, "PRAGMA max_page_count = 1", "INSERT INTO a SELECT zeroblob(900000)")


def _read_only(path: Path) -> None:
    _run(path, "INSERT INTO a VALUES (1)", mode="ro")


def _damaged(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    _run(path, "SELECT * FROM a")


def _no_database(path: Path) -> None:
    path.write_bytes(b"no database at all, but long" * 100)
    _run(path, "SELECT 1 FROM a")


@pytest.mark.parametrize(
    ("fail", "words"),
    [
        (_locked, "another program uses it; try again"),
        (_full, "the disk is full. Free some space"),
        (_read_only, "it cannot be written"),
        (_damaged, "it is damaged; close the studio, then `prompt-studio runs repair`"),
        (_no_database, "it is not a database; move it away to start a new one"),
    ],
)
def test_each_cause_has_its_own_advice(
    tmp_path: Path, fail: Callable[[Path], None], words: str
) -> None:
    path = tmp_path / "a.sqlite"
    _good(path)
    with pytest.raises(sqlite3.Error) as raised:
        fail(path)
    advice = explain_fault(raised.value, path)
    assert words in advice
    healthy = fail not in (_damaged, _no_database)
    assert ("move it away" in advice) != healthy


def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a folder has this name"):
        Database(tmp_path)
    with pytest.raises(LedgerError, match="a folder has this name"):
        LedgerDatabase(tmp_path)
