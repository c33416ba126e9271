"""Habits of other editors, with real keys: columns, structure, brackets, marks, back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from studio.core.text.source import Span
from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.page import EditorPage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier

LINES = "".join(f"line {number}\n" for number in range(1, 301))
PROMPT = "system:\nBe {brief (and [clear])}.\n\nuser:\n" + LINES


@pytest.fixture
def page(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> EditorPage:
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    window.resize(1200, 800)
    opened = window.tabs.open(path)
    assert opened is not None
    with qtbot.waitSignal(opened.parsed):
        pass
    return opened


def place(page: EditorPage, line: int, column: int) -> QPoint:
    block = page.editor.document().findBlockByNumber(line - 1)
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + column - 1)
    return page.editor.cursorRect(cursor).center()


def test_a_drag_with_shift_and_alt_selects_columns(page: EditorPage) -> None:
    view = page.editor.viewport()
    page.editor.go_to_line(1)
    start, end = place(page, 5, 1), place(page, 8, 5)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, SHIFT | ALT, start)
    QTest.mouseMove(view, end)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, SHIFT | ALT, end)
    assert page.editor.carets.selected() == ["line"] * 4
    QTest.keyClicks(page.editor, "L")
    assert "L 1\nL 2\nL 3\nL 4\nline 5\n" in page.editor.text()
    page.editor.undo()
    assert page.editor.text() == PROMPT


def test_carets_above_and_below(page: EditorPage) -> None:
    page.editor.go_to_line(6, 6)
    QTest.keyClick(page.editor, Qt.Key.Key_Down, CONTROL | ALT)
    QTest.keyClick(page.editor, Qt.Key.Key_Up, CONTROL | ALT)
    QTest.keyClicks(page.editor, "x")
    assert "line x1\nline x2\nline x3\nline 4\n" in page.editor.text()


def test_the_selection_grows_and_shrinks(page: EditorPage) -> None:
    page.editor.go_to_line(2, 6)
    QTest.keyClick(page.editor, Qt.Key.Key_Right, ALT | SHIFT)
    assert page.editor.textCursor().selectedText() == "brief"
    QTest.keyClick(page.editor, Qt.Key.Key_Right, ALT | SHIFT)
    assert page.editor.textCursor().selectedText() == "Be {brief (and [clear])}."
    QTest.keyClick(page.editor, Qt.Key.Key_Left, ALT | SHIFT)
    assert page.editor.textCursor().selectedText() == "brief"


def test_the_other_bracket_and_back(page: EditorPage) -> None:
    page.editor.go_to_line(2, 4)
    start = page.editor.caret()
    page.editor.structure.go_to_bracket()
    assert page.editor.text()[page.editor.caret() - 1] == "}"
    page.editor.structure.go_to_bracket()
    assert page.editor.caret() == start


def test_the_last_line_can_be_scrolled_to_the_top(page: EditorPage) -> None:
    bar = page.editor.verticalScrollBar()
    bar.setValue(bar.maximum())
    last = page.editor.blockCount() - 1
    assert page.editor.firstVisibleBlock().blockNumber() == last
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(page.editor, "x")
    assert page.editor.firstVisibleBlock().blockNumber() == last  # typing there does not jump


def test_the_section_stays_in_sight(page: EditorPage) -> None:
    page.editor.go_to_line(1)
    assert page.editor.sticky.text == ""
    page.editor.verticalScrollBar().setValue(100)
    assert page.editor.sticky.text == "user:"
    QTest.mouseClick(page.editor.sticky, Qt.MouseButton.LeftButton)
    assert page.editor.textCursor().blockNumber() == 3
    assert page.editor.sticky.text == ""


def test_problems_and_matches_are_marked_beside_the_text(page: EditorPage, qtbot: QtBot) -> None:
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(page.editor, "{{ nobody }}")
    last = page.editor.blockCount() - 1
    qtbot.waitUntil(lambda: last in page.editor.mark_bar.marks.get("warning", ()))
    page.find_bar.ask(replace=False)
    QTest.keyClicks(page.find_bar.findChild(QLineEdit), "line 20")
    qtbot.waitUntil(lambda: len(page.editor.mark_bar.marks.get("match", ())) == 11)
    page.find_bar.leave()
    assert page.editor.mark_bar.marks["match"] == ()


def test_back_and_forward(window: MainWindow, page: EditorPage, tmp_path: Path) -> None:
    def line() -> tuple[str, int]:
        shown = window.tabs.current
        assert shown is not None
        return shown.controller.title, shown.editor.textCursor().blockNumber() + 1

    page.editor.go_to_line(2)
    window.commands.navigation.go(0)  # as after the caret rested there
    page.editor.go_to_line(100)
    other = tmp_path / "b.prompty"
    other.write_text(PROMPT, encoding="utf-8")
    window.commands.navigation.go(0)
    window.tabs.open(other)
    window.actions_by_id["edit.back"].trigger()
    assert line() == ("a.prompty", 100)
    QTest.keyClick(page.editor, Qt.Key.Key_Left, ALT)
    assert line() == ("a.prompty", 2)
    QTest.keyClick(page.editor, Qt.Key.Key_Right, ALT)
    assert line() == ("a.prompty", 100)
    window.tabs.close_page(page)  # its file is opened again
    window.actions_by_id["edit.back"].trigger()
    assert line()[0] == "a.prompty"


def test_back_from_a_definition_that_is_near(window: MainWindow, page: EditorPage) -> None:
    page.editor.go_to_line(9)
    page.editor.reveal(Span(0, 3))
    window.actions_by_id["edit.back"].trigger()
    assert page.editor.textCursor().blockNumber() + 1 == 9


def test_go_to_a_line_and_column_in_the_palette(page: EditorPage, qtbot: QtBot) -> None:
    QTest.keyClick(page.editor, Qt.Key.Key_G, CONTROL)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "50:3")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert page.editor.hasFocus()
    cursor = page.editor.textCursor()
    assert (cursor.blockNumber(), cursor.positionInBlock()) == (49, 2)


def test_ctrl_and_a_click_go_to_the_definition(window: MainWindow, qtbot: QtBot) -> None:
    text = "---\ninputs:\n  city:\n    kind: string\n---\nuser:\nIn {{ city }} or not\n"
    editor = window.tabs.new(text).editor
    qtbot.waitUntil(lambda: editor.parsed is not None and editor.parsed.source.text == text)

    def click(at: int) -> None:
        cursor = editor.textCursor()
        cursor.setPosition(at)
        spot = editor.cursorRect(cursor).center()
        QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, CONTROL, spot)

    editor.folding.unfold_all()
    click(text.index("or not"))
    assert editor.caret() == text.index("or not")  # nothing is declared there, and nothing is said
    click(text.index("city }}") + 2)
    qtbot.waitUntil(lambda: editor.caret() == text.index("city:"))


def test_ctrl_and_an_arrow_scroll_and_leave_the_caret(page: EditorPage) -> None:
    page.editor.go_to_line(1)
    bar = page.editor.verticalScrollBar()
    before = bar.value()
    QTest.keyClick(page.editor, Qt.Key.Key_Down, CONTROL)
    assert bar.value() == before + 1
    assert page.editor.textCursor().blockNumber() == 0
    QTest.keyClick(page.editor, Qt.Key.Key_Up, CONTROL)
    assert bar.value() == before


def test_lines_are_commented_out_and_in_and_trimmed_by_two_keys(page: EditorPage) -> None:
    def chord(key: Qt.Key) -> None:
        QTest.keyClick(page.editor, Qt.Key.Key_K, CONTROL)
        QTest.keyClick(page.editor, key, CONTROL)

    page.editor.go_to_line(5, 1)
    chord(Qt.Key.Key_C)
    assert "{# line 1 #}\nline 2\n" in page.editor.text()
    chord(Qt.Key.Key_C)  # a comment of the template does not stand in another
    assert "{# line 1 #}\nline 2\n" in page.editor.text()
    chord(Qt.Key.Key_U)
    chord(Qt.Key.Key_U)
    assert page.editor.text() == PROMPT
    QTest.keyClicks(page.editor, "  ")
    page.editor.go_to_line(7, 7)
    QTest.keyClicks(page.editor, " \t ")
    QTest.keyClick(page.editor, Qt.Key.Key_Home)
    chord(Qt.Key.Key_X)
    assert page.editor.text() == PROMPT.replace("line 1\n", "  line 1\n", 1)
