"""The form of the front matter beside the real text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from studio.application.document.checked_file import unread
from studio.core.prompty.evaluation import failure
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.front_matter import FrontMatterDialog
from tests.support.wheel import turn_wheel

pytestmark = pytest.mark.qt_log_ignore("does not support")

PROMPT = """---
name: Trip # short
inputs:
  city:
    kind: string
---
user:
Go to {{ city }}.
"""


@pytest.fixture
def form(window: MainWindow, qtbot: QtBot) -> FrontMatterDialog:
    page = window.tabs.new(PROMPT)
    with qtbot.waitSignal(page.parsed):
        pass
    window.actions_by_id["edit.front"].trigger()
    dialog = window.findChild(FrontMatterDialog)
    assert dialog is not None
    return dialog


def write(form: FrontMatterDialog, text: str, *path: str | int) -> None:
    field = form.field(*path)
    field.setFocus()
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_what_is_typed_stands_in_the_text_and_back(
    window: MainWindow, form: FrontMatterDialog, qtbot: QtBot
) -> None:
    page = window.tabs.current
    assert page is not None
    write(form, "Long trip", "name")
    assert page.editor.text() == PROMPT.replace("Trip", "Long trip")
    write(form, "Rome", "inputs", "city", "default")
    assert "    kind: string\n    default: Rome\n" in page.editor.text()
    assert form.isVisible()
    page.editor.undo()
    page.editor.undo()
    assert page.editor.text() == PROMPT
    name = form.field("name")
    assert isinstance(name, QLineEdit)
    qtbot.waitUntil(lambda: form.field("name").text() == "Trip")  # type: ignore[union-attr]


def test_changes_of_one_field_are_one_step_to_undo(
    window: MainWindow, form: FrontMatterDialog, qtbot: QtBot
) -> None:
    page = window.tabs.current
    assert page is not None
    for value in ("Rome", "Oslo"):
        write(form, value, "inputs", "city", "default")
        qtbot.waitUntil(lambda: form.document.source.text == page.editor.text())
    write(form, "Long trip", "name")
    page.editor.undo()
    assert "default: Oslo" in page.editor.text()
    page.editor.undo()
    assert page.editor.text() == PROMPT


def test_a_new_input_has_fields_of_its_own(
    window: MainWindow, form: FrontMatterDialog, qtbot: QtBot
) -> None:
    page = window.tabs.current
    assert page is not None
    QTest.keyClicks(form.new_input, "days")
    QTest.keyClick(form.new_input, Qt.Key.Key_Return)
    assert "days:" in page.editor.text()
    qtbot.waitUntil(lambda: ("inputs", "days", "kind") in form._fields)
    QTest.keyClicks(form.new_input, "days")
    QTest.keyClick(form.new_input, Qt.Key.Key_Return)
    assert page.editor.text().count("days:") == 1
    assert form.isVisible()


def test_another_name_of_an_input_is_one_step_and_a_bad_one_is_refused_in_the_form(
    window: MainWindow, form: FrontMatterDialog, qtbot: QtBot
) -> None:
    page = window.tabs.current
    assert page is not None
    (name,) = (
        each
        for each in form.findChildren(QLineEdit)
        if each.accessibleName() == "Name of the input city"
    )
    for typed in ("a b", "place"):
        name.setText(typed)
        QTest.keyClick(name, Qt.Key.Key_Return)
        said = [each.text() for each in form.findChildren(QLabel) if each.property("tone")]
        assert said == ["'a b' is not a name: letters, digits and _ only, no digit first."]
    assert page.editor.text() == PROMPT.replace("city", "place")
    page.editor.undo()
    assert page.editor.text() == PROMPT


def test_a_tool_comes_and_goes_with_one_undo_each(
    window: MainWindow, form: FrontMatterDialog, qtbot: QtBot
) -> None:
    page = window.tabs.current
    assert page is not None
    form.tool_kind.setCurrentText("mcp")
    QTest.keyClicks(form.new_tool, "files")
    QTest.keyClick(form.new_tool, Qt.Key.Key_Return)
    added = page.editor.text()
    assert "tools:\n  - name: files\n    kind: mcp\n    serverName: files\n" in added
    qtbot.waitUntil(lambda: ("tools", 0, "serverName") in form._fields)
    (out,) = (
        each for each in form.findChildren(QToolButton) if each.toolTip() == "Remove Tool files"
    )
    QTest.mouseClick(out, Qt.MouseButton.LeftButton)
    assert page.editor.text() == PROMPT
    page.editor.undo()
    assert page.editor.text() == added
    page.editor.undo()
    assert page.editor.text() == PROMPT


def test_the_wheel_over_the_kind_changes_nothing(
    window: MainWindow, form: FrontMatterDialog
) -> None:
    page = window.tabs.current
    assert page is not None
    kind = form.field("inputs", "city", "kind")
    turn_wheel(kind, -1)
    assert page.editor.text() == PROMPT


def test_the_form_of_a_text_that_is_not_read_takes_nothing(
    window: MainWindow, form: FrontMatterDialog
) -> None:
    page = window.tabs.current
    assert page is not None
    form.follow(unread(PROMPT, None, failure(MemoryError())))
    assert not form.isEnabled()
    assert form.document.failure is None
    page.editor.replace_all(PROMPT + "x")
    page.controller.reading.read_now()
    assert form.isEnabled()
