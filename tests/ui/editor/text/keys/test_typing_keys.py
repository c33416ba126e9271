"""Lists typed with real keys, in the front matter and in the body."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.editor.completion.assist import EditorAssist
from studio.ui.editor.text.view import PromptEditor

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

FRONT = "---\noutputs:\n  queue:\n    kind: string\n    "
END = "\n---\nuser:\nHi\n"


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(700, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.setFocus()
    yield view
    view.close()


def begin(editor: PromptEditor, before: str, after: str) -> None:
    editor.load(before + after)
    editor.set_document(parse(before + after))
    cursor = editor.textCursor()
    cursor.setPosition(len(before))
    editor.setTextCursor(cursor)


def type_lines(qtbot: QtBot, editor: PromptEditor, *lines: str) -> None:
    for number, line in enumerate(lines):
        if number:
            qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.keyClicks(editor, line)


def test_a_list_after_a_completed_key_is_written_with_or_without_the_dash(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    assist = EditorAssist(editor)
    begin(editor, FRONT, END)
    qtbot.keyClicks(editor, "enumV")
    qtbot.waitUntil(lambda: "enumValues" in assist._popup.labels())
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text().endswith("enumValues:\n      - " + END)
    type_lines(qtbot, editor, "- shipping", "- billing", "- -5", "- other")
    document = parse(editor.text())
    assert document.outputs[0].enum == ("shipping", "billing", -5, "other")
    assert not document.problems
    assist.rest()


def test_a_list_of_the_body_eats_the_dash_that_is_there(editor: PromptEditor, qtbot: QtBot) -> None:
    begin(editor, "system:\n", "")
    type_lines(qtbot, editor, "- Gas", "- Fire", "water", "--flag", "-5 degrees", "-- x")
    lines = "- Gas\n- Fire\n- water\n- --flag\n- -5 degrees\n- -- x"
    assert editor.text() == "system:\n" + lines


def test_a_number_that_is_typed_again_is_eaten(editor: PromptEditor, qtbot: QtBot) -> None:
    begin(editor, "system:\n", "")
    type_lines(qtbot, editor, "1. Gas", "2. Fire", "25 liters")
    assert editor.text() == "system:\n1. Gas\n2. Fire\n3. 25 liters"


def test_a_dash_that_the_user_typed_alone_begins_a_list_in_a_list(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    begin(editor, FRONT, END)
    type_lines(qtbot, editor, "enumValues:", "- - a", "- b")
    assert editor.text() == FRONT + "enumValues:\n      - - a\n        - b" + END


def test_the_caret_elsewhere_forgets_the_mark(editor: PromptEditor, qtbot: QtBot) -> None:
    begin(editor, "system:\n", "")
    type_lines(qtbot, editor, "- Gas", "")
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, "- ")
    assert editor.text() == "- system:\n- Gas\n- "
