"""Keys and clicks of habit do no harm to the text: each with real keys, at the speeds of typing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QTreeWidget
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.page import EditorPage
from tests.support.modal import answering

CONTROL = Qt.KeyboardModifier.ControlModifier
PROMPT = (
    "---\nname: Trip\ninputs:\n  city:\n    kind: string\n  days:\n    kind: integer\n---\n"
    "system:\nHello.\n\nuser:\nPlan {{ days }} days in {{ city }}.\nNot {{ town }}.\n"
)
SECTIONS = PROMPT.replace("---\nsystem:", "template:\n  parser: {kind: section}\n---\nsystem:")
"""The same in the dialect that knows media tokens; Prompty takes them for text."""

SPEEDS = (20, 40, 100)
"""Milliseconds from key to key: fast, usual, slow. The list of completions comes after 40."""


@pytest.fixture
def page(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> EditorPage:
    file = tmp_path / "trip.prompty"
    file.write_text(PROMPT, encoding="utf-8")
    page = window.tabs.open(file)
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None and page.editor.hasFocus())
    return page


def caret_at(page: EditorPage, text: str, *, after: bool = False) -> None:
    cursor = page.editor.textCursor()
    cursor.setPosition(page.editor.text().index(text) + (len(text) if after else 0))
    page.editor.setTextCursor(cursor)


def type_text(page: EditorPage, text: str, delay: int) -> None:
    """Press the keys of a text; the event loop runs between them."""
    for char in text:
        if char == "\n":
            QTest.keyClick(page.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, delay)
        else:
            QTest.keyClick(page.editor, char, Qt.KeyboardModifier.NoModifier, delay)


def click_outline(window: MainWindow, label: str) -> None:
    tree = window.outline.findChild(QTreeWidget)
    assert tree is not None
    [item] = tree.findItems(label, Qt.MatchFlag.MatchStartsWith | Qt.MatchFlag.MatchRecursive)
    window.docks.show("outline")
    tree.scrollToItem(item)
    QTest.mouseClick(
        tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualItemRect(item).center()
    )


def test_ctrl_d_deletes_nothing(page: EditorPage) -> None:
    caret_at(page, "Plan", after=True)
    for delay in SPEEDS:
        QTest.keyClick(page.editor, Qt.Key.Key_D, CONTROL, delay)
        QTest.keyClick(page.editor, Qt.Key.Key_D, CONTROL, delay)
        assert page.editor.text() == PROMPT


def test_the_windows_keys_are_left_to_the_window(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    """The text widget would claim some of them by the habits of the desktop."""
    taken: list[str] = []
    window.actions_by_id["edit.comment"].triggered.connect(lambda: taken.append("comment"))
    window.actions_by_id.set_shortcuts({"edit.comment": "Ctrl+Left"})
    caret_at(page, "Plan", after=True)
    at = page.editor.caret()
    QTest.keyClick(page.editor, Qt.Key.Key_Left, CONTROL)
    assert taken == ["comment"]
    assert page.editor.caret() != at - len("Plan")


def test_a_click_in_the_outline_selects_nothing_and_leaves_the_keyboard(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    click_outline(window, "user")
    assert page.editor.caret() == PROMPT.index("user:")
    assert not page.editor.textCursor().hasSelection()
    assert page.editor.marks.flashed == "user:"
    assert not page.editor.hasFocus()
    tree = window.outline.findChild(QTreeWidget)
    assert tree is not None
    for delay in SPEEDS:
        QTest.keyClick(tree, "x", Qt.KeyboardModifier.NoModifier, delay)
    assert page.editor.text() == PROMPT
    QTest.keyClick(tree, Qt.Key.Key_Return)
    qtbot.waitUntil(page.editor.hasFocus)
    qtbot.waitUntil(lambda: not page.editor.marks.flashed)


@pytest.mark.parametrize(
    ("key", "start", "goal"), [(Qt.Key.Key_F8, "---", "town"), (Qt.Key.Key_F12, "city }}", "city:")]
)
def test_going_to_a_problem_or_a_definition_writes_over_nothing(
    page: EditorPage, qtbot: QtBot, key: Qt.Key, start: str, goal: str
) -> None:
    place = PROMPT.index(goal)
    for delay in SPEEDS:
        qtbot.waitUntil(lambda: bool(page.editor.problems))
        caret_at(page, start)
        QTest.keyClick(page.editor, key)
        qtbot.waitUntil(lambda: page.editor.caret() == place)
        type_text(page, "x", delay)
        assert page.editor.text() == PROMPT[:place] + "x" + PROMPT[place:]
        page.editor.undo()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("![im", "![image]()"), ("![thr", "![thread]"), ("![vid", "![video]()")],
)
def test_completing_a_media_token_takes_its_bracket_over(
    page: EditorPage, typed: str, expected: str, qtbot: QtBot
) -> None:
    for delay in SPEEDS:
        page.editor.replace_all(SECTIONS)
        qtbot.waitUntil(lambda: page.document is not None and page.document.dialect == "section")
        caret_at(page, "Hello.", after=True)
        type_text(page, "\n" + typed, delay)
        QTest.keyClick(page.editor, Qt.Key.Key_Tab)
        assert page.editor.text() == SECTIONS.replace("Hello.", f"Hello.\n{expected}")


def test_files_are_offered_in_a_media_token(page: EditorPage, tmp_path: Path, qtbot: QtBot) -> None:
    for name in ("receipt.png", "notes.txt", ".hidden.png"):
        (tmp_path / name).write_bytes(b"")
    page.editor.replace_all(SECTIONS)
    qtbot.waitUntil(lambda: page.document is not None and page.document.dialect == "section")
    caret_at(page, "Hello.", after=True)
    type_text(page, "\n![im", 0)
    page.assist.complete()
    QTest.keyClick(page.editor, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: page.assist._popup.labels() == ["receipt.png"])
    QTest.keyClick(page.editor, Qt.Key.Key_Tab)
    assert "![image](receipt.png)\n" in page.editor.text()


def test_enter_after_a_finished_key_begins_a_line(page: EditorPage) -> None:
    """The list still shows what was offered for the word some keys ago."""
    for delay in SPEEDS:
        page.editor.replace_all(PROMPT)
        caret_at(page, "    kind: string", after=True)
        type_text(page, "\ndefau", 0)
        page.assist.complete()  # the list stands, whatever the machine's speed
        type_text(page, "lt:\nx", delay)
        assert "    default:\n      x\n" in page.editor.text()


def test_enter_takes_the_choice_that_goes_on_with_the_word(page: EditorPage) -> None:
    caret_at(page, "    kind: string", after=True)
    type_text(page, "\ndef", 0)
    page.assist.complete()
    type_text(page, "au\n", 0)
    assert "\n    default:" in page.editor.text()


def test_the_list_never_covers_the_line_that_is_typed(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    for height in (window.height(), window.minimumHeight()):
        window.resize(window.width(), height)
        caret_at(page, "Not")
        page.editor.ensureCursorVisible()
        page.assist.complete()
        popup = page.assist._popup
        caret = page.editor.cursorRect()
        top = page.editor.viewport().mapTo(window, caret.topLeft()).y()
        assert popup.isVisible()
        assert not popup.y() < top + caret.height() // 2 < popup.geometry().bottom()
        popup.hide()


def dirty_pages(window: MainWindow, qtbot: QtBot, count: int) -> list[EditorPage]:
    pages = []
    for number in range(count):
        page = window.tabs.new(PROMPT, f"draft-{number}.prompty")
        qtbot.waitUntil(page.editor.hasFocus)
        QTest.keyClick(page.editor, "x")
        assert page.controller.is_dirty
        pages.append(page)
    return pages


def press(which: QMessageBox.StandardButton) -> Callable[[QMessageBox], None]:
    return lambda box: QTest.mouseClick(box.button(which), Qt.MouseButton.LeftButton)


def test_quit_asks_once_and_cancel_leaves_everything(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    store = window.services.settings
    store.set(replace(store.value, hot_exit=False))
    drafts = dirty_pages(window, qtbot, 2)
    open_before = list(window.tabs.pages())
    with answering(QMessageBox, press(QMessageBox.StandardButton.Cancel)) as said:
        assert not window.close()
    assert len(said) == 1
    assert list(window.tabs.pages()) == open_before
    assert window.isVisible()
    assert all(draft.editor.text() == "x" + PROMPT for draft in drafts)


def test_save_all_saves_each_before_any_closes(
    window: MainWindow, page: EditorPage, tmp_path: Path, qtbot: QtBot
) -> None:
    other = tmp_path / "other.prompty"
    other.write_text(PROMPT, encoding="utf-8")
    second = window.tabs.open(other)
    assert second is not None
    for each in (page, second):
        window.tabs.sides.select(each)
        each.editor.setFocus()
        QTest.keyClick(each.editor, "x")
    with answering(QMessageBox, press(QMessageBox.StandardButton.SaveAll)):
        assert window.tabs.close_all()
    for path in (tmp_path / "trip.prompty", other):
        assert path.read_text(encoding="utf-8") == "x" + PROMPT
    assert not list(window.tabs.pages())


def test_undo_of_a_rename_leaves_the_caret(page: EditorPage) -> None:
    caret_at(page, "ity }}")
    at = page.editor.caret()
    assert page.names.rename_to("place")
    assert page.editor.text().count("place") == 2
    QTest.keyClick(page.editor, Qt.Key.Key_Z, CONTROL)
    assert page.editor.text() == PROMPT
    assert page.editor.caret() == at
