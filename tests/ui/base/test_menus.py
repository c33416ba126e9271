"""A right click offers the window's actions, with their keys, wherever it lands."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.application.inputs.fields import ABSENT, FieldSpec
from studio.ui.app.main_window import MainWindow
from studio.ui.base.menus import text_menu
from studio.ui.editor.text.view import PromptEditor
from studio.ui.inputs.compound import make_editor
from studio.ui.inputs.row import FieldRow

PROMPT = "---\nname: Trip\n---\nsystem:\nBe brief.\n\nuser:\nHello\n"


def said(menu: QMenu) -> list[str]:
    """What a menu says, with the keys that it shows."""
    return [
        f"{action.text()}\t{action.shortcut().toString()}".strip()
        for action in menu.actions()
        if not action.isSeparator()
    ]


def right_click(widget: QWidget) -> QMenu:
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, QPoint(4, 4), widget.mapToGlobal(QPoint(4, 4))
    )
    scrolled = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
    QApplication.sendEvent(scrolled, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_the_editor_has_the_windows_actions(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new(PROMPT)
    offered = said(page.editor.menu())
    assert "Comment in or out\tCtrl+/" in offered
    assert "Go to definition\tF12" in offered


def test_a_tab_and_the_outline(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new(PROMPT)
    with qtbot.waitSignal(page.parsed):
        pass
    offered = said(window.tabs.sides.active.menu_for(page))
    assert offered[0] == "Close\tCtrl+W"
    assert "Split editor\tCtrl+\\" in offered
    tree = window.outline.findChild(QTreeWidget)
    assert tree is not None
    qtbot.waitUntil(lambda: tree.topLevelItemCount() > 1)
    offered = said(window.outline.menu_for(tree.topLevelItem(1)))
    assert offered[0].startswith("Go to its text")
    assert any(each.startswith("Unfold all\t") for each in offered)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_field_has_a_menu_with_keys(window: MainWindow, qtbot: QtBot) -> None:
    field = QLineEdit(window)
    field.setText("some words")
    field.show()
    field.setFocus()
    field.selectAll()
    qtbot.waitUntil(field.hasFocus)
    menu = right_click(field)
    offered = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert offered[:4] == ["Undo\tCtrl+Z", "Redo\tCtrl+Shift+Z", "Cut\tCtrl+X", "Copy\tCtrl+C"]
    copy = next(action for action in menu.actions() if action.text().startswith("Copy"))
    copy.trigger()
    menu.close()
    assert QApplication.clipboard().text() == "some words"
    assert field.text() == "some words"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_text_of_many_lines_has_it_too(window: MainWindow, qtbot: QtBot) -> None:
    text = QPlainTextEdit("an answer", window)
    text.show()
    text.setFocus()
    qtbot.waitUntil(text.hasFocus)
    menu = right_click(text)
    assert "Paste\tCtrl+V" in [action.text() for action in menu.actions()]
    menu.close()


def test_a_read_only_text_offers_only_to_copy(qtbot: QtBot) -> None:
    text = QPlainTextEdit("an answer")
    qtbot.addWidget(text)
    text.setReadOnly(True)
    offered = text_menu(text).actions()
    assert [action.text().split("\t")[0] for action in offered if not action.isSeparator()] == [
        "Copy",
        "Select all",
    ]
    assert not offered[0].isEnabled()  # nothing is selected


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_editor_keeps_its_own_menu(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new(PROMPT)
    page.editor.setFocus()
    qtbot.waitUntil(page.editor.hasFocus)
    assert isinstance(page.editor, PromptEditor)
    menu = right_click(page.editor)
    assert "All commands…" in [action.text() for action in menu.actions()]
    menu.close()


def test_an_input_has_the_windows_actions_too(window: MainWindow, qtbot: QtBot) -> None:
    spec = FieldSpec("city", "string", "text", declared=False)
    row = FieldRow(spec, make_editor(spec))
    row.setParent(window)
    row.show()
    menu = row.menu()
    offered = said(menu)
    assert offered[:2] == ["Clear", "Declare"]
    assert any("F5" in each for each in offered)
    clear = menu.actions()[0]
    assert not clear.isEnabled()
    row.set_value("Oslo")
    with qtbot.waitSignal(row.changed):
        row.menu().actions()[0].trigger()
    assert row.editor.value() is ABSENT


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_list_without_a_menu_has_its_rows_and_the_windows_actions(
    window: MainWindow, qtbot: QtBot
) -> None:
    page = window.tabs.new(PROMPT)
    rows = QListWidget(window)
    rows.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    rows.addItems(["one", "two", "three"])
    rows.show()
    rows.setFocus()
    qtbot.waitUntil(rows.hasFocus)
    menu = right_click(rows)
    offered = said(menu)
    assert offered[:2] == ["Copy\tCtrl+C", "Select all\tCtrl+A"]
    assert offered[-1] == "All commands…\tCtrl+Shift+P"
    menu.close()
    for key in (Qt.Key.Key_X, Qt.Key.Key_V, Qt.Key.Key_A, Qt.Key.Key_C):
        qtbot.keyClick(rows, key, Qt.KeyboardModifier.ControlModifier)
    assert page.editor.text() == PROMPT  # whose line was cut by keys that were for the list
    assert QApplication.clipboard().text() == "one\ntwo\nthree"


def test_a_problem_has_its_fixes_and_the_windows_actions(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("---\nname: [\n---\nuser:\nHi\n")
    qtbot.waitUntil(lambda: page.document is not None)
    tree = window.page_coordinator.problems.findChild(QTreeWidget)
    assert tree is not None
    qtbot.waitUntil(lambda: tree.topLevelItemCount() > 0)
    offered = said(window.page_coordinator.problems.menu_for(tree.topLevelItem(0)))
    assert "Go to its text\tReturn" in [each.replace("Enter", "Return") for each in offered]
    assert "Next problem\tF8" in offered
