from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.displayed_run import RunView
from studio.ui.app.main_window import MainWindow
from studio.ui.run.pane import RunPane

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def test_run_actions_are_as_available_as_the_panes_buttons(
    window: MainWindow, qtbot: QtBot
) -> None:
    pane = RunPane()
    qtbot.addWidget(pane)
    window.commands.connect_run(pane)
    actions = window.actions_by_id
    window.tabs.new("user:\nHi\n")
    assert actions["run.start"].isEnabled()
    assert not actions["run.pause"].isEnabled()
    assert not actions["run.stop"].isEnabled()
    assert not actions["run.out"].isEnabled()
    pane.bar.show_view(RunView(record="A run of yesterday"))
    assert actions["run.out"].isEnabled()
    pane.bar.show_view(RunView())
    assert not actions["run.out"].isEnabled()
    pane.bar.stop.setEnabled(True)
    assert actions["run.stop"].isEnabled()
