"""Ctrl with Left, Right, Backspace and Delete, as VS Code's own tests have them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.editor.text.view import PromptEditor

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(600, 300)
    with qtbot.waitExposed(view):
        view.show()
    yield view
    view.close()


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        (
            "   /* Just some   more   text a+= 3 +5-3 + 7 */  ",
            "   /*| Just| some|   more|   text| a|+=| 3| +5|-3| +| 7| */|  |",
        ),
        ("{{ customer.name or 1 }}", "{{| customer|.name| or| 1| }}|"),
        ("user:\nHi there", "user|:|\nHi| there|"),
        ("no 😀 éver-ö", "no| 😀| éver|-ö|"),
        ("a\n\n  b", "a|\n|\n  b|"),
        ("a\n   \n", "a|\n   |\n|"),
    ],
)
def test_right_stops_at_the_ends_of_words(editor: PromptEditor, text: str, stops: str) -> None:
    editor.load(text)
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    assert walked(editor, Qt.Key.Key_Right) == stops


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        (
            "   /* Just some   more   text a+= 3 +5-3 + 7 */  ",
            "|   |/* |Just |some   |more   |text |a|+= |3 |+|5-|3 |+ |7 |*/  ",
        ),
        ("{{ customer.name }}", "|{{ |customer.|name |}}"),
        ("user:\nHi there", "|user:\n|Hi |there"),
        ("no 😀 éver-ö", "|no |😀 |éver-|ö"),
        ("a\n\n  b", "|a\n|\n|  |b"),
    ],
)
def test_left_stops_at_their_beginnings(editor: PromptEditor, text: str, stops: str) -> None:
    editor.load(text)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    assert walked(editor, Qt.Key.Key_Left) == stops


def walked(editor: PromptEditor, key: Qt.Key) -> str:
    """The text with a mark at each stop on the way."""
    units = editor.text().encode("utf-16-le")
    stops: set[int] = set()
    before = -1
    while editor.textCursor().position() != before:
        before = editor.textCursor().position()
        QTest.keyClick(editor, key, CONTROL)
        if editor.textCursor().position() != before:
            stops.add(editor.textCursor().position())
    parts = [""]
    for at in range(len(units) // 2 + 1):
        parts.append("\0" if at in stops else "")
        parts.append(units[at * 2 : at * 2 + 2].decode("utf-16-le", "surrogatepass"))
    joined = "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return joined.replace("\0", "|")


@pytest.mark.parametrize(
    ("text", "key", "after"),
    [
        ("one two¦", Qt.Key.Key_Backspace, "one ¦"),
        ("one   ¦two", Qt.Key.Key_Backspace, "one¦two"),
        ("one ¦two", Qt.Key.Key_Backspace, "¦two"),
        ("a.b¦", Qt.Key.Key_Backspace, "a.¦"),
        ("a.¦b", Qt.Key.Key_Backspace, "a¦b"),
        ("a\n¦b", Qt.Key.Key_Backspace, "a¦b"),
        ("  ¦b", Qt.Key.Key_Backspace, "¦b"),
        ("¦a", Qt.Key.Key_Backspace, "¦a"),
        ("¦one two", Qt.Key.Key_Delete, "¦ two"),
        ("one¦ two", Qt.Key.Key_Delete, "one¦"),
        ("one¦   two", Qt.Key.Key_Delete, "one¦two"),
        ("a¦.b", Qt.Key.Key_Delete, "a¦b"),
        ("a¦\n  b", Qt.Key.Key_Delete, "a¦b"),
        ("a¦", Qt.Key.Key_Delete, "a¦"),
    ],
)
def test_words_are_erased_and_come_back_in_one_step(
    editor: PromptEditor, text: str, key: Qt.Key, after: str
) -> None:
    editor.load(text.replace("¦", ""))
    cursor = editor.textCursor()
    cursor.setPosition(text.index("¦"))
    editor.setTextCursor(cursor)
    QTest.keyClick(editor, key, CONTROL)
    at = editor.textCursor().position()
    assert f"{editor.text()[:at]}¦{editor.text()[at:]}" == after
    if editor.document().isUndoAvailable():
        editor.undo()
    assert editor.text() == text.replace("¦", "")


def test_a_selection_goes_along_and_is_what_is_erased(editor: PromptEditor) -> None:
    editor.load("one two three")
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    QTest.keyClick(editor, Qt.Key.Key_Right, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_Right, CONTROL | SHIFT)
    assert editor.textCursor().selectedText() == " two"
    QTest.keyClick(editor, Qt.Key.Key_Delete, CONTROL)
    assert editor.text() == "one three"


def test_folded_lines_are_passed_over_and_stay(editor: PromptEditor) -> None:
    text = "---\nname: x\n---\nuser:\nHi"
    editor.load(text)
    editor.set_document(parse(text))
    editor.folding.toggle(0)
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    for stop in (3, text.index("user") + 4):
        QTest.keyClick(editor, Qt.Key.Key_Right, CONTROL)
        assert editor.textCursor().position() == stop
    QTest.keyClick(editor, Qt.Key.Key_Left, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_Left, CONTROL)
    assert editor.textCursor().position() == 0
    editor.moveCursor(QTextCursor.MoveOperation.EndOfLine)
    QTest.keyClick(editor, Qt.Key.Key_Delete, CONTROL)
    assert editor.text() == text


def test_a_text_that_cannot_be_written_keeps_its_words(editor: PromptEditor) -> None:
    editor.load("one two")
    editor.setReadOnly(True)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(editor, Qt.Key.Key_Backspace, CONTROL)
    assert editor.text() == "one two"
