"""A model that the server does not have any more: the run goes on with another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from studio.core.models.connections import EMBEDDED, Connection
from studio.ui.app.workbench import Workbench
from tests.support.chat_server import ChatServer, failure, streamed
from tests.support.model_choice import offers_of, use_model

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
NAMED = "---\nname: short\nmodel: {id: old-1}\n---\nuser:\nHello\n"


def button(qtbot: QtBot, workbench: Workbench, label: str) -> QAbstractButton:
    """Wait for a button of the action bar."""
    bar = workbench.run_pane.actions_bar

    def found() -> list[QAbstractButton]:
        return [each for each in bar.buttons if each.text() == label]

    qtbot.waitUntil(lambda: bool(found()))
    return found()[0]


def test_a_run_whose_model_is_gone_takes_the_one_that_is_typed(
    qtbot: QtBot, open_workbench: Callable[[Path], Workbench], server: ChatServer, user_home: Path
) -> None:
    path = user_home / "short.prompty"
    path.write_text(NAMED, encoding="utf-8")
    workbench = open_workbench(path)
    one = Connection("Here", "compatible", base_url=server.url, model="m-1", retries=0)
    every = workbench.connections.connections
    workbench.connections.save(replace(every, connections=(EMBEDDED, one)))
    use_model(workbench.connections, "Here", "old-1")
    server.models = [{"id": "new-1"}, {"id": "new-2"}]
    server.script(failure(404, "The model 'old-1' does not exist.", "model_not_found"))
    workbench.run_pane.commands.run_or_continue()

    button(qtbot, workbench, "Choose a model…").click()
    popover = workbench.coordinator.popover
    assert popover.isVisible()
    qtbot.waitUntil(lambda: "new-2" in [each.title for each in offers_of(popover)])
    qtbot.keyClicks(popover.line, "new-2")
    qtbot.keyClick(popover.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    change = "Change to new-2 (Here) and try again"
    server.always(streamed("Hi."))
    button(qtbot, workbench, change)
    labels = [each.text() for each in workbench.run_pane.actions_bar.buttons]
    assert labels[:2] == [change, "Continue with old-1 (Here)"]
    button(qtbot, workbench, change).click()
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert workbench.run.state is not None
    assert workbench.run.state.answer == "Hi."
    assert [each.body["model"] for each in server.requests if each.body] == ["old-1", "new-2"]
