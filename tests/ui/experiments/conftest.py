"""The whole studio, for experiments in its tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services


@pytest.fixture
def open_workbench(qtbot: QtBot) -> Iterator[Callable[[], Workbench]]:
    """Open the studio."""
    opened: list[Workbench] = []

    def open_one() -> Workbench:
        workbench = Workbench(build_services(user_paths()))
        opened.append(workbench)
        window = workbench.window
        window.resize(1440, 900)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return workbench

    yield open_one
    for workbench in opened:
        for page in workbench.window.tabs.pages():
            page.editor.document().setModified(False)
        workbench.window.close()
        workbench.close()
        workbench.window.deleteLater()
