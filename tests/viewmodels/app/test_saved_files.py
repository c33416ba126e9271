"""Saved files are told of once, however they are saved, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.viewmodels.app.saved_files import SavedFiles

_QUIET_MS = 400


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text("def f(): ...\n", encoding="utf-8")
    return path


@pytest.fixture
def saved(qtbot: QtBot, file: Path) -> SavedFiles:
    made = SavedFiles()
    made.watch([file])
    return made


def test_a_file_written_in_place(qtbot: QtBot, saved: SavedFiles, file: Path) -> None:
    for text in ("def g(): ...\n", "def longer(): ...\n"):
        with qtbot.waitSignal(saved.saved):
            file.write_text(text, encoding="utf-8")


def test_a_file_that_is_replaced_stays_watched(qtbot: QtBot, saved: SavedFiles, file: Path) -> None:
    for text in ("def g(): ...\n", "def longer(): ...\n"):
        fresh = file.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        with qtbot.waitSignal(saved.saved):
            fresh.replace(file)


def test_a_file_that_comes_and_goes(qtbot: QtBot, saved: SavedFiles, file: Path) -> None:
    with qtbot.waitSignal(saved.saved):
        file.unlink()
    with qtbot.waitSignal(saved.saved):
        file.write_text("def f(): ...\n", encoding="utf-8")


def test_what_the_file_may_import_counts_and_other_files_do_not(
    qtbot: QtBot, saved: SavedFiles, file: Path
) -> None:
    with qtbot.waitSignal(saved.saved):
        file.with_name("neighbour.py").write_text("X = 1\n", encoding="utf-8")
    with qtbot.assertNotEmitted(saved.saved, wait=_QUIET_MS):
        file.with_name("notes.txt").write_text("nothing", encoding="utf-8")
        os.utime(file.parent)


def test_nothing_is_told_of_files_no_longer_watched(
    qtbot: QtBot, saved: SavedFiles, file: Path
) -> None:
    saved.watch(())
    with qtbot.assertNotEmitted(saved.saved, wait=_QUIET_MS):
        file.write_text("def other(): ...\n", encoding="utf-8")
