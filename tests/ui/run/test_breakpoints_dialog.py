from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.application.run.breakpoints import describe
from studio.core.agent.values.breakpoints import Breakpoint
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.viewmodels.run.breakpoint_book import BreakpointBook


@pytest.fixture
def book(qapp: object) -> BreakpointBook:
    return BreakpointBook()


@pytest.fixture
def dialog(qtbot: QtBot, book: BreakpointBook) -> BreakpointsDialog:
    one = BreakpointsDialog(book)
    one.set_tools(("lookup", "calculator"))
    qtbot.addWidget(one)
    return one


def test_a_breakpoint_is_added_and_written(
    qtbot: QtBot, book: BreakpointBook, dialog: BreakpointsDialog
) -> None:
    dialog.add.click()
    dialog.tool.setCurrentText("lookup")
    qtbot.keyClicks(dialog.condition, "iteration > 2")
    qtbot.keyClick(dialog.condition, Qt.Key.Key_Return)

    (one,) = book.value.breakpoints
    assert (one.places, one.tool, one.condition) == ({"P3"}, "lookup", "iteration > 2")
    assert dialog.list.item(0).text() == "Before a tool · lookup · when iteration > 2"


def test_a_broken_condition_is_said(
    qtbot: QtBot, book: BreakpointBook, dialog: BreakpointsDialog
) -> None:
    dialog.add.click()
    qtbot.keyClicks(dialog.condition, "iteration >")
    qtbot.keyClick(dialog.condition, Qt.Key.Key_Return)

    assert dialog._problem.text()


def test_a_breakpoint_is_switched_off_and_removed(
    book: BreakpointBook, dialog: BreakpointsDialog
) -> None:
    book.toggle_place("P3")
    dialog.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert book.value.places == frozenset()
    dialog.list.setCurrentRow(0)
    dialog.remove.click()

    assert book.value.breakpoints == ()


def test_filters_are_kept(book: BreakpointBook, dialog: BreakpointsDialog) -> None:
    dialog.filters["tool"].setChecked(True)
    dialog.filters["format"].setChecked(False)

    assert "tool" in book.value.exceptions
    assert "format" not in book.value.exceptions


def test_toggling_twice_leaves_nothing(book: BreakpointBook) -> None:
    for _ in range(2):
        book.toggle_place("P1")
        book.toggle_tool("lookup")

    assert book.value.breakpoints == ()


def test_a_log_point_marks_no_node(book: BreakpointBook) -> None:
    book.add(Breakpoint("", frozenset({"P3"}), log="{tool}"))

    assert book.value.places == frozenset()
    assert describe(book.value.breakpoints[0]) == "Before a tool · logs “{tool}”, does not stop"
