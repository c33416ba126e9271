from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.application.highlight.lexer import PYTHON_FILE, START, YAML_FILE, State
from studio.core.settings import Settings
from studio.ui.dialogs.comparison import DiskComparisonDialog
from studio.ui.editor.page.page import EditorPage
from studio.viewmodels.app.notifications import Notification, Notifications
from studio.viewmodels.document.swap import SwapFolder

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def notices() -> list[Notification]:
    return []


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path, notices: list[Notification]) -> Iterator[EditorPage]:
    messages = Notifications()
    messages.noticed.connect(notices.append)
    page = EditorPage(messages, SwapFolder(tmp_path / "swaps"), Settings())
    qtbot.addWidget(page)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    yield page
    page.close_document()
    page.editor.close()
    page.close()


def button(page: EditorPage, text: str) -> QPushButton:
    return next(each for each in page.findChildren(QPushButton) if each.text() == text)


def test_a_read_only_file_says_so_and_is_not_written(
    page: EditorPage, tmp_path: Path, notices: list[Notification], qtbot: QtBot
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\nHi\n", encoding="utf-8")
    path.chmod(0o444)
    page.open(path)
    assert page.title == "a.prompty (read-only)"
    assert page.disk.isVisible()
    qtbot.keyClicks(page.editor, "x")
    assert not page.save()
    assert "read-only" in notices[-1].what
    assert path.read_text(encoding="utf-8") == "user:\nHi\n"
    assert page.save(tmp_path / "b.prompty")
    assert page.title == "b.prompty"
    assert not page.disk.isVisible()


def test_a_character_too_many_for_the_encoding_is_saved_as_utf8_with_one_click(
    page: EditorPage, tmp_path: Path, notices: list[Notification], qtbot: QtBot
) -> None:
    path = tmp_path / "old.prompty"
    path.write_bytes("user:\nGrüße".encode("latin-1"))
    page.open(path)
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    page.editor.insertPlainText(" €")
    assert not page.save()
    assert path.read_bytes() == "user:\nGrüße".encode("latin-1")
    (offer,) = notices[-1].offers
    assert offer.title == "Save as UTF-8"
    offer.act()
    assert path.read_text(encoding="utf-8") == "user:\nGrüße €"
    assert not page.controller.is_dirty


@pytest.mark.parametrize(("answer", "kept"), [("reload", "user:\nTheirs"), ("keep", "user:\nMine")])
def test_a_change_on_disk_can_be_compared_before_choosing(
    page: EditorPage, tmp_path: Path, qtbot: QtBot, answer: str, kept: str
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\n", encoding="utf-8")
    page.open(path)
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(page.editor, "Mine")
    with qtbot.waitSignal(page.controller.changed_on_disk):
        path.write_text("user:\nTheirs", encoding="utf-8")
    qtbot.mouseClick(button(page, "Compare…"), Qt.MouseButton.LeftButton)
    dialog = page.findChild(DiskComparisonDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    shown = dialog.view.toPlainText()
    assert "− Theirs" in shown
    assert "+ Mine" in shown
    qtbot.mouseClick(getattr(dialog, answer), Qt.MouseButton.LeftButton)
    assert page.editor.text() == kept
    assert not page.disk.isVisible()
    assert page.controller.is_dirty is (answer == "keep")
    if answer == "reload":
        page.editor.undo()
        assert page.editor.text() == "user:\nMine"


@pytest.mark.parametrize(
    ("name", "start"), [("a.py", PYTHON_FILE), ("a.experiment.yaml", YAML_FILE), ("a.md", START)]
)
def test_a_file_is_colored_as_what_it_is_from_its_first_line(
    page: EditorPage, tmp_path: Path, name: str, start: State
) -> None:
    path = tmp_path / name
    path.write_text("import os  # first\n", encoding="utf-8")
    page.open(path)
    assert page.editor.highlighter.state_before(page.editor.document().firstBlock()) == start
