"""The text in Python is that of the document, whatever was done to it, without being read anew."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout
from pytestqt.qtbot import QtBot

from studio.ui.editor.text.prompt_text import PromptText, TextMirror, Window

LINE = "A line with {{ name }} – and Größe\n"


@pytest.fixture
def document(qapp: object) -> Iterator[QTextDocument]:
    made = QTextDocument()
    made.setDocumentLayout(QPlainTextDocumentLayout(made))
    yield made
    made.deleteLater()


def whole(document: QTextDocument) -> str:
    return document.toRawText().replace("\u2029", "\n")


def random_edit(document: QTextDocument, chance: random.Random) -> None:
    """One edit of a kind that people and the studio make."""
    length = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(chance.randint(0, length))
    if chance.random() < 0.9:  # else in the middle of a character, where no person comes
        cursor.movePosition(QTextCursor.MoveOperation.Left)
        cursor.movePosition(QTextCursor.MoveOperation.Right)
    kind = chance.randint(0, 9)
    if kind <= 3:
        cursor.insertText(chance.choice(["x", "\n", "é", "😀", "two\nlines\n", "\u00a0"]))
    elif kind <= 5:
        cursor.movePosition(
            QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, chance.randint(0, 40)
        )
        cursor.removeSelectedText()
    elif kind == 6:
        document.undo()
    elif kind == 7:
        document.redo()
    elif kind == 8:
        cursor.beginEditBlock()
        cursor.insertText("here")
        other = QTextCursor(document)
        other.setPosition(chance.randint(0, document.characterCount() - 1))
        other.insertText("there 😀")
        cursor.endEditBlock()
    else:
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText("\nend")


@pytest.mark.parametrize("seed", range(4))
def test_any_edits_leave_the_same_text(document: QTextDocument, seed: int) -> None:
    mirror = TextMirror(document, document)
    document.setPlainText(LINE * 30)
    chance = random.Random(seed)
    for _ in range(150):
        for _ in range(chance.randint(1, 4)):
            random_edit(document, chance)
        assert mirror.source().text == whole(document)


def test_a_key_in_a_coloured_text_does_not_read_the_whole(qapp: object) -> None:
    prompt = PromptText()
    prompt.load("---\nname: a\n---\nsystem:\n" + LINE * 3_000)
    before = prompt.source()
    read = prompt.mirror.whole_readings
    cursor = QTextCursor(prompt.document)
    cursor.setPosition(200)
    for char in "typed\n```\n":
        cursor.insertText(char)
        prompt.source()
    prompt.document.undo()
    prompt.document.redo()
    assert prompt.read() == whole(prompt.document) != before.text
    assert prompt.mirror.whole_readings == read
    prompt.rest()
    prompt.deleteLater()


def test_a_text_that_is_being_coloured_is_not_read_as_a_whole(qapp: object, qtbot: QtBot) -> None:
    prompt = PromptText()
    prompt.load("---\nname: a\n---\nsystem:\n" + LINE * 6_000)
    prompt.source()
    read = prompt.mirror.whole_readings
    slices: list[bool] = []

    def type_on(*_: int) -> None:
        slices.append(True)
        QTextCursor(prompt.document.findBlockByNumber(len(slices))).insertText("x")
        prompt.source()

    prompt.highlighter.colored.connect(type_on)
    qtbot.waitUntil(lambda: len(slices) > 3)
    prompt.rest()
    assert prompt.mirror.whole_readings == read
    assert prompt.read() == whole(prompt.document)
    prompt.deleteLater()


def test_reading_inside_an_edit_block_sees_the_edit_and_the_next_one(
    document: QTextDocument,
) -> None:
    mirror = TextMirror(document, document)
    document.setPlainText("one two three")
    assert mirror.source().text == "one two three"
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    cursor.insertText("A")
    assert mirror.source().text == "Aone two three"
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.deletePreviousChar()
    cursor.insertText("X")
    cursor.endEditBlock()
    assert mirror.source().text == "Aone two threX"


def test_what_goes_to_a_file_is_the_documents_text_whatever_was_kept(
    document: QTextDocument,
) -> None:
    mirror = TextMirror(document, document)
    document.setPlainText("one two three")
    kept = mirror.source()
    assert mirror.read_again() is kept.text
    document.blockSignals(True)  # a change that nobody hears of
    QTextCursor(document).insertText("more than ")
    document.blockSignals(False)
    mirror.recount(mirror._revision, document.revision())
    assert mirror.source().text == "one two three"
    assert mirror.read_again() == "more than one two three"
    assert mirror.source().text == "more than one two three"


def test_the_source_is_the_same_while_nothing_changes(document: QTextDocument) -> None:
    mirror = TextMirror(document, document)
    document.setPlainText("text")
    assert mirror.source() is mirror.source()


def test_changes_add_up_to_one_part() -> None:
    first = Window(10, 12, 15)
    assert first.with_change(11, 0, 1) == Window(10, 12, 16)
    assert first.with_change(4, 1, 0) == Window(4, 12, 14)
    assert first.with_change(14, 5, 2) == Window(10, 16, 16)
    assert first.with_change(20, 0, 3) == Window(10, 17, 23)
