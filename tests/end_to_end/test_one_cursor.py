"""One moment, shown everywhere at once: gone through with real keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench

_CTRL = Qt.KeyboardModifier.ControlModifier
Open = Callable[[Path], Workbench]

ASKS = 'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
ENDS = "Thought: I have it.\nFinal Answer: It is 5888."

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def _stands(workbench: Workbench, place: PausePoint) -> Callable[[], bool]:
    def stands() -> bool:
        state = workbench.run.state
        return state is not None and state.pause is not None and state.pause.place == place

    return stands


def _lit(workbench: Workbench) -> list[str]:
    page = workbench.window.tabs.current
    assert page is not None
    text = page.editor.text()
    return [text[span.start : span.end] for span in page.editor.run_lines.spans]


def test_the_editor_lights_the_text_behind_the_moment(
    qtbot: QtBot, user_home: Path, open_workbench: Open, scripted: Callable[..., None]
) -> None:
    scripted(ASKS, ENDS)
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    workbench = open_workbench(folder / "react-agent.prompty")
    window, pane = workbench.window, workbench.run_pane
    page = window.tabs.current
    assert page is not None
    caret = page.editor.caret()

    qtbot.keyClick(page.editor, Qt.Key.Key_F10)
    qtbot.waitUntil(_stands(workbench, PausePoint.BEFORE_REQUEST))
    assert _lit(workbench) == ["{{ question }}"]
    assert page.crumbs.moment.text() == "Prompt, iteration 1"
    qtbot.keyClick(page.editor, Qt.Key.Key_F10)
    qtbot.waitUntil(_stands(workbench, PausePoint.REPLY))
    qtbot.keyClick(page.editor, Qt.Key.Key_F10)
    qtbot.waitUntil(_stands(workbench, PausePoint.TOOL_CALL))
    assert _lit(workbench) == ["{{ h.action }}", "{{ h.arguments | tojson }}"]
    assert page.editor.caret() == caret, "the text that is written in keeps its caret"

    # What the run holds stands beside it; a value is written over, an expression worked out.
    panel = pane.state_panel
    named = {row.name: row for row in panel.variables.rows}
    assert named["args.expression"].value == '"128 * 46"'
    assert named["tool"].is_changed
    qtbot.keyClick(page.editor, Qt.Key.Key_Y, _CTRL | Qt.KeyboardModifier.ShiftModifier)
    field = panel.console.field
    assert panel.is_open
    assert field.hasFocus()
    qtbot.keyClicks(field, "args.ex")
    assert field.offered == ["args.expression"]
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.console.lines[-1:] == ['= "128 * 46"'])
    row = [each.name for each in panel.variables.rows].index("args.expression")
    panel.variables.setFocus()
    panel.variables.setCurrentCell(row, 1)
    qtbot.keyClick(panel.variables, Qt.Key.Key_F2)
    editor = panel.variables.findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClick(editor, Qt.Key.Key_A, _CTRL)
    qtbot.keyClicks(editor, "100 * 2")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.variables.rows[row].value == '"100 * 2"')
    card = pane.timeline.current_card
    assert card is not None
    assert "edited" in card.badges

    # A limit is raised at the meter, by its key.
    pane.head.meter.setFocus()
    qtbot.keyClick(pane.head.meter, Qt.Key.Key_Space)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    below = menu.findChild(QMenu)
    assert isinstance(below, QMenu)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Right)
    qtbot.waitUntil(below.isVisible)
    assert below.activeAction() is below.actions()[0]
    qtbot.keyClick(below, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: pane.diagram.state.max_iterations == 11)

    # Back by one card: the text goes along; in a text that is another by now, nothing is lit.
    pane.timeline.setFocus()
    qtbot.keyClick(pane.timeline, Qt.Key.Key_Up)
    assert _lit(workbench) == ["{{ h.thought }}"]
    assert page.crumbs.moment.text() == "Thought, iteration 1"
    pane.scrubber.setFocus()
    qtbot.keyClick(pane.scrubber, Qt.Key.Key_Left)
    assert _lit(workbench) == ["{{ question }}"]
    page.editor.setFocus()
    qtbot.keyClick(page.editor, Qt.Key.Key_X)
    qtbot.waitUntil(lambda: _lit(workbench) == [])
    qtbot.keyClick(page.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: _lit(workbench) == ["{{ question }}"])

    # Esc goes back to writing, which nothing lights.
    pane.timeline.setFocus()
    qtbot.keyClick(pane.timeline, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _lit(workbench) == [])
    assert page.crumbs.moment.isHidden()
