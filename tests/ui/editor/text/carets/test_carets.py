"""Habits of other editors: whole lines, and more carets than one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.editor.text.carets.line_edits import LineEdits
from studio.ui.editor.text.view import PromptEditor

TEXT = "one\ntwo 😀\nthree\nfour"
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(600, 300)
    with qtbot.waitExposed(view):
        view.show()
    view.load(TEXT)
    yield view
    view.close()


def choose(editor: PromptEditor, start: str, end: str | None = None) -> None:
    """The caret before a text, or a selection up to the end of another."""
    source, text = editor.source(), editor.text()
    cursor = editor.textCursor()
    cursor.setPosition(source.to_utf16(text.index(start)))
    if end is not None:
        stop = source.to_utf16(text.index(end) + len(end))
        cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


@pytest.mark.parametrize(
    ("start", "end", "act", "expected", "selected"),
    [
        ("two", None, lambda lines: lines.move(-1), "two 😀\none\nthree\nfour", ""),
        ("two", None, lambda lines: lines.move(1), "one\nthree\ntwo 😀\nfour", ""),
        ("one", None, lambda lines: lines.move(-1), TEXT, ""),
        ("four", None, lambda lines: lines.move(1), TEXT, ""),
        ("wo", "thr", lambda lines: lines.move(1), "one\nfour\ntwo 😀\nthree", "wo 😀\nthr"),
        ("wo", "thr", lambda lines: lines.move(-1), "two 😀\nthree\none\nfour", "wo 😀\nthr"),
        ("two", None, lambda lines: lines.copy(1), "one\ntwo 😀\ntwo 😀\nthree\nfour", ""),
        ("four", None, lambda lines: lines.copy(-1), f"{TEXT}\nfour", ""),
        ("two", None, lambda lines: lines.delete(), "one\nthree\nfour", ""),
        ("four", None, lambda lines: lines.delete(), "one\ntwo 😀\nthree", ""),
        ("wo", "thr", lambda lines: lines.delete(), "one\nfour", ""),
        ("two", None, lambda lines: lines.join(), "one\ntwo 😀 three\nfour", ""),
        ("one", "three", lambda lines: lines.join(), "one two 😀 three\nfour", ""),
        ("four", None, lambda lines: lines.join(), TEXT, ""),
        ("two", None, lambda lines: lines.select(), TEXT, "two 😀\n"),
    ],
)
def test_lines_as_a_whole(
    editor: PromptEditor,
    start: str,
    end: str | None,
    act: Callable[[LineEdits], None],
    expected: str,
    selected: str,
) -> None:
    choose(editor, start, end)
    act(editor.lines)
    assert editor.text() == expected
    assert editor.textCursor().selectedText().replace("\u2029", "\n") == selected
    if expected != TEXT:
        editor.undo()
    assert editor.text() == TEXT


def test_the_caret_goes_along_with_its_line(editor: PromptEditor) -> None:
    choose(editor, "ree")
    editor.lines.move(-1)
    editor.lines.copy(1)
    cursor = editor.textCursor()
    assert (cursor.block().text(), cursor.positionInBlock()) == ("three", 2)
    assert cursor.blockNumber() == 2


def test_select_twice_takes_the_next_line_too(editor: PromptEditor) -> None:
    choose(editor, "two")
    editor.lines.select()
    editor.lines.select()
    assert editor.textCursor().selectedText() == "two 😀\u2029three\u2029"


def test_a_folded_part_is_shown_before_a_line_passes_it(editor: PromptEditor) -> None:
    editor.load("---\nname: x\nmodel: y\n---\nuser:\nHi\n")
    from studio.core.prompty.parse import parse

    editor.set_document(parse(editor.text()))
    editor.folding.close(0)
    choose(editor, "user")
    editor.lines.move(-1)
    assert editor.document().findBlockByNumber(1).isVisible()


def test_cut_and_copy_take_the_line_where_nothing_is_selected(editor: PromptEditor) -> None:
    choose(editor, "wo")
    at = editor.caret()
    editor.copy()
    assert QGuiApplication.clipboard().text() == "two 😀\n"
    assert editor.caret() == at
    assert not editor.textCursor().hasSelection()
    editor.cut()
    assert editor.text() == "one\nthree\nfour"
    editor.undo()
    choose(editor, "three", "three")
    editor.cut()
    assert QGuiApplication.clipboard().text() == "three"
    assert editor.text() == "one\ntwo 😀\n\nfour"


def test_typing_at_several_carets_is_one_step(editor: PromptEditor) -> None:
    editor.load("city and city, City\ncity")
    choose(editor, "city")
    for _ in range(5):
        editor.caret_choice.add_next()  # the word, the two others, and no more than there are
    assert len(editor.carets) == 2
    QTest.keyClicks(editor, "p")
    assert editor.text() == "p and p, City\np"
    QTest.keyClicks(editor, "q")
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    QTest.keyClicks(editor, "l")
    QTest.keyClick(editor, Qt.Key.Key_Left)
    QTest.keyClicks(editor, "x")
    assert editor.text() == "pxl and pxl, City\npxl"
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "px\nl and px\nl, City\npx\nl"
    editor.undo()
    assert editor.text() == "pxl and pxl, City\npxl"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert len(editor.carets) == 0
    before = editor.text()
    QTest.keyClicks(editor, "z")
    assert len(editor.text()) == len(before) + 1


def test_cut_and_paste_at_several_carets(editor: PromptEditor) -> None:
    editor.load("aa bb\naa bb")
    choose(editor, "aa")
    editor.caret_choice.add_next()
    editor.caret_choice.add_next()
    editor.copy()
    assert QGuiApplication.clipboard().text() == "aa\naa"
    editor.cut()
    assert editor.text() == " bb\n bb"
    QGuiApplication.clipboard().setText("c")
    editor.paste()
    assert editor.text() == "c bb\nc bb"


def test_alt_and_a_click_set_a_caret_and_a_click_leaves_one(editor: PromptEditor) -> None:
    choose(editor, "one")
    second = QTextCursor(editor.document().findBlockByNumber(2))
    at = editor.cursorRect(second).center()
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, ALT, at)
    assert len(editor.carets) == 1
    QTest.keyClicks(editor, "- ")
    assert editor.text() == "- one\ntwo 😀\n- three\nfour"
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert len(editor.carets) == 0


def test_the_keys_and_the_menu_of_the_window(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("user:\nred and red\nblue\n")
    editor = page.editor
    qtbot.waitUntil(editor.hasFocus)
    choose(editor, "red")
    for _ in range(2):
        QTest.keyClick(editor, Qt.Key.Key_D, CONTROL)
    QTest.keyClicks(editor, "old")
    assert editor.text() == "user:\nold and old\nblue\n"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    QTest.keyClick(editor, Qt.Key.Key_Down, ALT)
    assert editor.text() == "user:\nblue\nold and old\n"
    QTest.keyClick(editor, Qt.Key.Key_Up, ALT | SHIFT)
    QTest.keyClick(editor, Qt.Key.Key_K, CONTROL | SHIFT)
    assert editor.text() == "user:\nblue\nold and old\n"
    QTest.keyClick(editor, Qt.Key.Key_L, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_X, CONTROL)
    assert editor.text() == "user:\nblue\n"
    menu = editor.menu()
    offered = [action.objectName() for action in menu.actions() if not action.isSeparator()]
    assert offered[:2] == ["edit.fix", "edit.definition"]
    assert "run.start" in offered
    menu.deleteLater()
    QApplication.processEvents()
