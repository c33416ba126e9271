"""The light behind the caret's row, as it stands on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from studio.ui.editor.text.view import PromptEditor
from studio.ui.style.theme import DARK, LIGHT, Theme
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

TEXT = "system:\n" + "word " * 60 + "\nthree\nfour\nfive\n"
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(500, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.load(TEXT)
    view.setFocus()
    yield view
    view.close()


def lit_rows(editor: PromptEditor, theme: Theme = LIGHT) -> set[int]:
    """The rows that are lit, from 0, at the right end of the text: read from the screen."""
    shown = editor.screen().grabWindow(editor.winId()).toImage()
    ground, row = editor.viewport(), editor.cursorRect().height()
    x, top = ground.width() - 3, int(editor.geometry_of(editor.firstVisibleBlock()).top())
    found = set()
    for y in range(top, ground.height()):
        place = ground.mapTo(editor, QPoint(x, y))
        if shown.pixelColor(place).name() == theme.current_line:
            found.add((y - top) // row)
    return found


def row_of_caret(editor: PromptEditor) -> int:
    top = int(editor.geometry_of(editor.firstVisibleBlock()).top())
    return (editor.cursorRect().top() - top) // editor.cursorRect().height()


def move(operation: QTextCursor.MoveOperation) -> Callable[[PromptEditor, QtBot], None]:
    return lambda editor, _: editor.moveCursor(operation)


def key(pressed: Qt.Key) -> Callable[[PromptEditor, QtBot], None]:
    return lambda editor, qtbot: qtbot.keyClick(editor, pressed)


def write_above(editor: PromptEditor, _: QtBot) -> None:
    QTextCursor(editor.document()).insertText("new\nlines\n")


@pytest.mark.parametrize(
    ("line", "act"),
    [
        (1, key(Qt.Key.Key_Down)),
        (3, key(Qt.Key.Key_Up)),
        (2, key(Qt.Key.Key_End)),
        (2, key(Qt.Key.Key_A)),
        (3, key(Qt.Key.Key_A)),
        (4, key(Qt.Key.Key_Return)),
        (4, key(Qt.Key.Key_Backspace)),
        (2, move(QTextCursor.MoveOperation.Down)),
        (2, move(QTextCursor.MoveOperation.End)),
        (4, write_above),
    ],
)
def test_the_row_of_the_caret_is_lit_and_no_other(
    editor: PromptEditor, qtbot: QtBot, line: int, act: Callable[[PromptEditor, QtBot], None]
) -> None:
    editor.go_to_line(line)
    qtbot.waitUntil(lambda: lit_rows(editor) == {row_of_caret(editor)})
    act(editor, qtbot)
    qtbot.waitUntil(lambda: lit_rows(editor) == {row_of_caret(editor)})


def test_nothing_is_lit_while_something_is_selected(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.go_to_line(4)
    qtbot.waitUntil(lambda: lit_rows(editor) == {row_of_caret(editor)})
    qtbot.keyClick(editor, Qt.Key.Key_Right, SHIFT)
    qtbot.waitUntil(lambda: lit_rows(editor) == set())
    qtbot.keyClick(editor, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: lit_rows(editor) == {row_of_caret(editor)})


def test_the_light_has_the_color_of_the_theme(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.go_to_line(4)
    wear(DARK)
    qtbot.waitUntil(lambda: lit_rows(editor, DARK) == {row_of_caret(editor)})


def test_the_light_scrolls_along(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load(TEXT * 20)
    editor.go_to_line(30)
    qtbot.waitUntil(lambda: lit_rows(editor) == {row_of_caret(editor)})
    before, bar = row_of_caret(editor), editor.verticalScrollBar()
    bar.setValue(bar.value() + 2)
    assert row_of_caret(editor) == before - 2
    qtbot.waitUntil(lambda: lit_rows(editor) == {before - 2})
