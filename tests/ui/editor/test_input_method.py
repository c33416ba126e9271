"""Composed text, and what a screen reader is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleTextInterface,
    QInputMethodEvent,
    QInputMethodQueryEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.editor.completion.assist import EditorAssist
from studio.ui.editor.text.view import PromptEditor
from studio.ui.style.theme import LIGHT

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = "---\nname: x\n---\nsystem:\nHello {{ city }} 😀\n"


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(500, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.load(PROMPT)
    view.setFocus()
    yield view
    view.close()


def compose(editor: PromptEditor, text: str) -> None:
    style = QTextCharFormat()
    style.setFontUnderline(True)
    kind = QInputMethodEvent.AttributeType
    attributes = [
        QInputMethodEvent.Attribute(kind.TextFormat, 0, len(text), style),
        QInputMethodEvent.Attribute(kind.Cursor, len(text), 1, None),
    ]
    QApplication.sendEvent(editor, QInputMethodEvent(text, attributes))


def commit(editor: PromptEditor, text: str, back: int = 0, length: int = 0) -> None:
    event = QInputMethodEvent("", [])
    event.setCommitString(text, back, length)
    QApplication.sendEvent(editor, event)


def asked(editor: PromptEditor, query: Qt.InputMethodQuery) -> object:
    event = QInputMethodQueryEvent(query)
    QApplication.sendEvent(editor, event)
    return event.value(query)


def test_composing_shows_the_text_without_writing_it(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.go_to_line(5, 3)
    compose(editor, "にほ")
    assert editor.text() == PROMPT
    block = editor.textCursor().block()
    assert block.layout().preeditAreaText() == "にほ"
    assert not editor.document().isModified()
    compose(editor, "日本")
    assert block.layout().preeditAreaText() == "日本"
    commit(editor, "日本")
    assert block.layout().preeditAreaText() == ""
    assert editor.text() == PROMPT.replace("Hello", "He日本llo")
    editor.undo()
    assert editor.text() == PROMPT


def test_composing_keeps_the_colours_of_its_line(editor: PromptEditor) -> None:
    editor.go_to_line(5, 1)
    editor.highlighter.read_to(editor.document().blockCount())
    before = len(editor.textCursor().block().layout().formats())
    assert before
    compose(editor, "に")
    commit(editor, "日")
    formats = editor.textCursor().block().layout().formats()
    variable = LIGHT.syntax["variable"]
    places = [each.start for each in formats if each.format.foreground().color().name() == variable]
    assert places == ["日Hello {{ city".index("city")]


def test_a_long_composition_wraps_and_stays_in_view(editor: PromptEditor) -> None:
    editor.load("x" * 40 + "\nbelow\n")
    editor.moveCursor(QTextCursor.MoveOperation.EndOfLine)
    below = editor.document().findBlockByNumber(1)
    top = editor.geometry_of(below).top()
    compose(editor, "長い" * 40)
    assert editor.geometry_of(below).top() > top
    compose(editor, "")
    assert editor.geometry_of(below).top() == top


def test_a_commit_can_replace_text_around_the_caret(editor: PromptEditor) -> None:
    editor.load("helo")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    commit(editor, "hello", -4, 4)
    assert editor.text() == "hello"


def test_the_method_knows_where_the_caret_is_and_what_is_around(editor: PromptEditor) -> None:
    editor.go_to_line(5, 7)
    query = Qt.InputMethodQuery
    assert asked(editor, query.ImEnabled) is True
    assert asked(editor, query.ImSurroundingText) == "Hello {{ city }} 😀"
    assert asked(editor, query.ImCursorPosition) == 6
    # From the widget's corner: the list of words opens beside the text, right of the gutter.
    rectangle = asked(editor, query.ImCursorRectangle)
    assert isinstance(rectangle, QRectF)
    assert rectangle.toRect() == editor.cursorRect().translated(editor.viewport().pos())


def test_a_commit_over_a_selection_and_in_a_snippet(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("")
    EditorAssist(editor).insert_snippet("a ${1:one} b ${2:two}\n$0")
    compose(editor, "い")
    commit(editor, "一")
    assert editor.text() == "a 一 b two\n"
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.textCursor().selectedText() == "two"


def test_composing_is_not_taken_for_typing_rules(editor: PromptEditor) -> None:
    editor.load("")
    compose(editor, "(")
    commit(editor, "（")
    assert editor.text() == "（"


def text_of(editor: PromptEditor) -> QAccessibleTextInterface:
    interface = QAccessible.queryAccessibleInterface(editor)
    assert interface is not None
    assert interface.role() == QAccessible.Role.EditableText
    assert interface.text(QAccessible.Text.Name) == "Prompt text"
    text = interface.textInterface()
    assert text is not None
    return text


def test_a_screen_reader_reads_text_caret_and_selection(editor: PromptEditor) -> None:
    editor.set_document(parse(PROMPT))
    text = text_of(editor)
    assert text.characterCount() == len(PROMPT.encode("utf-16-le")) // 2
    assert text.text(0, text.characterCount()) == PROMPT
    editor.go_to_line(5, 3)
    assert text.cursorPosition() == editor.textCursor().position()
    editor.moveCursor(QTextCursor.MoveOperation.EndOfWord, QTextCursor.MoveMode.KeepAnchor)
    assert text.selectionCount() == 1
    text.setCursorPosition(0)
    assert editor.caret() == 0


def test_a_second_editor_of_the_text_is_read_too(editor: PromptEditor, qtbot: QtBot) -> None:
    other = PromptEditor(prompt=editor.prompt)
    qtbot.addWidget(other)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    commit(editor, "日")
    text = text_of(other)
    assert text.text(0, text.characterCount()) == PROMPT + "日"
    assert text.cursorPosition() == 0
    other.close()
