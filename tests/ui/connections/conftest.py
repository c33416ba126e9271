"""A controller with real files and a real loop, and a loopback server to connect to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.connections.dialog import ConnectionsDialog
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.controller import ConnectionsController
from tests.support.chat_server import ChatServer, chat_server


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture
def controller(
    qtbot: QtBot, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ConnectionsController]:
    background = Background()
    made = ConnectionsController(background, user_home / "config" / "connections.toml")
    yield made
    made.close()
    background.stop()


@pytest.fixture
def dialog(qtbot: QtBot, controller: ConnectionsController) -> Iterator[ConnectionsDialog]:
    parent = QWidget()
    opened = ConnectionsDialog(controller, parent)
    qtbot.addWidget(parent)
    with qtbot.waitExposed(opened):
        opened.show()
    yield opened
    opened.close()


@pytest.fixture
def open_workbench(qtbot: QtBot) -> Iterator[Callable[[Path], Workbench]]:
    """Open the studio on a file, and wait until everything stands."""
    opened: list[Workbench] = []

    def open_on(path: Path) -> Workbench:
        workbench = Workbench(build_services(user_paths()))
        opened.append(workbench)
        window = workbench.window
        window.resize(1440, 900)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        window.tabs.open(path)
        qtbot.waitUntil(lambda: workbench.is_settled)
        return workbench

    yield open_on
    for workbench in opened:
        for page in workbench.window.tabs.pages():
            page.editor.document().setModified(False)
        workbench.window.close()
        workbench.close()
        workbench.window.deleteLater()
