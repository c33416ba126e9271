from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QPaintEvent, QTextCursor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.ui.editor.highlight import highlighter
from studio.ui.editor.text.painting.gutter import Gutter
from studio.ui.editor.text.view import PromptEditor

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

_QUIET_MS = 50
"""Longer than what follows a key in the editor: the caret's line, the words beside it."""

PROMPT = "---\nname: x\n---\nsystem:\nHello {{ city }}\n" + "More **text** {{ city }}\n" * 30


class Painted(QObject):
    """Every rectangle painted of a widget."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[QRect] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.seen.append(QRect(event.rect()))
        return False


def painted_until_quiet(
    editor: PromptEditor, qtbot: QtBot, watched: QWidget, act: Callable[[], object]
) -> list[QRect]:
    """What of a widget is painted for what is done, until all is coloured and nothing follows."""
    watch = Painted()
    watched.installEventFilter(watch)
    act()

    def is_quiet() -> bool:
        before = len(watch.seen)
        qtbot.wait(_QUIET_MS)
        # On a busy machine the wait may be over before what was due came to its turn.
        is_due = any(timer.isActive() for timer in editor.findChildren(QTimer))
        return editor.highlighter.is_done and not is_due and len(watch.seen) == before

    qtbot.waitUntil(is_quiet)
    watched.removeEventFilter(watch)
    return watch.seen


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(500, 600)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.load(PROMPT)
    view.setFocus()
    view.go_to_line(5, 100)
    for watched in (view.viewport(), view.findChild(Gutter)):
        painted_until_quiet(view, qtbot, watched, lambda: None)
    yield view
    view.close()


def painted_height(editor: PromptEditor, qtbot: QtBot, keys: str) -> int:
    seen = painted_until_quiet(
        editor, qtbot, editor.viewport(), lambda: qtbot.keyClicks(editor, keys)
    )
    return max(rect.height() for rect in seen)


def test_a_key_paints_its_line_only(editor: PromptEditor, qtbot: QtBot) -> None:
    row = editor.fontMetrics().height()
    assert painted_height(editor, qtbot, "a") < 3 * row


def test_the_typed_line_is_colored_at_once_however_busy_the_machine_is(
    editor: PromptEditor, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(highlighter, "_SLICE_SECONDS", -1.0)  # spent before it began
            qtbot.keyClick(editor, Qt.Key.Key_A)

    seen = painted_until_quiet(editor, qtbot, editor.viewport(), press)
    assert max(rect.height() for rect in seen) < 3 * editor.fontMetrics().height()


def test_a_line_that_grows_a_row_moves_the_others(editor: PromptEditor, qtbot: QtBot) -> None:
    bottom = editor.geometry_of(editor.textCursor().block().next()).top()
    assert painted_height(editor, qtbot, " word" * 20) > 300
    assert editor.geometry_of(editor.textCursor().block().next()).top() > bottom


def test_an_opened_fence_paints_the_lines_below(editor: PromptEditor, qtbot: QtBot) -> None:
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert painted_height(editor, qtbot, "```") > 300


def test_typing_at_the_end_keeps_the_caret_in_view(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, "word " * 60)
    assert editor.viewport().rect().contains(editor.cursorRect().center())
    assert editor.text().endswith("word " * 60)
    editor.undo()
    assert editor.viewport().rect().intersects(editor.cursorRect())


def test_a_long_line_that_is_not_wrapped_goes_along_with_the_caret(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.set_wrapped(False)
    qtbot.keyClicks(editor, "word " * 30)
    assert editor.horizontalScrollBar().maximum() > 0
    assert editor.viewport().rect().contains(editor.cursorRect().center())


def test_a_key_lays_out_its_line_and_no_other(editor: PromptEditor, qtbot: QtBot) -> None:
    below = editor.textCursor().block().next()
    assert below.layout().lineCount() == 1
    qtbot.keyClick(editor, Qt.Key.Key_A)
    assert editor.textCursor().block().layout().lineCount() == 1
    assert below.layout().lineCount() == 1  # nothing was painted since


def gutter_painted(editor: PromptEditor, qtbot: QtBot, key: Qt.Key) -> list[QRect]:
    gutter = editor.findChild(Gutter)
    assert gutter is not None
    return painted_until_quiet(editor, qtbot, gutter, lambda: qtbot.keyClick(editor, key))


def test_the_gutter_is_left_alone_by_a_key_and_follows_lines_and_the_caret(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    row = editor.fontMetrics().height()
    assert gutter_painted(editor, qtbot, Qt.Key.Key_A) == []
    caret = sum(rect.height() for rect in gutter_painted(editor, qtbot, Qt.Key.Key_Down))
    assert row <= caret < 6 * row  # the line left and the line come to
    new = gutter_painted(editor, qtbot, Qt.Key.Key_Return)
    assert max(rect.height() for rect in new) > 6 * row  # every number below is another one


def test_the_gutter_follows_a_line_that_takes_another_row(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    gutter_painted(editor, qtbot, Qt.Key.Key_Space)
    rows = editor.document().lineCount()
    painted: list[QRect] = []
    while editor.document().lineCount() == rows:
        painted = gutter_painted(editor, qtbot, Qt.Key.Key_A)
    assert max(rect.height() for rect in painted) > 6 * editor.fontMetrics().height()


def rows_of_another_text(editor: PromptEditor) -> list[int]:
    """The lines, from 0, whose rows do not end where their text does; Qt crashes painting them."""
    found = []
    for number in range(editor.blockCount()):
        block = editor.document().findBlockByNumber(number)
        rows = block.layout().lineCount()
        last = block.layout().lineAt(rows - 1) if rows else None
        if last is not None and last.textStart() + last.textLength() != block.length() - 1:
            found.append(number)
    return found


@pytest.mark.parametrize("written", ["\n", "new\n", "new " * 60 + "\n"])
def test_a_whole_line_written_over_by_another_leaves_no_rows_behind(
    editor: PromptEditor, written: str
) -> None:
    before = "system:\n" + "word " * 60 + "\nno colors\n\nin these\n"
    editor.load(before)
    editor.go_to_line(2)
    editor.grab()
    editor.lines.select()
    editor.textCursor().insertText(written)
    assert rows_of_another_text(editor) == []
    editor.undo()
    assert rows_of_another_text(editor) == []
    editor.grab()
    assert editor.text() == before
