from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.search.find_in_files import FindInFiles

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PROMPT = """---
name: x
inputs:
  city:
    kind: string
tools:
  - name: weather
    kind: function
---
system:
Ask `weather` of {{ city }}, not weather_2.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "a.prompty").write_text(PROMPT, encoding="utf-8")
    (folder / "b.prompty").write_text("user:\nOne\nTwo needles\n", encoding="utf-8")
    return folder


def test_find_in_files_by_keyboard(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    window.tabs.open(folder / "a.prompty")
    qtbot.keyClick(window, Qt.Key.Key_F, CONTROL | SHIFT)
    dialog = window.findChild(FindInFiles)
    assert dialog is not None
    qtbot.keyClicks(dialog.field, "needle")
    qtbot.waitUntil(lambda: dialog.count.text() == "1 match in 1 file")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    qtbot.keyClick(dialog.found, Qt.Key.Key_Return)
    page = window.tabs.current
    assert page is not None
    assert page.controller.title == "b.prompty"
    assert page.editor.textCursor().selectedText() == "needle"
    dialog.regex.setChecked(True)
    dialog.field.setText("(")
    qtbot.waitUntil(lambda: dialog.count.text().startswith("Pattern:"))
    dialog.close()


def test_find_in_files_says_when_there_is_no_folder(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.services.messages.noticed) as told:
        window.actions_by_id["edit.find_in_files"].trigger()
    assert "no folder" in told.args[0].what


@pytest.mark.parametrize(
    ("at", "title", "lines"),
    [
        ("{{ cit", "Uses of city", ["line 4", "line 11"]),
        ("`weath", "Uses of weather", ["line 7", "line 11"]),
    ],
)
def test_uses_of_inputs_and_tools(
    window: MainWindow, folder: Path, qtbot: QtBot, at: str, title: str, lines: list[str]
) -> None:
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)
    cursor = page.editor.textCursor()
    cursor.setPosition(PROMPT.index(at) + len(at))
    page.editor.setTextCursor(cursor)
    qtbot.keyClick(page.editor, Qt.Key.Key_F12, SHIFT)
    palette = window.commands.chooser.palette
    assert palette._field.placeholderText() == title
    assert [choice.detail for choice in palette._choices] == lines
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.editor.marks.flashed == title.rpartition(" ")[2])
    assert not page.editor.textCursor().hasSelection()
