"""A run takes no sample by itself: the window says what is missing, and a click takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = """---
name: guide
inputs:
  city: {kind: string, sample: Lisbon, required: true}
  days: {kind: integer, sample: 3, required: true}
  guide: {kind: string, default: Mina}
---
user:
{{ guide }} shows {{ city }} in {{ days }} days.
"""


@pytest.fixture
def workbench(
    tmp_path: Path, open_workbench: Callable[[Path], Workbench], scripted: Callable[..., None]
) -> Workbench:
    scripted("With pleasure.")
    path = tmp_path / "guide.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    return open_workbench(path)


def test_f5_says_what_is_missing_and_runs_with_the_samples_after_a_click(
    qtbot: QtBot, workbench: Workbench
) -> None:
    page = workbench.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    [notice] = [each for each in workbench.window.notices.notices if each.key == "run"]
    assert notice.what == "These have no value: 'city', 'days'."
    assert workbench.run.state is None, "nothing has begun"
    assert not workbench.run.is_live
    qtbot.waitUntil(lambda: workbench.inputs_pane.form.rows["city"].isAncestorOf(focus(workbench)))

    button = next(
        each
        for each in workbench.window.notices.findChildren(QPushButton)
        if each.text() == "Run with the samples" and each.isVisible()
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.run.state is not None and workbench.run.state.is_over)
    state = workbench.run.state
    assert state is not None
    assert state.step.messages[0].text == "Mina shows Lisbon in 3 days."
    assert workbench.inputs_pane.values() == {"city": "Lisbon", "days": 3}
    assert not [each for each in workbench.window.notices.notices if each.key == "run"]


def focus(workbench: Workbench) -> object:
    return workbench.window.focusWidget()
