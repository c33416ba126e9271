from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.application.run.breakpoints import describe
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.step import PausePoint
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.viewmodels.run.breakpoint_book import FileBreakpoints


@pytest.fixture
def file_breakpoints(qapp: object) -> FileBreakpoints:
    return FileBreakpoints()


@pytest.fixture
def dialog(qtbot: QtBot, file_breakpoints: FileBreakpoints) -> BreakpointsDialog:
    one = BreakpointsDialog(file_breakpoints)
    one.set_tools(("lookup", "calculator"))
    qtbot.addWidget(one)
    return one


def test_a_breakpoint_is_added_and_written(
    qtbot: QtBot, file_breakpoints: FileBreakpoints, dialog: BreakpointsDialog
) -> None:
    dialog.add.click()
    dialog.tool.setCurrentText("lookup")
    qtbot.keyClicks(dialog.form.widgets["condition"], "iteration > 2")
    qtbot.keyClick(dialog.form.widgets["condition"], Qt.Key.Key_Return)

    (one,) = file_breakpoints.value.breakpoints
    assert (one.places, one.tool, one.condition) == (
        {PausePoint.TOOL_CALL},
        "lookup",
        "iteration > 2",
    )
    assert dialog.list.item(0).text() == "Before a tool · lookup · when iteration > 2"


def test_a_broken_condition_is_said(
    qtbot: QtBot, file_breakpoints: FileBreakpoints, dialog: BreakpointsDialog
) -> None:
    dialog.add.click()
    qtbot.keyClicks(dialog.form.widgets["condition"], "iteration >")
    qtbot.keyClick(dialog.form.widgets["condition"], Qt.Key.Key_Return)

    assert dialog._problem.text()


def test_a_breakpoint_is_switched_off_and_removed(
    file_breakpoints: FileBreakpoints, dialog: BreakpointsDialog
) -> None:
    file_breakpoints.toggle_place(PausePoint.TOOL_CALL)
    dialog.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert file_breakpoints.value.places == frozenset()
    dialog.list.setCurrentRow(0)
    dialog.remove.click()

    assert file_breakpoints.value.breakpoints == ()


def test_filters_are_kept(file_breakpoints: FileBreakpoints, dialog: BreakpointsDialog) -> None:
    dialog.filters["tool"].setChecked(True)
    dialog.filters["format"].setChecked(False)

    assert "tool" in file_breakpoints.value.exceptions
    assert "format" not in file_breakpoints.value.exceptions


def test_toggling_twice_leaves_nothing(file_breakpoints: FileBreakpoints) -> None:
    for _ in range(2):
        file_breakpoints.toggle_place(PausePoint.BEFORE_REQUEST)
        file_breakpoints.toggle_tool("lookup")

    assert file_breakpoints.value.breakpoints == ()


def test_a_log_point_marks_no_node(file_breakpoints: FileBreakpoints) -> None:
    file_breakpoints.add(Breakpoint("", frozenset({PausePoint.TOOL_CALL}), log="{tool}"))

    assert file_breakpoints.value.places == frozenset()
    assert (
        describe(file_breakpoints.value.breakpoints[0])
        == "Before a tool · logs “{tool}”, does not stop"
    )
